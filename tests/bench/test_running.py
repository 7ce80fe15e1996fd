"""A run: methods that hang, crash or raise harm nobody else, and a run that was ended goes on."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from likely.bench import supervising, tasks
from likely.bench.cell import Order, answer
from likely.bench.journal import Journal
from likely.bench.results import Results, read_notes
from likely.bench.running import run
from likely.bench.supervising import Patience
from likely.errors import DatasetError, ProblemError
from tests.bench.fakes import Careless, NearestWithAMask, Unfit, Unknowing
from tests.bench.test_tasks import tiny

METHODS = {"nearest": NearestWithAMask, "unfit": Unfit, "careless": Careless}
PATIENCE = Patience(seconds=1.0, ends=4)


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> Results:
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(tasks.LOADERS, "wine", tiny)
        patch.setattr(supervising, "GRACE", 0.5)
        patch.setattr("likely.bench.densities.find_spec", lambda name: None)  # a flow takes its time
        folder = tmp_path_factory.mktemp("run")
        return run(METHODS, ["wine"], [4], 4, k=3, patience=PATIENCE, refits=2, folder=folder, n_jobs=2, progress=False)


def test_every_question_has_an_outcome(results: Results) -> None:
    table = results.measures
    assert len(table) == len(METHODS) * 4 * 2
    assert not table.duplicated(["dataset", "fold", "method", "place", "choice"]).any()
    status = {name: part.set_index("place")["status"].to_dict() for name, part in results.chosen("first").groupby("method")}
    assert set(status["unfit"].values()) == {"failed"}
    rows = tiny().X.index
    expected = {0: status["nearest"], 1: "failed", 2: "failed", 3: "overtime"}
    factuals = _factuals(results)
    assert set(factuals) <= set(rows)
    assert sorted(index % 4 for index in factuals) == [0, 1, 2, 3]
    for place, index in enumerate(factuals):
        wanted = expected[index % 4]
        assert status["careless"][place] == (wanted[place] if isinstance(wanted, dict) else wanted)
    errors = results.chosen("first").set_index("method")["error"]
    assert errors["unfit"].iloc[0] == "ValueError: nothing to learn"


def _factuals(results: Results) -> list[int]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(tasks.LOADERS, "wine", tiny)
        return [int(index) for index in tasks.task("wine", 4, 4).factuals.index]


def test_what_is_measured_is_what_was_answered(results: Results) -> None:
    """The nearest rows again, without processes and journals."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(tasks.LOADERS, "wine", tiny)
        made = tasks.task("wine", 4, 4)
    method = NearestWithAMask()
    method.fit(made.data, made.model, made.form)
    schema = made.data.schema
    for choice in ("first", "likeliest"):
        table = results.chosen(choice)
        for line in table[table["method"] == "nearest"].itertuples():
            rows = method.generate(made.question(line.place, 3, 1.0)).rows
            assert line.answers == len(rows)
            if not len(rows):
                continue
            target = made.targets[line.place]
            logs = made.data.circuit.log_likelihood(rows, [target] * len(rows))
            place = 0 if choice == "first" else int(np.argmax(logs))
            chosen = rows.iloc[[place]]
            assert line.row == schema.encode(chosen)[0].tolist()
            assert line.nll == pytest.approx(-logs[place])
            assert line.distance == pytest.approx(schema.cost(made.factuals.iloc[line.place], chosen.iloc[0]))
            assert line.valid == (made.model.predict(chosen)[0] == target) == True  # noqa: E712
            assert line.actionable
            assert line.possible
            assert line.rounded
            assert 0 <= line.retraining <= 1
            assert 0 <= line.noise <= 1
            assert line.lof > 0.5
            assert 0 < line.isolation < 1
            own = made.data.X[(made.data.y == target).to_numpy()]
            nearest = min(schema.cost(chosen.iloc[0], own.iloc[i]) for i in range(len(own)))
            assert line.nearest == pytest.approx(nearest)


def test_files(results: Results) -> None:
    pytest.importorskip("pyarrow")
    table = pd.read_parquet(results.folder / "results.parquet")
    assert len(table) == len(results.measures)
    notes = read_notes(results.folder / "results.parquet")
    assert '"seed": 0' in notes["sittings"]
    assert '"cores"' in notes["sittings"]
    assert "numpy" in notes["sittings"]


