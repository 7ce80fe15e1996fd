"""What the classifier is: neutral forms, and readers of the models our users have."""

from likely.predictor.columns import Column
from likely.predictor.composite import Composite, Layer
from likely.predictor.curves import CurveStep
from likely.predictor.encoding import Indicator, Rank, Raw, Scaled, one_hot_of
from likely.predictor.forms import Form, LinearModel, ReluNetwork, TreeEnsemble, form_from_dict
from likely.predictor.functions import Function
from likely.predictor.linear_trees import LinearTrees
from likely.predictor.links import Link
from likely.predictor.network import NetworkBuilder
from likely.predictor.reading import read
from likely.predictor.registry import Reader, register, register_transformer
from likely.predictor.trees import Splits, tree_ensemble
from likely.predictor.wires import ModelInputs, Step, Wire

__all__ = [
    "Column",
    "Composite",
    "CurveStep",
    "Form",
    "Function",
    "Indicator",
    "Layer",
    "LinearModel",
    "LinearTrees",
    "Link",
    "ModelInputs",
    "NetworkBuilder",
    "Rank",
    "Raw",
    "Reader",
    "ReluNetwork",
    "Scaled",
    "Splits",
    "Step",
    "TreeEnsemble",
    "Wire",
    "form_from_dict",
    "one_hot_of",
    "read",
    "register",
    "register_transformer",
    "tree_ensemble",
]
