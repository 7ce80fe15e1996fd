"""What answers are like and what they take, beside the simplest ones that anybody could give."""

from likely.bench.measuring import Measurement, Trial, measure
from likely.bench.nearest import Nearest, Pool, nearest_row

__all__ = ["Measurement", "Nearest", "Pool", "Trial", "measure", "nearest_row"]
