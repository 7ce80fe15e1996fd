"""A small normalising flow: RealNVP (Dinh, Sohl-Dickstein and Bengio 2017), stopped when held-out rows gain no more."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np
import torch
from density_rivals import Density

Numbers = np.ndarray[Any, np.dtype[np.float64]]

LAYERS, HIDDEN, PATIENCE, BATCH, RATE = 6, 64, 20, 256, 1e-3
#: The most rounds over the rows, and steps of gradients in all.
ROUNDS, STEPS = 300, 2_000
#: The share of the rows that training is stopped by, and noise on the others, in deviations.
HELD_OUT, NOISE = 0.15, 0.02


class _Coupling(torch.nn.Module):
    """Some coordinates are scaled and shifted by what the others say."""

    def __init__(self, size: int, flipped: bool) -> None:
        super().__init__()
        mask = torch.arange(size) % 2 == int(flipped)
        self.register_buffer("mask", mask.float())
        self.net = torch.nn.Sequential(
            torch.nn.Linear(size, HIDDEN), torch.nn.ReLU(), torch.nn.Linear(HIDDEN, HIDDEN), torch.nn.ReLU(),
            torch.nn.Linear(HIDDEN, 2 * size),
        )  # fmt: skip

    def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        scale, shift = self.net(x * self.mask).chunk(2, dim=1)
        free = 1 - self.mask
        scale = 2 * torch.tanh(scale / 2) * free
        return x * scale.exp() + shift * free, scale.sum(dim=1)


class Flow(Density):
    """Couplings, one after another, onto a Gaussian."""

    def fit(self, rows: Numbers) -> Density:
        torch.manual_seed(0)
        torch.set_num_threads(1)
        data = torch.tensor(rows, dtype=torch.float32)
        order = torch.randperm(len(data))
        count = max(1, round(HELD_OUT * len(data)))
        judged, learned = data[order[:count]], data[order[count:]]
        self.layers = torch.nn.ModuleList([_Coupling(rows.shape[1], flipped=bool(place % 2)) for place in range(LAYERS)])
        optimiser = torch.optim.Adam(self.layers.parameters(), lr=RATE, weight_decay=1e-4)
        best, kept, waited = -np.inf, copy.deepcopy(self.layers.state_dict()), 0
        for _ in range(min(ROUNDS, STEPS * BATCH // len(learned) + 1)):
            for part in torch.randperm(len(learned)).split(BATCH):
                noisy = learned[part] + NOISE * torch.randn_like(learned[part])
                optimiser.zero_grad()
                (-self._logs(noisy).mean()).backward()
                optimiser.step()
            with torch.no_grad():
                now = float(self._logs(judged).mean())
            waited = 0 if now > best else waited + 1
            if now > best:
                best, kept = now, copy.deepcopy(self.layers.state_dict())
            if waited == PATIENCE:
                break
        self.layers.load_state_dict(kept)
        self.parameters = float(sum(each.numel() for each in self.layers.parameters()))
        return self

    def _logs(self, x: torch.Tensor) -> torch.Tensor:
        total = torch.zeros(len(x))
        for layer in self.layers:
            x, logs = layer(x)
            total = total + logs
        return total - (x**2).sum(dim=1) / 2 - x.shape[1] * np.log(2 * np.pi) / 2

    def logs(self, rows: Numbers) -> Numbers:
        with torch.no_grad():
            return np.asarray(self._logs(torch.tensor(rows, dtype=torch.float32)).double())
