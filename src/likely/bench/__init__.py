"""What answers are like and what they take: ours beside the simplest ones, and every method of the paper beside each other.

`measure` times one explainer; `run` asks many methods for the same rows, and measures what they return.
"""

from likely.bench.measuring import Measurement, Trial, measure
from likely.bench.method import Asked, Data, Generated, Method, Model
from likely.bench.nearest import Nearest, Pool, nearest_row
from likely.bench.results import Results
from likely.bench.running import run
from likely.bench.statistics import Comparison, compare
from likely.bench.supervising import Patience
from likely.bench.tables import Table
from likely.bench.tasks import Task, Truth, task

__all__ = [
    "Asked",
    "Comparison",
    "Data",
    "Generated",
    "Measurement",
    "Method",
    "Model",
    "Nearest",
    "Patience",
    "Pool",
    "Results",
    "Table",
    "Task",
    "Trial",
    "Truth",
    "compare",
    "measure",
    "nearest_row",
    "run",
    "task",
]
