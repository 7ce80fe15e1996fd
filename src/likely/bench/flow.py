"""A small normalising flow: RealNVP (Dinh, Sohl-Dickstein and Bengio 2017), stopped when held-out rows gain no more.

It judges answers, and no method of the benchmark asks it anything.
"""

from __future__ import annotations

import copy
from typing import Any

import numpy as np

from likely.errors import MissingExtraError
from likely.schema.values import Numbers

LAYERS, HIDDEN, PATIENCE, BATCH, RATE = 6, 64, 20, 256, 1e-3
#: The most rounds over the rows, and steps of gradients in all.
ROUNDS, STEPS = 300, 2_000
#: The share of the rows that training is stopped by, and noise on the others, in units of the columns.
HELD_OUT, NOISE = 0.15, 0.02


def _torch() -> Any:
    try:
        import torch
    except ImportError:
        raise MissingExtraError("torch", "torch", "learn a normalising flow") from None
    return torch


def _couplings(size: int) -> Any:
    """Layers in each of which every other coordinate is scaled and shifted by what the rest says."""
    nn = _torch().nn
    return nn.ModuleList(
        nn.Sequential(nn.Linear(size, HIDDEN), nn.ReLU(), nn.Linear(HIDDEN, HIDDEN), nn.ReLU(), nn.Linear(HIDDEN, 2 * size))
        for _ in range(LAYERS)
    )


class Flow:
    """Couplings, one after another, onto a Gaussian.

    Args:
        seed: Of the first weights, the rows that are held out, and the noise.
    """

    def __init__(self, seed: int = 0) -> None:
        self._seed = seed
        #: How many numbers were learned.
        self.parameters = 0

    def fit(self, points: Numbers) -> Flow:
        """Learn the density of points.

        Args:
            points: Numbers of about the same size in every column.
        """
        torch = _torch()
        torch.manual_seed(self._seed)
        torch.set_num_threads(1)
        data = torch.tensor(points, dtype=torch.float32)
        order = torch.randperm(len(data))
        count = max(1, round(HELD_OUT * len(data)))
        judged, learned = data[order[:count]], data[order[count:]]
        self._layers = _couplings(points.shape[1])
        optimiser = torch.optim.Adam(self._layers.parameters(), lr=RATE, weight_decay=1e-4)
        best, kept, waited = -np.inf, copy.deepcopy(self._layers.state_dict()), 0
        for _ in range(min(ROUNDS, STEPS * BATCH // max(len(learned), 1) + 1)):
            for part in torch.randperm(len(learned)).split(BATCH):
                noisy = learned[part] + NOISE * torch.randn_like(learned[part])
                optimiser.zero_grad()
                (-self._logs(noisy).mean()).backward()
                optimiser.step()
            with torch.no_grad():
                now = float(self._logs(judged).mean())
            waited = 0 if now > best else waited + 1
            if now > best:
                best, kept = now, copy.deepcopy(self._layers.state_dict())
            if waited == PATIENCE:
                break
        self._layers.load_state_dict(kept)
        self.parameters = sum(each.numel() for each in self._layers.parameters())
        return self

    def _logs(self, x: Any) -> Any:
        torch = _torch()
        total = torch.zeros(len(x))
        for place, layer in enumerate(self._layers):
            kept = (torch.arange(x.shape[1]) % 2 == place % 2).float()
            scale, shift = layer(x * kept).chunk(2, dim=1)
            scale = 2 * torch.tanh(scale / 2) * (1 - kept)
            x = x * scale.exp() + shift * (1 - kept)
            total = total + scale.sum(dim=1)
        return total - (x**2).sum(dim=1) / 2 - x.shape[1] * np.log(2 * np.pi) / 2

    def log_density(self, points: Numbers) -> Numbers:
        """The log-density of each point.

        Args:
            points: In the columns that were learned from.
        """
        torch = _torch()
        with torch.no_grad():
            return np.asarray(self._logs(torch.tensor(points, dtype=torch.float32)).double())
