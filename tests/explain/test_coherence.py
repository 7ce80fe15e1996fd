"""How well the values of an answer fit together: beside rows that were held out, in every report, and checked again."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import likely
from likely.circuit import coherence, learn
from likely.errors import ProblemError
from likely.explain import audit
from likely.explain.plausibility import Peers
from likely.show import report
from tests.explain.examples import explainer_of, model_of, rejected, schema_of, table_of
from tests.explain.test_truth import VALUES, all_rows, case


@cache
def learned_of() -> likely.Explainer:
    """An explainer that has learned its circuit, and so has held rows out."""
    return likely.Explainer(model_of(), schema_of(), nodes=40, progress=False, n_jobs=1).fit(*table_of())


@cache
def answer_of() -> likely.Explanation:
    return learned_of().explain(rejected().iloc[0], k=2)


def test_it_is_the_circuits_with_the_class() -> None:
    for answer in answer_of().counterfactuals:
        row = learned_of().circuit_.encode(answer.row.to_frame().T, answer.label)
        assert answer.coherence == pytest.approx(coherence(learned_of().circuit_, row)[0])


def test_the_percentile_is_that_of_rows_held_out() -> None:
    X, y = table_of()
    folds = learn(X, y, schema_of(), nodes=40, cross_fit=True, progress=False).folds
    encoded = [fold.circuit.encode(X.iloc[fold.rows], y.iloc[fold.rows]) for fold in folds]
    fits = np.concatenate([coherence(fold.circuit, rows) for fold, rows in zip(folds, encoded, strict=True)])
    fits = fits[np.concatenate([y.iloc[fold.rows] == "yes" for fold in folds])]
    for answer in answer_of().counterfactuals:
        assert answer.coherence_percentile == pytest.approx(100 * np.mean(fits <= answer.coherence + 1e-9))


def test_beside_training_rows_and_beside_all() -> None:
    X, y = table_of()
    circuit = learned_of().circuit_
    fits = coherence(circuit, circuit.encode(X, y))
    for of, among in (("class", fits[y == "yes"]), ("all", fits)):
        variant = likely.Quantile(0.5, of=of, rows="training", given="class")  # coherence is given nothing
        best = learned_of().explain(rejected().iloc[0], plausibility=variant).best
        assert best.coherence_percentile == pytest.approx(100 * np.mean(among <= best.coherence + 1e-9))


def test_every_report_says_it(tmp_path: Path) -> None:
    answer = answer_of()
    percent = f"{answer.best.coherence_percentile:.0f}%"
    (line,) = [line for line in str(answer).splitlines() if line.startswith("fits together better than")]
    assert f"{percent} of new 'yes'" in line
    assert "fits together better than" in answer._repr_html_()
    report(answer, tmp_path / "page.html")
    assert "fits together better than … of new rows of yes" in (tmp_path / "page.html").read_text(encoding="utf-8")
    assert list(answer.measures()["coherence_percentile"]) == [each.coherence_percentile for each in answer.counterfactuals]
    assert answer.to_dict()["counterfactuals"][0]["coherence"] == answer.best.coherence
    audited = audit([answer])
    assert audited.coherence_percentile.median == answer.best.coherence_percentile
    assert "fits together better than" in str(audited)


def test_it_is_checked_again() -> None:
    claims = [check.claim for check in likely.verify(answer_of(), learned_of()).checks]
    assert claims.count("its values fit together as claimed") == 2
    assert claims.count("its values fit together better than in as many rows as claimed") == 2
    without = likely.verify(answer_of(), model_of())
    assert without.ok
    assert "its values fit together as claimed" in [check.claim for check in without.not_checked]


def test_an_explanation_of_version_4_says_nothing_of_it() -> None:
    """It is read, shown without that line, and checked as it was."""
    answer = likely.Explanation.from_json((Path(__file__).parent / "explanation_v4.json").read_text(encoding="utf-8"))
    assert answer.reading is not None
    assert answer.reading.as_written
    assert (answer.best.coherence, answer.best.coherence_percentile) == (None, None)
    assert "fit together" not in str(answer)
    assert likely.Explanation.from_json(answer.to_json()) == answer
    failed = {check.claim for check in likely.verify(answer, explainer_of()).checks if check.holds is False}
    # The file knows the model by all bits of its weights, and the last ones depend on the processor that fits it.
    assert failed <= {"the model is the one that was explained"}


def test_a_saved_explainer_of_version_3_knows_no_coherences(tmp_path: Path) -> None:
    learned_of().save(tmp_path)
    main = json.loads((tmp_path / "explainer.json").read_text(encoding="utf-8"))
    (tmp_path / "explainer.json").write_text(json.dumps({**main, "version": 3}), encoding="utf-8")
    with np.load(tmp_path / "training.npz") as arrays:
        as_then = {name: arrays[name] for name in arrays.files if "coherence" not in name}
    assert len(as_then) == len(np.load(tmp_path / "training.npz").files) - 4  # two classes, rows learned from and held out
    np.savez_compressed(tmp_path / "training.npz", **as_then)
    best = likely.Explainer.load(tmp_path, model_of()).explain(rejected().iloc[0], k=2).best
    assert best.coherence == answer_of().best.coherence
    assert best.coherence_percentile is None
    with pytest.raises(ProblemError, match="A demand on coherence must be asked of an explainer that knows how well rows fit"):
        likely.Explainer.load(tmp_path, model_of()).explain(rejected().iloc[0], coherence=0.5)


# -- as a demand -------------------------------------------------------------------------------------------------------


@cache
def asked_of() -> likely.Explainer:
    """An explainer whose circuit has histograms and categories only, and that knows rows which it has not seen."""
    X, y = table_of()
    circuit = learn(X.iloc[:200], y.iloc[:200], schema_of(), method="mixture", nodes=40, progress=False).circuit
    explainer = likely.Explainer(model_of(), schema_of(), circuit, progress=False)
    return explainer.fit(X.iloc[:200], y.iloc[:200], calibration=(X.iloc[200:], y.iloc[200:]))


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("share", [0.3, 0.8, 1.0])
def test_a_demand_equals_enumeration(classes: int, share: float) -> None:
    explainer, tree, X, y = case(classes, 0)
    circuit, rows = explainer.circuit_, all_rows()
    codes = rows.assign(c=rows["c"].map(VALUES["c"].index)).to_numpy()
    labels, shares = tree.predict(codes), np.sort(tree.predict_proba(codes), axis=1)
    fits, logs = coherence(circuit, circuit.encode(rows, labels)), circuit.log_likelihood(rows, labels)
    known, usual = coherence(circuit, circuit.encode(X, y)), circuit.log_likelihood(X, y)
    answered = 0
    for i in range(0, 60, 12):
        row = X.iloc[i]
        answer = explainer.explain(row, plausibility=likely.Quantile(0.2), coherence=share)
        costs = [
            explainer.schema_.cost(row, rows.iloc[r])
            for r, label in enumerate(labels)
            if label != answer.query.label
            and shares[r, -1] - shares[r, -2] >= 1e-4
            and logs[r] >= np.quantile(usual[y == label], 0.2) - 1e-8
            and fits[r] >= np.quantile(known[y == label], share) - 1e-8
            and not explainer.schema_.violations(row, rows.iloc[r])
        ]
        assert answer.status == ("optimal" if costs else "infeasible")
        assert likely.verify(answer, explainer).ok
        if costs:
            answered += 1
            assert answer.best.cost == pytest.approx(min(costs), abs=1e-6)
            assert answer.best.coherence_percentile >= 100 * share - 1e-6
    assert answered or share == 1.0


def test_the_threshold_is_the_quantile_and_is_kept() -> None:
    answer = asked_of().explain(rejected().iloc[0], coherence=0.8)
    ((label, lower),) = answer.coherence_thresholds
    peers = Peers("unseen", (), asked_of().classes_.index("yes"), "coherence")
    assert label == "yes"
    assert lower == pytest.approx(np.quantile(asked_of()._known.training.logs_of(peers), 0.8))
    assert answer.best.coherence >= lower > asked_of().explain(rejected().iloc[0]).best.coherence
    assert answer.best.coherence_percentile >= 80
    assert likely.Explanation.from_json(answer.to_json()) == answer
    assert "the coherence that was asked for is the question's" in [c.claim for c in likely.verify(answer, asked_of()).checks]
    assert "the question was: 1 answer within 60 s" in str(likely.verify(answer, asked_of()).not_checked)
    assert "coherence 0.8" in str(likely.verify(answer, asked_of()).not_checked)
    assert not answer_of().coherence_thresholds


@pytest.mark.parametrize(
    "forged",
    [
        {"coherence_thresholds": ()},
        {"coherence_thresholds": (("yes", -9.0),)},
        {"coherence_thresholds": (("yes", 9.0),)},
        {"query": None},
    ],
)
def test_a_forged_demand_is_found(forged: dict[str, Any]) -> None:
    answer = asked_of().explain(rejected().iloc[0], coherence=0.8)
    if "query" in forged:  # as if nothing had been asked
        query = answer.query.asking(coherence=None)
        forged = {"query": query, "counterfactuals": (replace(answer.best, query=query),)}
    assert not likely.verify(replace(answer, **forged), asked_of()).ok
    silent = replace(answer, counterfactuals=(replace(answer.best, coherence=None, coherence_percentile=None),))
    assert not likely.verify(silent, asked_of()).ok


def test_without_the_rows_a_demand_is_not_checked() -> None:
    answer = asked_of().explain(rejected().iloc[0], coherence=0.8)
    without = likely.verify(answer, model_of(), asked_of().circuit_)
    assert without.ok
    assert "the coherence that was asked for is the question's" in [check.claim for check in without.not_checked]
    assert not likely.verify(replace(answer, coherence_thresholds=()), model_of(), asked_of().circuit_).ok


def test_why_not_names_it() -> None:
    conflict = asked_of().why_not(rejected().iloc[0], coherence=1.0, plausibility=likely.Quantile(0.9))
    told = "the values of an answer must fit together as well as those of all of new rows of 'yes'"
    assert told in [reason.demand for reason in conflict.reasons]


def test_a_front_keeps_to_it() -> None:
    front = asked_of().front(rejected().iloc[0], quantiles=[0.25, 0.5], coherence=0.8)
    assert front.points
    assert all(point.best.coherence_percentile >= 80 for point in front.points)


@pytest.mark.parametrize("wrong", [2, -0.1, "half", True])
def test_a_share_that_is_none(wrong: Any) -> None:
    with pytest.raises(ProblemError, match="The coherence of an answer must be a share between 0 and 1; got"):
        likely.Question(coherence=wrong)


def test_a_page_says_what_was_asked(tmp_path: Path) -> None:
    report(asked_of().explain(rejected().iloc[0], coherence=0.8), tmp_path / "page.html")
    assert re.search(r"coherence.{0,60}at least &#x27;yes&#x27; ", (tmp_path / "page.html").read_text(encoding="utf-8"))


def test_without_a_floor_an_impossible_row_has_none() -> None:
    X, y = table_of()
    circuit = learn(X, y, schema_of(), nodes=20, floor=0.0, progress=False).circuit
    row = circuit.encode(X.head(1), y.head(1))
    row[0, 1] = 1e9
    assert coherence(circuit, row)[0] == -np.inf
