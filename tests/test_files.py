"""Files that are whole or not there, whatever ends the program while it writes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from likely._files import replacing
from tests.explain.examples import circuit_of, schema_of

BEFORE = "what was there before"


def _write_half(path: Path) -> None:
    with replacing(path) as file:
        file.write(b"half of")
        file.flush()
        raise KeyboardInterrupt


def test_what_ends_while_it_is_written_leaves_the_file_of_before(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_text(BEFORE)
    with pytest.raises(KeyboardInterrupt):
        _write_half(path)
    assert path.read_text() == BEFORE
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("make", [circuit_of, schema_of])
def test_what_is_saved_takes_its_place_when_all_is_written(make: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_: Any) -> None:
        raise KeyboardInterrupt

    thing, path = make(), tmp_path / "saved.json"
    path.write_text(BEFORE)
    with monkeypatch.context() as patched:
        patched.setattr(Path, "replace", interrupted)
        with pytest.raises(KeyboardInterrupt):
            thing.save(path)
    assert path.read_text() == BEFORE
    assert list(tmp_path.iterdir()) == [path]
    thing.save(path)
    assert type(thing).load(path) == thing
