"""Upper bounds of the score of trees over a box: the best leaf of each that the box reaches."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from likely.certificate.domain import ROUNDOFF, Box, Domain
from likely.errors import CertificateError
from likely.predictor import TreeEnsemble
from likely.problem.goal import Alternative
from likely.schema.values import Numbers

#: Conditions of all paths from roots to leaves, at most.
_MOST_CONDITIONS = 5_000_000


@dataclass(frozen=True, eq=False)
class _Asked:
    """What a path asks of one feature: cells first..last (none if first > last), or one of some atoms."""

    first: int
    last: int
    atoms: NDArray[np.bool_]


class Trees:
    """The leaves of trees with what their paths ask of features.

    Args:
        domain: The features' values.
        form: The trees.
    """

    def __init__(self, domain: Domain, form: TreeEnsemble) -> None:
        self._domain, self._form = domain, form
        self._values = [np.concatenate([part.low, part.atom]) for part in domain.parts]
        self._words = max(1, *(-(-len(part.atom) // 64) for part in domain.parts))
        starts, places = list[int](), list[int]()
        features, asked = list[int](), list[_Asked]()
        self._trees = [0]
        for root in form.roots:
            for place, conditions in self._leaves(int(root)):
                starts.append(len(asked))
                places.append(place)
                features += conditions.keys()
                asked += conditions.values()
                if len(asked) > _MOST_CONDITIONS:
                    raise CertificateError("Trees", "have fewer paths to be checked", f"more than {_MOST_CONDITIONS}", "none")
            self._trees.append(len(places))
        self._starts, self._places = np.array(starts, dtype=np.intp), np.array(places, dtype=np.intp)
        self._feature = np.array(features, dtype=np.intp)
        self._first = np.array([each.first for each in asked], dtype=np.intp)
        self._last = np.array([each.last for each in asked], dtype=np.intp)
        self._atoms = np.array([self._packed(each.atoms) for each in asked], dtype=np.uint64).reshape(-1, self._words)
        self._gains: dict[int, tuple[list[Numbers], list[float], list[float]]] = {}

    def _packed(self, atoms: NDArray[np.bool_]) -> NDArray[np.uint64]:
        bits = np.zeros(64 * self._words, dtype=np.bool_)
        bits[: len(atoms)] = atoms
        return np.packbits(bits, bitorder="little").view(np.uint64)

    def _leaves(self, root: int) -> list[tuple[int, dict[int, _Asked]]]:
        """Every path to a leaf that some value of each feature takes: where the leaf's values are, and what it asks."""
        leaves, waiting = [], [(root, dict[int, _Asked]())]
        while waiting:
            at, conditions = waiting.pop()
            node = self._form.nodes[at]
            j = int(node["feature"])
            if j < 0:
                leaves.append((int(node["inside"]), conditions or {0: self._anything(0)}))
                continue
            inside = (node["low"] <= self._values[j]) & (self._values[j] <= node["high"])
            known = conditions.get(j, self._anything(j))
            for successor, holds in ((node["inside"], inside), (node["outside"], ~inside)):
                waiting += [(int(successor), {**conditions, j: part}) for part in self._parts(j, known, holds)]
        return leaves

    def _anything(self, j: int) -> _Asked:
        part = self._domain.parts[j]
        return _Asked(0, len(part.low) - 1, np.ones(len(part.atom), dtype=np.bool_))

    def _parts(self, j: int, known: _Asked, holds: NDArray[np.bool_]) -> list[_Asked]:
        """The values of what is known that fulfil a test, as runs of cells; the atoms go with the first."""
        count = len(self._domain.parts[j].low)
        cells = known.first + np.flatnonzero(holds[known.first : known.last + 1]) if known.first <= known.last else np.empty(0)
        runs = np.split(cells, np.flatnonzero(np.diff(cells) > 1) + 1) if len(cells) else []
        atoms = known.atoms & holds[count:]
        none = np.zeros_like(atoms)
        made = [_Asked(int(run[0]), int(run[-1]), none if i else atoms) for i, run in enumerate(runs)]
        return made or ([_Asked(1, 0, atoms)] if atoms.any() else [])

    def _gain(self, number: int, alternative: Alternative) -> tuple[list[Numbers], list[float], list[float]]:
        """Per goal of an alternative: what every leaf scores, the base, and what adding them up may lose."""
        if number in self._gains:
            return self._gains[number]
        form, divisor = self._form, self._form.divisor
        output = np.repeat(form.output_of, np.diff(self._trees))
        gains, bases, lost = [], [], []
        for coefficients in alternative.coefficients:
            every = np.stack(
                [form.values[np.minimum(self._places + o, len(form.values) - 1)] for o in range(form.outputs)], axis=1
            )
            one = coefficients[np.maximum(output, 0)] * form.values[self._places]
            gain = np.where(output >= 0, one, every @ coefficients) / divisor
            sizes = np.where(output >= 0, np.abs(one), np.abs(every) @ np.abs(coefficients)) / divisor
            gains.append(gain)
            bases.append(float(coefficients @ form.base / divisor))
            size = np.maximum.reduceat(sizes, self._trees[:-1]).sum() if len(sizes) else 0.0
            size += np.abs(coefficients) @ np.abs(form.base) / divisor
            lost.append(float(2 * ROUNDOFF * (len(form.roots) + form.outputs + 8) * size))
        self._gains[number] = gains, bases, lost
        return self._gains[number]

    def reached(self, box: Box) -> NDArray[np.bool_]:
        """Which leaves some row of a box reaches, feature by feature."""
        domain = self._domain
        cells = np.array([domain.cells_of(box, j) for j in range(domain.size)])
        atoms = np.array([self._packed(domain.atoms_of(box, j)) for j in range(domain.size)]).reshape(-1, self._words)
        first, end = cells[self._feature].T
        met = np.maximum(first, self._first) <= np.minimum(end - 1, self._last)
        met |= (self._atoms & atoms[self._feature]).any(axis=1)
        return np.asarray(np.logical_and.reduceat(met, self._starts))

    def scores(self, box: Box) -> tuple[Numbers, Numbers]:
        """The outputs of one row, the only one of a box, and what computing them may lose."""
        form, reached = self._form, self.reached(box)
        output = np.repeat(form.output_of, np.diff(self._trees))
        scores, sizes = np.array(form.base, dtype=np.float64), np.abs(np.array(form.base, dtype=np.float64))
        for place, o in zip(self._places[reached], output[reached], strict=True):
            to = slice(o, o + 1) if o >= 0 else slice(None)
            values = form.values[place : place + (1 if o >= 0 else form.outputs)]
            scores[to] += values
            sizes[to] += np.abs(values)
        return scores / form.divisor, 2 * ROUNDOFF * (len(form.roots) + 8) * sizes / form.divisor

    def missed(self, box: Box, number: int, alternative: Alternative) -> bool:
        """Whether no row of a box reaches a goal."""
        if not len(self._form.roots):
            return False
        reached = self.reached(box)
        gains, bases, lost = self._gain(number, alternative)
        for gain, base, off, lower in zip(gains, bases, lost, alternative.lower, strict=True):
            best = np.maximum.reduceat(np.where(reached, gain, -np.inf), self._trees[:-1])
            if base + best.sum() + off + 2 * ROUNDOFF * abs(lower) < lower:
                return True
        return False
