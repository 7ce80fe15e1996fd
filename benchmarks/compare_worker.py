"""Runs a benchmark with an installed or another build of likely, and notes what every search took.

    python compare_worker.py SITE OUT SCRIPT [ARGUMENTS...]

SITE is a folder that a build was installed into, or - for the build that this interpreter has; OUT gets a line per search.
"""

from __future__ import annotations

import json
import runpy
import sys
import time
from pathlib import Path
from typing import Any


def note_searches(path: Path) -> None:
    """From now on every session of the exact engine writes what its searches took, with what it took to begin it."""
    from likely.search import SearchSession

    begin, solve = SearchSession.__init__, SearchSession.solve

    def timed_begin(self: Any, *arguments: Any, **options: Any) -> None:
        clock = time.process_time()
        begin(self, *arguments, **options)
        self._begun = time.process_time() - clock

    def timed_solve(self: Any, *arguments: Any, **options: Any) -> Any:
        clock = time.process_time()
        result = solve(self, *arguments, **options)
        seconds = time.process_time() - clock + self._begun
        self._begun = 0.0
        with path.open("a") as file:
            nodes, upper = result.statistics.nodes, result.bounds.upper
            file.write(json.dumps({"seconds": seconds, "nodes": nodes, "status": result.status, "upper": upper}) + "\n")
        return result

    SearchSession.__init__, SearchSession.solve = timed_begin, timed_solve  # type: ignore[method-assign]


def main() -> None:
    site, out, script, *arguments = sys.argv[1:]
    if site != "-":  # an editable build would come first
        sys.meta_path = [finder for finder in sys.meta_path if type(finder).__name__ != "ScikitBuildRedirectingFinder"]
        sys.path.insert(0, site)
    sys.path.insert(0, str(Path(script).parent))
    note_searches(Path(out))
    sys.argv = [script, *arguments]
    runpy.run_path(script, run_name="__main__")


if __name__ == "__main__":
    main()
