"""Rows without end: `likely batch` beside another commit's, killed and resumed, and on Dask and Ray with a worker killed.

    python benchmarks/batch.py --folder FOLDER [--base COMMIT] [--rows 10000] [--out FILE.json]

A pipeline of one-hot codes and fifty boosted trees is fitted to a fifth of Adult; the others are the rows to explain. In turn:

- the base (checked out and installed in FOLDER, outside of the repository) and this commit explain all rows on all cores,
  in turns, twice each, with explainers that each has fitted by its defaults: rows per second of wall and of processor time,
  what starting takes included, and the peak memory of the process and its workers after a quarter of the rows, and at the end;
- a run is killed (SIGKILL) half way and resumed, and must end with the same bytes;
- two processes beside one and beside two threads of one process;
- `likely.batch.run` on a Dask and on a Ray cluster of two workers, one of which is killed: the file must be the same again.

What --out has already is not measured again.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import platform
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import joblib
import numpy as np
import psutil
from compare_commits import installed
from sklearn.compose import make_column_transformer
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder

import likely
from likely.batch.sources import Source, tasks_of
from likely.batch.tasks import Asked
from likely.batch.workers import Here
from likely.schema.files import read_table

#: The first release.
BASE = "2fe4da4"
#: What code needs before it to be that of a build which was installed into a folder; "-" is this one.
OF_SITE = """
import sys
if sys.argv[1] != "-":
    sys.meta_path = [finder for finder in sys.meta_path if type(finder).__name__ != "ScikitBuildRedirectingFinder"]
    sys.path.insert(0, sys.argv[1])
