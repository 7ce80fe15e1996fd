"""The build that is installed beside that of another commit, on the same questions: ratios of processor time and of nodes.

    python benchmarks/compare_commits.py BASE --folder FOLDER [--suites paper families growth large] [--cases DIR] [--data DIR]
                                         [--rows 5] [--limit-seconds 20] [--most 1.1]

The base is checked out and installed in FOLDER, outside of the repository, and kept there for the next time. The benchmarks of
this commit are run piece by piece, first with the one and then with the other build, in turns, and every search is timed by
itself (compare_worker.py). A line per piece: the ratio of the summed processor time, that of the median question, and that of
nodes; above 1, the base was faster. The exit code says whether a ratio of summed time is above --most, or a status got worse.
"""

from __future__ import annotations

import argparse
import json
import math
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

HERE = Path(__file__).resolve().parent
SUITES = ("paper", "families", "growth", "large")
PROVED = ("optimal", "infeasible")


def installed(base: str, folder: Path) -> Path:
    """The folder that the base is installed in."""
    commit = subprocess.run(["git", "rev-parse", base], cwd=HERE, check=True, capture_output=True, text=True).stdout.strip()
    tree, site = folder / f"tree-{commit[:12]}", folder / f"site-{commit[:12]}"
    if not (site / "likely").exists():
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory() as part:
            archive = Path(part) / "tree.tar"
            subprocess.run(["git", "archive", "-o", str(archive), commit], cwd=HERE.parent, check=True)
            tree.mkdir(exist_ok=True)
            subprocess.run(["tar", "-xf", str(archive), "-C", str(tree)], check=True)
        target = ["--no-build-isolation", "--no-deps", "--target", str(site), str(tree)]
        subprocess.run([sys.executable, "-m", "pip", "install", "-q", *target], check=True)
    return site


def pieces(options: argparse.Namespace, folder: Path) -> Iterator[tuple[str, list[str]]]:
    """What is run: a name, and a script with its arguments."""
    limits = ["--limit-seconds", str(options.limit_seconds)]
    rows = ["--rows", str(options.rows), *limits]
    if "paper" in options.suites:
        for path in sorted(options.cases.glob("*.json.gz")):
            one = folder / path.name.split(".")[0]
            one.mkdir()
            (one / path.name).symlink_to(path.resolve())
            yield f"paper {one.name}", ["paper_cases.py", str(one), *limits]
    if "families" in options.suites:
        import families

        for family in families.FAMILIES:
            yield f"families {family}", ["families.py", "--families", family, *rows]
    if "growth" in options.suites:
        import growth

        for axis in growth.AXES:
            yield f"growth {axis}", ["growth.py", "--axes", axis, *rows]
    if "large" in options.suites:
        import large_models

        for family in large_models.FAMILIES:
            yield f"large {family}", ["large_models.py", str(options.data), "--families", family, *rows]


def searches(site: str, command: list[str], out: Path) -> list[dict[str, Any]]:
    """What every search of a piece took."""
    arguments = [str(HERE / "compare_worker.py"), site, str(out), str(HERE / command[0]), *command[1:]]
    subprocess.run([sys.executable, *arguments], check=False, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    return [json.loads(text) for text in out.read_text().splitlines()] if out.exists() else []


def compared(before: list[dict[str, Any]], after: list[dict[str, Any]]) -> dict[str, Any]:
    """Ratios of the one to the other, over the searches that both have."""
    pairs = list(zip(before, after, strict=False))
    return {
        "searches": len(pairs), "uneven": len(before) != len(after),
        "sum": sum(b["seconds"] for _, b in pairs) / max(sum(a["seconds"] for a, _ in pairs), 1e-9),
        "median": float(np.median([b["seconds"] / max(a["seconds"], 1e-9) for a, b in pairs])) if pairs else math.nan,
        "nodes": (1 + sum(b["nodes"] for _, b in pairs)) / (1 + sum(a["nodes"] for a, _ in pairs)),
        "worse": sum(a["status"] in PROVED and b["status"] not in PROVED for a, b in pairs),
        "better": sum(b["status"] in PROVED and a["status"] not in PROVED for a, b in pairs),
    }  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("base", metavar="BASE")
    parser.add_argument("--folder", type=Path, required=True, help="where the base is built, outside of the repository")
    parser.add_argument("--suites", nargs="*", default=SUITES, choices=SUITES)
    parser.add_argument("--cases", type=Path, metavar="DIR", help="the folder of paper_cases.py")
    parser.add_argument("--data", type=Path, metavar="DIR", help="the folder of large_models.py")
    parser.add_argument("--rows", type=int, default=5)
    parser.add_argument("--limit-seconds", type=float, default=20.0)
    parser.add_argument("--most", type=float, default=1.1, help="the largest ratio of summed time that is allowed (1.1)")
    options = parser.parse_args()
    needs = {"paper": options.cases, "large": options.data}
    options.suites = [suite for suite in options.suites if suite not in needs or needs[suite] is not None]
    builds = [str(installed(options.base, options.folder.resolve())), "-"]
    slower = False
    print(f"{'piece':34} {'searches':>8} {'sum':>6} {'median':>7} {'nodes':>6} {'worse':>6} {'better':>6}")
    with tempfile.TemporaryDirectory() as part:
        for number, (name, command) in enumerate(pieces(options, Path(part))):
            outs = [Path(part) / f"{number}-{build}.jsonl" for build in range(2)]
            order = [0, 1] if number % 2 == 0 else [1, 0]
            found = {build: searches(builds[build], command, outs[build]) for build in order}
            now = compared(found[0], found[1])
            slower |= now["sum"] > options.most or now["worse"] > 0
            print(
                f"{name:34} {now['searches']:8} {now['sum']:6.2f} {now['median']:7.2f} {now['nodes']:6.2f}"
                f" {now['worse']:6} {now['better']:6}{'  (not the same searches)' if now['uneven'] else ''}",
                flush=True,
            )
    sys.exit(slower)


if __name__ == "__main__":
    main()
