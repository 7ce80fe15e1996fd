"""The exact engine: a problem's cheapest rows under the exact likelihood, certified."""

from likely.search.solve import solve
from likely.search.why import Conflict, Reason, likeliest, why

__all__ = ["Conflict", "Reason", "likeliest", "solve", "why"]
