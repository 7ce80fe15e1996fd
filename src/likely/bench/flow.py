"""A small normalising flow: RealNVP (Dinh, Sohl-Dickstein and Bengio 2017), stopped when held-out rows gain no more.

Couplings map points onto a Gaussian, and back. With classes, either every coupling is told the class (`tell="couplings"`), or
each class has a Gaussian of its own around a mean that is learned (`tell="base"`).
"""

from __future__ import annotations

import copy
import math
from typing import Literal, Self

import numpy as np
from numpy.typing import NDArray

from likely.bench.tensors import Tensor, alone, multilayer, nn, numbers, tensor, torch
from likely.schema.values import Numbers

LAYERS, HIDDEN, PATIENCE, BATCH, RATE = 6, 64, 20, 256, 1e-3
#: The most rounds over the rows, and steps of gradients in all.
ROUNDS, STEPS = 300, 2_000
#: The share of the rows that training is stopped by.
HELD_OUT = 0.15


class _Coupling(nn.Module):
    """Some coordinates are scaled and shifted by what the others, and the class, say."""

    mask: Tensor

    def __init__(self, size: int, classes: int, flipped: bool) -> None:
        super().__init__()
        self.register_buffer("mask", (torch.arange(size) % 2 == int(flipped)).float())
        self.net = multilayer(size + classes, HIDDEN, HIDDEN, 2 * size)

    def _said(self, x: Tensor, told: Tensor) -> tuple[Tensor, Tensor]:
        scale, shift = self.net(torch.cat([x * self.mask, told], dim=1)).chunk(2, dim=1)
        free = 1 - self.mask
        return 2 * torch.tanh(scale / 2) * free, shift * free

    def forward(self, x: Tensor, told: Tensor) -> tuple[Tensor, Tensor]:
        scale, shift = self._said(x, told)
        return x * scale.exp() + shift, scale.sum(dim=1)

    def inverse(self, z: Tensor, told: Tensor) -> Tensor:
        scale, shift = self._said(z, told)  # what is masked is not changed
        return (z - shift) * (-scale).exp()


class Flow:
    """Couplings, one after another, onto a Gaussian.

    Args:
        seed: Of the first weights, the order of the rows and the noise.
        tell: Of what the classes are told, where there are some.
        noise: On the rows while it is learned, in deviations of each column: discrete columns have no density without.
    """

    def __init__(self, seed: int = 0, *, tell: Literal["couplings", "base"] = "couplings", noise: float = 0.02) -> None:
        self.seed, self.tell, self.noise = seed, tell, noise

    def fit(self, points: Numbers, classes: NDArray[np.intp] | None = None) -> Self:
        """Learn from points.

        Args:
            points: Row x column.
            classes: The number of each row's class; left out, there are none.
        """
        self.classes = 0 if classes is None else int(classes.max()) + 1
        spread = points.std(axis=0)
        self.centre, self.scale = points.mean(axis=0), np.where(spread > 1e-9, spread, 1.0)
        with alone(self.seed):
            told = self.told(np.zeros(len(points), dtype=np.intp) if classes is None else classes)
            size = points.shape[1]
            inside = self.classes if self.tell == "couplings" else 0
            self.layers = nn.ModuleList([_Coupling(size, inside, flipped=bool(place % 2)) for place in range(LAYERS)])
            self.means = nn.Parameter(torch.randn(max(self.classes, 1), size) * (self.classes > 0 and self.tell == "base"))
            self._learn(tensor((points - self.centre) / self.scale), told)
        return self

    def _learn(self, data: Tensor, told: Tensor) -> None:
        order = torch.randperm(len(data))
        count = max(1, round(HELD_OUT * len(data)))
        judged, learned = order[:count], order[count:]
        weights = [*self.layers.parameters(), *([self.means] if self.tell == "base" and self.classes else [])]
        optimiser = torch.optim.Adam(weights, lr=RATE, weight_decay=1e-4)
        best, kept, waited = -math.inf, [copy.deepcopy(each.data) for each in weights], 0
        for _ in range(min(ROUNDS, STEPS * BATCH // max(len(learned), 1) + 1)):
            for part in torch.split(learned[torch.randperm(len(learned))], BATCH):
                noisy = data[part] + self.noise * torch.randn_like(data[part])
                optimiser.zero_grad()
                torch.autograd.backward(-self._scaled_logs(noisy, told[part]).mean())
                optimiser.step()
            with torch.no_grad():
                now = float(self._scaled_logs(data[judged], told[judged]).mean())
            waited = 0 if now > best else waited + 1
            if now > best:
                best, kept = now, [copy.deepcopy(each.data) for each in weights]
            if waited == PATIENCE:
                break
        for each, data_ in zip(weights, kept, strict=True):
            each.data = data_
        self.layers.requires_grad_(False)
        self.means.requires_grad_(False)

    @property
    def parameters(self) -> int:
        """How many numbers were learned."""
        return sum(each.numel() for each in self.layers.parameters())

    def told(self, classes: NDArray[np.intp]) -> Tensor:
        """Classes as the flow is told them: one-hot.

        Args:
            classes: The number of each row's class.
        """
        return tensor(np.eye(max(self.classes, 1))[classes][:, : self.classes])

    def _inside(self, told: Tensor) -> Tensor:
        return told if self.tell == "couplings" else told[:, :0]

    def _scaled_logs(self, x: Tensor, told: Tensor) -> Tensor:
        total = torch.zeros(len(x))
        for layer in self.layers:
            x, logs = layer(x, self._inside(told))
            total = total + logs
        if self.classes and self.tell == "base":
            x = x - told @ self.means
        return total - (x**2).sum(dim=1) / 2 - x.shape[1] * math.log(2 * math.pi) / 2

    def logs(self, points: Tensor, told: Tensor) -> Tensor:
        """Log-densities, with gradients.

        Args:
            points: Row x column.
            told: Their classes, as `told` gives them.
        """
        return self._scaled_logs((points - tensor(self.centre)) / tensor(self.scale), told) - float(np.log(self.scale).sum())

    def to_base(self, points: Tensor, told: Tensor) -> Tensor:
        """Where the flow takes points.

        Args:
            points: Row x column.
            told: Their classes, as `told` gives them.
        """
        x = (points - tensor(self.centre)) / tensor(self.scale)
        for layer in self.layers:
            x, _ = layer(x, self._inside(told))
        return x

    def from_base(self, base: Tensor, told: Tensor) -> Tensor:
        """The points that the flow takes there.

        Args:
            base: Row x column.
            told: Their classes, as `told` gives them.
        """
        x = base
        for layer in reversed(self.layers):
            assert isinstance(layer, _Coupling)
            x = layer.inverse(x, self._inside(told))
        return x * tensor(self.scale) + tensor(self.centre)

    def log_density(self, points: Numbers, classes: NDArray[np.intp] | None = None) -> Numbers:
        """The log-density of each point.

        Args:
            points: Row x column.
            classes: The number of each row's class, if there are some.
        """
        told = self.told(np.zeros(len(points), dtype=np.intp) if classes is None else classes)
        with torch.no_grad():
            return numbers(self.logs(tensor(points), told))
