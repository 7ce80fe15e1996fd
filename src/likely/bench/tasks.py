"""The settings of the protocol: for a name and a fold, the training table, its circuit, the network, and the rows to explain.

Tables are cut by `KFold(5, shuffle=True, random_state=0)`, and the rows to explain are drawn from the test part. For the Bayesian
networks, where there is no table to cut, a fold is a seed: 10,000 rows to learn from and fresh ones to explain.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from likely import datasets
from likely.bench import sources
from likely.bench.classifier import forest, trained
from likely.bench.method import Asked, Data
from likely.bench.networks import Network, Places, read_network
from likely.circuit import learn
from likely.datasets import Dataset
from likely.errors import DatasetError
from likely.predictor import Form, read
from likely.schema import Schema
from likely.schema.values import Numbers

FOLDS, FACTUALS = 5, 100
#: Rows that are sampled from a Bayesian network to learn from, and fresh ones: its test part.
SAMPLED, FRESH = 10_000, 1_000
#: The paper's tables; the Bayesian networks, with the variable that is decided; tables of reals and others.
PAPER = ("gmsc", "adult", "credit")
TARGETS = {"asia": "dysp", "alarm": "BP", "win95pts": "Problem1"}
OTHERS = (*sources.SCIKIT, *sources.KEEL, "compas")
NAMES = (*PAPER, *TARGETS, *OTHERS)
#: Of a variable with more than two states, the paper decides whether it has this one.
_POSITIVE = {"alarm": "HIGH"}
#: What stands after a colon, "credit:forest", is the family of the model; without one it is the paper's network.
FAMILIES = {"": trained, "forest": forest}


@dataclass(frozen=True, eq=False)
class Truth:
    """The distribution that rows were sampled from, where it is known."""

    network: Network
    #: The variable that is the class, and which of its states each class stands for.
    target: str
    states: dict[Any, tuple[int, ...]]

    def probability(self, rows: Numbers, label: Any) -> Numbers:
        """How probable each row is together with a class.

        Args:
            rows: Encoded by the schema: places of states, in the order of the network without the target.
            label: The class.
        """
        column = self.network.names.index(self.target)
        total = np.zeros(len(rows))
        for state in self.states[label]:
            whole: Places = np.insert(rows.astype(np.int64), column, state, axis=1)
            total += np.exp(self.network.log_probability(whole))
        return total


@dataclass(frozen=True, eq=False)
class Task:
    """One fold of one data set: what methods are fitted on, and what they are asked."""

    #: As `task` was told: the data set, and perhaps the family of the model.
    word: str
    fold: int
    data: Data
    #: A scikit-learn pipeline.
    model: Any
    form: Form
    #: The rows to explain, in the columns of the schema; the index says where they are from.
    factuals: pd.DataFrame
    #: What the model decides of them, and the class that is asked for.
    labels: tuple[Any, ...]
    targets: tuple[Any, ...]
    #: The share of the test rows that the model decides right, and their mean log-likelihood with their class.
    accuracy: float
    log_likelihood: float
    truth: Truth | None = None

    @property
    def name(self) -> str:
        """Of data set, model and fold, for files."""
        return f"{self.word.replace(':', '-')}-{self.fold}"

    def again(self, X: pd.DataFrame, y: pd.Series[Any], seed: int) -> Any:
        """A model of the same family, of other rows or another seed.

        Args:
            X: The training rows.
            y: Their classes.
            seed: Of its training.
        """
        return FAMILIES[self.word.partition(":")[2]](self.data.schema, X, y, seed)

    def question(self, place: int, k: int, seconds: float) -> Asked:
        """What a method is asked for one of the rows.

        Args:
            place: Of the row, from 0.
            k: How many answers.
            seconds: How long it may take.
        """
        return Asked(self.factuals.iloc[[place]], self.targets[place], k, seconds)


def known_word(word: str) -> tuple[str, str]:
    """The data set and the family of models that a word names.

    Args:
        word: One of `NAMES`, and perhaps one of `FAMILIES` after a colon.
    """
    name, _, family = word.partition(":")
    if name not in NAMES:
        raise DatasetError("The name of a data set", f"be one of {', '.join(NAMES)}", repr(name), "choose one of them")
    if family not in FAMILIES:
        raise DatasetError("The model of a data set", "be left out or 'forest'", repr(family), f"write {name} or {name}:forest")
    return name, family


def task(word: str, fold: int = 0, factuals: int = FACTUALS, seed: int = 0, most_rows: int | None = None) -> Task:
    """A fold of a data set, with its model trained and its circuit learned.

    Args:
        word: One of `NAMES`; "credit:forest" is Credit with a random forest instead of the paper's network.
        fold: From 0; of a Bayesian network, the seed of the sample.
        factuals: How many rows to explain, at most as many as the test part has; those of a smaller number come first.
        seed: Of the rows to explain, the network's first weights and the circuit.
        most_rows: Learn from a sample of so many rows, to be quick; None for all.
    """
    name, family = known_word(word)
    if not 0 <= fold < FOLDS:
        raise DatasetError("A fold", f"be one of 0 to {FOLDS - 1}", fold, "count from 0")
    if factuals < 1:
        raise DatasetError("The number of factuals", "be at least 1", factuals, f"leave it out for {FACTUALS}")
    table, test, truth = _sampled(name, fold) if name in TARGETS else _cut(name, fold)
    places = np.setdiff1d(np.arange(len(table.X)), test)
    if most_rows is not None and len(places) > most_rows:
        places = np.sort(np.random.default_rng([seed, fold]).choice(places, most_rows, replace=False))
    asked = np.random.default_rng([seed, fold, 1]).permutation(test)[:factuals]
    X, y = table.X.iloc[places], table.y.iloc[places]
    known = {feature.name: feature for feature in table.schema.features}
    schema = Schema.infer(X, features=known, rules=table.schema.constraints)  # costs are those of the training rows
    model = FAMILIES[family](schema, X, y, seed)
    method: Literal["histograms", "auto"] = "auto" if name in OTHERS else "histograms"  # the MIO knows no Gaussian blocks
    learned = learn(X, y, schema, method=method, random_state=seed, progress=False)
    if learned.interrupted:  # by Ctrl-C, after which there is a circuit, but not the one of the protocol
        raise KeyboardInterrupt
    circuit = learned.circuit
    labels, targets = _asked_for(model, table.X.iloc[asked])
    held_out, classes = table.X.iloc[test], table.y.iloc[test]
    return Task(
        word=word,
        fold=fold,
        data=Data(name, schema, X, y, circuit, seed),
        model=model,
        form=read(model, schema),
        factuals=table.X.iloc[asked],
        labels=labels,
        targets=targets,
        accuracy=float((model.predict(held_out) == classes).mean()),
        log_likelihood=float(circuit.log_likelihood(held_out, classes).mean()),
        truth=truth,
    )


def check_available(word: str) -> None:
    """Refuse a data set that cannot be read here, in one sentence, before any work.

    Args:
        word: As `task` takes it.
    """
    name, _ = known_word(word)
    _ = read_network(name) if name in TARGETS else LOADERS[name]()


def _cut(name: str, fold: int) -> tuple[Dataset, NDArray[np.intp], None]:
    """A table and the places of its test rows."""
    from sklearn.model_selection import KFold

    table = LOADERS[name]()
    folds = list(KFold(FOLDS, shuffle=True, random_state=0).split(table.X))
    return table, folds[fold][1], None


def _sampled(name: str, fold: int) -> tuple[Dataset, NDArray[np.intp], Truth]:
    """Rows of a Bayesian network, and the places of the fresh ones."""
    network = read_network(name)
    rows = network.sample(SAMPLED + FRESH, np.random.default_rng(fold))
    column = network.names.index(TARGETS[name])
    listed = network.variables[column].states
    positive = listed.index(_POSITIVE[name]) if name in _POSITIVE else 1
    states = {"0": tuple(place for place in range(len(listed)) if place != positive), "1": (positive,)}
    whole = network.schema
    features = tuple(feature for feature in whole.features if feature.name != TARGETS[name])
    X = Schema(features).decode(np.delete(rows, column, axis=1).astype(np.float64))
    y = pd.Series(np.where(rows[:, column] == positive, "1", "0"), index=X.index, name=TARGETS[name])
    table = Dataset(name, X, y, Schema(features), "the package pgmpy", "as pgmpy says")
    return table, np.arange(SAMPLED, len(rows)), Truth(network, TARGETS[name], states)


def _asked_for(model: Any, factuals: pd.DataFrame) -> tuple[tuple[Any, ...], tuple[Any, ...]]:
    """What the model decides, and what is asked for: the other class, or of several the next probable one."""
    ranked = np.argsort(-model.predict_proba(factuals), axis=1, kind="stable")
    labels = model.predict(factuals)
    first, second = model.classes_[ranked[:, 0]], model.classes_[ranked[:, 1]]
    return tuple(labels.tolist()), tuple(np.where(first == labels, second, first).tolist())


LOADERS: dict[str, Callable[[], Dataset]] = {
    **{name: partial(datasets.load, name) for name in PAPER},
    **{name: partial(sources.scikit, name) for name in sources.SCIKIT},
    **{name: partial(sources.keel, name) for name in sources.KEEL},
    "compas": sources.compas,
}
