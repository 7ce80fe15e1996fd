"""`likely verify`: every claim of an explanation checked again, without the engine."""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from likely.circuit import Circuit
from likely.cli.codes import Code
from likely.cli.files import read_explanation, read_file
from likely.cli.folder import add_model, open_explainer
from likely.cli.store import read_entries
from likely.errors import ExplainerError
from likely.explain import Explanation, Verification, verify_all
from likely.explain.named import load_encoder, load_model
from likely.schema import Schema


def add(commands: Any) -> None:
    """The command and its options."""
    parser = commands.add_parser("verify", help="check every claim of an explanation again, without the engine")
    parser.add_argument("explanation", metavar="EXPLANATION", help="what explain -o wrote (.json), or batch -o (.jsonl)")
    parser.add_argument("--explainer", metavar="FOLDER", help="the explainer: with it everything is checked that can be")
    add_model(parser)
    parser.add_argument("--circuit", metavar="FILE.json", help="the circuit, without an explainer")
    parser.add_argument("--schema", metavar="FILE", help="the schema, without an explainer")
    parser.add_argument("--classes", metavar="CLASS,...", help="names of the model's outputs, in order, if it does not know them")
    parser.add_argument("--certificate", metavar="FILE", help="the proof that explain --certificate wrote, to be derived again")
    parser.add_argument("--json", action="store_true", help="print for machines")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Check, print, and fail if a claim does."""
    explanations = _explanations(options.explanation)
    if options.certificate and len(explanations) != 1:
        rule, got = "come with one explanation", f"{len(explanations)} of them"
        raise ExplainerError("A certificate", rule, got, "give the explanation that it is of")
    certificates = [options.certificate] if options.certificate else None
    verified = verify_all(explanations, **_material(options, explanations), certificates=certificates)
    if options.json:
        whole = {"ok": all(verified), "explanations": [verification.to_dict() for verification in verified]}
        print(json.dumps(whole if len(verified) != 1 else verified[0].to_dict(), ensure_ascii=False))
    else:
        print(_text(verified))
    return Code.ANSWER if all(verified) else Code.FAILED


def _explanations(path: str) -> list[Explanation]:
    if Path(path).suffix != ".jsonl":
        return [read_explanation(path)]
    return [entry.explanation for entry in read_entries(path) if entry.explanation is not None]


def _material(options: argparse.Namespace, explanations: Sequence[Explanation]) -> dict[str, Any]:
    """What the explanations are checked against: the explainer, or the parts of it that the user named."""
    if options.explainer:
        return {"explainer": open_explainer(options)}
    if options.model is None:
        raise ExplainerError("An explanation", "be checked with its model", "none", "give --explainer or --model")
    return {
        "model": load_model(options.model),
        "encoder": load_encoder(options.encoder),
        "circuit": Circuit.from_json(read_file(options.circuit, "A circuit file")) if options.circuit else None,
        "schema": Schema.load(options.schema) if options.schema else None,
        "classes": _classes(options, explanations),
    }


def _classes(options: argparse.Namespace, explanations: Sequence[Explanation]) -> list[Any] | None:
    """The names that the user gave, as the explanations have them (1, not '1')."""
    if options.classes is None:
        return None
    answers = [answer for explanation in explanations for answer in explanation.counterfactuals]
    labels = {explanation.query.label for explanation in explanations} | {answer.label for answer in answers}
    known = {str(label): label for label in labels}
    return [known.get(text, text) for text in options.classes.split(",")]


def _text(verified: Sequence[Verification]) -> str:
    if len(verified) == 1:
        return str(verified[0])
    failed = [(i, verification) for i, verification in enumerate(verified) if not verification]
    head = f"{len(verified) - len(failed):,} of {len(verified):,} explanations hold"
    return "\n".join([head, *(f"  explanation {i}: {check}" for i, verification in failed for check in verification.failed)])
