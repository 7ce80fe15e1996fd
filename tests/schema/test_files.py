"""Files: schemas that people edit, tables that schemas describe."""

from __future__ import annotations

import datetime
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from likely.errors import SchemaError
from likely.schema import Binary, Categorical, Continuous, Immutable, Implies, Integer, Mixed, Ordinal, Range, Schema
from likely.schema.files import read_table
from likely.when import increases
from tests import strategies
from tests.oracles.constraints import cell

same_folder = settings(suppress_health_check=[*settings().suppress_health_check, HealthCheck.function_scoped_fixture])


@same_folder
@given(data=st.data())
def test_nothing_is_lost(data: st.DataObject, tmp_path: Path) -> None:
    schema = data.draw(strategies.schemas(rules=3, priced=True))
    assert Schema.from_json(schema.to_json()) == schema
    assert Schema.from_dict(json.loads(json.dumps(schema.to_dict()))) == schema
    for name in ("schema.json", "schema.yaml", "schema.yml", "schema"):
        schema.save(tmp_path / name)
        again = Schema.load(tmp_path / name)
        assert again == schema
        assert hash(again) == hash(schema)
        assert repr(again) == repr(schema)


@same_folder
@given(st.lists(strategies.texts(), min_size=1, max_size=5, unique=True))
def test_texts_stay_texts(tmp_path: Path, texts: list[str]) -> None:
    schema = Schema((Categorical("f", texts),))
    schema.save(tmp_path / "s.yaml")
    assert Schema.load(str(tmp_path / "s.yaml"))["f"].atoms == tuple(texts)


def test_a_file_that_a_person_writes(tmp_path: Path) -> None:
    """Unquoted texts mean what they look like: yes, 01 and 2026-01-31 are no truth value, number or date object."""
    file = tmp_path / "s.yaml"
    file.write_text(
        """
version: 1
features:
- {name: member, kind: binary, values: [no, yes]}
- {name: region, kind: categorical, values: [01, 02, 1:30, on, 1_000, '7']}
- {name: since, kind: integer, lower: 2020-01-01, upper: 2026-12-31, dtype: date}
- {name: income, kind: continuous, lower: -1e3, upper: 1.5e+6, step: .01}
- name: late
  kind: mixed
  lower: 0
  upper: 20
  codes: {-9: no record, ~: missing}
- {name: flag, kind: binary, values: [false, True]}
- {name: 7, kind: ordinal, values: [1, 2.5, null]}
constraints:
- {rule: range, feature: since, lower: 2021-01-01}
- {rule: implies, condition: {test: increases, feature: income}, consequence: {test: increases, feature: since, not: true}}
""",
        encoding="utf-8",
    )
    assert Schema.load(file) == Schema(
        (
            Binary("member", ["no", "yes"]),
            Categorical("region", ["01", "02", "1:30", "on", "1_000", "7"]),
            Integer("since", "2020-01-01", "2026-12-31", dtype="date"),
            Continuous("income", -1000, 1_500_000, step=0.01),
            Mixed("late", 0, 20, {-9: "no record", None: "missing"}),
            Binary("flag", [False, True]),
            Ordinal(7, [1, 2.5, None]),
        ),
        (Range("since", lower="2021-01-01"), Implies(increases("income"), ~increases("since"))),
    )


def test_the_file_is_made_for_people() -> None:
    text = Schema((Integer("age", 18, 99), Categorical("job", ["clerk", "né"])), (Immutable("job"),)).to_yaml()
    assert text == (
        "# What a row may be, which rules a counterfactual must keep, and what a change costs.\n"
        "# Edit freely; `likely schema check THIS_FILE DATA.csv` tells whether it still fits the data.\n"
        "version: 1\n"
        "features:\n"
        "- name: age\n"
        "  kind: integer\n"
        "  lower: 18\n"
        "  upper: 99\n"
        "  cost: {up: 1.0, down: 1.0}\n"
        "- name: job\n"
        "  kind: categorical\n"
        "  values: [clerk, né]\n"
        "  cost: {weights: [1.0, 1.0]}\n"
        "constraints:\n"
        "- rule: immutable\n"
        "  feature: job\n"
    )


