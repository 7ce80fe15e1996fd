"""torch networks: what a Sequential computes in eval mode, and what is refused."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from sklearn.compose import make_column_transformer
from sklearn.preprocessing import OneHotEncoder, OrdinalEncoder, StandardScaler

from likely.errors import PredictorError, UnsupportedModelError
from likely.predictor import Indicator, LinearModel, Rank, Raw, ReluNetwork, Scaled, one_hot_of, read
from likely.predictor.reading import feed, random_rows
from likely.problem import Limits, Problem, to_class
from likely.problem.tolerances import SCORE_MARGIN
from likely.schema import Integer, Schema
from likely.search import solve
from tests.contracts.reader import Case, ReaderContract, mixed_schema, mixed_table

torch = pytest.importorskip("torch")
nn = torch.nn

TABLE, _, _ = mixed_table()
SCHEMA = mixed_schema(TABLE)
NUMBERS = Schema(SCHEMA.features[:3])
ENCODINGS = [
    Scaled("age", shift=18, scale=62),
    Scaled("amount", scale=10_000),
    Raw("rate"),
    *one_hot_of(SCHEMA, "job"),
    Rank("school"),
    Indicator("owner", True),
]
TRANSFORMER = make_column_transformer(
    (StandardScaler(), ["age", "amount", "rate"]),
    (OneHotEncoder(drop="if_binary"), ["job", "owner"]),
    (OrdinalEncoder(categories=[["none", "middle", "high"]]), ["school"]),
).fit(TABLE)
WIDTH = len(ENCODINGS)


def trained(network):
    """A network with random weights and batch statistics that are not those of a new one, left in training mode."""
    torch.manual_seed(7)
    for module in network.modules():
        if isinstance(module, nn.Linear | nn.BatchNorm1d) and module.weight is not None:
            nn.init.normal_(module.weight)
            if module.bias is not None:
                nn.init.normal_(module.bias)
        if isinstance(module, nn.BatchNorm1d):
            module.running_mean.normal_()
            module.running_var.uniform_(0.5, 2.0)
    return network.train()


def outputs(network, X):
    """What the network itself gives, last activation included."""
    mode = network.training
    network.eval()
    dtype = next(network.parameters()).dtype
    with torch.no_grad():
        scores = network(torch.as_tensor(np.asarray(X, dtype=np.float64)).to(dtype)).to(torch.float64).numpy()
    network.train(mode)
    return scores


def hidden(*rest, width=WIDTH):
    return nn.Sequential(nn.Linear(width, 8), nn.ReLU(), nn.Dropout(0.5), nn.Linear(8, 6), nn.ReLU(), *rest)


RELU = nn.ReLU()
#: networks that end in logits
NETWORKS = {
    "linear": lambda k: nn.Linear(WIDTH, k),
    "no relu": lambda k: nn.Sequential(nn.Linear(WIDTH, 5), nn.Linear(5, k, bias=False)),
    "deep": lambda k: hidden(nn.Linear(6, k)),
    "nested": lambda k: nn.Sequential(nn.Flatten(), nn.Sequential(hidden(), nn.Identity()), nn.Linear(6, k), nn.Dropout1d()),
    "batch norm": lambda k: nn.Sequential(
        nn.BatchNorm1d(WIDTH), nn.Linear(WIDTH, 8, bias=False), nn.BatchNorm1d(8), nn.ReLU(), nn.AlphaDropout(), nn.Linear(8, k)
    ),
    "batch norm without affine": lambda k: nn.Sequential(
        nn.Linear(WIDTH, 8), nn.ReLU(), nn.BatchNorm1d(8, affine=False, eps=0.1), nn.Linear(8, k)
    ),
    "relu first": lambda k: nn.Sequential(nn.ReLU(), nn.Linear(WIDTH, k)),
    "one relu twice": lambda k: nn.Sequential(nn.Linear(WIDTH, 4), RELU, nn.Linear(4, 4), RELU, nn.Linear(4, k)),
}


class TestLogits(ReaderContract):
    @pytest.fixture(params=[*((name, 1) for name in NETWORKS), ("linear", 2), ("deep", 3), ("batch norm", 3)], ids=str)
    def case(self, request):
        name, count = request.param
        network = trained(NETWORKS[name](count))

        def logits(X):
            return outputs(network, X)

        def probabilities(X):
            scores = torch.as_tensor(logits(X))
            return torch.hstack([1 - scores.sigmoid(), scores.sigmoid()]) if count == 1 else scores.softmax(1)

        def predict(X):
            scores = logits(X)
            return (scores[:, 0] >= 0).astype(int) if count == 1 else scores.argmax(axis=1)

        encoder = ENCODINGS if count == 1 else TRANSFORMER
        return Case(network, SCHEMA, logits, probabilities, predict, tolerance=1e-4, tie=1e-3, options={"encoder": encoder})


class TestActivations(ReaderContract):
    """A last activation gives the probabilities; the scores are what goes into it."""

    @pytest.fixture(
        params=[(1, nn.Sigmoid()), (3, nn.Softmax(dim=1)), (2, nn.Softmax(dim=-1)), (3, nn.LogSoftmax(dim=1))], ids=str
    )
    def case(self, request):
        count, activation = request.param
        network = trained(hidden(nn.Sequential(nn.Linear(6, count), activation, nn.Dropout())))

        def probabilities(X):
            shares = outputs(network, X)
            if isinstance(activation, nn.LogSoftmax):
                shares = np.exp(shares)
            return np.hstack([1 - shares, shares]) if count == 1 else shares

        def logits(X):
            return outputs(nn.Sequential(*network[:5], network[5][0]), X)

        def predict(X):
            return np.array(["a", "b", "c"])[probabilities(X).argmax(axis=1)]

        options = {"encoder": ENCODINGS, "classes": ["a", "b", "c"][: max(count, 2)]}
        return Case(network, SCHEMA, logits, probabilities, predict, tolerance=1e-4, tie=1e-3, options=options)


class TestRegressor(ReaderContract):
    @pytest.fixture
    def case(self):
        network = trained(hidden(nn.Linear(6, 1)))
        options = {"encoder": ENCODINGS, "link": "identity"}
        return Case(network, SCHEMA, lambda X: outputs(network, X), None, lambda X: outputs(network, X), 1e-4, options=options)


class TestColumnsThemselves(ReaderContract):
    """Without an encoder: the schema's own columns, of whole numbers and others, as a DataFrame."""

    @pytest.fixture
    def case(self):
        network = trained(nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Linear(4, 1))).double()
        return Case(
            network, NUMBERS, lambda X: outputs(network, X),
            lambda X: np.hstack([1 - 1 / (1 + np.exp(-outputs(network, X))), 1 / (1 + np.exp(-outputs(network, X)))]),
            lambda X: (outputs(network, X) >= 0).astype(int),
        )  # fmt: skip


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64"])
def test_parameters_of_every_precision_are_read_exactly(dtype):
    network = trained(hidden(nn.Linear(6, 1))).to(getattr(torch, dtype))
    form = read(network, SCHEMA, encoder=ENCODINGS)
    for (weights, bias), layer in zip(form.layers, (network[0], network[3], network[5]), strict=True):
        np.testing.assert_array_equal(weights, layer.weight.detach().to(torch.float64).numpy())
        np.testing.assert_array_equal(bias, layer.bias.detach().to(torch.float64).numpy())
    rows = random_rows(SCHEMA, 300)
    with torch.backends.mkldnn.flags(enabled=False):  # of some processors it has no bfloat16
        theirs = outputs(network, feed(SCHEMA, rows, ENCODINGS))
    accuracy = {"float16": 0.02, "bfloat16": 0.1, "float32": 1e-4, "float64": 1e-12}[dtype]
    np.testing.assert_allclose(form.score(rows), theirs, rtol=accuracy, atol=accuracy * np.abs(theirs).max())


