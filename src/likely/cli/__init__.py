"""The command line: parse, call, print. A file per command; `program` joins them."""

from likely.cli.program import main

__all__ = ["main"]
