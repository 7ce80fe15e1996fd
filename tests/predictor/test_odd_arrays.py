"""Public classes fed with odd arrays end in an error sentence or a right answer, never in a crash: in a process of their own."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

PREAMBLE = """
import json, math, sys, warnings
warnings.simplefilter("ignore")
import numpy as np
import likely
from likely.errors import LikelyError
from likely.circuit import Categories, Circuit, Histogram, Product
from likely.predictor import Column, LinearModel, Link, ReluNetwork, TreeEnsemble
from likely.predictor.forms import NODE
from likely.problem import Alternative, Goal, Limits, Plausibility, Problem, Share, to_class
from likely.search import solve

S = likely.Schema((likely.Integer("a", 0, 9),))
LINE = LinearModel(Link("logistic"), (0, 1), (Column(0, 1.0),), [[1.0]], [-5.0])

def tree(*rows, values=(1.0, -1.0)):
    return TreeEnsemble(Link("logistic"), (0, 1), np.array([(*row, 0) for row in rows], dtype=NODE), [0], [0], values, [0.0])

def ask(form=LINE, goal=None, limits=None, schema=S, plausibility=None, **more):
    goal = goal or to_class(form, 1)
    return solve(Problem(schema, np.zeros(len(schema)), form, goal, plausibility), limits or Limits(seconds=2), **more)

for name, case in json.loads(sys.stdin.read()).items():
    try:
        said = getattr(eval(case), "status", "done")
    except LikelyError as error:
        said = f"refused: {error}"
    print(json.dumps([name, said]), flush=True)
