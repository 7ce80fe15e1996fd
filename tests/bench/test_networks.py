"""Bayesian networks: what is sampled is as probable as the tables say."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from likely.bench import fit as fitting
from likely.bench.fit import best_fits, fit_table, fitted, learned_by, variation
from likely.bench.networks import SIZES, SPRINKLER, parse, read_network
from likely.errors import DatasetError
from tests.bench.fakes import ASIA, install_asia


def test_sprinkler_by_hand() -> None:
    network = read_network("sprinkler")
    assert network.names == ("Cloudy", "Sprinkler", "Rain", "Wet")
    assert network.size == SIZES["sprinkler"]
    # not cloudy, sprinkler on, no rain, wet; and impossible: neither sprinkler nor rain, and wet
    rows = np.array([[0, 1, 0, 1], [0, 0, 0, 1]])
    assert np.exp(network.log_probability(rows)).tolist() == pytest.approx([0.5 * 0.5 * 0.8 * 0.9, 0.0])


def test_samples_are_as_frequent_as_probable() -> None:
    network = parse(ASIA)
    every = network.all_rows()
    assert every is not None
    probability = np.exp(network.log_probability(every))
    assert probability.sum() == pytest.approx(1.0)
    drawn = network.sample(50_000, np.random.default_rng(0))
    places = drawn @ (2 ** np.arange(7, -1, -1))
    shares = np.bincount(places, minlength=256) / len(drawn)
    assert np.abs(shares - probability).max() < 0.01
    assert not shares[probability == 0].any()


def test_reading_what_is_installed(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    install_asia(monkeypatch, tmp_path)
    assert read_network("asia").size == SIZES["asia"]


def test_refusals(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(DatasetError, match="asia"):
        read_network("cancer")
    with pytest.raises(DatasetError, match="holes in 'Rain'"):
        parse(SPRINKLER.replace("(no) 0.8, 0.2;", ""))
    with pytest.raises(DatasetError, match="be 'table' or values"):
        parse(SPRINKLER.replace("table 0.5, 0.5", "table (0.5), 0.5"))
    monkeypatch.setattr("likely.bench.sources.find_spec", lambda name: None)
    with pytest.raises(DatasetError, match="pip install --no-deps pgmpy"):
        read_network("asia")


def test_fit_of_a_circuit() -> None:
    network = read_network("sprinkler")
    fit = fitted("sprinkler", network, learned_by("tree"), 0)
    found = fit.measures
    assert found["pearson"] == pytest.approx(np.corrcoef(fit.true, fit.logs)[0, 1])
    assert fit_table([fit]).rows[0][:3] == ("sprinkler", f"{found['pearson']:.3f}", "0.996")
    assert found["pearson"] > 0.99
    assert found["exact"]
    assert found["variation"] < 0.05
    circuit = learned_by("tree")(network.sample(2_000, np.random.default_rng(0)), network, 0)
    exact, _ = variation(network, circuit, np.random.default_rng(0))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("likely.bench.networks.WHOLE", 1)
        estimate, is_exact = variation(network, circuit, np.random.default_rng(0))
    assert not is_exact
    assert estimate == pytest.approx(exact, abs=0.01)


def test_fits_are_kept_for_later_sittings(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(fitting, "TRAIN", 500)
    (first,) = best_fits(["sprinkler"], 2, cache=tmp_path, progress=False)
    assert sorted(file.name for file in tmp_path.iterdir()) == ["fit-sprinkler-0.pickle", "fit-sprinkler-1.pickle"]
    assert "by Pearson the best of 2 (the paper: 5) circuits" in fit_table([first]).caption
    monkeypatch.setattr(fitting, "fitted", lambda *anything: pytest.fail("it was fitted again"))
    (again,) = best_fits(["sprinkler"], 2, cache=tmp_path, progress=False)
    assert again.measures == first.measures
