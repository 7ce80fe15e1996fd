"""How hypothesis runs: the same examples every time, unless HYPOTHESIS_PROFILE says to look further."""

from __future__ import annotations

import os

from hypothesis import HealthCheck, settings

_SLOW = [HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.filter_too_much]
settings.register_profile("ci", max_examples=60, deadline=None, derandomize=True, database=None, suppress_health_check=_SLOW)
settings.register_profile("thorough", max_examples=1000, deadline=None, print_blob=True, suppress_health_check=_SLOW)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "ci"))
