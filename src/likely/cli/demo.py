"""`likely demo`: from nothing to an answer with a proof, on data that are part of the package."""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from likely import datasets
from likely.cli.codes import Code, code_of
from likely.cli.explain import as_text
from likely.cli.folder import save_explainer
from likely.explain import Explainer, verify
from likely.schema import Schema
from likely.show import report

#: An applicant (its number in the original file) whose answers are easily told; the first one that is rejected, if
#: the model at hand should accept this one.
APPLICANT = 295
TREES = 50


def add(commands: Any) -> None:
    """The command and its options."""
    parser = commands.add_parser("demo", help="an answer with its proof in less than a minute; writes a page for people")
    parser.add_argument("-o", "--output", metavar="FILE.html", default="likely-demo.html", help="the report (likely-demo.html)")
    parser.add_argument("--save", metavar="FOLDER", help="keep data, schema, model and explainer, for the other commands")
    parser.add_argument("--nodes", metavar="N", type=int, help="learn a circuit of about so many nodes, instead of trying sizes")
    parser.add_argument("--json", action="store_true", help="print the explanation for machines")
    parser.set_defaults(run=run)


@dataclass(frozen=True)
class Scene:
    """What the demo works with: rows to learn from, rows to explain, and the model."""

    schema: Schema
    X: pd.DataFrame
    y: pd.Series[Any]
    unseen: pd.DataFrame
    model: Any
    right: float

    @property
    def applicant(self) -> pd.Series[Any]:
        """A row that the model rejects, and has not seen before."""
        rejected = self.unseen[self.model.predict(self.unseen) == "bad"]
        row: pd.Series[Any] = rejected.loc[APPLICANT] if APPLICANT in rejected.index else rejected.iloc[0]
        return row


def run(options: argparse.Namespace) -> int:
    """Fit a model, explain one applicant, check the answer, write the report."""
    say: Callable[[str], None] = (lambda text: None) if options.json else (lambda text: print(text, flush=True))
    start = time.perf_counter()
    scene = scene_of()
    say(
        f"German Credit: {len(scene.X) + len(scene.unseen):,} applicants of a bank, {len(scene.schema)} features.\n"
        f"A model of {TREES} boosted trees, fitted now, is right on {100 * scene.right:.0f}% of {len(scene.unseen)} new rows.\n"
        "Learning how likely applicants are ..."
    )
    explainer = _explainer(scene, options)
    applicant = scene.applicant
    say(f"Applicant {applicant.name} is rejected. What would have to be different?\n")
    answers, front = explainer.explain(applicant, k=3), explainer.front(applicant)
    checked = verify(answers, scene.model, explainer.circuit_)
    report(answers, options.output, front=front, verification=checked, title=f"Applicant {applicant.name}")
    say(f"{as_text(answers)}\nChecked again without the engine: {str(checked).splitlines()[0]}.\n")
    say(f"The more plausible an answer must be, the more it costs; every line is proved by itself:\n\n{front}\n")
    if options.save:
        _save(scene, explainer, Path(options.save))
        say(f"{options.save}/ has data, schema, model and explainer; go on with\n  {_next(Path(options.save))}")
    if options.json:
        print(answers.to_json())
    say(f"The report is in {options.output} ({time.perf_counter() - start:.0f} s in all).")
    return code_of(answers) if checked.ok else Code.FAILED


def scene_of() -> Scene:
    """German Credit in two parts, and a model that is fitted to the larger one."""
    from sklearn.compose import make_column_transformer
    from sklearn.ensemble import GradientBoostingClassifier
    from sklearn.model_selection import train_test_split
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import OneHotEncoder

    data = datasets.load("credit")
    X, unseen, y, truth = train_test_split(data.X, data.y, test_size=0.2, random_state=0, stratify=data.y)
    discrete = [feature.name for feature in data.schema.features if not feature.numeric]
    encoder = make_column_transformer((OneHotEncoder(), discrete), remainder="passthrough")
    model = make_pipeline(encoder, GradientBoostingClassifier(n_estimators=TREES, random_state=0)).fit(X, y)
    return Scene(data.schema, X, y, unseen, model, float(model.score(unseen, truth)))


def _explainer(scene: Scene, options: argparse.Namespace) -> Explainer:
    return Explainer(scene.model, scene.schema, nodes=options.nodes, progress=not options.json).fit(scene.X, scene.y)


def _save(scene: Scene, explainer: Explainer, folder: Path) -> None:
    """What the user's own files would be."""
    import joblib

    folder.mkdir(parents=True, exist_ok=True)
    scene.X.assign(**{str(scene.y.name): scene.y}).to_csv(folder / "train.csv", index=False)
    scene.unseen.to_csv(folder / "new.csv", index=False)
    scene.schema.save(folder / "schema.yaml")
    joblib.dump(scene.model, folder / "model.joblib")
    model = (folder / "model.joblib").as_posix()
    save_explainer(explainer, str(folder / "explainer"), data=str(folder / "train.csv"), target=str(scene.y.name), model=model)
    row = json.loads(scene.applicant.to_json())
    (folder / "row.json").write_text(json.dumps(row, ensure_ascii=False, indent=1), encoding="utf-8")


def _next(folder: Path) -> str:
    place = folder.as_posix()
    return f"likely explain {place}/explainer --model {place}/model.joblib --row {place}/row.json -k 5 --lock amount"
