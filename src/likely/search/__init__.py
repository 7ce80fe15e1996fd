"""The exact engine: a problem's cheapest rows under the exact likelihood, certified."""

from likely.search.solve import SearchSession, solve

__all__ = ["SearchSession", "solve"]
