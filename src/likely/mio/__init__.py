"""The paper's own method: circuits, classifiers and what is wanted as blocks of a mixed-integer programme, and an engine."""

from likely.mio.circuit import Likelihood, encode_circuit
from likely.mio.classifier import encode_classifier
from likely.mio.export import export
from likely.mio.inputs import RowVariables, encode_schema
from likely.mio.moves import Moves, encode_constraints, encode_cost, encode_moves
from likely.mio.programme import Programme
from likely.mio.refining import Refinement
from likely.mio.scores import Scores
from likely.mio.solve import solve
from likely.mio.solvers import SOLVERS, require_solver
from likely.mio.target import Target, encode_target
from likely.mio.tolerances import Tolerances

__all__ = [
    "SOLVERS",
    "Likelihood",
    "Moves",
    "Programme",
    "Refinement",
    "RowVariables",
    "Scores",
    "Target",
    "Tolerances",
    "encode_circuit",
    "encode_classifier",
    "encode_constraints",
    "encode_cost",
    "encode_moves",
    "encode_schema",
    "encode_target",
    "export",
    "require_solver",
    "solve",
]
