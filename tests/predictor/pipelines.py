"""Random tables with every kind of column, and random preprocessing that scikit-learn accepts for them."""

from __future__ import annotations

import contextlib

import numpy as np
import pandas as pd
from sklearn.compose import ColumnTransformer, make_column_selector
from sklearn.feature_selection import VarianceThreshold
from sklearn.impute import SimpleImputer
from sklearn.pipeline import FeatureUnion, Pipeline, make_pipeline
from sklearn.preprocessing import (
    Binarizer,
    FunctionTransformer,
    KBinsDiscretizer,
    MaxAbsScaler,
    MinMaxScaler,
    OneHotEncoder,
    OrdinalEncoder,
    PowerTransformer,
    QuantileTransformer,
    RobustScaler,
    StandardScaler,
)

from likely.schema import Schema

JOBS = ["clerk", "farmer", "nurse", "pilot", "smith"]


def random_table(random: np.random.Generator, count: int = 80) -> pd.DataFrame:
    """A table of some of the columns that people have, in any order."""

    def with_gaps(cells, gap):
        gaps = random.random(count) < 0.2
        gaps[0], gaps[1] = True, False
        return [gap if gone else cell for gone, cell in zip(gaps, cells, strict=True)]

    texts = random.choice(JOBS, count).tolist()
    columns = {
        "float": random.normal(3, 20, count),
        "single": random.normal(0, 1, count).astype(np.float32),
        "single2": random.lognormal(3, 1, count).astype(np.float32),
        "half": random.uniform(-3, 3, count).astype(np.float16),
        "int": random.integers(-50, 5000, count),
        "small": random.integers(0, 90, count).astype(np.int16),
        "bool": random.choice([True, False], count),
        "gappy": np.array(with_gaps(random.normal(1, 3, count), np.nan)),
        "gappy single": np.array(with_gaps(random.normal(1, 3, count), np.nan), dtype=np.float32),
        "nullable": pd.array(with_gaps(random.integers(0, 9, count).tolist(), None), dtype="Int64"),
        "Float32": pd.array(random.normal(0, 1, count), dtype="Float32"),
        "coded": np.where(random.random(count) < 0.2, -9, random.integers(0, 12, count)),
        "text": pd.array(texts, dtype="str"),
        "object": pd.Series(texts, dtype=object),
        "category": pd.Categorical(texts),
        "ordered": pd.Categorical(texts, categories=JOBS[::-1], ordered=True),
        "numbers": pd.Categorical(random.integers(1, 5, count)),
        "gappy text": pd.array(with_gaps(texts, None), dtype="str"),
        "gappy object": pd.Series(with_gaps(texts, np.nan), dtype=object),
        "gappy category": pd.Categorical(with_gaps(texts, None)),
    }
    names = [str(name) for name in random.permutation(list(columns))]
    return pd.DataFrame({name: columns[name] for name in names[: random.integers(4, len(names) + 1)]})


def schema_of(table: pd.DataFrame) -> Schema:
    """The schema of a random table."""
    overrides = {"coded": {"codes": [-9]}} if "coded" in table else {}
    return Schema.infer(table, features=overrides)


def _pick(random: np.random.Generator, *options):
    return options[random.integers(len(options))]


def _flag(random: np.random.Generator) -> bool:
    return bool(random.random() < 0.5)


def random_scaler(random: np.random.Generator, *, sparse: bool = False):
    center = not sparse and _flag(random)
    options = [
        StandardScaler(with_mean=center, with_std=_flag(random)),
        RobustScaler(with_centering=center, with_scaling=_flag(random), unit_variance=_flag(random)),
        MaxAbsScaler(),
    ]
    if not sparse:
        options.append(MinMaxScaler(feature_range=_pick(random, (0, 1), (-1, 0.3)), clip=_flag(random)))
    return _pick(random, *options)


def random_function(random: np.random.Generator):
    """A function of each column that rises or falls, bins, or a choice of columns."""
    return _pick(
        random,
        QuantileTransformer(n_quantiles=20, output_distribution=_pick(random, "uniform", "normal")),
        PowerTransformer(standardize=_flag(random)),
        KBinsDiscretizer(4, encode=_pick(random, "onehot", "onehot-dense", "ordinal"), strategy="uniform"),
        Binarizer(threshold=0.5),
        FunctionTransformer(_pick(random, np.arcsinh, np.cbrt, np.negative, np.arctan)),
        VarianceThreshold(0.1),
    )


def random_imputer(random: np.random.Generator, strategies, missing=np.nan):
    fill = {"fill_value": 7} if _flag(random) else {}
    strategy = _pick(random, *strategies)
    return SimpleImputer(
        strategy=strategy, add_indicator=_flag(random), missing_values=missing, **(fill if strategy == "constant" else {})
    )


def random_one_hot(random: np.random.Generator, *, sparse: bool):
    unknown = _pick(random, "ignore", "infrequent_if_exist", "error")
    grouping = _pick(random, {}, {}, {"min_frequency": 18}, {"max_categories": 3}, {"min_frequency": 0.2})
    return OneHotEncoder(
        drop=_pick(random, None, "first", "if_binary"), handle_unknown=unknown, sparse_output=sparse and _flag(random),
        dtype=_pick(random, np.float64, np.float32, np.int64), **grouping,
    )  # fmt: skip


