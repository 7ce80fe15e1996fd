"""How hypothesis runs: the same examples every time, unless HYPOTHESIS_PROFILE says to look further ("thorough"),
less far, while one works ("quick"), or to make what fails small ("small")."""

from __future__ import annotations

import os
import signal

from hypothesis import HealthCheck, Phase, settings

# A test that filters most of what it draws away proves little: that check stays.
_SLOW = [HealthCheck.too_slow, HealthCheck.data_too_large]
# A failure is not made smaller there: that may take long, and the same example comes again where there is time for it.
_NO_SHRINKING = [Phase.explicit, Phase.generate]
settings.register_profile(
    "ci", max_examples=25, deadline=None, derandomize=True, database=None, phases=_NO_SHRINKING, suppress_health_check=_SLOW
)
settings.register_profile("quick", settings.get_profile("ci"), max_examples=5)
settings.register_profile("small", settings.get_profile("ci"), phases=list(Phase))
settings.register_profile("thorough", max_examples=1000, deadline=None, print_blob=True, suppress_health_check=_SLOW)
# A runner that is started in the background ignores Ctrl-C; the tests of it must not.
signal.signal(signal.SIGINT, signal.default_int_handler)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "ci"))
