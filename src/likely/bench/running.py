"""`run`: every method on every fold, a question at a time, written down as answers come; and measured in the end.

A folder holds a run: `answers.jsonl` (what methods returned), `measures.jsonl` (what that is worth), and at the end both as
Parquet. A run that was ended in any way goes on in its folder where it stopped.
"""

from __future__ import annotations

import pickle
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from likely._display.progress import Move, progress_bar
from likely._files import replacing
from likely._jobs import thread_count
from likely.bench.cell import Order
from likely.bench.journal import Journal
from likely.bench.judging import REFITS, Judge
from likely.bench.machine import described
from likely.bench.method import Method
from likely.bench.results import ANSWERS, MEASURES, Results
from likely.bench.supervising import Patience, answers, packed
from likely.bench.tasks import FACTUALS, FOLDS, Task, check_available, task
from likely.errors import ProblemError

#: What must not change when a run goes on.
_SAME = ("seed", "k", "seconds", "most_rows", "refits")
#: What a question is known by.
Key = tuple[str, int, str, int]


def run(
    methods: Mapping[str, Callable[[], Method]],
    datasets: Sequence[str] = ("credit",),
    folds: Iterable[int] = range(FOLDS),
    factuals: int = FACTUALS,
    seed: int = 0,
    *,
    k: int = 10,
    patience: Patience | None = None,
    most_rows: int | None = None,
    refits: int = REFITS,
    folder: str | Path = "likely-bench",
    resume: bool = False,
    n_jobs: int = 1,
    progress: bool = True,
) -> Results:
    """Ask every method for the same rows of every fold, and measure what they return.

    Each method works on each fold in a process of its own, so that one that hangs or crashes is ended alone. Every answer is on
    the disk before the next question. Ctrl-C ends the processes and comes through; `resume=True` goes on.

    Args:
        methods: Name -> what makes the method; `likely.bench.methods.METHODS` has those of the paper and others.
        datasets: Names of `likely.bench.tasks.NAMES`; "credit:forest" is Credit with a random forest.
        folds: Which of the five folds, from 0; of a Bayesian network, seeds of the sample.
        factuals: How many rows of each test part to explain.
        seed: Of everything that is drawn.
        k: How many answers a method is asked for; the likeliest valid one counts in the paper's tables.
        patience: How long is waited for an answer; 60 seconds, if left out.
        most_rows: Learn from at most so many rows, to be quick; None for all.
        refits: How many models are trained anew per fold to see which answers hold.
        folder: Where the run is kept.
        resume: Whether to go on with the run in the folder; what failed is tried again.
        n_jobs: How many methods work at a time; -1 for one per core. Times are best compared with 1.
        progress: Whether to show a bar.

    Returns:
        All measures of the folder, those of earlier sittings too.

    Raises:
        ProblemError: If the folder has a run already, or one that asked something else.
        DatasetError: If a data set is not there.
    """
    plan = _Plan(dict(methods), tuple(datasets), tuple(folds), factuals, seed, k, patience or Patience(), most_rows, refits)
    plan.check()
    home = Path(folder)
    journal, measures = Journal(home / ANSWERS), Journal(home / MEASURES)
    _begin(plan, journal, resume)
    known = {_key(event): event for event in journal.events() if "place" in event}
    done = {key for key, event in known.items() if event["status"] != "failed"}
    total = len(plan.datasets) * len(plan.folds) * len(plan.methods) * factuals
    with progress_bar(progress, "Asking") as move:
        counter = _Counter(total, move)
        for word in plan.datasets:
            for fold in plan.folds:
                made = _kept_task(home / "cache", plan, word, fold)
                _ask(made, plan, journal, done, n_jobs, counter)
                _measure(made, plan, journal, measures)
    results = Results.load(home)
    results.save()
    return results


@dataclass(frozen=True, eq=False)
class _Plan:
    """What is asked."""

    methods: dict[str, Callable[[], Method]]
    datasets: tuple[str, ...]
    folds: tuple[int, ...]
    factuals: int
    seed: int
    k: int
    patience: Patience
    most_rows: int | None
    refits: int

    def check(self) -> None:
        """Refuse what cannot be run, before anything is."""
        for thing, given in (("methods", self.methods), ("data sets", self.datasets), ("folds", self.folds)):
            if not given:
                raise ProblemError(f"A benchmark's {thing}", "be one at least", "none", "name one")
        for thing, number in (("factuals", self.factuals), ("k", self.k)):
            if number < 1:
                raise ProblemError(f"The number {thing!r} of a benchmark", "be at least 1", number, "leave it out")
        for fold in self.folds:
            if fold not in range(FOLDS):
                raise ProblemError("A fold", f"be one of 0 to {FOLDS - 1}", fold, "count from 0")
        for word in self.datasets:
            check_available(word)

    @property
    def settings(self) -> dict[str, Any]:
        """What stands at the head of a journal."""
        return {
            "methods": list(self.methods),
            "datasets": list(self.datasets),
            "folds": list(self.folds),
            "factuals": self.factuals,
            "seed": self.seed,
            "k": self.k,
            "seconds": self.patience.seconds,
            "most_rows": self.most_rows,
            "refits": self.refits,
        }


