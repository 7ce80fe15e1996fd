"""`learn`: a known density is found again, and the report says how."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from likely.circuit import FLOOR, Leaf
from likely.errors import CircuitError
from tests.circuit.learning.learned import METHODS, SMALL, check_sound, drawn, quiet, true_logs

# -- a density that is known ------------------------------------------------------------------------------------------


def test_a_known_mixture_is_found_again() -> None:
    X, y = drawn(0, 5000)
    unseen, classes = drawn(100, 5000)
    learned = quiet(X, y, method="mixture", nodes=60)
    check_sound(learned, X, y)
    truth = true_logs(unseen, classes).mean()
    judged = learned.circuit.log_likelihood(unseen, classes).mean()
    alone = quiet(X, y, method="mixture", nodes=1).circuit.log_likelihood(unseen, classes).mean()
    assert judged > truth - 0.1
    assert judged > alone + 0.8
    assert learned.validation == pytest.approx(judged, abs=0.1)
    assert learned.train > judged - 0.05


@pytest.mark.parametrize("method", METHODS)
def test_every_method_is_better_than_independence(method: Any) -> None:
    X, y = drawn(0, 800)
    unseen, classes = drawn(100, 2000)
    learned = quiet(X, y, method=method)
    check_sound(learned, X, y)
    alone = quiet(X, y, method="mixture", nodes=1)
    assert learned.circuit.log_likelihood(unseen, classes).mean() > alone.circuit.log_likelihood(unseen, classes).mean() + 0.5
    # the class, given the features: what the circuit says against what is so
    classify = [learned.circuit.log_likelihood(unseen, np.full(2000, value)) for value in (False, True)]
    right = ((classify[1] > classify[0]) == classes.to_numpy()).mean()
    assert right > 0.75


def test_the_class_left_out_is_summed_over() -> None:
    X, y = drawn(0, 500)
    circuit = quiet(X, y, **SMALL).circuit
    both = [circuit.log_likelihood(X, np.full(500, value)) for value in (False, True)]
    np.testing.assert_allclose(circuit.log_likelihood(X), np.logaddexp(*both), rtol=1e-9)


# -- the report -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("method", ["histograms", *METHODS])
def test_the_report(method: Any) -> None:
    X, y = drawn(0, 300)
    learned = quiet(X, y, method=method)
    assert learned.rows == 300
    assert learned.seconds > 0
    assert learned.method == ("mixture" if method == "histograms" else method)  # a number has too many bins for a tree
    assert learned.train == pytest.approx(learned.circuit.log_likelihood(X, y).mean())
    text = str(learned)
    assert repr(learned.circuit) in text
    assert f"{learned.train:.3f} in training" in text
    assert f"learned from 300 rows in {learned.seconds:.1f} s by {learned.method}" in text
    if method == "learnspn":
        assert math.isnan(learned.validation)
        assert "held out" not in text
        assert learned.settings == {"smallest slice": 15.0, "threshold": 0.3}
        assert "(smallest slice 15, threshold 0.3)" in text
    else:
        assert f", {learned.validation:.3f} held out" in text
        assert list(learned.settings) == ["nodes at most"]
        assert len(learned.circuit) <= learned.settings["nodes at most"]
        assert f"(nodes at most {learned.settings['nodes at most']:g})" in text


@pytest.mark.parametrize("nodes", [5, 12, 40, np.int64(90)])
def test_the_size_can_be_given(nodes: Any) -> None:
    X, y = drawn(0, 400)
    learned = quiet(X, y, nodes=nodes, method="mixture")
    assert len(learned.circuit) <= nodes
    assert learned.settings == {"nodes at most": float(nodes)}
    assert math.isfinite(learned.validation)
    check_sound(learned, X, y)


@pytest.mark.parametrize("method", METHODS)
def test_one_seed_one_circuit(method: Any) -> None:
    X, y = drawn(0, 150)
    first = quiet(X, y, method=method, random_state=3, n_jobs=1).circuit
    assert quiet(X, y, method=method, random_state=3, n_jobs=3).circuit == first
    assert quiet(X.set_index(X.index[::-1]), y.to_numpy(), method=method, random_state=3).circuit.nodes == first.nodes


def test_seeds_differ() -> None:
    X, y = drawn(0, 400)
    assert (
        quiet(X, y, nodes=40, method="mixture", random_state=1).circuit
        != quiet(X, y, nodes=40, method="mixture", random_state=2).circuit
    )


def test_finer_bins() -> None:
    X, _ = drawn(0, 3000)
    breaks = [
        sum(len(node.steps[0]) for node in quiet(X[["size"]], finest=finest, nodes=1).circuit.nodes if isinstance(node, Leaf))
        for finest in (0.1, 0.005)  # shares of the range
    ]
    assert 2 * breaks[0] < breaks[1]


def test_slices_and_threshold_of_learnspn() -> None:
    X, y = drawn(0, 600)
    sizes = [len(quiet(X, y, method="learnspn", min_slice=share).circuit) for share in (1.0, 0.3, 0.02)]
    assert sizes[0] < sizes[1] <= sizes[2]
    assert len(quiet(X, y, method="learnspn", threshold=1.0).circuit) == 5


# -- the floor --------------------------------------------------------------------------------------------------------


def test_the_floor() -> None:
    X, y = drawn(0, 200)
    assert quiet(X, y, **SMALL).circuit.floor == FLOOR
    assert quiet(X, y, floor=0.0, **SMALL).circuit.floor == 0.0
    assert quiet(X, y, floor=1e-3, **SMALL).circuit.floor == 1e-3
    with pytest.raises(CircuitError, match=r"^The floor of a circuit must be a number of at least 0; got -1\."):
        quiet(X.head(5), floor=-1)


@pytest.mark.parametrize("method", METHODS)
def test_the_floor_is_below_all_that_was_learned(method: Any) -> None:
    """Of an amount in the trillions every density per unit is below the usual floor: it may not hide them."""
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"gdp": 1e17 * rng.lognormal(0, 2, 500), "b": rng.random(500) < 0.5})
    learned = quiet(X, method=method, nodes=20 if method == "mixture" else None)
    check_sound(learned, X)
    assert 0 < learned.circuit.floor < FLOOR
    logs = learned.circuit.log_likelihood(X)
    truth = stats.lognorm(2, scale=1e17).logpdf(X["gdp"]) - math.log(2)
    assert np.corrcoef(logs, truth)[0, 1] > 0.9
