"""The container file and the compose file hold together, and say what the command line knows."""

from __future__ import annotations

import argparse
import json
import re
from pathlib import Path
from typing import Any

import pytest
from ruamel.yaml import YAML

from likely.cli import serve

ROOT = Path(__file__).parents[1]
DEPLOY = ROOT / "deploy"


def instructions() -> list[tuple[str, str]]:
    """Every instruction of the container file, lines that go on joined."""
    text = re.sub(r"\\\n\s*", " ", (DEPLOY / "Containerfile").read_text(encoding="utf-8"))
    lines = [line for line in text.splitlines() if line and not line.startswith("#")]
    return [(line.split()[0], line.partition(" ")[2]) for line in lines]


def last(name: str) -> str:
    return [rest for instruction, rest in instructions() if instruction == name][-1]


def composed() -> dict[str, Any]:
    data: dict[str, Any] = YAML(typ="safe").load((DEPLOY / "compose.yaml").read_text(encoding="utf-8"))
    return data


def options_of(words: list[str]) -> argparse.Namespace:
    """What `likely` makes of a command; it ends the test if it does not know an option."""
    parser = argparse.ArgumentParser(prog="likely", exit_on_error=False)
    serve.add(parser.add_subparsers())
    return parser.parse_args(words)


def entry() -> list[str]:
    program, *words = json.loads(last("ENTRYPOINT"))
    assert program == "likely"
    return words


def test_the_container_runs_a_command_that_there_is() -> None:
    options = options_of([*entry(), *json.loads(last("CMD"))])
    assert (options.host, options.port) == ("0.0.0.0", int(last("EXPOSE")))
    assert f":{options.port}/health" in last("HEALTHCHECK")
    assert options.model.startswith(options.explainer)
    assert not options.allow_pickle


def test_the_container_is_not_run_by_root() -> None:
    assert int(last("USER")) > 0
    names = [name for name, _ in instructions()]
    assert names.index("USER") < names.index("ENTRYPOINT"), "and what runs comes after"
    assert last("STOPSIGNAL") == "SIGTERM"


def test_what_the_container_file_copies_is_there() -> None:
    ignored = (ROOT / ".dockerignore").read_text(encoding="utf-8").splitlines()
    for name, rest in instructions():
        if name == "COPY" and not rest.startswith("--from"):
            for source in rest.split()[:-1]:
                assert (ROOT / source).exists()
                assert f"!{source}" in ignored
    needed = re.findall(r'"([^"]+)"', re.search(r"license-files = \[(.*)\]", (ROOT / "pyproject.toml").read_text())[1])  # type: ignore[index]
    copied = " ".join(rest for name, rest in instructions() if name == "COPY").split()
    assert all(Path(file).parts[0] in copied for file in [*needed, "README.md"])


@pytest.mark.parametrize("extra", last("ARG").partition("=")[2].split(","))
def test_the_container_has_extras_that_there_are(extra: str) -> None:
    assert re.search(rf"^{extra} = \[", (ROOT / "pyproject.toml").read_text(encoding="utf-8"), re.MULTILINE)


def test_the_services_are_run_as_the_container_file_says() -> None:
    service = composed()["services"]["likely"]
    assert (DEPLOY / service["build"]["context"] / service["build"]["dockerfile"]).resolve() == DEPLOY / "Containerfile"
    options = options_of([*entry(), *service["command"]])
    assert options.token_file == f"/run/secrets/{service['secrets'][0]}"
    assert service["secrets"] == list(composed()["secrets"])
    assert f"./explainer:{options.explainer}:ro" in service["volumes"]
    assert options.proxy == [composed()["networks"]["inside"]["ipam"]["config"][0]["subnet"]]
    assert int(service["stop_grace_period"].removesuffix("s")) > options.grace + 5, "answers have time to be sent"
    assert service["read_only"]
    assert service["cap_drop"] == ["ALL"]
    assert "ports" not in service, "the balancer alone can be reached"


def test_the_balancer_stands_before_the_services() -> None:
    balancer = composed()["services"]["balancer"]
    for volume in balancer["volumes"]:
        assert (DEPLOY / volume.partition(":")[0]).is_file()
    [port] = balancer["ports"]
    address, _, inside = port.split(":")
    assert address == "127.0.0.1"
    text = (DEPLOY / "haproxy.cfg").read_text(encoding="utf-8")
    assert re.search(rf"bind :{inside}\b", text)
    assert re.search(rf"server-template \w+ \d+ likely:{last('EXPOSE')} check", text)
    assert "httpchk GET /ready" in text
    assert "abortonclose" in text, "who goes away ends the search"
    limit = int(re.search(r"timeout server (\d+)s", text)[1])  # type: ignore[index]
    options = options_of([*entry(), *composed()["services"]["likely"]["command"]])
    assert limit > 3 * options.seconds, "a question may wait as long as it may be searched, and a report says why"
    assert int(re.search(r"server-template \w+ (\d+)", text)[1]) >= composed()["services"]["likely"]["deploy"]["replicas"]  # type: ignore[index]
