"""`encode_classifier`: the scores of a form, as expressions over the inputs of a programme."""

from __future__ import annotations

from collections.abc import Sequence

from likely.errors import ProblemError
from likely.mio.bounds import layers_of, points_of, unit_bounds
from likely.mio.inputs import RowVariables
from likely.mio.modelling import Block, new_block
from likely.mio.network import encode_network
from likely.mio.reach import Reach, all_of
from likely.mio.scores import Scores, affine, encode_columns
from likely.mio.trees import encode_trees
from likely.predictor import Form, LinearModel, ReluNetwork, TreeEnsemble
from likely.predictor.composite import is_plain
from likely.schema.values import Numbers


def encode_classifier(form: Form, inputs: RowVariables) -> Scores:
    """The scores of a linear model, a ReLU network or an ensemble of trees, exactly (up to the solver's tolerance).

    See `encode_linear`, `encode_network` and `encode_trees`; what OMLT or another package made of a model can be wired to
    the inputs instead.

    Args:
        form: The classifier.
        inputs: The row.
    """
    if not is_plain(form):
        rule = "be linear, a ReLU network or trees over linear inputs for a mixed-integer programme"
        raise ProblemError("A model", rule, f"a form of kind {form.form!r}", "use engine='search', which reads every form")
    if isinstance(form, TreeEnsemble):
        return encode_trees(form, inputs)
    if isinstance(form, LinearModel):
        return encode_linear(form, inputs)
    assert isinstance(form, ReluNetwork)
    return encode_network(form, inputs)


def encode_linear(form: LinearModel, inputs: RowVariables) -> Scores:
    """score = weights @ columns + bias: expressions, no rows and no columns. Exact.

    Args:
        form: The linear model.
        inputs: The row.
    """

    def bounds(block: Block, reach: Sequence[Reach]) -> tuple[Numbers, Numbers]:
        return unit_bounds(layers_of(form), points_of(form.columns, reach))[0]

    block = new_block()
    outputs = affine(form.weights, form.bias, encode_columns(form, inputs))
    return Scores(form, block, outputs, *bounds(block, all_of(inputs)), lambda row: None, bounds)