def test_a_network_without_relu_is_linear():
    assert isinstance(read(nn.Sequential(nn.Linear(3, 4), nn.BatchNorm1d(4), nn.Linear(4, 2)), NUMBERS), LinearModel)
    assert isinstance(read(nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Linear(4, 2)), NUMBERS), ReluNetwork)


def test_a_logit_of_zero_is_class_one():
    network = nn.Linear(3, 1)
    nn.init.zeros_(network.weight)
    nn.init.zeros_(network.bias)
    assert set(read(network, NUMBERS).predict(random_rows(NUMBERS, 5))) == {1}


def test_reading_leaves_the_model_as_it_was():
    network = trained(nn.Sequential(nn.Linear(3, 4), nn.BatchNorm1d(4), nn.Dropout(), nn.Linear(4, 1)))
    network[1].eval()
    before = {name: value.clone() for name, value in network.state_dict().items()}
    read(network, NUMBERS)
    assert [module.training for module in network.modules()] == [True, True, False, True, True]
    assert all(torch.equal(before[name], value) for name, value in network.state_dict().items())
    assert all(parameter.grad is None for parameter in network.parameters())


def test_names_of_classes_and_their_number():
    assert read(nn.Linear(3, 1), NUMBERS).classes == (0, 1)
    assert read(nn.Linear(3, 3), NUMBERS).classes == (0, 1, 2)
    assert read(nn.Linear(3, 1), NUMBERS, classes=["bad", "good"]).classes == ("bad", "good")
    with pytest.raises(PredictorError, match=r"must have 3 classes; got \['bad', 'good'\]"):
        read(nn.Linear(3, 3), NUMBERS, classes=["bad", "good"])


