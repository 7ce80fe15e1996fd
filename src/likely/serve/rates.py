"""How many requests of one address are answered: a token bucket per address."""

from __future__ import annotations

import math
import time
from collections import OrderedDict
from collections.abc import Callable

#: So many addresses are kept in mind; the one that was silent longest is forgotten first.
_MOST = 10_000
#: An address may ask this many seconds' worth of requests at once.
_BURST = 5.0


class Rates:
    """Lets `rate` requests per second and address through, and a few more at once.

    Args:
        rate: Requests per second.
        clock: The time in seconds.
    """

    def __init__(self, rate: float, clock: Callable[[], float] = time.monotonic) -> None:
        self._rate, self._clock = rate, clock
        self._burst = max(1.0, rate * _BURST)
        #: address -> what it may still ask, and when that was so
        self._left: OrderedDict[str, tuple[float, float]] = OrderedDict()

    def wait(self, address: str) -> int:
        """The whole seconds after which an address may ask again; 0 if it may now, which counts as a request.

        Args:
            address: Who asks.
        """
        now = self._clock()
        left, then = self._left.pop(address, (self._burst, now))
        left = min(self._burst, left + (now - then) * self._rate)
        allowed = left >= 1.0
        self._left[address] = (left - 1.0 if allowed else left, now)
        if len(self._left) > _MOST:
            self._left.popitem(last=False)
        return 0 if allowed else math.ceil((1.0 - left) / self._rate)
