"""Cuts the paper's case files down to a few factuals each: the fixtures of the tests.

    python tools/cut_cases.py FOLDER_WITH_CASES [FOLDER_WITH_TABLES]

Networks, circuits, features and all variants of the queries stay as they are; of the factuals every tenth stays. Given the
paper's tables, too, it writes their checksums. The same input gives the same files (the compressed ones depend on zlib).
"""

from __future__ import annotations

import argparse
import gzip
import hashlib
import json
from pathlib import Path

FIXTURES = Path(__file__).parents[1] / "tests" / "data" / "cases"
EVERY = 10
#: tables that can be made again from the package's own data sets
TABLES = ("credit", "adult")


def cut(source: Path, to: Path) -> None:
    """Writes a case file with every tenth factual."""
    case = json.loads(gzip.decompress(source.read_bytes()))
    case["factuals"] = case["factuals"][::EVERY]
    text = json.dumps(case, separators=(",", ":"), ensure_ascii=False)
    to.write_bytes(gzip.compress(text.encode(), compresslevel=9, mtime=0))


def checksums(folder: Path) -> dict[str, str]:
    """The SHA-256 of each table's text."""
    return {name: hashlib.sha256(gzip.decompress((folder / f"{name}.csv.gz").read_bytes())).hexdigest() for name in TABLES}


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("cases", type=Path, help="folder with the case files")
    parser.add_argument("tables", type=Path, nargs="?", help="folder with the paper's tables")
    options = parser.parse_args()
    sources = sorted(options.cases.glob("*.json.gz"))
    if not sources:
        parser.error(f"no case files (*.json.gz) in {options.cases}")
    FIXTURES.mkdir(parents=True, exist_ok=True)
    for source in sources:
        cut(source, FIXTURES / source.name)
    if options.tables is not None:
        text = json.dumps(checksums(options.tables), indent=2)
        (FIXTURES / "tables.json").write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
