"""The service under load from a second process, on loopback: how long answers take, whether any is lost or wrong.

    python benchmarks/serve.py [--requests 300] [--seconds 120] [--json OUT]

`likely serve` runs in a process of its own, with boosted trees on the German credit data (a file of XGBoost: no pickle). This
process asks: one after the other, some at a time, a few hundred at once; then more at once than the service takes; then with
clients around that stall in the middle of a request, never read, or go away as soon as they have asked. Every answer is held
against that of the explainer itself, asked directly. All of it is bounded in count and in time.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from summary import Column, head, line
from xgboost import XGBClassifier

import likely

ROWS, TREES, NODES = 60, 40, 300
HEAD = "POST /{} HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\nConnection: close\r\nContent-Length: {}\r\n\r\n"
COLUMNS: list[Column] = [
    ("round", -44, lambda made: made["round"]),
    *((name, 8, lambda made, name=name: str(made[name])) for name in ("requests", "answered", "busy", "lost", "wrong")),
    *((name, 6, lambda made, name=name: f"{made['ms'][name]:.0f}") for name in ("median", "p90", "p99", "max")),
    ("per s", 6, lambda made: f"{made['per_second']:.1f}"),
]  # times in milliseconds


@dataclass(frozen=True)
class Told:
    """What came back: a status of HTTP (0: nothing), the reply, and how long it took."""

    status: int
    body: Any
    seconds: float


def prepared(folder: Path) -> tuple[likely.Explainer, list[dict[str, Any]]]:
    """A fitted explainer in a folder, and rows that its model rejects."""
    data = likely.datasets.load("credit")
    X, y = data.X, (data.y == "good").astype(int)
    XGBClassifier(n_estimators=TREES, max_depth=3, enable_categorical=True, n_jobs=1, random_state=0).fit(X, y).save_model(
        folder / "model.json"
    )
    explainer = likely.Explainer(str(folder / "model.json"), data.schema, nodes=NODES, n_jobs=1, progress=False).fit(X, y)
    explainer.save(folder / "explainer")
    rejected = X[np.asarray(explainer.form_.predict(explainer.schema_.encode(X))) == 0].head(ROWS)
    return explainer, [json.loads(row.to_json()) for _, row in rejected.iterrows()]


class Service:
    """`likely serve` in a process of its own."""

    def __init__(self, folder: Path, *options: str) -> None:
        command = [sys.executable, "-m", "likely", "serve", str(folder / "explainer"), "--port", "0", *options]
        self._log = (folder / "log").open("w+")
        self._process = subprocess.Popen(command, stderr=self._log, env={**os.environ, "OMP_NUM_THREADS": "1"})
        self.port = self._listening()

    def _listening(self) -> int:
        end = time.monotonic() + 120
        while time.monotonic() < end and self._process.poll() is None:
            for entry in Path(self._log.name).read_text().splitlines():
                if '"listening"' in entry:
                    return int(json.loads(entry)["port"])
            time.sleep(0.1)
        raise SystemExit(f"the service did not start:\n{Path(self._log.name).read_text()}")

    @property
    def megabytes(self) -> float:
        """What it holds in memory."""
        status = Path(f"/proc/{self._process.pid}/status").read_text()
        return int(status.partition("VmRSS:")[2].split()[0]) / 1024

    def ended(self) -> int:
        """Its exit code after SIGTERM."""
        self._process.send_signal(signal.SIGTERM)
        code = self._process.wait(60)
        self._log.close()
        return code


async def ask(port: int, path: str, body: Any, limit: float) -> Told:
    """One request, on a connection of its own."""
    started = time.perf_counter()
    try:
        async with asyncio.timeout(limit):
            reader, writer = await asyncio.open_connection("127.0.0.1", port, limit=2**24)
            content = json.dumps(body).encode()
            writer.write(HEAD.format(path, len(content)).encode() + content)
            answer = await reader.read()
            writer.close()
    except (OSError, TimeoutError):
        return Told(0, None, time.perf_counter() - started)
    head, _, rest = answer.partition(b"\r\n\r\n")
    return Told(int(head.split()[1]) if head else 0, json.loads(rest) if rest else None, time.perf_counter() - started)


async def asked(port: int, questions: Sequence[Any], at_a_time: int, limit: float) -> list[Told]:
    """All questions, so many at a time."""
    places = asyncio.Semaphore(at_a_time)

    async def one(question: Any) -> Told:
        async with places:
            return await ask(port, "explain", question, limit)

    return list(await asyncio.gather(*(one(question) for question in questions)))


def wrong(told: Sequence[Told], questions: Sequence[Any], direct: dict[str, Any]) -> int:
    """How many answers are not those of the explainer itself."""
    return sum(
        each.status == 200 and kept(each.body["explanation"]) != direct[json.dumps(question)]
        for each, question in zip(told, questions, strict=True)
    )


def kept(explanation: dict[str, Any]) -> dict[str, Any]:
    """An explanation without what differs from run to run."""
    return {key: value for key, value in explanation.items() if key not in ("seconds", "statistics", "digest", "nodes")}


def summed(name: str, told: Sequence[Told], questions: Sequence[Any], direct: dict[str, Any], seconds: float) -> dict[str, Any]:
    """What a round showed."""
    answered = [1000 * each.seconds for each in told if each.status == 200]
    shares = [float(np.quantile(answered, q)) for q in (0.5, 0.9, 0.99, 1.0)] if answered else [float("nan")] * 4
    counts = Counter(each.status for each in told)
    return {
        "round": name, "requests": len(told), "answered": counts[200], "busy": counts[503], "lost": counts[0],
        "other": len(told) - counts[200] - counts[503] - counts[0], "wrong": wrong(told, questions, direct),
        "ms": dict(zip(("median", "p90", "p99", "max"), shares, strict=True)), "per_second": counts[200] / seconds,
    }  # fmt: skip


async def measured(name: str, port: int, questions: Sequence[Any], at_a_time: int, direct: Any, limit: float) -> dict[str, Any]:
    started = time.perf_counter()
    told = await asked(port, questions, at_a_time, limit)
    return summed(name, told, questions, direct, time.perf_counter() - started)


async def stalled(port: int, count: int) -> list[asyncio.StreamWriter]:
    """Connections that stop in the middle: of the headers, of the body, or before they read."""
    begun = [
        "POST /explain HT",
        HEAD.format("explain", 500) + '{"row": ',
        "GET /openapi.json HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n" * 40,
    ]
    writers = []
    for i in range(count):
        _, writer = await asyncio.open_connection("127.0.0.1", port, limit=1)
        writer.write(begun[i % len(begun)].encode())
        writers.append(writer)
    return writers


async def gone(port: int, questions: Sequence[Any]) -> None:
    """Ask, and go away at once."""
    for question in questions:
        _, writer = await asyncio.open_connection("127.0.0.1", port)
        content = json.dumps(question).encode()
        writer.write(HEAD.format("explain", len(content)).encode() + content)
        await writer.drain()
        writer.close()


async def at_rest(port: int, limit: float) -> dict[str, float]:
    """The metrics of the service, once nothing is searched any more."""
    end = time.monotonic() + limit
    while True:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(b"GET /metrics HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n")
        lines = [line.split() for line in (await reader.read()).decode().splitlines()]
        writer.close()
        metrics = {line[0]: float(line[1]) for line in lines if len(line) == 2 and line[0].startswith("likely_")}
        if metrics["likely_searches_running"] + metrics["likely_searches_waiting"] == 0 or time.monotonic() > end:
            return metrics
        await asyncio.sleep(0.1)


async def rounds(folder: Path, questions: list[Any], direct: dict[str, Any], limit: float) -> dict[str, Any]:
    """Every round, each bounded in count and in time."""
    count = len(questions)
    # a question may wait as long as one may be searched
    service = Service(folder, "--waiting", str(count), "--seconds", "60")
    memory = [service.megabytes]
    made = [
        await measured("one after the other", service.port, questions[: count // 3], 1, direct, limit),
        await measured("16 at a time", service.port, questions, 16, direct, limit),
        await measured(f"{count} at once", service.port, questions, count, direct, limit),
    ]
    writers = await stalled(service.port, 60)
    made.append(await measured("16 at a time, 60 clients stall", service.port, questions, 16, direct, limit))
    for writer in writers:
        writer.transport.abort()
    hard = [{**question, "k": 10, "plausibility": 0.9, "diversity": "values"} for question in questions]
    await gone(service.port, hard)
    metrics = await at_rest(service.port, limit)
    made.append(await measured(f"16 at a time, after {count} clients went away", service.port, questions, 16, direct, limit))
    memory.append(service.megabytes)
    code = service.ended()
    small = Service(folder, "--waiting", "20")
    made.append(await measured(f"{count} at once, 20 may wait", small.port, questions, count, direct, limit))
    made.append(await measured("16 at a time, after that", small.port, questions[: count // 3], 16, direct, limit))
    return {
        "rounds": made, "cancelled": metrics["likely_cancelled_total"], "left_running": metrics["likely_searches_running"],
        "megabytes": memory, "exit_codes": [code, small.ended()],
    }  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--requests", type=int, default=300)
    parser.add_argument("--seconds", type=float, default=120.0, help="that one answer may take")
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        explainer, rows = prepared(folder)
        questions = [
            {"row": rows[i % len(rows)], "plausibility": (0.25, 0.5, 0.75)[i % 3], "seconds": 10} for i in range(options.requests)
        ]
        quick = explainer.remembering()
        direct = {
            json.dumps(question): kept(
                quick.explain(question["row"], plausibility=likely.Quantile(question["plausibility"]), limits=10).to_dict()
            )
            for question in questions
        }
        result = asyncio.run(rounds(folder, questions, json.loads(json.dumps(direct)), options.seconds))
    print(head(COLUMNS))
    for made in result["rounds"]:
        print(line(COLUMNS, made))
    print(f"{result['cancelled']:.0f} searches ended because nobody waited for them; {result['left_running']:.0f} went on")
    first, last = result["megabytes"]
    print(f"memory: {first:.0f} MB at the start, {last:.0f} MB at the end; exit codes {result['exit_codes']}")
    if options.json:
        options.json.write_text(json.dumps(result, indent=1) + "\n")


if __name__ == "__main__":
    main()
