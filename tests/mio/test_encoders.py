"""The contract of every encoder: with the input fixed, its block has the right value, or the promised side of it; decoding undoes
encoding; rows and columns are as many as the docstring says."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from likely.circuit import Leaf, Product, Sum
from likely.circuit.queries.evaluate import log_likelihood, max_log_likelihood
from likely.errors import CircuitError
from likely.predictor import LinearModel, ReluNetwork, TreeEnsemble
from likely.problem import Plausibility, Problem
from likely.schema import Binary
from likely.schema.rules import LinearRow
from tests.oracles.search import rows_over, space_of
from tests.strategies import circuits_over, finite_schemas, generators, problems

pyo = pytest.importorskip("pyomo.environ")
pytest.importorskip("highspy")
from likely import mio  # noqa: E402
from likely.mio.bounds import layers_of, points_of, unit_bounds  # noqa: E402
from likely.mio.intervals import CellTree, halves, pieces_of  # noqa: E402
from likely.mio.modelling import size, value_of  # noqa: E402
from likely.mio.reach import Reach, all_of, reach_of  # noqa: E402
from likely.mio.solvers import Effort, make_solver  # noqa: E402

EFFORT = Effort(20.0, 10_000, 1e-9, 0.0, feasibility=1e-9)


def model_of(*parts: Any) -> Any:
    """A model of these blocks, with nothing to minimise."""
    model = pyo.ConcreteModel()
    for i, part in enumerate(parts):
        model.add_component(f"part{i}", part)
    model.row = pyo.Constraint(expr=sum(model.component_data_objects(pyo.Var)) >= -1e9)
    return model


def least(model: Any, expression: Any) -> float | None:
    """The least value of an expression in a model; None if there is none."""
    if hasattr(model, "objective"):
        model.del_component("objective")
    model.objective = pyo.Objective(expr=expression)
    report = make_solver("highs", model).solve(EFFORT, start=False)
    return None if report.outcome == "infeasible" else report.objective


def fixed(inputs: mio.RowVariables, row: np.ndarray) -> None:
    """Fix the input at a row."""
    inputs.set(row)
    for variable in inputs.block.component_data_objects(pyo.Var):
        variable.fix()


def some_rows(space: np.ndarray, rng: np.random.Generator, count: int) -> np.ndarray:
    return space[rng.choice(len(space), min(count, len(space)), replace=False)]


@settings(max_examples=30)
@given(problem=problems(rows=150, plausible=False), rng=generators())
def test_schema(problem: Problem, rng: np.random.Generator) -> None:
    """What is set comes back, and keeps every row of the block; columns and rows are counted."""
    inputs = mio.encode_schema(problem.schema)
    model = model_of(inputs.block)
    space = space_of(problem)
    fitting = [feature.fits(space[:, j]) for j, feature in enumerate(problem.schema.features)]
    domain = space[np.all(fitting, axis=0) | (space == problem.factual).all(axis=1)]
    assert len(domain)
    for row in some_rows(domain, rng, 8):
        inputs.set(row)
        assert satisfied(model, 1e-9)
        assert np.allclose(inputs.get(), row, rtol=1e-9, atol=1e-12)
    wanted_rows = wanted_columns = 0
    for part in inputs.features:
        count, numeric = len(part.feature.atoms), part.feature.numeric
        wanted_columns += 1 if isinstance(part.feature, Binary) else count + numeric
        wanted_rows += 0 if isinstance(part.feature, Binary) or not count else 2 if numeric else 1
        if part.holes is not None:
            wanted_columns += len(part.holes.low)
            wanted_rows += 3
    assert size(inputs.block) == (wanted_rows, wanted_columns)


def satisfied(model: Any, slack: float) -> bool:
    """Whether the variables' values keep every row of a model."""
    rows = list(model.component_data_objects(pyo.Constraint))
    assert rows
    below = all(value_of(row.body) <= value_of(row.upper) + slack for row in rows if row.has_ub())
    return below and all(value_of(row.body) >= value_of(row.lower) - slack for row in rows if row.has_lb())


