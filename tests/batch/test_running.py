"""Batches: every source and output says what `explain_many` says, and a run that was killed ends with the same bytes."""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import pandas as pd
import polars
import pytest
from hypothesis import given
from hypothesis import strategies as st

import likely
from likely.batch import outputs, workers
from likely.batch.entries import Entry
from likely.batch.pace import Pace
from likely.batch.sources import Source, source_of, tasks_of
from likely.batch.tasks import Asked, Done, Job, Task, as_plain, done_of, explained
from likely.batch.workers import Processes, halved, in_order
from likely.errors import LikelyError
from likely.explain.model import UserModel
from tests.batch.saved import Saved
from tests.explain import examples

CHUNK = 8


def content(path: Path) -> dict[str, bytes]:
    """All bytes of an output, and none of its journal."""
    files = sorted(path.iterdir()) if path.is_dir() else [path]
    return {file.name: file.read_bytes() for file in files if file.parent == path or file == path}


def only(path: Path) -> list[bytes]:
    return list(content(path).values())


# -- what is said --------------------------------------------------------------------------------------------------------


def sources(saved: Saved, place: Path) -> dict[str, Any]:
    rows = saved.rows
    rows.to_csv(place / "rows.csv", index=False)
    rows.to_csv(place / "rows.csv.gz", index=False)
    rows.to_parquet(place / "rows.parquet", row_group_size=7)
    return {
        "csv": place / "rows.csv",
        "compressed": str(place / "rows.csv.gz"),
        "parquet": place / "rows.parquet",
        "pandas": rows.set_axis([f"row {i}" for i in range(len(rows))]),
        "polars": polars.from_pandas(rows),
        "parts": (rows.iloc[i : i + 5] for i in range(0, len(rows), 5)),
    }


def test_every_source_has_the_answers_of_explain_many(saved: Saved, tmp_path: Path) -> None:
    made = {}
    for name, data in sources(saved, tmp_path).items():
        output = tmp_path / f"{name}.jsonl"
        summary = likely.batch.run(examples.explainer_of(), data, output, chunk=CHUNK, progress=False)
        assert (summary.rows, summary.refused, summary.interrupted) == (len(saved.rows), 1, False)
        made[name] = output.read_bytes()
    assert len(set(made.values())) == 1
    entries = list(likely.batch.read(tmp_path / "csv.jsonl"))
    assert [entry.row for entry in entries] == list(range(len(saved.rows)))
    for entry, expected in zip(entries, saved.explanations(), strict=True):
        assert entry.status == expected.status
        assert entry.explanation == expected if entry.explanation else entry.note in expected.reason
    assert "a castle" in entries[5].note
    assert all(likely.verify(entry.explanation, explainer=examples.explainer_of()) for entry in entries[:4] if entry.explanation)


