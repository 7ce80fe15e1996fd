"""Many machines: `explain_frame` is all that a worker of Dask, Ray or Spark does; each of these has a thin module here."""

from likely.cluster.frames import explain_frame

__all__ = ["explain_frame"]
