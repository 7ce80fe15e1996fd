"""The numbers of the paper's tables, to stand beside ours; `data/paper.csv` says where each is from."""

from __future__ import annotations

import csv
import re
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

#: The paper's DiCE is the one that follows gradients.
ALIASES = {"dicegradient": "dice"}


@dataclass(frozen=True)
class Figure:
    """A number of the paper: a mean, median or share, and its standard deviation where the paper says one."""

    mean: float
    deviation: float | None = None


def figure(table: str, dataset: str, method: str, measure: str) -> Figure | None:
    """A number of the paper; None if it has none.

    Args:
        table: "approximation", "validity", "quality", "variants", "common", "time", "networks", "ranks" or "fit".
        dataset: As the benchmark names it.
        method: As the paper or the benchmark names it: "LiCE (median)" and "lice-median" are the same.
        measure: The column.
    """
    name = plain_name(method)
    return _figures().get((table, dataset, ALIASES.get(name, name), measure))


def plain_name(method: str) -> str:
    """The letters and digits of a name: what the paper and the benchmark have in common.

    Args:
        method: Any spelling.
    """
    return re.sub(r"[^a-z0-9]", "", method.lower())


@cache
def _figures() -> dict[tuple[str, str, str, str], Figure]:
    with files("likely.bench").joinpath("data", "paper.csv").open(encoding="utf-8") as file:
        lines = csv.DictReader(line for line in file if not line.startswith("#"))
        return {
            (line["table"], line["dataset"], plain_name(line["method"]), line["measure"]): Figure(
                float(line["mean"]), float(line["deviation"]) if line["deviation"] else None
            )
            for line in lines
        }
