"""`likely serve`: what it refuses, and one life of it from the shell."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import urllib.request
from pathlib import Path

import pytest

from likely.cli import main
from likely.cli.serve import _this_machine

for package in ("starlette", "uvicorn", "prometheus_client"):
    pytest.importorskip(package)


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        ([], "must be a file that holds no code"),
        (["--allow-pickle", "--rate", "0"], "The rate of requests must be greater than 0"),
        (["--allow-pickle", "--concurrency", "0"], "must be None, a number of threads"),
        (["--allow-pickle", "--waiting", "-1"], "must be at least 0"),
        (["--allow-pickle", "--port", "99999"], "The address to listen on must be free"),
        (["--allow-pickle", "--host", "192.0.2.1"], "The address to listen on must be free"),
        (["--allow-pickle", "--token-file", "nothing"], "A token's file must exist"),
        (["--allow-pickle", "--port", "0", "--seconds", "0"], "must be greater than 0"),
        (["--allow-pickle", "--port", "0", "-k", "0"], "must be at least 1"),
        (["--allow-pickle", "--port", "0", "--body", "0"], "must be at least 1"),
        (["--allow-pickle", "--port", "0", "--examples", "nothing"], "A file of examples must exist"),
    ],
)
def test_what_cannot_be_served_is_refused(
    asked: list[str], words: list[str], sentence: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["serve", *asked, *words]) == 2
    assert sentence in capsys.readouterr().err


def test_a_short_token_is_refused(asked: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setenv("LIKELY_TOKEN", "secret")
    assert main(["serve", *asked, "--allow-pickle", "--port", "0"]) == 2
    told = capsys.readouterr().err
    assert "The token must be at least 16 printable letters" in told
    assert "secret;" not in told


def test_examples_that_are_no_rows_are_refused(asked: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for text, sentence in [("{", "must be JSON"), ("{}", "must be a list of rows"), ('[{"age": 3}]', "must have 'income'")]:
        (tmp_path / "rows.json").write_text(text, encoding="utf-8")
        assert main(["serve", *asked, "--allow-pickle", "--port", "0", "--examples", str(tmp_path / "rows.json")]) == 2
        assert sentence in capsys.readouterr().err


def test_this_machine_alone() -> None:
    assert all(map(_this_machine, ("127.0.0.1", "127.1.2.3", "::1", "localhost")))
    assert not any(map(_this_machine, ("0.0.0.0", "::", "192.0.2.1", "example.org")))


@pytest.mark.skipif(sys.platform == "win32", reason="there is no SIGTERM")
def test_a_service_from_its_start_to_its_end(asked: list[str]) -> None:
    command = [sys.executable, "-m", "likely", "serve", *asked, "--allow-pickle", "--port", "0"]
    with subprocess.Popen(
        command, stderr=subprocess.PIPE, text=True, env={**os.environ, "LIKELY_TOKEN": "0123456789abcdef"}
    ) as process:
        assert process.stderr is not None
        listening = json.loads(process.stderr.readline())
        assert (listening["event"], listening["host"]) == ("listening", "127.0.0.1")
        headers = {"Authorization": "Bearer 0123456789abcdef"}
        request = urllib.request.Request(f"http://127.0.0.1:{listening['port']}/about", headers=headers)
        with urllib.request.urlopen(request, timeout=60) as answer:
            assert json.load(answer)["title"] == "explainer"
        process.send_signal(signal.SIGTERM)
        events = [json.loads(line)["event"] for line in process.stderr]
        assert process.wait(60) == 0
        assert events == ["request", "ending", "ended"]
