"""What the PPCEF of ce-library answers, run by the interpreter that has it.

    pip install --no-deps ce-library==0.1.1 cel-nflows UMNN torchdiffeq
    python ce_library_worker.py FOLDER/question.json

The question is what `ce_library.py` writes; the answer is answer.json in the same folder. The packages of ce-library import all
of its methods, and with them tensorflow: only the modules that are needed are imported here.
"""

from __future__ import annotations

import importlib.util
import json
import sys
import time
import types
from pathlib import Path
from typing import Any

import numpy as np
import torch


def skip_inits(*packages: str) -> None:
    """Packages whose __init__ is not run."""
    spec = importlib.util.find_spec("cel")
    assert spec is not None
    assert spec.submodule_search_locations
    root = Path(next(iter(spec.submodule_search_locations))).parent
    for package in packages:
        module = types.ModuleType(package)
        module.__path__ = [str(root / package.replace(".", "/"))]  # type: ignore[attr-defined]
        sys.modules[package] = module


def network(layers: list[Any]) -> torch.nn.Sequential:
    parts: list[torch.nn.Module] = []
    for weights, bias in layers:
        linear = torch.nn.Linear(len(weights[0]), len(bias))
        linear.weight.data, linear.bias.data = torch.tensor(weights), torch.tensor(bias)
        parts += [torch.nn.ReLU(), linear]
    return torch.nn.Sequential(*parts[1:], torch.nn.Sigmoid())


def main() -> None:
    skip_inits("cel", "cel.cf_methods", "cel.cf_methods.local_methods", "cel.models", "cel.models.generative", "cel.losses")
    from cel.cf_methods.local_methods.ppcef.ppcef import PPCEF
    from cel.losses.binary_disc_loss import BinaryDiscLoss
    from cel.models.generative.maf.maf import MaskedAutoregressiveFlow

    path = Path(sys.argv[1])
    question = json.loads(path.read_text(encoding="utf-8"))
    torch.manual_seed(0)
    torch.set_num_threads(1)
    points = torch.tensor(question["points"], dtype=torch.float32)
    classes = torch.tensor(question["classes"], dtype=torch.float32)[:, None]
    order = np.random.default_rng(0).permutation(len(points))
    held, kept = order[: len(order) // 5], order[len(order) // 5 :]

    def batches(places: Any, x: torch.Tensor, y: torch.Tensor, shuffle: bool = False) -> Any:
        return torch.utils.data.DataLoader(torch.utils.data.TensorDataset(x[places], y[places]), batch_size=128, shuffle=shuffle)

    flow = MaskedAutoregressiveFlow(points.shape[1], 32, context_features=1, num_layers=5)
    clock = time.perf_counter()
    flow.fit(
        batches(kept, points + 0.02 * torch.randn_like(points), classes, shuffle=True), batches(held, points, classes),
        epochs=200, patience=20, checkpoint_path=str(path.with_name("flow.pth")),
    )  # fmt: skip
    fit = time.perf_counter() - clock
    least = float(torch.median(flow.predict_log_prob(batches(order, points, classes))))
    method = PPCEF(flow, network(question["layers"]), BinaryDiscLoss())
    asked = torch.tensor(question["asked"], dtype=torch.float32)
    own = torch.tensor(question["asked_classes"], dtype=torch.float32)[:, None]
    clock = time.perf_counter()
    found = method.explain_dataloader(
        batches(np.arange(len(asked)), asked, own), epochs=1000, lr=0.005, alpha=100.0, log_prob_threshold=least
    )
    seconds = (time.perf_counter() - clock) / len(asked)
    answer = {"points": found.x_cfs.tolist(), "fit_seconds": fit, "seconds": seconds}
    path.with_name("answer.json").write_text(json.dumps(answer), encoding="utf-8")


if __name__ == "__main__":
    main()
