"""The page's modules as one: a notebook takes a single module, and nobody has to build anything.

Every module becomes a function that is called once and gives what it exports; what it imports are names taken from what others
gave. The forms of `import` and `export` that the modules here are written in are read; others are refused.
"""

from __future__ import annotations

import posixpath
import re
from functools import cache
from importlib.resources import files

_NAMES = r"\{(?P<names>[^}]*)\}"
_FROM = r'from\s*"(?P<path>\.[^"]+)"\s*;?'
#: import { a, b as c } from "./d.js"; import a from "./d.js"; import "./d.js"; and the minified forms of them
_IMPORT = re.compile(rf'\bimport\s*(?:(?:{_NAMES}|(?P<whole>\w+)\s)\s*{_FROM}|"(?P<only>\.[^"]+)"\s*;?)')
#: export { a, b as c } from "./d.js"
_PASSED_ON = re.compile(rf"\bexport\s*{_NAMES}\s*{_FROM}")
#: export { a, b as c };
_EXPORT = re.compile(rf"\bexport\s*{_NAMES}\s*;?")
_DEFAULT = re.compile(r"\bexport\s+default\b")


@cache
def bundled(entry: str) -> str:
    """One module that exports by default what a module of the page does.

    Args:
        entry: The module's path in the page's folder, such as "widget.js".
    """
    order: list[str] = []
    _visit(entry, order)
    functions = [f"const m{place} = (() => {{\n{_body(path, order)}\n}})();\n" for place, path in enumerate(order)]
    return "".join(functions) + f"export default m{len(order) - 1}.default;\n"


def _source(path: str) -> str:
    return files("likely.page").joinpath(*path.split("/")).read_text(encoding="utf-8")


def _beside(path: str, other: str) -> str:
    return posixpath.normpath(posixpath.join(posixpath.dirname(path), other))


def _visit(path: str, order: list[str]) -> None:
    """Puts a module behind all that it imports."""
    if path in order:
        return
    source = _source(path)
    for found in [*_IMPORT.finditer(source), *_PASSED_ON.finditer(source)]:
        parts = found.groupdict()
        _visit(_beside(path, parts.get("path") or parts["only"]), order)
    order.append(path)


def _body(path: str, order: list[str]) -> str:
    """A module as the body of a function that returns its exports."""
    exports: list[str] = []

    def variable(other: str) -> str:
        return f"m{order.index(_beside(path, other))}"

    def imported(found: re.Match[str]) -> str:
        if found["only"]:
            return ""
        taken = f"default: {found['whole']}" if found["whole"] else _pairs(found["names"])
        return f"const {{ {taken} }} = {variable(found['path'])};"

    def passed_on(found: re.Match[str]) -> str:
        names = [name.strip() for name in found["names"].split(",") if name.strip()]
        exports.extend(f"{name}: {variable(found['path'])}.{name}" for name in names)
        return ""

    def exported(found: re.Match[str]) -> str:
        exports.extend(_turned(name) for name in found["names"].split(",") if name.strip())
        return ""

    body = _PASSED_ON.sub(passed_on, _IMPORT.sub(imported, _source(path)))
    body = _EXPORT.sub(exported, body)
    body, defaults = _DEFAULT.subn("const theDefault =", body)
    if defaults:
        exports.append("default: theDefault")
    if re.search(r"^\s*(import|export)\b", body, re.MULTILINE):
        raise AssertionError(f"{path} imports or exports in a way that is not read")
    return f"{body}\nreturn {{ {', '.join(exports)} }};"


def _pairs(names: str) -> str:
    """`a, b as c` of an import, as a pattern: `a, b: c`."""
    return ", ".join(re.sub(r"\s+as\s+", ": ", name.strip()) for name in names.split(",") if name.strip())


def _turned(name: str) -> str:
    """`a as b` of an export, as a property: `b: a`."""
    parts = re.split(r"\s+as\s+", name.strip())
    return parts[0] if len(parts) == 1 else f"{parts[1]}: {parts[0]}"
