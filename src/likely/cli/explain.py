"""`likely explain`: one row to its counterfactuals."""

from __future__ import annotations

import argparse
import json
from typing import Any

from likely.cli import question
from likely.cli.codes import code_of
from likely.cli.files import read_file, write_file
from likely.cli.folder import add_model, open_explainer, rows_of
from likely.errors import ExplainerError, LikelyError
from likely.explain import Explainer, Explanation, Question, Reasons
from likely.explain.text import table
from likely.problem import Conflict
from likely.schema import Constraint
from likely.show import report


def add(commands: Any) -> None:
    """The command and its options."""
    parser = commands.add_parser("explain", help="what would have to be different about a row for the model to decide otherwise")
    parser.add_argument("explainer", metavar="EXPLAINER", help="the folder that likely fit wrote")
    parser.add_argument("--row", metavar="N|ROW.json", help="a row of the data, the first is 0; or a file with one row")
    parser.add_argument(
        "--data", metavar="FILE.csv", help="where the row is, if not in the data that the explainer was fitted on"
    )
    add_model(parser, when="; may be left out if it is no pickle and still where it was")
    question.add(parser)
    parser.add_argument("-o", "--output", metavar="FILE.json", help="keep the explanation: likely verify checks it again")
    parser.add_argument(
        "--certificate", metavar="FILE", help="write the proof, so that likely verify --certificate derives it again"
    )
    parser.add_argument("--report", metavar="FILE.html", help="write a page for people")
    parser.add_argument(
        "--reasons", metavar="N", nargs="?", const=4, type=int,
        help="the principal reasons for the decision too: at most so many (4), in the order of how little would have changed it",
    )  # fmt: skip
    parser.add_argument("--words", metavar="FILE", help="for --reasons: a YAML or JSON file of features and their sentences")
    parser.add_argument(
        "--jobs", metavar="N", type=int, help="on so many threads, if the search takes long; one per core, if left out"
    )
    parser.add_argument(
        "--json", metavar="ROW.json", nargs="?", const="", help="print JSON, for machines; a file (- is the input) is the row"
    )
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Explain, and print the answer with its proof; say why, if there is none."""
    explainer = open_explainer(options)
    explainer.set_params(n_jobs=options.jobs)
    row, asked = _row(options, explainer), question.question_of(options, explainer)
    explanation = explainer.explain(row, asked, certificate=options.certificate)
    reason = _reason(explainer, row, asked) if explanation.status == "infeasible" else None
    if options.output:
        write_file(options.output, explanation.to_json())
    if options.report:
        report(explanation, options.report, reason=reason)
    reasons = _principal(options, explanation)
    if options.json is None:
        print(as_text(explanation, reason) if reasons is None else f"{as_text(explanation, reason)}\n\n{reasons}")
    else:
        more = {} if reasons is None else {"reasons": reasons.to_dict()}
        print(json.dumps({**explanation.to_dict(), "why_not": _plain(reason), **more}, ensure_ascii=False, allow_nan=False))
    return code_of(explanation)


def _principal(options: argparse.Namespace, explanation: Explanation) -> Reasons | None:
    """The principal reasons, if they are asked for."""
    if options.reasons is None:
        if options.words:
            raise ExplainerError("--words", "be given with --reasons", "no --reasons", "add --reasons 4")
        return None
    return explanation.reasons(options.reasons, words=_words(options.words, explanation) if options.words else None)


def _words(file: str, explanation: Explanation) -> dict[Any, Any]:
    """A table of features and their sentences; a name in the file stands for the feature that is written so."""
    from likely.schema.yaml import YAMLError, loaded

    hint = "write a line per feature, such as income: Income insufficient"
    try:
        data = loaded(read_file(file, "A file of words"))
    except YAMLError as error:
        raise ExplainerError("A file of words", "be YAML or JSON", f"{file}: {' '.join(str(error).split())}", hint) from None
    if not isinstance(data, dict):
        raise ExplainerError("A file of words", "have features and sentences", file, hint)
    names = {str(name): name for name in explanation.query.schema.names}
    return {names.get(str(name), name): sentence for name, sentence in data.items()}


def as_text(explanation: Explanation, reason: Conflict | None = None) -> str:
    """The table, the reason where there is no answer, and what the search took."""
    checked = "; every answer was checked with the model's own predict" if explanation else ""
    search = f"{explanation.nodes:,} nodes were searched in {explanation.seconds:.2g} s{checked}."
    why = f"\n{reason}\n" if reason is not None else ""
    return f"{table(explanation)}\n{why}\n{search}"


def _row(options: argparse.Namespace, explainer: Explainer) -> Any:
    file = options.json or options.row
    if file is None or (options.json and options.row):
        raise ExplainerError(
            "The row to explain", "be given once", "none" if file is None else "two", "--row 17, or --json row.json"
        )
    if not file.isdigit():
        return _read_row(file, explainer)
    rows = rows_of(options, explainer.schema_)
    if int(file) >= len(rows):
        raise ExplainerError("--row", f"be below the number of rows, {len(rows)}", file, "the first row is 0")
    return rows.iloc[int(file)]


def _read_row(file: str, explainer: Explainer) -> Any:
    """A JSON object of names and values, or a list of values in the order of the features."""
    try:
        row = json.loads(read_file(file, "A row's file"))
    except ValueError as error:
        if isinstance(error, LikelyError):
            raise
        raise ExplainerError("A row's file", "be JSON", f"{file}: {error}", "write names and values") from None
    if not isinstance(row, dict):
        return row
    names = {str(name): name for name in explainer.schema_.names}
    return {names.get(name, name): value for name, value in row.items()}


def _reason(explainer: Explainer, row: Any, asked: Question) -> Conflict | None:
    """Why there is no answer; None where that is not one question, or not decided in time."""
    try:
        return explainer.why_not(row, asked)
    except LikelyError:
        return None


def _plain(reason: Conflict | None) -> dict[str, Any] | None:
    if reason is None:
        return None
    demands = [
        {"demand": _named(one.demand, one.constraint), "without": one.without, "reachable": one.reachable, "decided": one.decided}
        for one in reason.reasons
    ]
    out = reason.way_out
    if out is None:
        return {"demands": demands, "smallest": reason.smallest, "way_out": None}
    given_up = [_named(told, rule) for told, rule in zip(out.demands, out.constraints, strict=True)]
    way = {"give_up": given_up, "cost": out.cost, "proved": out.proved}
    return {"demands": demands, "smallest": reason.smallest, "way_out": way}


def _named(told: str, rule: Constraint | None) -> str:
    """A demand for machines, which know features by the names of columns."""
    return told if rule is None else str(rule)
