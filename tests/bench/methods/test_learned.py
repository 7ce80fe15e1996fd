"""What defines the methods that learn a latent space or a density: the VAE, C-CHVAE, PPCEF, CeFlow; and Wachter's descent."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.bench.methods.examples import asked, fitted, loans, moons

torch = pytest.importorskip("torch")

from likely.bench.flow import Flow  # noqa: E402 - needs torch
from likely.bench.methods.gradient import Differentiable  # noqa: E402
from likely.bench.tensors import tensor  # noqa: E402


def test_the_module_computes_what_the_form_does() -> None:
    for example in (loans, moons):
        method: Any = fitted("wachter", example)
        known = method.known
        for target in (0, 1):
            scores = known.form.score(known.rows)[:, 0] * (1 if target else -1)
            margins = Differentiable.of(known).margins(tensor(known.points), target).numpy()
            np.testing.assert_allclose(margins, scores, atol=1e-3)


@pytest.mark.parametrize("name", ["vae", "c-chvae"])
def test_answers_are_what_the_decoder_makes(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    method: Any = fitted(name, loans)
    question = method.known.question(asked(loans(), 3, k=5))
    made: list[np.ndarray] = []
    decode = method.coder.decode

    def watched(latent: Any, given: Any) -> Any:
        points = decode(latent, given)
        made.append(points.double().numpy())
        return points

    monkeypatch.setattr(method.coder, "decode", watched)
    rows = method.search(question)
    assert len(rows)
    decoded = question.decode(np.vstack(made))
    assert all((decoded == row).all(axis=1).any() for row in rows)
    for group in method.known.encoding.groups:
        np.testing.assert_allclose(np.vstack(made)[:, group].sum(axis=1), 1.0, atol=1e-5)


def test_the_auto_encoder_is_given_what_may_not_change() -> None:
    method: Any = fitted("c-chvae", loans)
    names = np.array(method.known.data.schema.names)[method.known.encoding.feature_of[method.given]]
    assert set(names) == {"telephone"}


@pytest.mark.parametrize("tell", ["couplings", "base"])
def test_a_flow_has_an_inverse_and_a_density(tell: Any) -> None:
    """Its log-density is that of the base plus the log-determinant of its Jacobian."""
    method: Any = fitted("ppcef", moons)
    known = method.known
    flow = Flow(0, tell=tell, noise=0.1).fit(known.points, known.decided)
    told, points = flow.told(known.decided[:5]), tensor(known.points[:5])
    base = flow.to_base(points, told)
    np.testing.assert_allclose(flow.from_base(base, told).numpy(), points.numpy(), atol=1e-4)
    for i in range(5):
        one = torch.func.jacrev(lambda x, i=i: flow.to_base(x[None], told[i : i + 1])[0])(points[i])
        shift = told[i] @ flow.means if tell == "base" else torch.zeros(2)
        log = -((base[i] - shift) ** 2).sum() / 2 - np.log(2 * np.pi) + torch.linalg.slogdet(one)[1]
        assert float(log) == pytest.approx(flow.log_density(known.points[:5], known.decided[:5])[i], abs=1e-3)


def test_a_flow_knows_where_rows_are() -> None:
    flow = fitted("ppcef", moons).flow  # type: ignore[attr-defined]
    known = fitted("ppcef", moons).known  # type: ignore[attr-defined]
    right = flow.log_density(known.points, known.decided)
    wrong = flow.log_density(known.points, 1 - known.decided)
    assert right.mean() > wrong.mean() + 1
    rng = np.random.default_rng(0)
    assert right.mean() > flow.log_density(rng.uniform(0, 1, known.points.shape), known.decided).mean()


def test_ppcef_goes_where_rows_are() -> None:
    """Denser than answers of the same descent without the density."""
    dense: Any = fitted("ppcef", moons)
    plain: Any = fitted("wachter", moons)
    logs = []
    for method in (dense, plain):
        points, classes = [], []
        for place in range(5):
            question = method.known.question(asked(moons(), place))
            rows = method.search(question)
            if len(rows):
                points.append(method.known.encoding.encode(rows[:1])[0])
                classes.append(question.target)
        logs.append(np.median(dense.flow.log_density(np.array(points), np.array(classes))))
    assert logs[0] > logs[1]


def test_ceflow_moves_along_the_line_between_two_classes() -> None:
    method: Any = fitted("ceflow", moons)
    question = method.known.question(asked(moons(), 3, k=3))
    rows = method.search(question)
    assert len(rows)
    told = method.flow.told(np.full(1, 1 - question.target))
    way = method.means[question.target] - method.means[1 - question.target]
    start = method.flow.to_base(tensor(question.point)[None], told).numpy()[0]
    multiples = []
    for point in method.known.encoding.encode(rows[:3]):
        inside = ((point > 0) & (point < 1)).all()
        moved = method.flow.to_base(tensor(point)[None], told).numpy()[0] - start
        multiples.append(float(moved @ way / (way @ way)))
        if inside:
            np.testing.assert_allclose(moved, multiples[-1] * way, atol=0.05)
    assert multiples[0] > 0


def test_wachter_is_near_the_row() -> None:
    """On real numbers, its answer is not many times as far as the nearest of a grid: a descent may end beside it."""
    method: Any = fitted("wachter", moons)
    for place in (0, 3, 5):
        question = method.known.question(asked(moons(), place))
        grid = np.stack(np.meshgrid(np.linspace(0, 1, 60), np.linspace(0, 1, 60)), axis=-1).reshape(-1, 2)
        best = question.costs(question.by_cost(question.decode(grid))[:1])[0]
        assert question.costs(method.search(question)[:1])[0] <= 4 * best + 0.2
