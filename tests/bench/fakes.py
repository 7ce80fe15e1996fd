"""Packages with data, as far as their readers look at them, and a small data set; and methods that behave in every way."""

from __future__ import annotations

import gzip
import os
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from likely.bench.method import Asked, Data, Generated, Model
from likely.predictor import Form

#: The network of Lauritzen and Spiegelhalter (1988).
ASIA = """
variable asia { type discrete [ 2 ] { yes, no }; }
variable tub { type discrete [ 2 ] { yes, no }; }
variable smoke { type discrete [ 2 ] { yes, no }; }
variable lung { type discrete [ 2 ] { yes, no }; }
variable bronc { type discrete [ 2 ] { yes, no }; }
variable either { type discrete [ 2 ] { yes, no }; }
variable xray { type discrete [ 2 ] { yes, no }; }
variable dysp { type discrete [ 2 ] { yes, no }; }
probability ( asia ) { table 0.01, 0.99; }
probability ( tub | asia ) { (yes) 0.05, 0.95; (no) 0.01, 0.99; }
probability ( smoke ) { table 0.5, 0.5; }
probability ( lung | smoke ) { (yes) 0.1, 0.9; (no) 0.01, 0.99; }
probability ( bronc | smoke ) { (yes) 0.6, 0.4; (no) 0.3, 0.7; }
probability ( either | lung, tub ) { (yes, yes) 1, 0; (no, yes) 1, 0; (yes, no) 1, 0; (no, no) 0, 1; }
probability ( xray | either ) { (yes) 0.98, 0.02; (no) 0.05, 0.95; }
probability ( dysp | bronc, either ) { (yes, yes) 0.9, 0.1; (no, yes) 0.7, 0.3; (yes, no) 0.8, 0.2; (no, no) 0.1, 0.9; }
"""
COMPAS = """\
sex,age,race,juv_fel_count,juv_misd_count,juv_other_count,priors_count,days_b_screening_arrest,c_charge_degree,is_recid,score_text,two_year_recid
Male,69,Other,0,0,0,0,-1,F,0,Low,0
Female,34,Caucasian,0,1,0,3,2,M,1,High,1
Male,24,Other,0,0,1,4,-31,F,1,Low,1
Male,23,Other,1,0,1,1,0,F,-1,Low,0
Male,22,Other,0,0,0,2,5,F,0,,0
Female,41,Other,0,0,0,14,1,F,1,Medium,1
"""


def install(monkeypatch: pytest.MonkeyPatch, home: Path, module: str, file: str, content: bytes) -> None:
    """A package with one file in it."""
    place = home / module / file
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_bytes(content)
    (home / module / "__init__.py").write_text("raise ImportError('only the data are read')\n")
    monkeypatch.syspath_prepend(str(home))


def install_asia(monkeypatch: pytest.MonkeyPatch, home: Path) -> None:
    install(monkeypatch, home, "pgmpy", "utils/example_models/asia.bif.gz", gzip.compress(ASIA.encode()))


class NearestWithAMask:
    """The training rows of the wanted class, with what may not change as the factual has it."""

    name = "nearest-with-a-mask"

    def fit(self, data: Data, model: Model, form: Form) -> None:
        self.data, self.form, self.rows = data, form, data.schema.encode(data.X)

    def generate(self, asked: Asked) -> Generated:
        start = time.perf_counter()
        schema = self.data.schema
        factual = schema.encode(asked.factual)[0]
        found = self.rows[self.form.predict(self.rows) == asked.target]
        found = found[schema.admits(factual, found)]
        order = np.argsort(schema.prices(factual, found), kind="stable")[: asked.k]
        return Generated(schema.decode(found[order]), time.perf_counter() - start)


class Unknowing(NearestWithAMask):
    """Its rows have values that are none."""

    def generate(self, asked: Asked) -> Generated:
        return Generated(asked.factual.assign(job=None), 0.0)


class Unfit(NearestWithAMask):
    def fit(self, data: Data, model: Model, form: Form) -> None:
        raise ValueError("nothing to\nlearn")


class Careless(NearestWithAMask):
    """It prints what looks like an answer, raises for some rows, ends its process at others, and never returns from others."""

    def generate(self, asked: Asked) -> Generated:
        sys.stdout.write('{"place": 0, "status": "answered"}\n')
        sys.stdout.flush()
        kind = int(asked.factual.index[0]) % 4
        if kind == 1:
            raise RuntimeError("no idea")
        if kind == 2:
            os._exit(7)
        if kind == 3:
            time.sleep(600)
        return super().generate(asked)
