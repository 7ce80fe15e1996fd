from __future__ import annotations

import pytest

from tests.batch.saved import Saved, saved_in


@pytest.fixture(scope="session")
def saved(tmp_path_factory: pytest.TempPathFactory) -> Saved:
    return saved_in(tmp_path_factory.mktemp("saved"))
