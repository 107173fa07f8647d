"""Tables of answers: a row for each part and unit, numbered by prompt and method."""

import csv
import io

import pandas
import pytest

import headlight
from headlight.renderers.answers.tables import COLUMNS, as_parquet
from tests.renderers.answers.made import answered


@pytest.mark.parametrize(("kind", "mark"), [("csv", ","), ("tsv", "\t")])
def test_rows_are_parts_and_units(kind: str, mark: str) -> None:
    read = list(csv.DictReader(io.StringIO(headlight.render(answered(), kind)), delimiter=mark))
    assert list(read[0]) == list(COLUMNS)
    assert [(r["part_text"], r["unit_name"], float(r["score"])) for r in read] == [
        ("Nora does.", "a.txt", 6.0),
        ("Nora does.", "b.md", -0.5),
        ("Yes!", "a.txt", 0.0),
        ("Yes!", "b.md", 2.0),
    ]
    assert {r["through_thoughts"] for r in read} == {""}


def test_prompts_are_counted_for_each_method() -> None:
    several = [answered(method=name) for name in ("gim", "attn_lrp", "gim")]
    read = pandas.read_csv(io.StringIO(headlight.render(several, "csv")))
    assert read.groupby(["method", "input"]).size().to_dict() == {
        ("attn_lrp", 0): 4,
        ("gim", 0): 4,
        ("gim", 1): 4,
    }


def test_parquet_has_the_same_table() -> None:
    answer = answered(through_thoughts=answered().scores / 2)
    frame = pandas.read_parquet(io.BytesIO(as_parquet([answer])))
    assert list(frame.columns) == list(COLUMNS)
    assert frame["through_thoughts"].tolist() == [3.0, -0.25, 0.0, 1.0]
    assert frame["score"].tolist() == answer.to_dataframe()["score"].tolist()
