"""What every method keeps: rows that the schema holds, of the wanted class, no more than were asked for, the same every time."""

from __future__ import annotations

from importlib.util import find_spec
from typing import Any

import numpy as np
import pandas as pd
import pytest

from likely.bench.methods import METHODS
from likely.errors import PredictorError
from tests.bench.methods.examples import asked, fitted, forest, loans

NEEDS = {
    "torch": {"wachter", "vae", "c-chvae", "ppcef", "ceflow", "dice-gradient"},
    "dice_ml": {"dice-gradient", "dice-random", "dice-genetic"},
    "highspy": {"lice-median-milp"},
}
#: What explains trees alone is tested in test_worker.py.
OWN = [name for name in METHODS if name not in ("treecf", "ocean")]
#: A programme that takes all the time that it is given needs no more than this here.
SECONDS = {"lice-median-milp": 2.0}
#: Methods that return training rows, which may break a rule if all of them do.
AS_THEY_ARE = ("nearest-row", "face-knn", "face-epsilon", "proplace")
#: Methods that ask the model, and do not look inside of it.
BLACK_BOX = ["mio", "nearest-row", "nice-sparse", "growing-spheres", "face-knn", "c-chvae", "dice-random"]


def skip_without(name: str) -> None:
    for package, names in NEEDS.items():
        if name in names and find_spec(package) is None:
            pytest.skip(f"needs {package}")


@pytest.mark.parametrize("name", OWN)
def test_rows_are_of_the_schema_and_of_the_class(name: str) -> None:
    skip_without(name)
    data, model, _ = loans()
    method: Any = fitted(name, loans)
    assert method.name == name
    answered = 0
    for place in (0,) if name.startswith(("dice", "proplace")) else (0, 7):
        question = asked(loans(), place, seconds=SECONDS.get(name, 10.0))
        found = method.generate(question)
        assert list(found.rows.columns) == list(data.X.columns)
        assert found.seconds >= 0
        assert len(found.rows) <= 1
        if len(found.rows):
            answered += 1
            factual = data.schema.encode(question.factual)[0]
            row = data.schema.encode(found.rows)
            assert model.predict(found.rows)[0] == question.target
            assert all(feature.fits(row[:, j])[0] for j, feature in enumerate(data.schema.features))
            moved = row[0] != factual
            assert name in AS_THEY_ARE or (not moved[data.schema.index("telephone")] and row[0, 0] >= factual[0])
    assert answered


@pytest.mark.parametrize(
    "name", ["mio", "nice-sparse", "growing-spheres", "wachter", "vae", "c-chvae", "face-knn", "dice-random"]
)
def test_several_rows_differ_and_come_again(name: str) -> None:
    skip_without(name)
    method, question = fitted(name, loans), asked(loans(), 0, k=4)
    first, again = method.generate(question).rows, method.generate(question).rows
    pd.testing.assert_frame_equal(first, again)
    assert 1 <= len(first) <= 4
    assert not first.duplicated().any()


@pytest.mark.parametrize("name", BLACK_BOX)
def test_trees(name: str) -> None:
    skip_without(name)
    model, question = forest()[1], asked(forest(), 5)
    rows = fitted(name, forest).generate(question).rows
    assert (model.predict(rows) == question.target).all()
    assert len(rows)


@pytest.mark.parametrize("name", ["wachter", "proplace", "dace", "place"])
def test_trees_are_refused_where_weights_are_needed(name: str) -> None:
    skip_without(name)
    with pytest.raises(PredictorError, match="leave the method out"):
        METHODS[name]().fit(*forest())


def test_answers_of_the_engine() -> None:
    """Proved, no costlier than any rival's, and as likely as was asked for."""
    data = loans()[0]
    logs = data.circuit.log_likelihood(data.X, data.y)
    for place in (0, 3):
        question = asked(loans(), place)
        factual = data.schema.encode(question.factual)[0]
        found = {name: fitted(name, loans).generate(question) for name in ("mio", "lice-median", "lice-quartile")}
        cost = {name: data.schema.prices(factual, data.schema.encode(each.rows))[0] for name, each in found.items()}
        assert all(each.proved for each in found.values())
        assert cost["mio"] <= cost["lice-quartile"] + 1e-4 <= cost["lice-median"] + 2e-4
        for name, q in (("lice-median", 0.5), ("lice-quartile", 0.25)):
            own = data.circuit.log_likelihood(found[name].rows, [question.target])
            assert own[0] >= np.quantile(logs, q) - 1e-9
            assert found[name].claimed[0] == pytest.approx(own[0])
        for rival in ("nearest-row", "nice-sparse", "growing-spheres"):
            rows = data.schema.encode(fitted(rival, loans).generate(question).rows)
            kept = data.schema.admits(factual, rows)
            assert (data.schema.prices(factual, rows[kept]) >= cost["mio"] - 1e-3).all()


def test_the_programme_of_the_paper() -> None:
    """It believes less of its answers than is true, which are as likely as was asked for, and cost no less than the best."""
    skip_without("lice-median-milp")
    data = loans()[0]
    least = np.quantile(data.circuit.log_likelihood(data.X, data.y), 0.5)
    question = asked(loans(), 0, seconds=5.0)
    factual = data.schema.encode(question.factual)[0]
    exact, found = (fitted(name, loans).generate(question) for name in ("lice-median", "lice-median-milp"))
    assert len(found.rows) == 1
    (claimed,), (own,) = found.claimed, data.circuit.log_likelihood(found.rows, [question.target])
    assert least - 1e-6 <= claimed < own
    cost = {
        each: data.schema.prices(factual, data.schema.encode(made.rows))[0] for each, made in (("exact", exact), ("milp", found))
    }
    assert cost["exact"] <= cost["milp"] + 1e-4


def test_the_likeliest_of_the_closest() -> None:
    data = loans()[0]
    question = asked(loans(), 0, k=10)
    near, chosen = (fitted(name, loans).generate(question) for name in ("mio", "mio-likeliest"))
    logs = data.circuit.log_likelihood(chosen.rows, [question.target] * len(chosen.rows))
    assert (np.diff(logs) <= 1e-9).all()
    assert logs[0] == pytest.approx(max(near.claimed))


def test_a_factual_beside_the_table() -> None:
    """A number outside of its bounds, and of its step."""
    data, model, _ = loans()
    factual = data.X.iloc[[0]].assign(income=99999.999, age=80)
    target = next(label for label in model.classes_ if label != model.predict(factual)[0])
    question = type(asked(loans(), 0))(factual, target, 1, 3.0)
    for name in ("nearest-row", "nice-sparse", "growing-spheres"):
        rows = fitted(name, loans).generate(question).rows
        assert (model.predict(rows) == target).all()