EDITED = """\
# Ours since 2026; ask Anna before you change it.
version: 1
constraints:   # first, because they matter most
- feature: job
  rule: immutable   # by law
features:
# whole years
- name: age
  upper: 99   # nobody is older
  lower: 18
  kind: integer
  cost: {up: 1.0, down: 1.0}
- name: job
  kind: categorical
  values: ['clerk', "né"]   # in any order
  cost: {weights: [1.0, 1.0]}
"""


def test_what_a_person_wrote_stays_as_it_is(tmp_path: Path) -> None:
    file = tmp_path / "s.yaml"
    file.write_text(EDITED, encoding="utf-8")
    schema = Schema.load(file)
    schema.save(file)
    assert file.read_text(encoding="utf-8") == EDITED


def test_comments_and_order_survive_a_change(tmp_path: Path) -> None:
    file = tmp_path / "s.yaml"
    file.write_text(EDITED, encoding="utf-8")
    schema = Schema.load(file)
    features = (replace(schema["age"], lower=21), schema["job"], Integer("years", 0, 40))
    changed = Schema(features, (*schema.constraints, Range("age", upper=65)))
    changed.save(file)
    text = file.read_text(encoding="utf-8")
    assert Schema.load(file) == changed
    expected = EDITED.replace("lower: 18", "lower: 21").replace(
        "  rule: immutable   # by law\n", "  rule: immutable   # by law\n- rule: range\n  feature: age\n  upper: 65\n"
    )
    assert text == expected + "- name: years\n  kind: integer\n  lower: 0\n  upper: 40\n  cost: {up: 1.0, down: 1.0}\n"


def test_what_is_gone_takes_its_comments_along(tmp_path: Path) -> None:
    file = tmp_path / "s.yaml"
    file.write_text(EDITED, encoding="utf-8")
    schema = Schema.load(file)
    Schema((schema["job"],)).save(file)
    text = file.read_text(encoding="utf-8")
    assert Schema.load(file) == Schema((schema["job"],))
    assert "nobody is older" not in text
    assert "ask Anna" in text
    assert "# in any order" in text


@same_folder
@given(data=st.data())
def test_any_schema_can_be_saved_over_any_other(data: st.DataObject, tmp_path: Path) -> None:
    before, after = (data.draw(strategies.schemas(rules=3, priced=True)) for _ in range(2))
    before.save(tmp_path / "s.yaml")
    after.save(tmp_path / "s.yaml")
    assert repr(Schema.load(tmp_path / "s.yaml")) == repr(after)


@pytest.mark.parametrize("before", ["", "a: [", "- 1", "just text", "a: 1\na: 2", b"\xff\xfe\x00"])
def test_what_is_no_schema_is_written_over(before: str | bytes, tmp_path: Path) -> None:
    file = tmp_path / "s.yaml"
    file.write_bytes(before if isinstance(before, bytes) else before.encode())
    schema = Schema((Integer("age", 18, 99),))
    schema.save(file)
    assert file.read_text(encoding="utf-8") == schema.to_yaml()


def test_costs_may_be_left_out() -> None:
    assert Schema.from_dict({"version": 1, "features": [{"name": "b", "kind": "binary"}]}) == Schema((Binary("b"),))


