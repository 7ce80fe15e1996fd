"""`likely fit`: a table and a model to an explainer in a folder."""

from __future__ import annotations

import argparse
import json
from typing import Any

import pandas as pd

from likely._display.tables import aligned
from likely.circuit import Circuit
from likely.cli.codes import Code
from likely.cli.files import read_file
from likely.cli.folder import add_model, save_explainer
from likely.cli.question import chosen
from likely.errors import SchemaError
from likely.explain import Explainer
from likely.explain.named import load_encoder, load_model
from likely.schema import Schema
from likely.schema.files import read_table


def add(commands: Any) -> None:
    """The command and its options."""
    parser = commands.add_parser("fit", help="make an explainer of a table and a model")
    parser.add_argument("data", metavar="FILE.csv", help="the rows that the model was trained on, with a header line")
    parser.add_argument("--target", metavar="COLUMN", required=True, help="the column of the true classes")
    parser.add_argument("--schema", metavar="FILE", help="features, rules and costs (.yaml, .json); inferred, if left out")
    add_model(parser, required=True)
    parser.add_argument("--classes", metavar="CLASS,...", help="names of the model's outputs, in order, if it does not know them")
    parser.add_argument("--circuit", metavar="FILE.json", help="how likely rows are; learned, if left out")
    parser.add_argument("--nodes", metavar="N", type=int, help="learn a circuit of about so many nodes, instead of trying sizes")
    parser.add_argument("--drop", metavar="COLUMN", action="append", default=[], help="leave a column out; repeatable")
    parser.add_argument("--random-state", metavar="N", type=int, default=0, help="the seed of learning (0)")
    parser.add_argument("-o", "--output", metavar="FOLDER", required=True, help="where to write the explainer")
    parser.add_argument("--json", action="store_true", help="print what was made for machines")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Fit, save, and say what came out."""
    X, y, schema = training_table(options)
    classes = None
    if options.classes:
        known = y.dropna().unique().tolist()
        classes = [chosen(text, known, "--classes", "values of the target") for text in options.classes.split(",")]
    model, encoder = load_model(options.model), load_encoder(options.encoder)
    progress = not options.json
    circuit = None
    if options.circuit:
        circuit = Circuit.from_json(read_file(options.circuit, "A circuit file"))
    settings = {"encoder": encoder, "classes": classes, "nodes": options.nodes}
    settings |= {"random_state": options.random_state, "progress": progress}
    made = Explainer(model, schema, circuit, **settings).fit(X, y)
    save_explainer(made, options.output, data=options.data, target=options.target, model=options.model)
    facts = _facts(made, len(X))
    if options.json:
        print(json.dumps({**facts, "output": options.output}, ensure_ascii=False))
    else:
        cells = [(name, ", ".join(map(str, value)) if isinstance(value, list) else str(value)) for name, value in facts.items()]
        print("\n".join(line.rstrip() for line in aligned(cells)))
        print(f"\nwritten to {options.output}; ask: likely explain {options.output} --model {options.model} --row 0")
    return Code.ANSWER


def training_table(options: argparse.Namespace) -> tuple[pd.DataFrame, pd.Series[Any], Schema]:
    """The rows, their classes, and the schema: that of the file, or one of the rows."""
    schema = Schema.load(options.schema) if options.schema else None
    table = read_table(options.data, schema)
    for option, name in (("--target", options.target), *(("--drop", name) for name in options.drop)):
        if name not in table.columns:
            raise SchemaError(option, "name a column", repr(name), f"the file has {list(table.columns)}", feature=name)
    if schema is not None and options.target in schema.names:
        raise SchemaError(
            "A schema", "be without the target", repr(options.target), f"likely schema infer --drop {options.target}"
        )
    X = table.drop(columns=[options.target, *options.drop])
    return X, table[options.target], schema or Schema.infer(X)


def _facts(made: Explainer, rows: int) -> dict[str, Any]:
    return {
        "rows": rows,
        "features": len(made.schema_),
        "rules": len(made.schema_.constraints),
        "classes": list(made.classes_),
        "right": f"{100 * made.accuracy_:.1f}% of these rows",
        "circuit": f"{len(made.circuit_)} nodes",
    }