class _Counter:
    """Moves a bar, from any thread."""

    def __init__(self, total: int, move: Move) -> None:
        self._total, self._move, self._done, self._lock = total, move, 0, threading.Lock()

    def add(self, count: int, what: str) -> None:
        """So many more questions are answered."""
        with self._lock:
            self._done += count
            self._move(self._done / self._total, what)


def _key(event: dict[str, Any]) -> Key:
    return event["dataset"], event["fold"], event["method"], event["place"]


def _begin(plan: _Plan, journal: Journal, resume: bool) -> None:
    """Write the head of a sitting, if the run in the folder is none or the same."""
    heads = [event["run"] for event in journal.events() if "run" in event]
    if heads and not resume:
        hint = "go on with it (resume=True, --resume) or choose another folder"
        raise ProblemError("The folder of a benchmark", "hold no run yet", str(journal.path.parent), hint)
    for name in _SAME if heads else ():
        old, new = heads[0].get(name), plan.settings[name]
        if old != new:
            raise ProblemError(f"Setting {name!r} of a run that goes on", f"stay {old!r}", repr(new), "choose another folder")
    journal.path.parent.mkdir(parents=True, exist_ok=True)
    journal.append({"run": plan.settings, **described()})


def _kept_task(cache: Path, plan: _Plan, word: str, fold: int) -> Task:
    """A fold, learned once per run: the processes read it, and later sittings do. The cache may be deleted."""
    file = _cached(cache, word, fold, plan.factuals)
    if file.exists():
        kept: Task = pickle.loads(file.read_bytes())
        return kept
    made = task(word, fold, plan.factuals, plan.seed, plan.most_rows)
    cache.mkdir(parents=True, exist_ok=True)
    with replacing(file) as out:
        out.write(pickle.dumps(made))
    return made


def _cached(cache: Path, word: str, fold: int, factuals: int) -> Path:
    return cache / f"{word.replace(':', '-')}-{fold}-{factuals}.pickle"


def _ask(made: Task, plan: _Plan, journal: Journal, done: set[Key], n_jobs: int, counter: _Counter) -> None:
    """Ask all methods what they have not answered yet, `n_jobs` of them at a time; Ctrl-C ends them all."""
    stop = threading.Event()
    file = _cached(journal.path.parent / "cache", made.word, made.fold, plan.factuals)

    def asked(name: str) -> None:
        head = {"dataset": made.word, "fold": made.fold, "method": name}
        places = tuple(p for p in range(len(made.factuals)) if (made.word, made.fold, name, p) not in done)
        counter.add(plan.factuals - len(places), f"{made.word} {made.fold}, {name}")
        order = Order(str(file), packed(plan.methods[name]), places, plan.k, plan.patience.seconds)
        for event in answers(order, plan.patience, journal.path.parent / "methods.log", stop):
            journal.append({**head, **event})
            if "place" in event:
                counter.add(1, f"{made.word} {made.fold}, {name}")

    with ThreadPoolExecutor(thread_count(n_jobs, ProblemError)) as pool:
        try:
            for outcome in [pool.submit(asked, name) for name in plan.methods]:
                outcome.result()
        except BaseException:
            stop.set()
            pool.shutdown(cancel_futures=True)
            raise


def _measure(made: Task, plan: _Plan, journal: Journal, measures: Journal) -> None:
    """Measure the answers of a fold that are not measured yet."""
    latest = {_key(event): event for event in journal.events() if "place" in event}
    answered = {key: event for key, event in latest.items() if key[:2] == (made.word, made.fold)}
    measured = {_key(event): event.get("of") for event in measures.events()}
    left = [event for key, event in answered.items() if measured.get(key) != _of(event)]
    if not left:
        return
    judge = Judge(made, plan.refits, plan.seed)
    for event, told in zip(left, judge.measures(left), strict=True):
        head = {name: event[name] for name in ("dataset", "fold", "method", "place")}
        measures.append(*({**head, "of": _of(event), **measure} for measure in told))


def _of(event: dict[str, Any]) -> str:
    """What was measured, to know whether it is still what was answered."""
    return f"{event['status']} {event.get('seconds')} {len(event.get('rows', ()))}"
