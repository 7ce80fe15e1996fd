"""What the README and the page about rules show passes a user's `mypy --strict`; what makes no sense does not."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
BLOCK = re.compile(r"^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)

#: With --strict, a comment that ignores nothing is an error too: each of these lines must be wrong, as it says.
USER = """
import likely
from likely import Implies, increases

rules: list[likely.schema.Constraint] = [
    Implies(increases("school"), increases("age")),
    Implies((increases("school"), likely.when.changes("job")), [increases("age"), likely.when.at_most("age", 80)]),
    likely.AllowedValues("status", ["single", "married"]),
    likely.AllowedValues("status", transitions={"single": ["married"], "married": ("divorced",)}),
    likely.AllowedValues("status", transitions=[("single", ["married"])], unless=~increases("age")),
    likely.LinearConstraint({"rent": 12, "income": -1}, 0),
    likely.LinearConstraint([("rent", 1.0), ("income", -1.0)], 0.5),
    likely.Forbid(likely.when.equals("housing", "own"), likely.when.at_most("age", 18)),
]
rule = Implies(increases("school"), increases("age"))
for condition in rule.condition + rule.consequence:
    name: str | int = condition.feature
features = [likely.Ordinal("school", ["none", "secondary"]), likely.Categorical("job", ("a", "b", "c")), likely.Binary("member")]
likely.Schema(tuple(features), tuple(rules))

Implies("school", increases("age"))  # type: ignore[arg-type]
Implies(increases("school"))  # type: ignore[call-arg]
likely.AllowedValues("status", 3)  # type: ignore[arg-type]
likely.LinearConstraint({"rent": "twelve"}, 0)  # type: ignore[arg-type]
likely.Forbid("housing")  # type: ignore[arg-type]
likely.Ordinal("school", 4)  # type: ignore[arg-type]
"""


def test_users_types(tmp_path: Path) -> None:
    pytest.importorskip("mypy")
    pages = {"readme": ROOT / "README.md", "rules": ROOT / "docs" / "constraints.md"}
    (tmp_path / "user.py").write_text(USER, encoding="utf-8")
    for name, page in pages.items():
        (tmp_path / f"{name}.py").write_text("\n".join(BLOCK.findall(page.read_text(encoding="utf-8"))), encoding="utf-8")
    words = [
        "--strict",
        "--ignore-missing-imports",
        "--cache-dir",
        str(tmp_path / "cache"),
        "user.py",
        *(f"{n}.py" for n in pages),
    ]
    run = subprocess.run([sys.executable, "-m", "mypy", *words], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stdout + run.stderr