def test_answers_of_a_method_as_plain_data() -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(tasks.LOADERS, "wine", tiny)
        made = tasks.task("wine", 0, 5, most_rows=40)
    order = Order("", b"", (0,), 2, 1.0)
    unknowing, nearest = Unknowing(), NearestWithAMask()
    for method in (unknowing, nearest):
        method.fit(made.data, made.model, made.form)
    assert answer(unknowing, made, 0, order)["error"].startswith(("ValueError: a row has a value", "SchemaError"))
    found = [answer(nearest, made, place, order) for place in range(5)]
    assert {one["status"] for one in found} <= {"answered", "none"}
    assert all(len(one["rows"]) <= 2 and one["waited"] >= one["seconds"] for one in found)


def test_going_on(results: Results, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(tasks.LOADERS, "wine", tiny)
    monkeypatch.setattr("likely.bench.densities.find_spec", lambda name: None)
    again: dict[str, Any] = {"k": 3, "patience": PATIENCE, "refits": 2, "folder": results.folder, "progress": False}
    with pytest.raises(ProblemError, match="--resume"):
        run(METHODS, ["wine"], [4], 4, **again)
    with pytest.raises(ProblemError, match="'seed' of a run that goes on must stay 0"):
        run(METHODS, ["wine"], [4], 4, seed=1, resume=True, **again)
    before = (results.folder / "answers.jsonl").read_bytes()
    answers = Journal(results.folder / "answers.jsonl")
    # Two answers get lost, and the measures of one: only these are asked and measured again.
    kept = [event for event in answers.events() if (event.get("method"), event.get("place")) != ("nearest", 2)]
    answers.path.unlink()
    answers.append(*kept)
    done = run({"nearest": NearestWithAMask}, ["wine"], [4], 4, resume=True, **again)
    added = list(answers.events())[len(kept) :]
    assert [event["place"] for event in added if "place" in event] == [2]
    assert len(done.sittings) == 2
    columns = ["method", "place", "choice", "valid", "nll", "distance"]
    pd.testing.assert_frame_equal(
        done.measures[columns].sort_values(columns[:3], ignore_index=True),
        results.measures[columns].sort_values(columns[:3], ignore_index=True),
    )
    assert len(before) > 0


SCRIPT = """
import sys, time
from likely.bench import tasks
from likely.bench.running import run
from likely.bench.supervising import Patience
from tests.bench.fakes import NearestWithAMask
from tests.bench.test_tasks import tiny

class Slow(NearestWithAMask):
    def generate(self, asked):
        time.sleep(0.2)
        return super().generate(asked)

tasks.LOADERS["wine"] = tiny
run({"slow": Slow}, ["wine"], [0], 20, k=1, patience=Patience(5.0), refits=0, folder=sys.argv[1], resume=True, progress=False)
"""


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="no such signals")
def test_a_run_that_is_killed_loses_one_question_at_most(tmp_path: Path) -> None:
    script, folder = tmp_path / "script.py", tmp_path / "run"
    script.write_text(SCRIPT)
    paths = [str(Path(__file__).parents[2]), os.environ.get("PYTHONPATH", "")]
    started: dict[str, Any] = {"env": {**os.environ, "PYTHONPATH": os.pathsep.join(paths)}, "stderr": subprocess.DEVNULL}
    journal = Journal(folder / "answers.jsonl")
    with subprocess.Popen([sys.executable, str(script), str(folder)], **started) as first:
        while sum("place" in event for event in journal.events()) < 3 and first.poll() is None:
            time.sleep(0.05)
        os.kill(first.pid, signal.SIGKILL)
    answered = [event["place"] for event in journal.events() if "place" in event]
    assert answered == list(range(len(answered)))
    assert 3 <= len(answered) < 20
    subprocess.run([sys.executable, str(script), str(folder)], check=True, **started)
    assert [event["place"] for event in journal.events() if "place" in event] == list(range(20))
    assert len(Results.load(folder).measures) == 40


def test_refusals_before_any_work(tmp_path: Path) -> None:
    def asked(**more: Any) -> None:
        run(**{"methods": METHODS, "datasets": ["wine"], "folds": [0], "factuals": 1, "folder": tmp_path / "run", **more})

    for more, said in (
        ({"methods": {}}, "methods must be one at least"),
        ({"datasets": []}, "data sets must be one at least"),
        ({"folds": [7]}, "0 to 4"),
        ({"factuals": 0}, "'factuals'"),
        ({"k": 0}, "'k'"),
    ):
        with pytest.raises(ProblemError, match=said):
            asked(**more)
    with pytest.raises(DatasetError, match="be one of"):
        asked(datasets=["unknown"])
    assert not (tmp_path / "run").exists()
    with pytest.raises(ProblemError, match="hold a run"):
        Results.load(tmp_path)
