"""DiCE (Mothilal, Sharma and Tan 2020) through its own package, `dice-ml`: diverse rows by gradients, draws or evolution.

Its tables are ours in other words: numbers as they are, discrete values as texts. It gets the rules about one feature, as
features to vary and permitted ranges. By gradients it divides numbers by their permitted range, which may be 0: there, it gets
the features to vary alone, and what it returns is moved into the ranges. It knows no special codes beside numbers: features that
have some stay as they are.
"""

from __future__ import annotations

import contextlib
import io
import time
import warnings
from typing import Any, Literal

import numpy as np
import pandas as pd

from likely.bench.methods.rival import Question, Rival
from likely.errors import ExplainerError, PredictorError
from likely.schema.values import Numbers

OUTCOME = "class"
#: Of gradients: the most steps for all rows together, and the least for each. The package's own, 5000 and 500, take minutes.
STEPS, LEAST_STEPS = 500, 50


class Dice(Rival):
    """The package, asked for rows of the wanted class.

    Args:
        how: "gradient", as in the LiCE paper, for two classes; "random" or "genetic", for any model.
    """

    def __init__(self, how: Literal["gradient", "random", "genetic"]) -> None:
        try:
            import dice_ml
        except ImportError:
            raise ExplainerError(
                f"Method 'dice-{how}'", "have the package 'dice-ml'", "none",
                "pip install --no-deps dice-ml raiutils, and pip install jsonschema requests",
            ) from None  # fmt: skip
        self.name, self.how, self._package = f"dice-{how}", how, dice_ml
        self._ends = np.inf

    def prepare(self) -> None:
        """Tell the package the training table and the model."""
        known = self.known
        parts = known.encoding.parts
        self._continuous = [f"f{j}" for j, part in enumerate(parts) if part.number is not None]
        table = self._table(known.rows)
        table[OUTCOME] = known.decided
        with _quiet():
            data = self._package.Data(
                dataframe=table, continuous_features=self._continuous, outcome_name=OUTCOME,
                continuous_features_precision={f"f{j}": _decimals(part.feature.grid) for j, part in enumerate(parts)
                                               if part.number is not None},
            )  # fmt: skip
            model = self._gradient_model(data) if self.how == "gradient" else self._black_box()
            self._explainer = self._package.Dice(data, model, method=self.how)

    def _table(self, rows: Numbers) -> pd.DataFrame:
        """Rows as the package reads them."""
        columns: dict[str, Any] = {}
        for j, part in enumerate(self.known.encoding.parts):
            if part.number is not None:
                columns[f"f{j}"] = np.where(rows[:, j] < part.low, part.low, rows[:, j])
            else:
                columns[f"f{j}"] = np.array([f"v{int(k)}" for k in rows[:, j]], dtype=object)
        return pd.DataFrame(columns)

    def _rows(self, table: pd.DataFrame, factual: Numbers) -> Numbers:
        """What the package returned, as rows of the schema."""
        rows = np.empty((len(table), len(factual)))
        for j in range(len(factual)):
            column = table[f"f{j}"]
            named = f"f{j}" not in self._continuous
            rows[:, j] = [int(str(cell)[1:]) for cell in column] if named else column.to_numpy(dtype=np.float64)
        coded = [j for j, part in enumerate(self.known.encoding.parts) if part.number is not None and part.atoms]
        rows[:, coded] = factual[coded]
        return rows

    def _black_box(self) -> Any:
        """The model as the package asks one of scikit-learn."""
        known, rows_of = self.known, self._rows
        anything = known.rows[0]

        class Asked:
            classes_ = np.arange(len(known.form.classes))

            def predict_proba(self, table: pd.DataFrame) -> Numbers:
                return known.form.probabilities(rows_of(table, anything))

            def predict(self, table: pd.DataFrame) -> Any:
                return known.form.link.decide(known.form.score(rows_of(table, anything)))

        return self._package.Model(model=Asked(), backend="sklearn")

    def _gradient_model(self, data: Any) -> Any:
        """The network as a torch module over the package's columns: scaled numbers, then a column per value."""
        from likely.bench.tensors import network, nn

        encoding, form = self.known.encoding, self.known.form
        if form.outputs != 1:
            raise PredictorError(
                "The model of DiCE by gradients", "have one score for two classes", f"{form.outputs} scores", "use dice-random"
            )
        layers = encoding.layers(form)
        order: list[int] = []
        for name in self._continuous:
            part = encoding.parts[int(name[1:])]
            assert part.number is not None
            order.append(part.number)
        # the rest: values that occur, in the order of their texts, as the package has them
        ranges, shift = np.ones(len(order)), np.zeros(len(order))
        for i, name in enumerate(self._continuous):
            part = encoding.parts[int(name[1:])]
            column = data.data_df[name].to_numpy(dtype=np.float64)
            ranges[i] = (column.max() - column.min() or 1.0) / part.span
            shift[i] = (column.min() - part.low) / part.span
        for j, part in enumerate(encoding.parts):
            if part.number is None:
                values = sorted(set(data.data_df[f"f{j}"].astype(str)))
                order += [part.first + int(value[1:]) for value in values]
        scale = np.concatenate([ranges, np.ones(len(order) - len(ranges))])
        (weights, bias), *rest = layers
        offset = weights[:, order[: len(ranges)]] @ shift
        module = nn.Sequential(network(((weights[:, order] * scale, bias + offset), *rest)), nn.Sigmoid())
        module.register_forward_pre_hook(self._end_in_time)
        return self._package.Model(model=module, backend="PYT", func="ohe-min-max")

    def _end_in_time(self, *_: object) -> None:
        """The package knows no limit of time: the model ends it."""
        if time.perf_counter() > self._ends:
            raise TimeoutError

    def search(self, question: Question) -> Numbers:
        """The rows that the package returns, with the wanted class; cheapest first.

        Args:
            question: What is asked.
        """
        low, high = question.box
        vary, permitted = list[str](), dict[str, list[Any]]()
        for j, part in enumerate(self.known.encoding.parts):
            if part.number is not None:
                ends = low[part.number], high[part.number]
                permitted[f"f{j}"] = [part.low + part.span * float(end) for end in ends]
                vary += [f"f{j}"] if ends[0] < ends[1] and not part.atoms else []
            elif (can := np.flatnonzero(high[part.group])).size > 1:
                vary.append(f"f{j}")
                permitted[f"f{j}"] = [f"v{k}" for k in can]
        how: dict[str, dict[str, Any]] = {
            "gradient": {"min_iter": LEAST_STEPS, "max_iter": max(LEAST_STEPS, STEPS // question.asked.k)},
            "random": {"permitted_range": permitted, "random_seed": self.known.data.seed},
            "genetic": {"permitted_range": permitted},
        }
        self._ends = question.clock + question.asked.seconds
        np.random.seed(self.known.data.seed)  # noqa: NPY002 - the package draws from there
        with _quiet():
            try:
                found = self._explainer.generate_counterfactuals(
                    self._table(question.row[None]), total_CFs=question.asked.k, desired_class=question.target,
                    features_to_vary=vary, posthoc_sparsity_algorithm="binary", **how[self.how],
                )  # fmt: skip
                table = found.cf_examples_list[0].final_cfs_df
            except (self._no_answer, TimeoutError):
                table = None
        if table is None or not len(table):
            return np.empty((0, len(question.row)))
        return question.by_cost(question.decode(self.known.encoding.encode(self._rows(table, question.row))))

    @property
    def _no_answer(self) -> type[Exception]:
        from raiutils.exceptions import UserConfigValidationException

        error: type[Exception] = UserConfigValidationException
        return error


def _decimals(step: float | None) -> int:
    """Digits after the point that a number with this step has; six without."""
    return 6 if step is None else max(0, int(np.ceil(-np.log10(step))))


@contextlib.contextmanager
def _quiet() -> Any:
    """Without what the package prints."""
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield
