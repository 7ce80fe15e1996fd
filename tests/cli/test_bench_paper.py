"""`bench paper`: what is asked, what is written, and what is said."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from likely.bench import tasks
from likely.cli import bench_paper, main
from likely.cli.codes import Code
from tests.bench.fakes import NearestWithAMask
from tests.bench.test_tasks import tiny


@pytest.fixture(autouse=True)
def _small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bench_paper, "METHODS", {"nearest": NearestWithAMask, "other": NearestWithAMask})
    monkeypatch.setitem(tasks.LOADERS, "wine", tiny)
    monkeypatch.setattr("likely.bench.densities.find_spec", lambda name: None)


def test_one_command_writes_everything(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("matplotlib")
    words = ["--methods", "nearest", "--datasets", "wine", "--factuals", "3", "--no-fit", "--out", str(tmp_path / "run")]
    assert main(["bench", "paper", "--quick", *words]) == Code.ANSWER
    said = capsys.readouterr()
    assert str(tmp_path / "run" / "results.md") in said.out
    page = (tmp_path / "run" / "results.md").read_text(encoding="utf-8")
    assert "likely bench paper --quick --methods nearest --datasets wine --factuals 3" in page
    assert "| nearest | 3 |" in (tmp_path / "run" / "results_all.md").read_text(encoding="utf-8")
    assert (tmp_path / "run" / "figures" / "wine-trade-off.png").stat().st_size > 0
    assert (tmp_path / "run" / "tables" / "wine-success.tex").exists()
    assert main(["bench", "paper", "--quick", *words]) == Code.USAGE
    assert "go on with it" in capsys.readouterr().err
    assert main(["bench", "paper", "--quick", *words, "--resume", "--page", str(tmp_path / "page.md")]) == Code.ANSWER
    assert (tmp_path / "page.md").exists()
    assert (tmp_path / "pictures" / "page" / "wine-trade-off.svg").exists()


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--methods", "unknown"], "be one of nearest, other"),
        (["--datasets", "unknown"], "be one of gmsc"),
        (["--datasets", "wine", "--folds", "6"], "from 1 to 5"),
        (["--datasets", "wine", "--factuals", "0"], "at least 1"),
        (["--datasets", "wine", "--circuits", "0"], "at least 1"),
    ],
)
def test_refusals(words: list[str], said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["bench", "paper", *words, "--out", str(tmp_path / "run")]) == Code.USAGE
    assert said in capsys.readouterr().err
    assert not (tmp_path / "run").exists()


def test_the_protocol_and_what_is_not_there(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """Without options it is the paper's protocol on all data that can be read; Ctrl-C says how to go on."""
    asked: dict[str, Any] = {}

    def interrupted(methods: Any, datasets: Any, folds: Any, factuals: Any, seed: Any, **more: Any) -> None:
        asked.update(datasets=datasets, folds=list(folds), factuals=factuals, **more)
        raise KeyboardInterrupt

    def there(name: str) -> None:
        if name == "gmsc":
            raise bench_paper.ProblemError("GMSC", "be there", "nothing", "get it")

    monkeypatch.setattr(bench_paper, "run_benchmark", interrupted)
    monkeypatch.setattr(bench_paper, "check_available", there)
    assert main(["bench", "paper", "--out", "somewhere"]) == Code.INTERRUPTED
    said = capsys.readouterr().err
    assert "without gmsc: GMSC must be there" in said
    assert "--resume --out somewhere" in said
    assert asked["datasets"] == tuple(name for name in tasks.NAMES if name != "gmsc")
    assert (asked["folds"], asked["factuals"], asked["k"], asked["refits"]) == ([0, 1, 2, 3, 4], 100, 10, 20)
    assert asked["most_rows"] is None


def test_a_folder_called_paper_is_still_one(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["bench", "./paper"]) == Code.USAGE
    assert "paper" in capsys.readouterr().err
