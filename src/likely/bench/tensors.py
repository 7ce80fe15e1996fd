"""torch for the benchmark, which imports it here and nowhere else: the classifier as a module, and seeds that stay inside."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from likely.errors import MissingExtraError
from likely.predictor.forms import Layers
from likely.schema.values import Numbers

try:
    import torch
    from torch import Tensor, nn
except ImportError:
    raise MissingExtraError("torch", "torch", "use methods that follow gradients") from None

__all__ = ["Tensor", "alone", "multilayer", "network", "nn", "numbers", "tensor", "torch"]


def tensor(numbers: Numbers) -> Tensor:
    """An array as singles, which are enough for what is learned; answers are judged in doubles.

    Args:
        numbers: Any array.
    """
    return torch.tensor(np.asarray(numbers), dtype=torch.float32)


def numbers(values: Tensor) -> Numbers:
    """A tensor as an array of doubles.

    Args:
        values: Any tensor.
    """
    return np.asarray(values.detach().double().numpy())


def network(layers: Layers) -> nn.Sequential:
    """A ReLU network with these weights, which nobody trains any more.

    Args:
        layers: Weights and bias of each layer.
    """
    parts: list[nn.Module] = []
    for weights, bias in layers:
        linear = nn.Linear(weights.shape[1], len(bias))
        linear.weight.data, linear.bias.data = tensor(weights), tensor(bias)
        parts += [nn.ReLU(), linear]
    return nn.Sequential(*parts[1:]).requires_grad_(False)


def multilayer(*widths: int) -> nn.Sequential:
    """A ReLU network to be trained.

    Args:
        *widths: Of its inputs, hidden layers and outputs.
    """
    parts: list[nn.Module] = []
    for i in range(len(widths) - 1):
        parts += [nn.ReLU(), nn.Linear(widths[i], widths[i + 1])]
    return nn.Sequential(*parts[1:])


@contextmanager
def alone(seed: int) -> Iterator[Any]:
    """One thread and a seed, and both as they were before at the end.

    Args:
        seed: Of everything that is drawn inside.
    """
    threads = torch.get_num_threads()
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        torch.set_num_threads(1)
        try:
            yield
        finally:
            torch.set_num_threads(threads)