def random_ordinal(random: np.random.Generator):
    return OrdinalEncoder(
        handle_unknown="use_encoded_value", unknown_value=_pick(random, -1, np.nan),
        encoded_missing_value=_pick(random, -2, np.nan), min_frequency=_pick(random, None, 18),
        dtype=_pick(random, np.float64, np.float32),
    )  # fmt: skip


def random_part(random: np.random.Generator, names: list[str], *, sparse: bool):
    """A transformer for columns of one kind."""
    kind = kind_of(names[0])
    if kind == "text":
        encoder = _pick(random, random_one_hot(random, sparse=sparse), random_ordinal(random))
        if _flag(random):
            return encoder
        missing = SimpleImputer(strategy=_pick(random, "most_frequent", "constant"))
        return make_pipeline(missing, encoder)
    if kind == "coded":
        return make_pipeline(random_imputer(random, ["mean", "median", "most_frequent"], -9), random_scaler(random))
    if random.random() < 0.3:
        first = [random_imputer(random, ["mean", "median"])] if kind == "gappy" or _flag(random) else []
        return make_pipeline(*first, random_function(random), *([random_scaler(random, sparse=True)] if _flag(random) else []))
    if kind == "gappy" or _flag(random):
        return make_pipeline(random_imputer(random, ["mean", "median"]), random_scaler(random))
    validated = FunctionTransformer(validate=sparse)  # which gives an array where set_output asks for a DataFrame
    return _pick(random, "passthrough", FunctionTransformer(), validated, random_scaler(random))


def kind_of(name: str) -> str:
    if name == "coded":
        return "coded"
    if name in ("text", "object", "category", "ordered", "gappy text", "gappy object", "gappy category"):
        return "text"
    return "gappy" if name in ("gappy", "gappy single", "nullable") else "number"


def random_columns(random: np.random.Generator, names: list[str], table: pd.DataFrame):
    """The columns of a part, said in any of the ways that scikit-learn knows."""
    places = [list(table.columns).index(name) for name in names]
    mask = [name in names for name in table.columns]
    ways = [names, np.array(names), places, [place - len(table.columns) for place in places]]
    if sorted(places) == places:
        ways += [mask, np.array(mask), lambda X: [name for name in X.columns if name in names]]
        ways.append(make_column_selector(pattern="^(" + "|".join(names) + ")$"))
    if places == list(range(places[0], places[0] + len(places))):
        ways += [slice(names[0], names[-1]), slice(places[0], places[-1] + 1)]
    return _pick(random, *ways)


def random_column_transformer(random: np.random.Generator, table: pd.DataFrame, *, sparse: bool) -> ColumnTransformer:
    """A ColumnTransformer of parts of one kind each, some columns twice, some dropped."""
    kinds: dict[str, list[str]] = {}
    for name in table.columns:
        kinds.setdefault(kind_of(name), []).append(name)
    parts = []
    for kind, names in kinds.items():
        for k in range(2):
            chosen = [name for name in names if random.random() < 0.6]
            if random.random() < 0.3:
                chosen = chosen[::-1]
            if chosen:
                parts.append((f"{kind}{k}", random_part(random, chosen, sparse=sparse), random_columns(random, chosen, table)))
    if random.random() < 0.3 and parts:
        parts.append(("dropped", "drop", [table.columns[0]]))
    weights = {name: _pick(random, 0.1, 3.0) for name, *_ in parts if random.random() < 0.1}
    return ColumnTransformer(
        parts, sparse_threshold=_pick(random, 0.3, 1.0, 0.0), transformer_weights=weights or None,
        verbose_feature_names_out=True,
    )  # fmt: skip


def random_preprocessing(random: np.random.Generator, table: pd.DataFrame):
    """Fitted preprocessing of a table."""
    while True:
        # scipy has no sparse matrices of objects, pandas no weighted categories
        with contextlib.suppress(TypeError, ValueError):
            preprocessing = _random_preprocessing(random, table).fit(table)
            preprocessing.transform(table)
            return preprocessing


def _random_preprocessing(random: np.random.Generator, table: pd.DataFrame):
    """A ColumnTransformer, what follows it, unions and nesting."""
    sparse = random.random() < 0.6
    first = random_column_transformer(random, table, sparse=sparse)
    whole = first
    if random.random() < 0.4:
        others = random_column_transformer(random, table, sparse=sparse)
        weights = {"b": 0.3} if _flag(random) else None
        whole = FeatureUnion([("a", first), ("b", others)], transformer_weights=weights)
    elif random.random() < 0.3:
        whole = ColumnTransformer([("nested", first, list(table.columns)), ("none", StandardScaler(), [])])
    whole = Pipeline([("same", "passthrough"), ("columns", whole)]) if random.random() < 0.3 else whole
    if random.random() < 0.6:
        whole = make_pipeline(whole, random_scaler(random, sparse=sparse))
    if not sparse and random.random() < 0.4:
        whole.set_output(transform="pandas")
    return whole