FEATURE = {"name": "f", "kind": "integer", "lower": 0, "upper": 9}


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        (
            "s.json",
            "{",
            r"A schema file must be YAML or JSON; got s\.json: Expecting property name.*\. Hint: correct the line it names\.",
        ),
        ("s.yaml", "a: [", r"A schema file must be YAML or JSON; got s\.yaml: .*line 1"),
        ("s.yaml", b"\xff\xfe\x00", r"A schema file must be YAML or JSON; got s\.yaml: 'utf-8' codec"),
        (
            "s.yaml",
            "!!python/object:os.system {}",
            r"A schema file must be YAML or JSON; got s\.yaml: could not determine a constructor",
        ),
        ("s.yaml", "", r"A schema must have version, features and constraints; got NoneType\. Hint: see `likely schema infer`\."),
        ("s.json", "[1]", r"A schema must have version, features and constraints; got list"),
        ("s.yaml", "features: []", r"The version of a schema must be 1; got None\. Hint: write it with this version\."),
        ("s.yaml", "version: 2\nfeatures: []", r"The version of a schema must be 1; got 2"),
        ("s.yaml", "version: 1", r"A schema must have version, features and constraints; got no list of features"),
        (
            "s.yaml",
            "version: 1\nfeatures: {a: 1}",
            r"A schema must have version, features and constraints; got no list of features",
        ),
        (
            "s.yaml",
            "version: 1\nfeatures: []\ncolour: red",
            r"A schema must have version, features and constraints; got 'colour'",
        ),
        ("s.yaml", "version: 1\nfeatures: []", r"A schema must have at least one feature; got none"),
        ("s.yaml", "version: 1\nfeatures: [age]", r"A feature must have a name, a kind and its settings; got 'age'"),
        (
            "s.yaml",
            "version: 1\nfeatures: [{name: a, kind: binary, cost: 5}]",
            r"The cost of feature 'a' must have the settings weights, table, fee; got 5",
        ),
        (
            "s.yaml",
            "version: 1\nfeatures: [{name: a, kind: binary}]\nconstraints: {rule: immutable}",
            r"A schema must have version, features and constraints; got no list of constraints",
        ),
    ],
)
def test_files_that_are_refused(tmp_path: Path, name: str, text: Any, message: str) -> None:
    file = tmp_path / name
    file.write_bytes(text if isinstance(text, bytes) else text.encode())
    with pytest.raises(SchemaError, match=message) as caught:
        Schema.load(file)
    assert "\n" not in str(caught.value)


def test_files_must_exist(tmp_path: Path) -> None:
    with pytest.raises(SchemaError, match=r"A schema file must exist; got .*none\.yaml\. Hint: check the path\."):
        Schema.load(tmp_path / "none.yaml")
    with pytest.raises(SchemaError, match=r"A data file must exist; got .*none\.csv\. Hint: check the path\."):
        read_table(tmp_path / "none.csv")
    with pytest.raises(SchemaError, match=r"A schema file must exist"):
        Schema.load(tmp_path)


def test_json_texts_that_are_refused() -> None:
    with pytest.raises(
        SchemaError, match=r"A schema's text must be JSON; got Expecting value.*\. Hint: use schema\.to_json\(\)\."
    ):
        Schema.from_json("shoe")
    with pytest.raises(SchemaError, match=r"A schema must have version, features and constraints; got int"):
        Schema.from_json("5")


# -- tables -----------------------------------------------------------------------------------------------------------

EVERYTHING = Schema(
    (
        Integer("age", 0, 120),
        Continuous("income", 0, 1e6),
        Continuous("small", 0, 1, dtype="float32"),
        Integer("count", 0, 9, dtype="Int64"),
        Integer("since", "2020-01-01", "2026-12-31", dtype="datetime64[us]"),
        Integer("day", "2020-01-01", "2026-12-31", dtype="date"),
        Categorical("region", ["01", "02", "NA"], dtype="str"),
        Categorical("grade", [1, 2, 3], dtype="int64"),
        Categorical("other", [1, "one", None]),
        Ordinal("school", ["None", "high"], dtype="category[ordered]"),
        Binary("member", dtype="bool"),
        Binary("sex", ["f", "m"], dtype="category"),
        Mixed("late", 0, 20, ["none", -9, None], dtype="object"),
        Mixed("risk", 0, 1, [None]),
        Integer(7, 0, 9),
    )
)
TABLE = pd.DataFrame(
    {
        "age": [20, 30, 40],
        "income": [0.1, 2.5, 1e5],
        "small": pd.Series([0.1, 0.25, 1.0], dtype="float32"),
        "count": pd.Series([1, 2, 3], dtype="Int64"),
        "since": pd.Series(pd.to_datetime(["2026-01-31", "2020-01-01", "2021-05-05"])).astype("datetime64[us]"),
        "day": [datetime.date(2026, 1, 31), datetime.date(2020, 1, 1), datetime.date(2021, 5, 5)],
        "region": ["01", "NA", "02"],
        "grade": [3, 1, 2],
        "other": pd.Series([1, "one", None], dtype=object),
        "school": pd.Categorical(["None", "high", "high"], ["None", "high"], ordered=True),
        "member": [True, False, True],
        "sex": pd.Categorical(["m", "f", "f"]),
        "late": pd.Series([3.5, "none", None], dtype=object),
        "risk": [0.5, None, 1.0],
        7: [1, 2, 3],
    }
)


def test_a_csv_file_comes_back_in_the_schema_s_dtypes(tmp_path: Path) -> None:
    file = tmp_path / "t.csv"
    TABLE.to_csv(file, index=False)
    pd.testing.assert_frame_equal(read_table(file, EVERYTHING), TABLE, check_column_type=False)
    assert EVERYTHING.validate(read_table(str(file), EVERYTHING)).ok


@same_folder
@given(data=st.data())
def test_numbers_and_dates_survive_csv(data: st.DataObject, tmp_path: Path) -> None:
    schema = Schema((data.draw(strategies.features("f", kinds=["continuous", "integer"], extremes=True)),))
    rows = data.draw(strategies.rows(schema, least=1))
    schema.decode(rows).to_csv(tmp_path / "t.csv", index=False)
    table = read_table(tmp_path / "t.csv", schema)
    assert table.dtypes.equals(schema.decode(rows).dtypes)
    assert schema.encode(table).tolist() == rows.tolist()


def test_what_does_not_fit_stays_for_validate(tmp_path: Path) -> None:
    file = tmp_path / "t.csv"
    file.write_text("age,since,region,member\n20,2026-13-01,03,perhaps\nold,2026-01-31,01,True\n")
    schema = Schema(tuple(EVERYTHING[name] for name in ("age", "since", "region", "member")))
    table = read_table(file, schema)
    assert [str(problem) for problem in schema.validate(table).problems] == [
        "'age': 1 row without a value of the feature, first 'old'",
        "'since': 1 row without a value of the feature, first '2026-13-01'",
        "'region': 1 row without a value of the feature, first '03'",
        "'member': 1 row without a value of the feature, first 'perhaps'",
    ]


def test_columns_beside_the_schema_are_left_alone(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("age,note\n20,hello\n")
    table = read_table(tmp_path / "t.csv", Schema((Integer("age", 0, 99), Integer("debt", 0, 9))))
    assert list(table.columns) == ["age", "note"]


def test_without_a_schema_dates_are_dates(tmp_path: Path) -> None:
    file = tmp_path / "t.csv"
    file.write_text("day,nearly,gone,text,number\n2026-01-31,2026-01-31,,a,1\n,2026-13-45,,b,2\n")
    table = read_table(file)
    assert pd.api.types.is_datetime64_any_dtype(table["day"].dtype)
    assert table["nearly"].tolist() == ["2026-01-31", "2026-13-45"]
    assert table["gone"].isna().all()
    assert table["number"].dtype == "int64"
    assert Schema.infer(table.drop(columns="gone"))["day"].kind == "mixed"


def test_without_a_schema_numbers_beside_texts_are_numbers_where_we_are_told(tmp_path: Path) -> None:
    file = tmp_path / "t.csv"
    file.write_text("late,code\n3,3\nnone,none\n2.5,2.5\n,\n")
    table = read_table(file, mixed=["late"])
    assert [cell(value) for value in table["late"]] == [3, "none", 2.5, None]
    assert [cell(value) for value in table["code"]] == ["3", "none", "2.5", None]
    assert Schema.infer(table)["late"] == Mixed("late", 2.5, 3, ["none", None], dtype="object")


@pytest.mark.parametrize("text", [b"", b'a,b\n"1,2\n', b"a,b\n1,2\n1,2,3\n", b"a\n\xff\xfe\n"])
def test_data_files_that_are_refused(tmp_path: Path, text: bytes) -> None:
    (tmp_path / "t.csv").write_bytes(text)
    for schema in (None, EVERYTHING):
        with pytest.raises(
            SchemaError, match=r"A data file must be CSV with a header line; got t\.csv: .*\. Hint: correct the file\."
        ):
            read_table(tmp_path / "t.csv", schema)
