"""Fetch the libraries of the page, and that of its tests, from npm: `python tools/vendor_page.py`.

The page is plain ES modules without a build step: files are as their authors published them, but for two things. Imports name the
file beside them, because a browser knows no packages without an import map, which a strict content policy does not allow.
Comments that point to source maps are left out. Needs npm.
"""

from __future__ import annotations

import hashlib
import json
import re
import subprocess
import tarfile
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "src" / "likely" / "page" / "vendor"
TESTS = ROOT / "tests" / "page" / "vendor"


@dataclass(frozen=True)
class Package:
    """One package of npm: its version, and which of its files become which of ours."""

    name: str
    version: str
    files: dict[str, str]


FOR_THE_PAGE = (
    Package("preact", "11.2.0", {"dist/preact.mjs": "preact.js", "hooks/dist/hooks.mjs": "preact-hooks.js"}),
    Package("@preact/signals-core", "1.14.5", {"dist/signals-core.mjs": "signals-core.js"}),
    Package("@preact/signals", "2.11.4", {"dist/signals.mjs": "signals.js"}),
    Package("htm", "3.1.1", {"dist/htm.mjs": "htm.js"}),
)
FOR_TESTS = (Package("axe-core", "4.14.0", {"axe.min.js": "axe.min.js"}),)
#: Packages as modules import them -> the file beside them.
BESIDE = {"preact": "preact.js", "preact/hooks": "preact-hooks.js", "@preact/signals-core": "signals-core.js"}


def main() -> None:
    """Write both folders anew, each with licences and a note of where its files come from."""
    for folder, packages in ((PAGE, FOR_THE_PAGE), (TESTS, FOR_TESTS)):
        folder.mkdir(parents=True, exist_ok=True)
        lines = [line for package in packages for line in fetched(package, folder)]
        note = "# Where these files come from\n\nFrom npm, by `tools/vendor_page.py`, which says what is changed in them.\n\n"
        head = "| file | package | licence | SHA-256 of the published file |\n| --- | --- | --- | --- |\n"
        (folder / "README.md").write_text(note + head + "".join(lines), encoding="utf-8")


def fetched(package: Package, folder: Path) -> list[str]:
    """A package's files in a folder, and a line of its table for each."""
    with TemporaryDirectory() as where:
        command = ["npm", "pack", "--silent", f"{package.name}@{package.version}"]
        subprocess.run(command, cwd=where, check=True, stdout=subprocess.DEVNULL)
        with tarfile.open(next(Path(where).glob("*.tgz"))) as archive:
            archive.extractall(where, filter="data")
        source = Path(where) / "package"
        spoken = json.loads((source / "package.json").read_text(encoding="utf-8"))["license"]
        licence = f"{package.name.strip('@').replace('/', '-')}.LICENSE"
        (folder / licence).write_bytes((source / "LICENSE").read_bytes())
        lines = []
        for theirs, ours in package.files.items():
            published = (source / theirs).read_bytes()
            (folder / ours).write_text(standing_alone(published.decode()), encoding="utf-8")
            digest = hashlib.sha256(published).hexdigest()
            lines.append(f"| `{ours}` | {package.name} {package.version}, `{theirs}` | {spoken}: `{licence}` | `{digest}` |\n")
        return lines


def standing_alone(module: str) -> str:
    """A module that imports the files beside it, and points to no source map."""
    for package, beside in BESIDE.items():
        module = module.replace(f'from"{package}"', f'from"./{beside}"')
    return re.sub(r"\n?//# sourceMappingURL=\S+\s*$", "\n", module)


if __name__ == "__main__":
    main()