class OwnForward(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(3, 1)

    def forward(self, x):
        return self.layer(x) ** 2


class OwnSequential(nn.Sequential):
    def forward(self, x):
        return -super().forward(x)


class OwnLinear(nn.Linear):
    def forward(self, x):
        return -super().forward(x)


@pytest.mark.parametrize("module", [OwnSequential(nn.Linear(3, 1)), OwnLinear(3, 1)], ids=lambda m: type(m).__name__)
def test_a_forward_of_its_own_is_read(module):
    rows = random_rows(NUMBERS, 50)
    np.testing.assert_allclose(read(module, NUMBERS).score(rows), outputs(module, feed(NUMBERS, rows)), rtol=1e-4, atol=1e-3)


class Branching(nn.Module):
    def forward(self, x):
        return x[:, :1] if x.sum() > 0 else x[:, 1:2]


class TwoTensors(nn.Module):
    def forward(self, x, y):
        return (x + y)[:, :1]


class Normed(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm, self.last = nn.LayerNorm(3), nn.Linear(3, 1)

    def forward(self, x):
        return self.last(self.norm(x))


class NormedByFunction(nn.Module):
    def forward(self, x):
        return nn.functional.layer_norm(x, (3,))


class Approximate(nn.Module):
    def forward(self, x):
        return nn.functional.gelu(x, approximate="tanh")


@pytest.mark.parametrize(
    ("module", "message"),
    [
        (
            OwnForward(),
            r"Operation pow\(.*\) of a OwnForward must be of a kind that likely can read; got pow\. Hint: use Linear, act",
        ),
        (Branching(), r"must compute the same layers for every row, .*\(torch\.fx\)"),
        (TwoTensors(), "must read one tensor of rows; got the arguments x, y"),
        (Normed(), r"Layer norm \(LayerNorm\) must be of a kind that likely can read; .*Hint: it divides each row by its own"),
        (NormedByFunction(), r"Operation layer_norm\(.*\) .*Hint: it divides each row by its own spread"),
        (Approximate(), r"Operation gelu\(x\) of a Approximate must compute the function itself; got approximate='tanh'"),
        (nn.Sequential(nn.Linear(3, 2), nn.LeakyReLU(), nn.Mish()), r"\(Mish\) must be of a kind .*no bounds here; use SiLU"),
        (nn.Sequential(nn.Linear(3, 2), nn.GELU("tanh")), r"\(GELU\) must compute the function itself; got approximate='tanh'"),
        (nn.Sequential(nn.Linear(3, 2), nn.Softplus(threshold=5)), r"must have a threshold of at least 20.*got threshold=5"),
        (nn.Sequential(nn.Linear(3, 2), nn.Tanh(), nn.Softmax(1), nn.Linear(2, 1)), r"\(Softmax\) must be the last layer"),
    ],
)
def test_graphs_that_are_refused(module, message):
    with pytest.raises(UnsupportedModelError, match=message):
        read(module, NUMBERS)


class Residual(nn.Module):
    """Sums, slices, concatenations, functions, constants, and a skip over two layers."""

    def __init__(self, count):
        super().__init__()
        self.first, self.second = nn.Linear(WIDTH, 6), nn.Linear(6, 6)
        self.norm, self.drop, self.last = nn.BatchNorm1d(6), nn.Dropout(), nn.Linear(12 + WIDTH, count)
        self.shift = nn.Parameter(torch.arange(6.0) / 7)

    def forward(self, x):
        one = nn.functional.leaky_relu(self.first(x), 0.2)
        two = self.drop(torch.relu(self.norm(self.second(one)))) + one
        three = 2 * two - self.shift
        four = torch.cat([three[:, 2:5], -three[:, :2], three[:, -1:].clamp(-1, 1)], dim=1)
        return self.last(torch.cat([four, nn.functional.hardtanh(four, -2.0, 0.5) / 3, x], 1))


class Smooth(nn.Module):
    """Activations as functions and methods, beside what is handed on."""

    def __init__(self, count):
        super().__init__()
        self.first, self.second, self.last = nn.Linear(WIDTH, 5), nn.Linear(5, 5), nn.Linear(10 + WIDTH, count)

    def forward(self, x):
        one = nn.functional.softplus(input=self.first(x), beta=2) + nn.functional.elu(self.first(x), 0.5) - x[:, :5].tanh()
        two = nn.functional.silu(self.second(one)) + torch.sigmoid(one) + nn.functional.softsign(one)
        three = nn.functional.logsigmoid(two) - nn.functional.tanhshrink(one) + nn.functional.gelu(two).relu()
        return self.last(torch.cat([two, nn.functional.celu(nn.functional.selu(three), alpha=0.7), x], 1))


def activated(*activations):
    """A network with a layer before and after each of these."""
    layers = [layer for activation in activations for layer in (activation, nn.Linear(5, 5))]
    return lambda k: nn.Sequential(nn.Linear(WIDTH, 5), *layers[:-1], nn.Linear(5, k))


ACTIVATIONS = {
    "residual": Residual,
    "smooth": Smooth,
    "tanh": activated(nn.Tanh(), nn.Sigmoid()),
    "sigmoid, relu": activated(nn.Sigmoid(), nn.ReLU()),
    "elu": activated(nn.ELU(), nn.ELU(0.3), nn.SELU(), nn.CELU(2.0)),
    "gelu": activated(nn.GELU(), nn.SiLU()),
    "softplus": activated(nn.Softplus(3.0), nn.LogSigmoid(), nn.Softsign()),
    "shrinking": activated(nn.Softshrink(0.4), nn.Tanhshrink()),
    "leaky": lambda k: nn.Sequential(nn.Linear(WIDTH, 5), nn.LeakyReLU(0.3), nn.Linear(5, k)),
    "prelu": lambda k: nn.Sequential(nn.Linear(WIDTH, 5), nn.PReLU(5), nn.Linear(5, k)),
    "relu6": lambda k: nn.Sequential(nn.Linear(WIDTH, 5), nn.ReLU6(), nn.Linear(5, 4), nn.Hardtanh(-0.5, 2.0), nn.Linear(4, k)),
    "hard sigmoid": lambda k: nn.Sequential(nn.Linear(WIDTH, 5), nn.Hardsigmoid(), nn.Linear(5, k)),
    "no hidden layer": lambda k: OwnSequential(nn.Linear(WIDTH, k)),
}


class TestGraphs(ReaderContract):
    @pytest.fixture(params=[*((name, 1) for name in ACTIVATIONS), ("residual", 3), ("smooth", 3)], ids=str)
    def case(self, request):
        name, count = request.param
        network = trained(ACTIVATIONS[name](count))

        def probabilities(X):
            scores = torch.as_tensor(outputs(network, X))
            return torch.hstack([1 - scores.sigmoid(), scores.sigmoid()]) if count == 1 else scores.softmax(1)

        def predict(X):
            scores = outputs(network, X)
            return (scores[:, 0] >= 0).astype(int) if count == 1 else scores.argmax(axis=1)

        def scores(X):
            return outputs(network, X)

        return Case(network, SCHEMA, scores, probabilities, predict, tolerance=1e-4, tie=1e-3, options={"encoder": ENCODINGS})


@pytest.mark.parametrize("name", ["gelu", "elu", "softplus"])
def test_explained_as_by_enumeration(name):
    """The cheapest of all rows that the network itself puts in the other class, by more than rounding."""
    schema = Schema([Integer("a", 0, 6), Integer("b", 0, 5), Integer("c", 0, 4), Integer("d", 0, 1)])
    rows = np.array(list(itertools.product(range(7), range(6), range(5), range(2))), dtype=float)
    encoding = [Scaled("a", shift=3, scale=3), Raw("b"), Scaled("c", scale=2), Raw("d"), *[Raw("d")] * (WIDTH - 4)]
    network = trained(ACTIVATIONS[name](1)).double()
    form = read(network, schema, encoder=encoding)
    scores = outputs(network, feed(schema, rows, encoding))[:, 0]
    for at in range(0, len(rows), 70):
        wanted = 0 if scores[at] >= 0 else 1
        result = solve(Problem(schema, rows[at], form, to_class(form, wanted)), Limits(seconds=60))
        met = -scores > SCORE_MARGIN + 1e-9 if wanted == 0 else scores > SCORE_MARGIN + 1e-9
        least = schema.prices(rows[at], rows[met]).min(initial=np.inf)
        assert (result.solutions[0].cost if result.solutions else np.inf) == pytest.approx(least)


class Ending(nn.Module):
    def __init__(self, kind):
        super().__init__()
        self.body, self.kind = nn.Linear(3, 3 if kind == "softmax" else 1), kind

    def forward(self, x):
        scores = torch.relu(self.body(x)) - 1
        return torch.softmax(scores, dim=1) if self.kind == "softmax" else torch.sigmoid(scores).squeeze(-1)


@pytest.mark.parametrize("kind", ["softmax", "sigmoid"])
def test_a_last_activation_of_a_graph_gives_the_probabilities(kind):
    module, rows = Ending(kind), random_rows(NUMBERS, 50)
    says = outputs(module, feed(NUMBERS, rows)).reshape(50, -1)
    ours = read(module, NUMBERS).probabilities(rows)
    np.testing.assert_allclose(ours if kind == "softmax" else ours[:, 1:], says, rtol=1e-4, atol=1e-5)


def batch_norm_of_a_batch():
    return nn.BatchNorm1d(4, track_running_stats=False)


@pytest.mark.parametrize(
    ("network", "error", "message"),
    [
        (
            nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Linear(4, 4), nn.Mish(), nn.Linear(4, 1)),
            UnsupportedModelError,
            r"Layer 3 \(Mish\) must be of a kind that likely can read; got Mish.*Hint: it has no bounds here; use SiLU",
        ),
        (
            nn.Sequential(nn.Sequential(nn.Linear(3, 4), nn.Threshold(0.1, 0.0))),
            UnsupportedModelError,
            r"Layer 0\.1 \(Threshold\) must be of a kind .*it jumps",
        ),
        (nn.Sequential(nn.Flatten(0), nn.Linear(3, 1)), UnsupportedModelError, r"Layer 0 \(Flatten\) must be .*start_dim=0"),
        (
            nn.Sequential(nn.Linear(3, 4), nn.Softmax(dim=1), nn.Linear(4, 1)),
            UnsupportedModelError,
            r"Layer 1 \(Softmax\) must be the last layer; got layers after it. Hint: .*use Sigmoid or Tanh between layers",
        ),
        (
            nn.Sequential(nn.Linear(3, 4), batch_norm_of_a_batch()),
            UnsupportedModelError,
            r"Layer 1 \(BatchNorm1d\) must keep running statistics, .*; got track_running_stats=False",
        ),
        (
            nn.Sequential(nn.Linear(3, 4), nn.Softmax(dim=0)),
            PredictorError,
            r"Layer 1 \(Softmax\) must normalise over the classes of each row; got dim=0. Hint: use dim=1",
        ),
        (
            nn.Sequential(nn.Linear(3, 1), nn.Softmax(dim=1)),
            PredictorError,
            "A last softmax must have at least two classes; got one",
        ),
        (
            nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Linear(5, 1)),
            PredictorError,
            r"Layer 2 \(Linear\) must have 4 inputs, as the layer before gives; got 5",
        ),
        (nn.Sequential(nn.Linear(4, 1)), PredictorError, "A Sequential must be given the 4 inputs it was trained on; got 3"),
        (nn.Linear(4, 1), PredictorError, "A Linear must be given the 4 inputs it was trained on; got 3"),
        (nn.Sequential(nn.BatchNorm1d(4)), PredictorError, "A Sequential must be given the 4 inputs"),
        (
            nn.Sequential(nn.LazyLinear(1)),
            PredictorError,
            r"Layer 0 \(LazyLinear\) must have real numbers as parameters; got no values yet",
        ),
        (
            nn.Sequential(nn.Linear(3, 1, device="meta")),
            PredictorError,
            r"Layer 0 \(Linear\) must have real numbers as parameters",
        ),
        (nn.Sequential(nn.Linear(3, 1, dtype=torch.complex64)), PredictorError, r"got torch.complex64. Hint: run the model once"),
    ],
)
def test_refusals(network, error, message):
    with pytest.raises(error, match=message):
        read(network, NUMBERS)


def test_nan_weights_are_refused():
    network = nn.Linear(3, 1)
    network.weight.data[0, 0] = float("nan")
    with pytest.raises(PredictorError, match="A layer must have finite weights; got NaN or infinity"):
        read(network, NUMBERS)


def test_text_without_an_encoder_is_refused_by_name():
    with pytest.raises(PredictorError, match="Feature 'job' must be numbers where Linear reads it; got 'clerk'"):
        read(nn.Linear(6, 1), SCHEMA)


def test_an_encoder_that_makes_another_number_of_inputs_is_refused():
    with pytest.raises(PredictorError, match=f"A Sequential must be given the {WIDTH} inputs it was trained on; got {WIDTH - 1}"):
        read(hidden(nn.Linear(6, 1)), SCHEMA, encoder=ENCODINGS[:-1])
