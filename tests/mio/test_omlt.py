"""A network by OMLT, wired to our inputs, gives the same optimum as our own block."""

from __future__ import annotations

import numpy as np
import pytest

from likely import Integer, Schema
from likely.circuit import Circuit, Histogram, Product
from likely.predictor import Column, Link, ReluNetwork
from likely.problem import Plausibility, Problem, to_class

pyo = pytest.importorskip("pyomo.environ")
pytest.importorskip("highspy")
omlt = pytest.importorskip("omlt")
from likely import mio  # noqa: E402


def network(rng: np.random.Generator) -> ReluNetwork:
    columns = (Column(0, 1.0, 0.0), Column(1, 1.0, 0.0))
    layers = ((rng.normal(size=(4, 2)), rng.normal(size=4)), (rng.normal(size=(1, 4)), rng.normal(size=1)))
    return ReluNetwork(Link("logistic"), (0, 1), columns, layers)


def theirs(form: ReluNetwork) -> object:
    """The same network as an OMLT formulation."""
    from omlt.neuralnet import NetworkDefinition, ReluBigMFormulation
    from omlt.neuralnet.layer import DenseLayer, InputLayer

    definition = NetworkDefinition(scaled_input_bounds={0: (0, 9), 1: (0, 9)})
    before = InputLayer([2])
    definition.add_layer(before)
    for i, (weights, bias) in enumerate(form.layers):
        last = i == len(form.layers) - 1
        layer = DenseLayer([weights.shape[1]], [len(bias)], weights.T, bias, activation="linear" if last else "relu")
        definition.add_layer(layer)
        definition.add_edge(before, layer)
        before = layer
    return ReluBigMFormulation(definition)


@pytest.mark.parametrize("seed", range(4))
def test_the_same_optimum(seed: int) -> None:
    rng = np.random.default_rng(seed)
    schema = Schema((Integer("a", 0, 9), Integer("b", 0, 9)))
    leaves = [Histogram(j, tuple(range(11)), rng.dirichlet(np.ones(10))) for j in range(2)]
    circuit, form = Circuit(schema.features, (*leaves, Product((0, 1)))), network(rng)
    factual = np.array([4.0, 5.0])
    goal = to_class(form, 1 - form.predict(factual[None])[0])
    problem = Problem(schema, factual, form, goal, Plausibility(circuit, weight=0.5, approximate=True))
    ours = mio.solve(problem)

    model = pyo.ConcreteModel()
    inputs = mio.encode_schema(schema)
    moves, density = mio.encode_moves(inputs, factual), mio.encode_circuit(circuit, inputs)
    model.inputs, model.moves, model.density = inputs.block, moves.block, density.block
    model.network = omlt.OmltBlock()
    model.network.build_formulation(theirs(form))
    model.wires = pyo.ConstraintList()
    for i, part in enumerate(inputs.features):
        model.wires.add(model.network.inputs[i] == part.number)
    (alternative,) = goal.alternatives
    model.wires.add(float(alternative.coefficients[0, 0]) * model.network.outputs[0] >= float(alternative.lower[0]))
    model.objective = pyo.Objective(expr=mio.encode_cost(moves) - 0.5 * density.log_likelihood)
    result = pyo.SolverFactory("appsi_highs").solve(model, load_solutions=False)
    if ours.status == "infeasible":
        assert str(result.solver.termination_condition) in ("infeasible", "infeasibleOrUnbounded")
    else:
        best = result.problem.upper_bound
        assert best == pytest.approx(ours.solutions[0].objective, abs=1e-5)