"""
#: Starts the command line of a build.
COMMAND = f"""{OF_SITE}
from likely.cli import main
sys.exit(main(sys.argv[2:]))
"""
#: Fits an explainer as a build does by its defaults: its folder, the model, the training rows.
FIT = f"""{OF_SITE}
import joblib
import likely
X, y = joblib.load(sys.argv[4])
data = likely.datasets.load("adult")
likely.Explainer(joblib.load(sys.argv[3]), data.schema, progress=False).fit(X, y).save(sys.argv[2])
"""


def prepared(folder: Path, rows: int, sites: dict[str, str]) -> tuple[dict[str, Path], Path, Path]:
    """The explainers' folders, the model's file and the rows."""
    model, learned, table = folder / "model.joblib", folder / "training.joblib", folder / f"rows-{rows}.csv"
    data = likely.datasets.load("adult")
    train = data.X.index[::5]
    new = data.X.index.difference(train)[:rows]
    if not learned.exists():
        discrete = [feature.name for feature in data.schema.features if not feature.numeric]
        encoder = make_column_transformer((OneHotEncoder(sparse_output=False), discrete), remainder="passthrough")
        trees = HistGradientBoostingClassifier(max_iter=50, max_depth=4, random_state=0)
        joblib.dump(make_pipeline(encoder, trees).fit(data.X.loc[train], data.y[train]), model)
        joblib.dump((data.X.loc[train], data.y[train]), learned)
    explainers = {name: folder / f"explainer-{name}" for name in sites}
    for name, site in sites.items():
        if not (explainers[name] / "explainer.json").exists():
            subprocess.run([sys.executable, "-c", FIT, site, str(explainers[name]), str(model), str(learned)], check=True)
    data.X.loc[new].to_csv(table, index=False)
    return explainers, model, table


def digest(path: Path) -> str:
    """A hash of a file."""
    return hashlib.sha256(path.read_bytes()).hexdigest()


def lines(path: Path) -> int:
    """How many rows a file of answers has."""
    return sum(1 for _ in path.open("rb")) - 1 if path.exists() else 0


def family(process: psutil.Process) -> Iterator[psutil.Process]:
    """A process and its workers."""
    try:
        yield from (process, *process.children(recursive=True))
    except psutil.NoSuchProcess:
        return


def memory_of(process: psutil.Process) -> float:
    """What a process and its workers hold, in megabytes; what they share counts once for each."""
    held = 0
    for each in family(process):
        try:
            held += each.memory_info().rss
        except psutil.NoSuchProcess:
            continue
    return held / 2**20


class Run:
    """`likely batch`, watched until it ends or is killed."""

    def __init__(self, site: str, words: list[str], output: Path, kill_at: float = 1.0, rows: int = 0) -> None:
        begun, before = time.perf_counter(), os.times()
        quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        child = subprocess.Popen([sys.executable, "-c", COMMAND, site, *words, "-o", str(output)], **quiet)  # type: ignore[call-overload]
        process, self.killed = psutil.Process(child.pid), False
        self.quarter = self.peak = 0.0
        while child.poll() is None:
            held, done = memory_of(process), lines(output) / max(rows, 1)
            self.peak = max(self.peak, held)
            if done <= 0.25:
                self.quarter = self.peak
            if done >= kill_at:
                os.kill(child.pid, signal.SIGKILL)
                self.killed = True
            time.sleep(0.5)
        after = os.times()
        self.code = child.wait()
        self.seconds = time.perf_counter() - begun
        self.processor = after.children_user + after.children_system - before.children_user - before.children_system


def threads_and_processes(explainer: Path, model: Path, table: Path, count: int) -> dict[str, Any]:
    """Rows per second of one thread, two threads and two processes: of the work alone, without the start."""
    from likely.batch.tasks import Job, as_plain
    from likely.batch.workers import Processes

    made = likely.Explainer.load(explainer, joblib.load(model)).set_params(progress=False)
    rows = read_table(table, made.schema_).head(count)
    job = Job(str(explainer), str(model), None, as_plain(likely.Question()))
    found: dict[str, Any] = {}
    for name, crew in (
        ("one thread", lambda: Here(made.set_params(n_jobs=1), Asked(likely.Question()))),
        ("two threads", lambda: Here(made.set_params(n_jobs=2), Asked(likely.Question()))),
        ("two processes", lambda: Processes(job, 2)),
    ):
        working = crew().work(tasks_of(Source("rows", [rows]), made.schema_, 64, slice(None)))
        next(working)
        next(working)  # both processes have begun
        begun, left = time.perf_counter(), sum(len(task.rows) for task, _ in working)
        found[name] = round(left / (time.perf_counter() - begun), 2)
    return found


def on_dask(work: Callable[[Any], Any]) -> Any:
    """Work on a Dask cluster of two processes."""
    import distributed

    from likely.cluster import dask

    local = distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None)
    with local as known, distributed.Client(known) as client:
        return work((dask.workers(client), lambda: next(iter(client.run(os.getpid).values()))))


def on_ray(work: Callable[[Any], Any]) -> Any:
    """Work on a Ray cluster of two processes."""
    import ray

    from likely.cluster import ray as engine

    hire = engine.workers(num_cpus=2, include_dashboard=False, log_to_driver=False)

    def victim() -> int:
        every = psutil.Process().children(recursive=True)
        return next(each.pid for each in every if each.cmdline()[:1] == ["ray::done"])  # what a worker is called while it works

    try:
        return work((hire, victim))
    finally:
        ray.shutdown()


def cluster(begin: Callable[[Any], Any], explainer: Path, model: Path, table: Path, output: Path, rows: int) -> dict[str, Any]:
    """A batch on a cluster; a worker is killed once a quarter of the rows is written."""
    from threading import Thread

    def work(parts: tuple[Any, Callable[[], int]]) -> dict[str, Any]:
        hire, victim = parts
        killed: list[int] = []

        def kill() -> None:
            while lines(output) < rows // 4:
                time.sleep(0.1)
            while not killed:
                try:
                    os.kill(process := victim(), signal.SIGKILL)
                    killed.append(process)
                except (StopIteration, psutil.Error, ProcessLookupError):
                    time.sleep(0.1)

        killer = Thread(target=kill, daemon=True)
        killer.start()
        begun = time.perf_counter()
        summary = likely.batch.run(explainer, table, output, model=model, workers=hire, chunk=64, progress=False)
        seconds = time.perf_counter() - begun
        return {"rows": summary.rows, "seconds": seconds, "rows_per_second": summary.rows / seconds, "killed": len(killed)}

    made: dict[str, Any] = begin(work)
    return made


def table_of(found: dict[str, Any]) -> str:
    """The numbers of a run as the documentation has them."""
    about = "load: how many processes of this machine, ours too, wanted one at the end"
    lines = [f"base: {found['base commit']}; {found['cores']} cores; {about}", ""]
    head = ("rows", "seconds", "rows/s", "processor s", "rows/s of it", "MB at 1/4", "MB at end", "load")
    lines.append(f"{'likely batch':22} " + " ".join(f"{word:>12}" for word in head))
    for name in ("base", "base, again", "this commit", "this commit, again"):
        if name in found:
            one = found[name]
            numbers = [
                f"{one['rows']:,}", f"{one['seconds']:.0f}", f"{one['rows_per_second']:.1f}",
                f"{one['processor_seconds']:.0f}", f"{one['rows_per_processor_second']:.1f}",
                f"{one['memory_at_a_quarter']:,}", f"{one['memory_at_the_end']:,}", f"{one['load']:.1f}",
            ]  # fmt: skip
            lines.append(f"{name:22} " + " ".join(f"{number:>12}" for number in numbers))
    if "killed and resumed" in found:
        one = found["killed and resumed"]
        lines += [
            "",
            f"killed with {one['killed_at']:,} rows written, resumed: {'the same bytes' if one['identical'] else 'OTHER BYTES'}",
        ]
    if "threads and processes" in found:
        rates = ", ".join(f"{name} {rate:.1f}" for name, rate in found["threads and processes"].items())
        lines += [f"rows/s without the start: {rates}"]
    for name in ("dask", "ray"):
        if name in found:
            one = found[name]
            same = "the same bytes" if one["identical"] else "OTHER BYTES"
            lines.append(
                f"{name}: {one['rows']:,} rows, {one['rows_per_second']:.1f} rows/s, {one['killed']} of 2 workers killed: {same}"
            )
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--folder", type=Path, required=True, help="where the base is built and answers are written")
    parser.add_argument("--base", default=BASE, help=f"the commit to compare with ({BASE})")
    parser.add_argument("--rows", type=int, default=10_000)
    parser.add_argument("--out", type=Path, help="where the numbers go")
    options = parser.parse_args()
    folder = options.folder.resolve()
    folder.mkdir(parents=True, exist_ok=True)
    sites = {"base": str(installed(options.base, folder)), "this": "-"}
    explainers, model, table = prepared(folder, options.rows, sites)
    explainer, count = explainers["this"], options.rows
    found: dict[str, Any] = {
        "rows": count, "base commit": options.base, "python": platform.python_version(), "numpy": np.__version__,
        "cores": os.cpu_count(),
    }  # fmt: skip
    if options.out and options.out.exists():
        found = json.loads(options.out.read_text())

    def clean(name: str) -> Path:
        for path in (folder / name, folder / f"{name}.journal"):
            path.unlink(missing_ok=True)
        return folder / name

    def note(name: str, measure: Callable[[], Any]) -> None:
        if name in found:
            return
        found[name] = measure()
        print(f"{name:28} {json.dumps(found[name])}", flush=True)
        if options.out:
            options.out.write_text(json.dumps(found, indent=1) + "\n")

    def words(build: str) -> list[str]:
        return ["batch", str(explainers[build]), str(table), "--model", str(model)]

    def measured(build: str, name: str) -> dict[str, Any]:
        run = Run(sites[build], words(build), clean(name), 2.0, count)
        return {
            "rows": count, "seconds": round(run.seconds, 1), "processor_seconds": round(run.processor, 1),
            "rows_per_second": round(count / run.seconds, 2), "rows_per_processor_second": round(count / run.processor, 2),
            "memory_at_a_quarter": round(run.quarter), "memory_at_the_end": round(run.peak), "load": round(os.getloadavg()[0], 1),
        }  # fmt: skip

    def killed() -> dict[str, Any]:
        output = clean("killed.jsonl")
        first = Run("-", words("this"), output, 0.5, count)
        at = lines(output)
        Run("-", words("this"), output, 2.0, count)
        same = digest(output) == digest(folder / "whole.jsonl")
        return {"killed": first.killed, "killed_at": at, "identical": same}

    def clustered(name: str, begin: Callable[[Any], Any]) -> dict[str, Any]:
        output = clean(f"{name}.jsonl")
        result = cluster(begin, explainer, model, table, output, count)
        return {**result, "identical": digest(output) == digest(folder / "whole.jsonl")}

    note("base", lambda: measured("base", "base.jsonl"))
    note("this commit", lambda: measured("this", "whole.jsonl"))
    note("this commit, again", lambda: measured("this", "again.jsonl"))
    note("base, again", lambda: measured("base", "base.jsonl"))
    note("killed and resumed", killed)
    note("threads and processes", lambda: threads_and_processes(explainer, model, table, min(2_048, count)))
    note("dask", lambda: clustered("dask", on_dask))
    note("ray", lambda: clustered("ray", on_ray))
    print(f"\n{table_of(found)}")


if __name__ == "__main__":
    main()
