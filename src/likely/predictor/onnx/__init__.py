"""Readers of ONNX models; importing this registers them.

Read are graphs of networks (Gemm, MatMul, Add, Relu, BatchNormalization, Sigmoid, Softmax, ...), and what skl2onnx
makes of scalers, linear models, networks and trees; `operators.OPERATORS` is the whole list.
"""

from likely.predictor.onnx.model import load, read, score
from likely.predictor.registry import Reader, register

__all__ = ["load"]

register("onnx.ModelProto", Reader(read, score))
