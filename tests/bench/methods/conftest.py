"""What is learned in tests is learned quickly."""

from __future__ import annotations

from collections.abc import Iterator
from importlib.util import find_spec

import pytest

from tests.bench.methods.examples import ROUNDS


@pytest.fixture(scope="session", autouse=True)
def _quick_flows() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        if find_spec("torch") is not None:
            patch.setattr("likely.bench.flow.ROUNDS", 2 * ROUNDS)
        yield