@settings(max_examples=25)
@given(problem=problems(rows=150, plausible=False), rng=generators())
def test_constraints_and_cost(problem: Problem, rng: np.random.Generator) -> None:
    """At every row: the cost of the schema, and feasible exactly if the row keeps the rules."""
    inputs = mio.encode_schema(problem.schema)
    moves = mio.encode_moves(inputs, problem.factual)
    constraints, cost = mio.encode_constraints(moves), mio.encode_cost(moves)
    wide = [len(part.shares) for part in moves.features]
    cells = [len(part.cells.variables) for part in moves.features]
    numeric = sum(part.inputs.scale is not None for part in moves.features)
    assert size(moves.block) == (2 * numeric + 2 * sum(wide), sum(cells) + sum(wide))
    assert size(constraints)[0] <= len(moves.rules)
    if not any(isinstance(rule, LinearRow) for rule in moves.rules):
        assert size(constraints)[1] <= 1  # one that can never hold
    model = model_of(inputs.block, moves.block, constraints)
    space = space_of(problem)
    for row in some_rows(space[decided(problem, space)], rng, 3):
        fixed(inputs, row)
        cheapest = least(model, cost)
        assert (cheapest is not None) == bool(problem.schema.keeps(problem.factual, row[None])[0])
        if cheapest is not None:
            assert cheapest == pytest.approx(problem.schema.prices(problem.factual, row[None])[0], abs=1e-6)


def decided(problem: Problem, rows: np.ndarray) -> np.ndarray:
    """Which rows no linear rule cuts off by less than the solver's tolerance, at the greatest size that its terms can have."""
    clear = np.ones(len(rows), dtype=bool)
    for rule in problem.schema.compile(problem.factual):
        if isinstance(rule, LinearRow):
            features = [problem.schema.features[j] for j in rule.features]
            ends = [max(abs(feature.lower), abs(feature.upper)) for feature in features]
            size = max(abs(rule.upper), float(np.abs(rule.coefficients) @ ends))
            clear &= rule.satisfied(rows) | (rows[:, rule.features] @ rule.coefficients > rule.upper + EFFORT.feasibility * size)
    assert clear.any()
    return clear


@pytest.mark.parametrize("kind", ["linear", "network", "forest"])
@settings(max_examples=15)
@given(data=st.data())
def test_classifier(kind: str, data: st.DataObject) -> None:
    """At every row: the scores of the form, whether they are pushed up or down; within the bounds."""
    problem = data.draw(problems(rows=150, kinds=[kind], plausible=False))
    inputs = mio.encode_schema(problem.schema)
    scores = mio.encode_classifier(problem.form, inputs)
    assert size(scores.block) == classifier_size(problem.form, inputs, scores)
    model = model_of(inputs.block, scores.block)
    for row in some_rows(space_of(problem), data.draw(generators()), 2):
        true = problem.form.score(row[None])[0]
        assert (scores.low - 1e-9 <= true).all()
        assert (true <= scores.high + 1e-9).all()
        fixed(inputs, row)
        scores.set(row)
        assert [value_of(output) for output in scores.outputs] == pytest.approx(true, abs=1e-7)
        for output, value in zip(scores.outputs, true, strict=True):
            assert least(model, output) == pytest.approx(value, abs=1e-6)
            assert least(model, -1 * output) == pytest.approx(-value, abs=1e-6)


