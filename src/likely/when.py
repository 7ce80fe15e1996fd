"""Conditions of rules: what may be said of one feature before (`was`) and after a change.

`likely.Implies(likely.when.increases("school"), likely.when.increases("age"))`
"""

from likely.schema.conditions import at_least, at_most, changes, decreases, equals, increases, was

__all__ = ["at_least", "at_most", "changes", "decreases", "equals", "increases", "was"]
