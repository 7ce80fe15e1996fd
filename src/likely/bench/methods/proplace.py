"""PROPLACE (Jiang et al. 2023): the nearest row that stays valid whatever the model becomes, within a plausible region.

A model may become any network whose weights and biases differ by at most delta from its own. The plausible region is the convex
hull of the row and of its nearest training rows of the wanted class that stay valid themselves. The row is found by robust
optimisation: the nearest point of the region that is valid for all models of a list, which begins with the model itself; then
the model for which that point is least valid joins the list; until there is none for which it is invalid.

As in the LiCE paper, delta starts at 0.025 and falls by 0.005 until enough training rows of a class stay valid. Of training rows
that is decided by interval bounds, which are quick and on the safe side; of answers exactly.

It gets the rules about one feature, as bounds of the programme.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from likely.bench.methods.rival import Question, Rival
from likely.bench.programme import Programme, interval, of_point
from likely.errors import PredictorError
from likely.predictor import Form, LinearModel, ReluNetwork
from likely.predictor.forms import Layers
from likely.problem import Alternative, to_class
from likely.schema.values import Numbers

FIRST_DELTA, LESS, LAST_DELTA = 0.025, 0.005, 0.0005
#: How many training rows of a class must stay valid, how many of them span the region, and how many models the list has at most.
ENOUGH, NEIGHBOURS, MODELS = 10, 10, 8
#: What one programme may take.
SECONDS = 3.0


@dataclass(frozen=True, eq=False)
class Worst:
    """The model for which a row is least valid."""

    margin: float
    form: ReluNetwork


def as_network(form: Form) -> ReluNetwork:
    """A linear function as a network of one layer, and a network as it is.

    Args:
        form: What the model computes.
    """
    if not isinstance(form, LinearModel | ReluNetwork):
        raise PredictorError(
            "The model of PROPLACE", "have weights", f"a {form.form} form", "leave the method out for this model"
        )
    return ReluNetwork(form.link, form.classes, form.columns, form.layers)


def worst(form: ReluNetwork, row: Numbers, alternative: Alternative, delta: float) -> Worst:
    """The model within delta of this one for which a row is least within a class, exactly.

    Each unit has weights of its own, so that, for inputs h of either sign, it can add anything within delta * (|h|_1 + 1) to
    what it computes. After the first layer all h are positive, and what the others can add is linear in them: the least
    margin is a mixed-integer programme with one whole variable per unit of unclear sign.

    Args:
        form: The model.
        row: The row, as doubles.
        alternative: What a row of the class fulfils.
        delta: By how much weights and biases may differ.
    """
    inputs = form.inputs(row[None], n_jobs=1)[0]
    found = [_worst_of(form.layers, inputs, c, float(least), delta) for c, least in _inequalities(alternative)]
    margin, layers = min(found, key=lambda pair: pair[0])
    return Worst(margin, replace(form, layers=layers))


def _inequalities(alternative: Alternative) -> list[tuple[Numbers, float]]:
    return list(zip(alternative.coefficients, alternative.lower.tolist(), strict=True))


def _worst_of(layers: Layers, inputs: Numbers, c: Numbers, least: float, delta: float) -> tuple[float, Layers]:
    weights, bias = layers[0]
    middle, reach = weights @ inputs + bias, delta * (np.abs(inputs).sum() + 1)
    if len(layers) == 1:
        margin = float(c @ middle - np.abs(c).sum() * reach - least)
        return margin, (_shifted(layers[0], -np.sign(c), delta, np.sign(inputs)),)
    programme = Programme()
    before = programme.variables(middle - reach, middle + reach)  # what units compute, before max(0, .)
    values = [before]
    units = programme.relu(before, np.eye(len(before)), np.zeros(len(before)), middle - reach, middle + reach)
    low, high = np.maximum(middle - reach, 0.0), np.maximum(middle + reach, 0.0)
    for weights, bias in layers[1:-1]:
        least_sum = interval(weights - delta, bias - delta, low, high)[0]
        most_sum = interval(weights + delta, bias + delta, low, high)[1]
        before = programme.variables(least_sum, most_sum)
        for unit, row, shift in zip(before, weights, bias, strict=True):
            joined = np.append(unit, units)
            programme.require(joined, np.append(1.0, -(row - delta)), least=float(shift - delta))
            programme.require(joined, np.append(1.0, -(row + delta)), most=float(shift + delta))
        values.append(before)
        units = programme.relu(before, np.eye(len(before)), np.zeros(len(before)), least_sum, most_sum)
        low, high = np.maximum(least_sum, 0.0), np.maximum(most_sum, 0.0)
    weights, bias = layers[-1]
    programme.price(units, c @ weights - delta * np.abs(c).sum())
    found = programme.solve(SECONDS)
    if found is None:  # no proof within the time: as if it were invalid, for the model itself
        return -np.inf, layers
    made, h = [], inputs
    for (weights, bias), places in zip(layers[:-1], values, strict=True):
        share = (found[places] - weights @ h - bias) / (delta * (np.abs(h).sum() + 1)) if delta else np.zeros(len(bias))
        made.append(_shifted((weights, bias), np.clip(share, -1.0, 1.0), delta, np.sign(h)))
        h = np.maximum(made[-1][0] @ h + made[-1][1], 0.0)
    made.append(_shifted(layers[-1], -np.sign(c), delta, np.ones(len(h))))
    return float(c @ (made[-1][0] @ h + made[-1][1]) - least), tuple(made)


def _shifted(layer: tuple[Numbers, Numbers], shares: Numbers, delta: float, signs: Numbers) -> tuple[Numbers, Numbers]:
    """A layer with the weights and bias of each unit moved by a share of delta, weights in the direction of their inputs."""
    weights, bias = layer
    return weights + delta * shares[:, None] * signs, bias + delta * shares


def surely_robust(form: ReluNetwork, rows: Numbers, alternative: Alternative, delta: float) -> Numbers:
    """Lower bounds of the margins of rows over all models within delta, by intervals.

    Args:
        form: The model.
        rows: Rows, as doubles.
        alternative: What a row of the class fulfils.
        delta: By how much weights and biases may differ.
    """
    low = high = form.inputs(rows, n_jobs=1)
    for i, (weights, bias) in enumerate(form.layers):
        if i:
            low, high = np.maximum(low, 0.0), np.maximum(high, 0.0)
        middle, spread = (low + high) / 2, (high - low) / 2
        reach = spread @ np.abs(weights).T + delta * (np.maximum(np.abs(low), np.abs(high)).sum(axis=1, keepdims=True) + 1)
        centre = middle @ weights.T + bias
        low, high = centre - reach, centre + reach
    least = np.maximum(alternative.coefficients, 0) @ low.T + np.minimum(alternative.coefficients, 0) @ high.T
    return np.asarray((least.T - alternative.lower).min(axis=1))


class Proplace(Rival):
    """A list of models, and the nearest point that is valid for all of them."""

    name = "proplace"

    def prepare(self) -> None:
        """Find, per class, the training rows that stay valid, and the delta for which there are enough."""
        known = self.known
        self.form = as_network(known.form)
        self.deltas: list[float] = []
        self.robust: list[Numbers] = []
        for k in range(len(known.form.classes)):
            rows, delta = known.rows[known.decided == k], FIRST_DELTA
            safe = rows[:0]
            while delta >= LAST_DELTA:
                safe = rows[surely_robust(self.form, rows, self._alternative(k), delta) >= 0]
                if len(safe) >= min(ENOUGH, len(rows)):
                    break
                delta = round(delta - LESS, 6) if delta > 1.5 * LESS else delta / 2
            self.deltas.append(delta)
            self.robust.append(safe)

    def _alternative(self, target: int) -> Alternative:
        (alternative,) = to_class(self.known.form, self.known.form.classes[target]).alternatives
        return alternative

    def search(self, question: Question) -> Numbers:
        """The nearest row that stays valid; without one, the nearest of the neighbours, which do.

        Args:
            question: What is asked.
        """
        target, encoding = question.target, self.known.encoding
        safe = self.robust[target]
        if not len(safe):
            return np.empty((0, len(question.row)))
        breaks = ~question.admitted(safe)
        neighbours = safe[np.lexsort((np.abs(encoding.encode(safe) - question.point).sum(axis=1), breaks))[:NEIGHBOURS]]
        corners = np.vstack([question.point, encoding.encode(neighbours)])
        alternative, delta = self._alternative(target), self.deltas[target]
        models = [self.form]
        while len(models) <= MODELS and question.left > 0:
            row = self._nearest(question, corners, models)
            if row is None:
                break
            found = worst(self.form, row, alternative, delta)
            if found.margin >= 0:
                return np.vstack([row, neighbours])
            models.append(found.form)
        return neighbours

    def _nearest(self, question: Question, corners: Numbers, models: list[ReluNetwork]) -> Numbers | None:
        """The row of the nearest point of the hull that all models decide as wanted."""
        encoding, alternative = self.known.encoding, self._alternative(question.target)
        low, high = question.box
        ends = np.maximum(low, corners.min(axis=0)), np.minimum(high, corners.max(axis=0))
        if (ends[0] > ends[1]).any():
            return None
        programme, places = of_point(encoding, *ends)
        shares = programme.variables(np.zeros(len(corners)), np.ones(len(corners)))
        programme.require(shares, np.ones(len(shares)), 1.0, 1.0)
        for place, column in zip(places, corners.T, strict=True):
            programme.require(np.append(place, shares), np.append(-1.0, column), 0.0, 0.0)
        for model in models:
            programme.network(places, encoding.layers(model), alternative.coefficients, alternative.lower)
        far = programme.distances(places, np.eye(len(places)), question.point)
        programme.price(far, np.ones(len(far)))
        found = programme.solve(min(SECONDS, question.left))
        return None if found is None else question.decode(found[places][None])[0]