def classifier_size(form: Any, inputs: mio.RowVariables, scores: mio.Scores) -> tuple[int, int]:
    """Rows and columns, as the docstrings count them."""
    if isinstance(form, LinearModel):
        return 0, 0
    if isinstance(form, ReluNetwork):
        rows = columns = len(form.columns)
        for low, high in unit_bounds(layers_of(form), points_of(form.columns, all_of(inputs)))[:-1]:
            unstable, on = int(((low < 0) & (high > 0)).sum()), int(((low >= 0) & (high > 0)).sum())
            rows, columns = rows + 3 * unstable + on, columns + 2 * unstable + on
        return rows, columns
    assert isinstance(form, TreeEnsemble)
    tested = [block for block in scores.block.feature.values() if hasattr(block, "cell")]
    tests = sum(len(tree.flow) // 2 for tree in scores.block.tree.values())
    return 3 * len(tested) + 3 * tests, sum(len(block.cell) for block in tested) + 2 * tests


@pytest.mark.parametrize("side", ["under", "over"])
@pytest.mark.parametrize("formulation", ["hull", "paper"])
@settings(max_examples=15)
@given(data=st.data())
def test_circuit(formulation: Any, side: Any, data: st.DataObject) -> None:
    """At every row: the greatest log-likelihood is the promised one, and on the promised side of the true one."""
    schema = data.draw(finite_schemas(features=3, rows=100, rules=0))
    circuit = data.draw(circuits_over(schema.features))
    inputs = mio.encode_schema(schema)
    block = mio.encode_circuit(circuit, inputs, formulation=formulation, side=side)
    model = model_of(inputs.block, block.block)
    for row in some_rows(rows_over(schema.features, np.full(len(schema), math.nan)), data.draw(generators()), 2):
        fixed(inputs, row)
        negative = least(model, -1 * block.log_likelihood)
        greatest = -math.inf if negative is None else -negative
        true, promised = float(log_likelihood(circuit, row[None])[0]), block.value(row)
        assert greatest == pytest.approx(promised, abs=1e-5)
        if side == "under":
            assert promised <= true + 1e-9
            assert promised == pytest.approx(float(max_log_likelihood(circuit, row[None])[0]), abs=1e-9)
        else:
            assert promised >= true - 1e-9
        if promised > -math.inf:
            block.set(row)
            assert satisfied(model, 1e-6)


@settings(max_examples=25)
@given(data=st.data())
def test_circuit_size(data: st.DataObject) -> None:
    """Rows and columns of both formulations, counted from the circuit."""
    schema = data.draw(finite_schemas(features=3, rows=100, rules=0))
    circuit = data.draw(circuits_over(schema.features).filter(lambda drawn: drawn.floor > 0))
    sums = [node for node in circuit.nodes if isinstance(node, Sum)]
    assume(len(circuit.nodes) <= 60 and not any(0 in node.weights for node in sums))
    inputs = mio.encode_schema(schema)
    from likely.mio.leaves import leaves_of, spans

    parts = leaves_of(circuit, inputs, None, "under")
    leaves = sum(isinstance(node, Leaf) for node in circuit.nodes)
    pieces = [(part, runs) for part in parts for runs in part.runs if len(runs.low)]
    # hull: what a sum with one child, or a node that nothing leads to, has no need of is left out
    wide = [node for node in sums if len(node.children) > 1]
    atoms = sum(len(part.indicators) for part in parts)
    rows = 1 + len(wide) + leaves + atoms
    columns = 1 + sum(len(node.children) for node in wide) + sum(len(part.indicators) * len(part.leaves) for part in parts)
    for part in parts:
        if any(len(runs.low) for runs in part.runs):
            low, _ = part.cells
            more = tree_size(len(low), [span for runs in part.runs for span in spans(runs, low)])
            rows, columns = rows + 3 + more[0], columns + len(low) + more[1]
    hull = mio.encode_circuit(circuit, inputs, formulation="hull")
    assert size(hull.block) <= (rows, columns)
    if len(reached(circuit)) == len(circuit.nodes):
        assert size(hull.block) == (rows, columns)
    binned = [runs for part, runs in pieces if len(runs.low) > 1 or part.indicators]
    bins, children = sum(len(runs.low) for runs in binned), sum(len(node.children) for node in sums)
    paper = mio.encode_circuit(circuit, inputs, formulation="paper")
    nodes = len(circuit.nodes)
    assert size(paper.block)[1] == 1 + nodes + bins + children
    assert size(paper.block)[0] == 1 + (nodes - len(sums)) + 2 * bins + len(binned) + children + len(sums)


def tree_size(count: int, spans: list[tuple[int, int]]) -> tuple[int, int]:
    """Rows and columns of a tree over so many cells, as the docstring of `CellTree` counts them."""
    pieces = [piece for span in spans for piece in pieces_of((0, count - 1), *span)]
    inner, stack = 0, [((0, count - 1), False)]
    while stack:
        node, reached_ = stack.pop()
        reached_ |= node in pieces
        if node[0] < node[1]:
            inner += reached_
            stack += [(half, reached_) for half in halves(node)]
    return count + inner, len(pieces) + 2 * inner


@settings(max_examples=25)
@given(data=st.data())
def test_flows_over_intervals(data: st.DataObject) -> None:
    """Cells can be what flows over intervals sum up to exactly if each flow can be distributed over its own cells."""
    count = data.draw(st.integers(1, 9))
    cell = st.integers(0, count - 1)
    spans = [tuple(sorted(data.draw(st.tuples(cell, cell)))) for _ in range(data.draw(st.integers(1, 4)))]
    wanted = np.zeros(count)
    for span in spans:  # sometimes inside its interval, sometimes not
        wanted[data.draw(st.integers(*span) | cell)] += 1 / len(spans)
    for first, last in spans:
        covered = [k for low, high in pieces_of((0, count - 1), first, last) for k in range(low, high + 1)]
        assert sorted(covered) == list(range(first, last + 1))
    model, tree = pyo.ConcreteModel(), CellTree(count)
    model.rows, model.flow = pyo.ConstraintList(), pyo.VarList(bounds=(0, 1))
    for first, last in spans:
        flows = tree.enter(first, last, model.flow.add)
        model.rows.add(sum(flows.values()) == 1 / len(spans))
    model.cell = pyo.Var(range(count), bounds=(0, 1))
    tree.encode(model, [model.cell[c] for c in range(count)], model.flow.add)
    assert len(model.rows) - len(spans) == tree_size(count, spans)[0]
    for c in range(count):
        model.cell[c].fix(wanted[c])
    intervals = [(a, b) for a in range(count) for b in range(a, count)]
    possible = all(
        sum(a <= first and last <= b for first, last in spans) / len(spans) <= wanted[a : b + 1].sum() + 1e-9
        for a, b in intervals
    )  # Hall's condition
    assert (least(model, model.flow[1]) is not None) == possible


@settings(max_examples=25)
@given(problem=problems(rows=150, kinds=["network"], plausible=False), rng=generators())
def test_a_tighter_network_is_the_same(problem: Problem, rng: np.random.Generator) -> None:
    """Within the reach of a question, the added rows hold for every row, and the outputs keep their bounds."""
    inputs = mio.encode_schema(problem.schema)
    scores = mio.encode_classifier(problem.form, inputs)
    moves = mio.encode_moves(inputs, problem.factual)
    space = space_of(problem)
    space = space[problem.schema.keeps(problem.factual, space)]
    assume(len(space))
    prices = problem.schema.prices(problem.factual, space)
    most = float(np.median(prices))
    reach = reach_of(moves, most)
    more = pyo.Block(concrete=True)
    more.rows = pyo.ConstraintList()
    low, high = scores.tighten(more, reach)
    model = model_of(inputs.block, scores.block, more)
    assert size(more)[0] <= 2 * sum(len(layer.on) for layer in scores.block.layer.values())
    for row in some_rows(space[prices <= most], rng, 10):
        assert all(_reaches(within, part, value) for within, part, value in zip(reach, inputs.features, row, strict=True))
        inputs.set(row)
        scores.set(row)
        assert satisfied(model, 1e-6)
        true = problem.form.score(row[None])[0]
        assert ((low - 1e-9 <= true) & (true <= high + 1e-9)).all()


def _reaches(reach: Reach, part: Any, value: float) -> bool:
    atom = part.atom(float(value))
    return bool(reach.atoms[atom]) if atom is not None else bool(reach.ends[0] <= value <= reach.ends[1])


@settings(max_examples=25)
@given(problem=problems(rows=100, plausible=False), rng=generators())
def test_target(problem: Problem, rng: np.random.Generator) -> None:
    """A row is feasible exactly if it reaches the goal; columns and rows are counted."""
    inputs = mio.encode_schema(problem.schema)
    scores = mio.encode_classifier(problem.form, inputs)
    target = mio.encode_target(problem.goal, scores)
    alternatives = problem.goal.alternatives
    several = len(alternatives) > 1
    rows, columns = size(target.block)
    assert columns == several * len(alternatives)
    # an inequality that the bounds settle may fall away
    assert rows <= several + sum(len(alternative.lower) for alternative in alternatives)
    model = model_of(inputs.block, scores.block, target.block)
    assume(all(alternative.share is None for alternative in alternatives))
    space = space_of(problem)
    true = problem.form.score(space)
    room = np.max([(true @ each.coefficients.T - each.lower).min(axis=1) for each in alternatives], axis=0)
    decided = np.flatnonzero(np.abs(room) >= 1e-5)  # beyond the tolerances of the solver
    assume(len(decided))
    for place in rng.choice(decided, min(2, len(decided)), replace=False):
        fixed(inputs, space[place])
        feasible = least(model, 0 * inputs.features[0].is_number + scores.outputs[0]) is not None
        assert feasible == (room[place] > 0)


def reached(circuit: Any) -> set[int]:
    """The nodes that the root leads to."""
    nodes, stack = set(), [len(circuit.nodes) - 1]
    while stack:
        n = stack.pop()
        nodes.add(n)
        node = circuit.nodes[n]
        stack += node.children if isinstance(node, (Sum, Product)) else ()
    return nodes


@settings(max_examples=20)
@given(problem=problems(rows=150), rng=generators())
def test_programme_takes_a_row_and_gives_it_back(problem: Problem, rng: np.random.Generator) -> None:
    circuit = problem.plausibility.circuit if isinstance(problem.plausibility, Plausibility) else None
    programme = mio.Programme(problem.schema, problem.form, circuit)
    programme.ask(problem)
    for row in some_rows(space_of(problem), rng, 5):
        programme.set(row, 0)
        given_back, alternative = programme.get()
        assert np.allclose(given_back, row, rtol=1e-9, atol=1e-12)
        assert alternative == 0


def test_refusals() -> None:
    from likely import Schema
    from likely.circuit import Bernoulli, Circuit

    schema = Schema((Binary("a"),))
    inputs, circuit = mio.encode_schema(schema), Circuit((Binary("a"),), (Bernoulli(0, 0.5),))
    with pytest.raises(CircuitError, match="be 'paper' or 'hull', and its side 'under' or 'over'"):
        mio.encode_circuit(circuit, inputs, formulation="other")  # type: ignore[arg-type]
    with pytest.raises(CircuitError, match="have the features of the schema; got 1 and 2"):
        mio.encode_circuit(circuit, mio.encode_schema(Schema((Binary("a"), Binary("b")))))