"""
LEAVES = "(0, 0, -1, 0, 0), (0, 0, -1, 1, 0)"
#: What is done, and what the output begins with.
CASES = {
    "a cycle": ("ask(tree((0, 4, 0, 1, 1), (0, 2, 0, 0, 0)))", "refused: The nodes of a tree must end in leaves"),
    "a node that leads to itself": ("ask(tree((0, 4, 0, 0, 0)))", "refused: The nodes of a tree must end in leaves"),
    "a test of a far feature": (
        f"ask(tree((0, 4, 10**8, 1, 2), {LEAVES}))",
        "refused: The model of a problem must read features",
    ),
    "a test of the next feature": (f"ask(tree((0, 4, 1, 1, 2), {LEAVES}))", "refused: The model of a problem must read features"),
    "a test without ends": (
        f"ask(tree((math.nan, math.nan, 0, 1, 2), {LEAVES}))",
        "refused: Every test of a tree must have two ends",
    ),
    "leaves that overflow": (f"ask(tree((0, 4, 0, 1, 2), {LEAVES}, values=(1e308, -1e308)))", "refused: The leaves of the trees"),
    "a column of a far feature": (
        "ask(LinearModel(Link('logistic'), (0, 1), (Column(10**8, 1.0),), [[1.0]], [0.0]))",
        "refused: The model of a problem must read features",
    ),
    "a column before the first": ("Column(-(10**8), 1.0)", "refused: A Column must read a feature"),
    "a column of NaN": ("Column(0, math.nan)", "refused: A Column of feature number 0 must have finite numbers"),
    "a short table": (
        "ask(LinearModel(Link('logistic'), (0, 1), (Column(0, table=(1.0,), discrete=True),), [[1.0]], [0.0]),"
        " schema=likely.Schema((likely.Categorical('a', list('abc')),)))",
        "refused: A column of feature 'a' must be a table",
    ),
    "starts of other width": ("ask(starts=np.zeros((3, 7)))", "refused: Rows to start from must have 1 columns"),
    "starts in a line": ("ask(starts=np.zeros(3))", "refused: Rows to start from must have 1 columns"),
    "starts of no numbers": ("ask(starts=np.array([[np.nan], [np.inf], [-np.inf], [1e308]]))", "optimal"),
    "a goal of nothing": ("ask(goal=Goal((), 'nothing'))", "refused: A goal must have at least one alternative"),
    "a goal of other scores": (
        "ask(goal=Goal((Alternative(np.ones((3, 500)), np.ones(1), 1),), 'x'))",
        "refused: An alternative of a goal must have a coefficient",
    ),
    "a goal with too few ends": (
        "ask(goal=Goal((Alternative(np.ones((300000, 1)), np.ones(1), 1),), 'x'))",
        "refused: An alternative of a goal must have a coefficient",
    ),
    "a goal of NaN": (
        "ask(goal=Goal((Alternative(np.ones((1, 1)), np.array([np.nan]), 1),), 'x'))",
        "refused: An alternative of a goal",
    ),
    "a share of a far score": (
        "ask(goal=Goal((Alternative(np.ones((1, 1)), -np.ones(1), 1, Share(10**9, 1.0, 0.1, 0.9)),), 'x'))",
        "refused: A share of a goal",
    ),
    "a circuit of other features": (
        "ask(plausibility=Plausibility(Circuit((likely.Integer('z', 0, 9), likely.Integer('w', 0, 9)),"
        " (Histogram(0, (0, 10), (.1,)), Histogram(1, (0, 10), (.1,)), Product((0, 1)))), -3.0))",
        "refused: The circuit of a problem must be over its schema's features",
    ),
    "a circuit of another kind": (
        "ask(plausibility=Plausibility(Circuit((likely.Categorical('a', list('abc')),),"
        " (Categories(0, (.3, .3, .4)),)), -300.0))",
        "refused: The circuit of a problem must be over its schema's features",
    ),
    "a rule that overflows": (
        "likely.Schema((likely.Integer('a', 0, 9),), (likely.LinearConstraint({'a': 1e308}, 1e308),))",
        "refused: Rule",
    ),
    "a million answers": ("ask(limits=Limits(solutions=10**6))", "optimal"),
    "two and a half answers": ("ask(limits=Limits(solutions=2.5))", "refused: Limits(solutions=...) must be a whole number"),
    "no number of seconds": ("ask(limits=Limits(seconds=math.nan))", "refused: Limits must be positive"),
    "nodes without end": ("ask(limits=Limits(nodes=2**70))", "optimal"),
    "a layer of no units": (
        "ask(ReluNetwork(Link('logistic'), (0, 1), (Column(0, 1.0),),"
        " ((np.zeros((0, 1)), np.zeros(0)), (np.zeros((1, 0)), np.ones(1)))))",
        "optimal",
    ),
    "no layers": ("ReluNetwork(Link('logistic'), (0, 1), (Column(0, 1.0),), ())", "refused: A ReluNetwork must have a layer"),
    "scores that overflow": (
        "ask(ReluNetwork(Link('logistic'), (0, 1), (Column(0, 1e308),),"
        " ((np.full((1, 1), 1e308), np.zeros(1)), (np.ones((1, 1)), np.ones(1)))))",
        "refused: The scores of a model must be finite",
    ),
    "a chain of many tests": (
        "ask(tree(*[(k, k, 0, 50000 + k % 2, k + 1) for k in range(50000)], " + LEAVES + "),"
        " schema=likely.Schema((likely.Integer('a', 0, 60000),)), limits=Limits(seconds=20))",
        "optimal",
    ),
}


@pytest.fixture(scope="module")
def said() -> dict[str, str]:
    """What each case ended in; none after the one at which the process died."""
    asked = json.dumps({name: case for name, (case, _) in CASES.items()})
    done = subprocess.run([sys.executable, "-c", PREAMBLE], input=asked, capture_output=True, text=True, timeout=300, check=False)
    return dict(json.loads(line) for line in done.stdout.splitlines()) | {
        "the process": f"{done.returncode} {done.stderr[-300:]}"
    }


@pytest.mark.parametrize("name", CASES)
def test_no_crash(name: str, said: dict[str, str]) -> None:
    assert name in said, f"the process died: {said['the process']}"
    assert said[name].startswith(CASES[name][1])
