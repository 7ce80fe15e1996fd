"""The picture of the frontier: the share of questions that are certified by a time, ours and peers, by families of models."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import matplotlib
import numpy as np
from frontier_questions import DENSITIES, MODELS

matplotlib.use("Agg")
import matplotlib.pyplot as plt

NAMES = {"search": "likely", "mio": "HiGHS", "treecf": "treecf", "veritas": "veritas (easier question)", "ocean": "OCEAN"}
COLOURS = {"search": "#1b6ca8", "mio": "#d1802b", "treecf": "#5b8c3a", "veritas": "#8f6bb3", "ocean": "#b0413e"}
STYLES = dict(zip(DENSITIES, ("-", "--", ":", "-.", (0, (4, 1, 1, 1, 1, 1))), strict=True))
LIKELIHOODS = {
    "none": "any row", "histograms": "likely by histograms", "blocks": "likely by blocks",
    "weighted histograms": "weight, histograms", "weighted blocks": "weight, blocks",
}  # fmt: skip


def draw(records: list[dict[str, Any]], path: Path) -> None:
    """Share certified over seconds of the processor."""
    families = [family for family in dict.fromkeys(family for family, _ in MODELS.values()) if of_family(records, family)]
    figure, axes = plt.subplots(1, len(families), figsize=(4.2 * len(families), 4.4), sharey=True, squeeze=False)
    for panel, family in zip(axes[0], families, strict=True):
        asked = of_family(records, family)
        for engine, name in NAMES.items():
            for density in DENSITIES:
                some = [record for record in asked if (record["engine"], record["density"]) == (engine, density)]
                if some:
                    label = f"{name}, {LIKELIHOODS[density]}"
                    panel.step(*curve(some), where="post", color=COLOURS[engine], linestyle=STYLES[density], label=label)
        panel.set(title=family, xscale="log", xlabel="processor seconds", ylim=(0, 1.02))
        panel.grid(alpha=0.3)
        panel.legend(fontsize=6.5, loc="upper center", bbox_to_anchor=(0.5, -0.17), ncol=2)
    axes[0][0].set_ylabel("share certified")
    figure.tight_layout()
    figure.savefig(path, dpi=130)


def of_family(records: list[dict[str, Any]], family: str) -> list[dict[str, Any]]:
    """The records of a family's models."""
    return [record for record in records if MODELS[record["model"]][0] == family]


def curve(records: list[dict[str, Any]]) -> tuple[list[float], list[float]]:
    """When each certificate was there, and the share of questions that had one then."""
    times = sorted(max(record["processor_seconds"], 1e-3) for record in records if record["certified"])
    end = max(record["limit"] for record in records)
    shares = np.arange(1, len(times) + 1) / len(records)
    last = shares[-1] if times else 0.0
    return [1e-3, *times, max([end, *times])], [0.0, *shares.tolist(), last]