def test_parquet_is_a_table_of_the_same_answers(saved: Saved, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(outputs.Parts.__init__, "__defaults__", (10,))
    outs = [tmp_path / name for name in ("a.jsonl", "a.parquet")]
    for out in outs:
        summary = likely.batch.run(examples.explainer_of(), saved.rows, out, chunk=CHUNK, progress=False, k=2)
    assert len(list(outs[1].iterdir())) > 2
    assert list(likely.batch.read(outs[0])) == list(likely.batch.read(outs[1]))
    table = pd.read_parquet(outs[1])
    first = table[table["answer"].isna() | (table["answer"] == 1)]
    assert first["row"].tolist() == list(range(len(saved.rows)))
    assert first["status"].value_counts().to_dict() == dict(summary.statuses)
    answers = [
        answer for explanation in examples.explainer_of().explain_many(saved.rows, k=2) for answer in explanation.counterfactuals
    ]
    answered = table.dropna(subset="answer")
    assert answered["cost"].tolist() == [answer.cost for answer in answers]
    assert answered["new housing"].tolist() == [answer.row["housing"] for answer in answers]
    assert answered["new age"].tolist() == [answer.row["age"] for answer in answers]
    assert answered["number_of_changes"].tolist() == [answer.number_of_changes for answer in answers]
    schemas = {str(pd.read_parquet(part).dtypes.to_dict()) for part in outs[1].iterdir()}
    assert len(schemas) == 1


def test_rows_and_classes_can_be_chosen(saved: Saved, tmp_path: Path) -> None:
    out = tmp_path / "a.jsonl"
    summary = likely.batch.run(
        examples.explainer_of(), saved.rows, out, chunk=CHUNK, decided="no", rows=slice(3, 30), progress=False
    )
    known = saved.rows.drop(index=5).iloc[2:29]
    refused = known.index[examples.model_of().predict(known) == "no"].tolist()
    assert [entry.row for entry in likely.batch.read(out)] == refused
    assert summary.rows == len(refused)


@given(st.lists(st.integers(0, 9), max_size=12), st.integers(1, 7), st.integers(0, 20), st.one_of(st.none(), st.integers(0, 30)))
def test_tasks_do_not_depend_on_how_rows_come(sizes: list[int], size: int, start: int, stop: int | None) -> None:
    count = sum(sizes)
    table = examples.table_of()[0].head(count)
    ends = [sum(sizes[: i + 1]) for i in range(len(sizes))]
    frames = [table.iloc[end - width : end] for end, width in zip(ends, sizes, strict=True)]
    schema = examples.schema_of()
    whole, parts = (list(tasks_of(Source("", each), schema, size, slice(start, stop))) for each in ([table], frames))
    assert [(t.number, t.first, len(t.rows), t.cells) for t in whole] == [
        (t.number, t.first, len(t.rows), t.cells) for t in parts
    ]
    places = [t.first + i for t in whole for i in range(len(t.rows))]
    assert places == list(range(count))[start:stop]


def test_the_model_is_asked_for_all_rows_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[int] = []
    original = UserModel._asked

    def counted(self: UserModel, method: Any, rows: Any) -> Any:
        asked.append(len(rows))
        return original(self, method, rows)

    monkeypatch.setattr(UserModel, "_asked", counted)
    explainer = examples.explainer_of()
    for options in ({}, {"target": "yes", "probability": 0.7}):
        asked.clear()
        explained(explainer, Asked(likely.Question(**options)), Task(0, 0, examples.rejected(30)))
        assert len(asked) <= 3, asked  # classes, probabilities, answers
        assert all(count >= 20 for count in asked)


# -- being killed ---------------------------------------------------------------------------------------------------------


class Killed(BaseException):
    """The process is gone."""


def noting(job: Job) -> Any:
    """Workers that answer nothing, quickly."""

    class Noting:
        def work(self, tasks: Iterable[Task]) -> Iterator[tuple[Task, Done]]:
            for task in tasks:
                notes = [Entry(task.first + i, None, f"note {task.first + i} \u2028 ü") for i in range(len(task.rows))]
                yield task, done_of(notes, records=job.records)

    return Noting()


@given(st.sampled_from(["a.jsonl", "a.parquet"]), st.lists(st.tuples(st.integers(1, 30), st.integers(0, 60)), max_size=3))
def test_killed_at_any_moment_it_ends_with_the_same_bytes(saved: Saved, name: str, kills: list[tuple[int, int]]) -> None:
    """At every write the process may be gone, and with it the end of what it wrote last."""
    with tempfile.TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        patch.setattr(outputs.Parts.__init__, "__defaults__", (10,))
        output, whole = Path(folder) / name, Path(folder) / f"whole-{name}"

        def run(path: Path) -> likely.batch.Summary:
            return likely.batch.run(saved.folder, saved.rows, path, model=saved.model, chunk=4, workers=noting, progress=False)

        run(whole)
        for after, cut in kills:
            with patch.context() as dying, contextlib.suppress(Killed):
                dying.setattr(os, "fsync", dying_disk(after, cut))
                run(output)
        assert run(output).rows == len(saved.rows)
        assert only(output) == only(whole)
        assert run(output).new == 0


def dying_disk(after: int, cut: int) -> Callable[[int], None]:
    """`os.fsync` of a process that is killed at a call of it; the end of what was written since the last one may be lost."""
    safe: dict[int, int] = {}
    calls = iter(range(1, 10**6))

    def fsync(number: int) -> None:
        file = os.fstat(number)
        if next(calls) == after:
            os.ftruncate(number, max(file.st_size - cut, min(file.st_size, safe.get(file.st_ino, 0))))
            raise Killed
        safe[file.st_ino] = file.st_size

    return fsync


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc").is_dir(), reason="who has which children is read there")
def test_killed_by_the_system_and_resumed_in_one_process(saved: Saved, tmp_path: Path) -> None:
    """SIGKILL after the first rows are written: no worker is left, and the same command ends with the same file."""
    saved.rows.to_csv(tmp_path / "rows.csv", index=False)
    words = ["batch", str(saved.folder), str(tmp_path / "rows.csv"), "--model", str(saved.model), "--chunk", "3"]
    whole, killed = tmp_path / "whole.jsonl", tmp_path / "killed.jsonl"
    likely.batch.run(examples.explainer_of(), tmp_path / "rows.csv", whole, progress=False)

    def begin(jobs: int) -> subprocess.Popen[bytes]:
        command = [sys.executable, "-m", "likely", *words, "--jobs", str(jobs), "-o", str(killed)]
        return subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    process = begin(2)
    while process.poll() is None and (not killed.exists() or killed.read_bytes().count(b"\n") < 4):
        time.sleep(0.01)
    left = children(process.pid)
    process.kill()
    process.wait()
    assert len(left) == 2
    for _ in range(1000):
        if not any(map(alive, left)):
            break
        time.sleep(0.05)
    assert not any(map(alive, left))
    assert killed.read_bytes().count(b"\n") < len(saved.rows) + 1
    assert begin(1).wait() == 0
    assert killed.read_bytes() == whole.read_bytes()


def children(parent: int) -> list[int]:
    return [
        int(path.parent.name)
        for path in Path("/proc").glob("[0-9]*/stat")
        if path.exists() and path.read_text().rpartition(")")[2].split()[1] == str(parent)
    ]


def alive(process: int) -> bool:
    path = Path(f"/proc/{process}/stat")
    try:
        return path.read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


# -- workers --------------------------------------------------------------------------------------------------------------

#: A process that explains rows, but dies of one.
DYING = """
import os
from likely.batch import tasks, worker
done = tasks.done
def dying(job, task):
    if task.first <= 1 < task.first + len(task.rows):
        os._exit(3)
    return done(job, task)
tasks.done = dying
worker.main()
"""


@pytest.mark.slow
def test_a_row_of_which_processes_die_is_refused(saved: Saved, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(workers, "COMMAND", ["-c", DYING])
    schema, job = examples.schema_of(), Job(str(saved.folder), str(saved.model), None, as_plain(likely.Question()))
    tasks = list(tasks_of(Source("", [saved.rows.head(4)]), schema, 2, slice(None)))
    working = Processes(job, 1).work(tasks)
    lines = [json.loads(line) for _, done in working for line in done.lines]
    assert [line["row"] for line in lines] == list(range(4))
    assert {line["row"] for line in lines if "note" in line} == {1}
    assert lines[1]["note"].startswith("Whoever explained this row died")


#: A process that dies of a library that works on several threads, whenever that was loaded.
COUNTING = """
import sys
from threadpoolctl import threadpool_info
from likely.batch import tasks, worker
def counting(job, task, done=tasks.done):
    made = done(job, task)
    assert {pool["num_threads"] for pool in threadpool_info() if "sklearn" in sys.modules} == {1}
    return made
tasks.done = counting
worker.main()
"""


def test_libraries_of_a_worker_have_one_thread(saved: Saved, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two processes of two threads each would wait for each other: boosted trees predicted at half the speed."""
    monkeypatch.setattr(workers, "COMMAND", ["-c", COUNTING])
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
    schema, job = examples.schema_of(), Job(str(saved.folder), str(saved.model), None, as_plain(likely.Question()))
    (done,) = (done for _, done in Processes(job, 1).work(tasks_of(Source("", [saved.rows.head(2)]), schema, 2, slice(None))))
    assert "died" not in "".join(json.loads(line).get("note", "") for line in done.lines)


@given(st.integers(1, 12), st.sets(st.integers(0, 11)))
def test_halves_find_every_row_that_kills(count: int, deadly: set[int]) -> None:
    def ask(task: Task) -> Done | None:
        rows = range(task.first, task.first + len(task.rows))
        if deadly & set(rows):
            return None
        return done_of([Entry(row, None, "fine") for row in rows], records=False)

    task = Task(0, 0, pd.DataFrame({"x": range(count)}))
    done = ask(task) or halved(task, ask, records=False)
    notes = [json.loads(line)["note"] for line in done.lines]
    assert [note != "fine" for note in notes] == [row in deadly for row in range(count)]
    assert dict(done.statuses) == {"refused": count}


def test_tasks_are_not_taken_far_ahead() -> None:
    """Memory does not grow with the number of rows: what is taken is soon given back."""
    taken: list[int] = []

    def tasks() -> Iterator[Task]:
        for number in range(50):
            taken.append(number)
            yield Task(number, number, pd.DataFrame({"x": [0]}))

    class Begun:
        def result(self) -> Done:
            return Done()

        def cancel(self) -> None:
            raise AssertionError

    for place, (task, _) in enumerate(in_order(lambda task: Begun(), tasks(), 5)):
        assert task.number == place
        assert len(taken) <= place + 5
    assert len(taken) == 50


def test_ctrl_c_keeps_what_is_finished(saved: Saved, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    out, whole = tmp_path / "a.jsonl", tmp_path / "whole.jsonl"
    call: dict[str, Any] = {"chunk": CHUNK, "progress": False}
    likely.batch.run(examples.explainer_of(), saved.rows, whole, **call)
    many, calls = likely.Explainer.explain_many, []

    def interrupted(self: likely.Explainer, X: pd.DataFrame, *more: Any, **options: Any) -> list[likely.Explanation]:
        calls.append(len(X))
        if len(calls) == 4:
            raise KeyboardInterrupt
        return many(self, X, *more, **options)

    with monkeypatch.context() as patch:
        patch.setattr(likely.Explainer, "explain_many", interrupted)
        assert likely.batch.run(examples.explainer_of(), saved.rows, out, **call).interrupted
    assert len(list(likely.batch.read(out))) == 2 * CHUNK
    summary = likely.batch.run(examples.explainer_of(), saved.rows, out, **call)
    assert (summary.new, summary.rows) == (len(saved.rows) - 2 * CHUNK, len(saved.rows))
    assert out.read_bytes() == whole.read_bytes()


def test_a_row_with_which_the_model_cannot_do_does_not_stop_the_others(monkeypatch: pytest.MonkeyPatch) -> None:
    many = likely.Explainer.explain_many

    def failing(self: likely.Explainer, X: pd.DataFrame, *more: Any, **options: Any) -> list[likely.Explanation]:
        if 2 in X.index:
            raise RuntimeError("the model has a headache")
        return many(self, X, *more, **options)

    monkeypatch.setattr(likely.Explainer, "explain_many", failing)
    rows = examples.rejected(4).reset_index(drop=True)
    done = explained(examples.explainer_of(), Asked(likely.Question()), Task(0, 0, rows))
    lines = [json.loads(line) for line in done.lines]
    assert [line.get("note") for line in lines] == [None, None, "RuntimeError: the model has a headache", None]


# -- refusals and words ---------------------------------------------------------------------------------------------------


def test_what_is_refused(saved: Saved, tmp_path: Path) -> None:
    explainer, rows = examples.explainer_of(), saved.rows.head(4)

    def refused(message: str, *, data: Any = rows, output: str = "a.jsonl", by: Any = explainer, **options: Any) -> None:
        with pytest.raises(LikelyError, match=message):
            likely.batch.run(by, data, tmp_path / output, progress=False, **options)

    refused(r"The output of a batch must end in .jsonl or .parquet; got a.txt", output="a.txt")
    refused(r"A row must have a value of feature 'age'; got none", data=rows.drop(columns="age"))
    refused(r"The target must be one of the model's classes; got 'perhaps'", target="perhaps")
    refused(r"decided must be one of the model's classes; got 'perhaps'", decided="perhaps")
    refused(r"chunk must be a number of rows; got 0", chunk=0)
    refused(r"rows must be one slice", rows=slice(None, -3))
    refused(r"Rows to explain must be a table, the path of one, or an iterable of tables; got int", data=3)
    refused(r"Each part of the rows must be a DataFrame; got int", data=[3])
    refused(r"A data file must exist; got nowhere.csv", data="nowhere.csv")
    refused(r"A data file must exist; got nowhere.parquet", data="nowhere.parquet")
    (tmp_path / "no.parquet").write_text("no")
    refused(r"A data file must be Parquet; got no.parquet", data=tmp_path / "no.parquet")
    refused(r"The model of a batch must be named beside a folder; got an explainer", model="model.joblib")
    refused(r"The explainer of a cluster must be in a folder that every worker can read", workers=noting)
    assert {path.name for path in tmp_path.iterdir()} <= {"no.parquet", "a.jsonl", "a.jsonl.journal"}
    (tmp_path / "a.jsonl").unlink(missing_ok=True)
    (tmp_path / "a.jsonl.journal").unlink(missing_ok=True)
    likely.batch.run(explainer, rows, tmp_path / "a.jsonl", progress=False)
    refused(r"A batch that goes on must have the question, the rows and the explainer of the file, and its journal", k=2)
    refused(r"have the rows that a.jsonl was begun with; got others from row 0 on", data=rows.assign(age=30))
    refused(r"have the rows that a.jsonl was begun with; got fewer", data=rows.head(0))
    refused(r"have the rows that a.jsonl was begun with; got others from row 0 on", data=saved.rows)
    (tmp_path / "a.jsonl").write_bytes(b"")
    refused(r"A batch that goes on must find what it has written; got less than that in")
    (tmp_path / "mine.jsonl").write_text("years of work")
    refused(r"A batch that goes on must have the question", output="mine.jsonl")
    assert (tmp_path / "mine.jsonl").read_text() == "years of work"


@pytest.mark.skipif(sys.platform == "win32", reason="no such locks")
def test_two_do_not_write_one_file(saved: Saved, tmp_path: Path) -> None:
    def rows() -> Iterator[pd.DataFrame]:
        yield saved.rows.head(2)
        with pytest.raises(LikelyError, match="A batch must be the only one that writes its output"):
            likely.batch.run(examples.explainer_of(), saved.rows.head(4), tmp_path / "a.jsonl", chunk=2, progress=False)
        yield saved.rows.iloc[2:4]

    summary = likely.batch.run(examples.explainer_of(), rows(), tmp_path / "a.jsonl", chunk=2, progress=False)
    assert summary.rows == 4


def test_pace() -> None:
    now = [0.0]
    tasks = [Task(i, 10 * i, pd.DataFrame({"x": range(10)})) for i in range(10)]
    pace = Pace(Source("", [], rows=100), slice(None), clock=lambda: now[0])
    now[0] = 2.0
    assert pace(tasks[1]) == (0.2, "20 of 100 rows, 10.0 rows/s, about 8 s left")
    now[0] = 2000.0
    assert pace(tasks[1]) == (0.2, "20 of 100 rows, 0.0 rows/s, about 2.2 h left")
    assert pace(tasks[9])[0] == 1.0
    resumed = Pace(Source("", []), slice(None), before=20, clock=lambda: now[0])
    now[0] += 1.0
    assert resumed(tasks[2]) == (0.0, "30 rows, 10.0 rows/s")
    known = Pace(Source("", [], share=lambda: 0.5), slice(None), clock=lambda: now[0])
    now[0] += 1.0
    assert known(tasks[9]) == (0.5, "100 rows, 100.0 rows/s, about 1 s left")


def test_a_file_knows_how_much_of_it_was_read(tmp_path: Path) -> None:
    path = tmp_path / "rows.csv"
    pd.concat([examples.table_of()[0]] * 40).to_csv(path, index=False)
    source = source_of(path, examples.schema_of(), 100)
    assert source.share is not None
    shares = [source.share() for _ in source.frames]
    assert shares == sorted(shares)
    assert shares[-1] == 1.0
