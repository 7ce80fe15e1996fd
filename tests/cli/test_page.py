"""Every command on the page about the command line runs, from top to bottom, with the exit code that it names."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

from likely.cli import main

PAGE = Path(__file__).parents[2] / "docs" / "cli.md"
BLOCK = re.compile(r"^```bash\n(.*?)^```$", re.MULTILINE | re.DOTALL)


@pytest.mark.slow
def test_commands_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.chdir(tmp_path)
    lines = [line for block in BLOCK.findall(PAGE.read_text(encoding="utf-8")) for line in block.splitlines()]
    for line in lines:
        command, _, comment = line.partition("  # exit code ")
        program, *words = shlex.split(command)
        assert program == "likely"
        code = main(words)
        said = capsys.readouterr()
        assert code == int(comment or 0), f"{line}\n{said.out}{said.err}"
        assert said.err == ""
    for name in ("likely-demo.html", "answer.html", "answers.csv", "answers.html"):
        assert (tmp_path / name).stat().st_size > 0


def test_every_option_of_a_question_is_explained() -> None:
    text = PAGE.read_text(encoding="utf-8")
    for option in ("--target", "-k", "--lock", "--max-changes", "--plausibility", "--coherence", "--of", "--weight", "--seconds"):
        assert f"`{option} " in text
