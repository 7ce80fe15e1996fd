"""OCEAN's constraint programme (Parmentier and Vidal 2021; `pip install oceanpy`, Python 3.12), with our cost as its distance.

The package reads models of scikit-learn and xgboost; here its programme is built from plain trees. Two things are ours: what an
interval of a column costs (the nearest value in it that the question allows, whole where the column is), and the value that an
answer takes there. Costs are whole multiples of 1e-8 of the cost's unit, scores of 1e-10, as in the package.
"""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
import pandas as pd
from ocean.abc import Mapper
from ocean.cp import Model
from ocean.feature import Feature
from ocean.tree._node import Node
from ocean.tree._tree import Tree
from ortools.sat.python import cp_model

#: One unit of cost, in the programme's whole numbers.
COST_SCALE = 10**8


def fit(task: dict[str, Any]) -> dict[str, Any]:
    """The forest's programme; a question adds its cost and goal, and takes them away again.

    Args:
        task: Columns, and the trees of one score.
    """
    columns = task["columns"]
    mapper = _mapper(columns, task["trees"])
    trees = [_tree(columns, nodes, task["base"]) for nodes in task["trees"]]
    programme = Model(trees, mapper=mapper)
    programme.build()
    return {"programme": programme, "columns": columns, "least": task["least"], "trees": len(trees)}


def generate(fitted: dict[str, Any], question: dict[str, Any]) -> dict[str, Any]:
    """The nearest row, with a proof if there was time for it.

    Args:
        fitted: What `fit` returned.
        question: A row, the ends of its columns, the class to reach, and the time.
    """
    programme, columns = fitted["programme"], fitted["columns"]
    cost, choices = _cost(programme, columns, question)
    _add_goal(programme, question["target"] == 1, fitted["least"], fitted["trees"])
    programme.Minimize(cost)
    solver = cp_model.CpSolver()
    solver.parameters.max_time_in_seconds = question["seconds"]
    solver.parameters.num_workers = 1
    solver.parameters.random_seed = 0
    status = solver.Solve(programme)
    programme.cleanup()
    found = status in (cp_model.OPTIMAL, cp_model.FEASIBLE)
    rows = [[values[solver.Value(variable)] for variable, values in choices]] if found else []
    bound = solver.BestObjectiveBound() / COST_SCALE if status != cp_model.INFEASIBLE else None
    proved = status in (cp_model.OPTIMAL, cp_model.INFEASIBLE)
    return {"rows": rows, "proved": proved, "bound": bound, "nodes": solver.NumBranches()}


# -- the programme ------------------------------------------------------------------------------------------------------


def _mapper(columns: list[dict[str, Any]], trees: list[Any]) -> Any:
    """Features of the package: a number with the ends of its intervals, or a one-hot group with its codes."""
    levels: list[set[float]] = [{-math.inf, math.inf} for _ in columns]
    for nodes in trees:
        for node in nodes:
            if len(node) > 1:
                levels[node[0]].add(_level(node))
    features: dict[str, Any] = {}
    index = []
    for place, column in enumerate(columns):
        group = column["group"]
        if group is None:
            features[column["name"]] = Feature(Feature.Type.CONTINUOUS, levels=levels[place])
            index.append((column["name"], ""))
        else:
            codes = [other["name"] for other in columns if other["group"] == group]
            features[f"group {group}"] = Feature(Feature.Type.ONE_HOT_ENCODED, codes=codes)
            index.append((f"group {group}", column["name"]))
    return Mapper(features, columns=pd.MultiIndex.from_tuples(index))


def _level(node: list[Any]) -> float:
    """The greatest number that goes to the left."""
    _, threshold, strict, _, _ = node
    return math.nextafter(threshold, -math.inf) if strict else threshold


def _tree(columns: list[dict[str, Any]], nodes: list[Any], base: float) -> Any:
    def grow(place: int) -> Any:
        node = nodes[place]
        if len(node) == 1:
            return Node(place, value=np.array([[0.0, node[0]]]))
        column = columns[node[0]]
        if column["group"] is None:
            made = Node(place, feature=column["name"], threshold=_level(node))
        else:
            made = Node(place, feature=f"group {column['group']}", code=column["name"])
        made.left, made.right = grow(node[3]), grow(node[4])
        return made

    tree = Tree(root=grow(0))
    tree.xgboost, tree.logit = True, np.array([base])
    return tree


# -- one question -------------------------------------------------------------------------------------------------------


def _add_goal(programme: Any, up: bool, least: float, trees: int) -> None:
    """The class is reached by the margin; leaves are rounded in the programme, so by a little more."""
    score, scale = programme.function[0, 1], programme.score_scale
    wanted = math.ceil(least * scale) + trees + 1
    programme.add_garbage(programme.Add(score >= wanted if up else score <= -wanted))


def _cost(programme: Any, columns: list[dict[str, Any]], question: dict[str, Any]) -> tuple[Any, list[Any]]:
    """What a row costs, and for each column its variable and the value that each of the variable's numbers stands for."""
    terms, choices = [], []
    for place, column in enumerate(columns):
        now, low, high = (question[name][place] for name in ("row", "low", "high"))
        if column["group"] is not None:
            variable = programme.mapper[f"group {column['group']}"].xget(column["name"])
            price = round(column["weight"] * COST_SCALE)
            terms.append(price * variable if now == 0 else price * (1 - variable))
            if low == high:
                programme.add_garbage(programme.Add(variable == int(low)))
            choices.append((variable, {0: 0.0, 1: 1.0}))
            continue
        feature = programme.mapper[column["name"]]
        values = _values(list(feature.levels), column["whole"], now, low, high)
        prices = {at: round(column["weight"] * abs(value - now) * COST_SCALE) for at, value in values.items()}
        allowed = cp_model.Domain.FromValues(list(values))
        programme.add_garbage(programme.AddLinearExpressionInDomain(feature.xget(), allowed))
        table = [prices.get(at, 0) for at in range(len(feature.levels) - 1)]
        price = feature.objvarget()
        price.Proto().domain[:] = [min(table), max(table)]
        programme.add_garbage(programme.AddElement(feature.xget(), table, price))
        terms.append(price)
        choices.append((feature.xget(), values))
    return sum(terms), choices


def _values(levels: list[float], whole: bool, now: float, low: float, high: float) -> dict[int, float]:
    """The nearest value that is allowed in each interval (above one level, up to the next), where there is one."""
    values = {}
    for at, (below, end) in enumerate(itertools.pairwise(levels)):
        first, last = max(low, math.nextafter(below, math.inf)), min(high, end)
        if whole:
            first, last = np.ceil(first), np.floor(last)
        if first <= last:
            values[at] = float(min(max(now, first), last))
    return values
