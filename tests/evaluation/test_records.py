"""Records become tables whose columns follow from their fields, as they always have been."""

import numpy as np
import pyarrow
import pytest

from headlight import Example
from headlight.evaluation.records import (
    AttributionRecord,
    MeasureRecord,
    attribution_records,
    concatenated,
    example_records,
    example_table,
    examples_of,
    from_bytes,
    has_columns,
    schema_of,
    table,
    to_bytes,
)

ATTRIBUTIONS = {
    "example": "int32", "method": "string", "role": "string", "tokens": "list<item: string>",
    "ids": "list<item: int32>", "special": "list<item: bool>", "scores": "list<item: float>",
    "positions": "list<item: int32>", "classes": "list<item: int32>", "label": "string",
    "predicted": "int32", "predicted_label": "string", "gold": "int32", "probability": "double",
    "logit": "double", "error": "string", "sink": "list<item: bool>",
        "signed": "bool",
}  # fmt: skip
MEASURES = {
    "example": "int32", "method": "string", "metric": "string", "value": "double", "weight": "double",
    "levels": "list<item: double>", "curve": "list<item: double>", "note": "string",
}  # fmt: skip
EXAMPLES = {
    "example": "int32", "text": "string", "pair": "string", "label": "string",
    "answers": "list<item: string>", "marks": "list<item: list<item: int32>>",
    "sources": "list<item: string>", "rather_than": "string",
}  # fmt: skip
KEPT = {
    "explain": ATTRIBUTIONS,
    "measure": MEASURES,
    "time": MEASURES,
    "examples": EXAMPLES,
}
"""The columns of the format; folders that exist have them."""


@pytest.mark.parametrize("kind", KEPT)
def test_the_columns_are_those_of_the_format(kind: str) -> None:
    found = schema_of(kind)
    assert {field.name: str(field.type) for field in found} == KEPT[kind]
    assert found.names == list(KEPT[kind])
    assert all(field.nullable for field in found)
    assert has_columns(to_bytes(table(kind, [])), kind)


def test_parts_of_earlier_versions_say_nothing_of_sinks() -> None:
    record = AttributionRecord(3, "attcat", "own", ("a",), sink=(True,))
    new = table("explain", [record])
    old = new.drop_columns(["sink", "signed"])
    assert has_columns(to_bytes(old), "explain")
    assert not has_columns(to_bytes(old.drop_columns(["error"])), "explain")
    both = attribution_records(concatenated("explain", [old, new]))
    assert [each.sink for each in both] == [None, [True]]


def test_only_examples_with_sources_have_a_column_of_them() -> None:
    plain = [Example("the film", "1", ("film",), ((0, 4, 8),))]
    sourced = [*plain, Example("who", answers=("Ann",), sources=("Ann did.", "Bob did."))]
    assert "sources" not in example_table(plain).column_names
    for examples in (plain, sourced):
        found = example_table(examples)
        assert examples_of(found) == examples
        assert has_columns(to_bytes(found), "examples")


def test_a_table_of_other_columns_is_noticed() -> None:
    assert not has_columns(to_bytes(table("measure", [])), "explain")
    renamed = table("measure", []).rename_columns([*list(MEASURES)[:-1], "remark"])
    assert not has_columns(to_bytes(renamed), "measure")
    assert not has_columns(b"no Parquet file", "measure")


def test_attributions_are_read_as_they_were_written() -> None:
    scores = np.array([0.25, -1.5], np.float32)
    written = [
        AttributionRecord(
            3, "attcat", "own", ("a", "b"), (1, 2), (True, False), scores.tolist(), (0,), (1,),
            "positive", 1, "positive", None, 0.75, 1.5,
        ),
        AttributionRecord(4, "", "failed", error="empty"),
    ]  # fmt: skip
    first, second = attribution_records(table("explain", written))
    assert (first.tokens, first.ids, first.scores) == (["a", "b"], [1, 2], [0.25, -1.5])
    assert (first.gold, first.probability, first.error) == (None, 0.75, None)
    assert second == written[1]


def test_what_a_measure_leaves_out_is_empty() -> None:
    (row,) = table("measure", [MeasureRecord(0, "gae", "aopc", None)]).to_pylist()
    assert row == {
        "example": 0, "method": "gae", "metric": "aopc", "value": None, "weight": 1.0,
        "levels": None, "curve": None, "note": None,
    }  # fmt: skip


def test_equal_records_give_equal_bytes_whatever_holds_their_lists() -> None:
    as_tuple = MeasureRecord(0, "gae", "aopc", 0.5, levels=(0.5, 1.0), curve=(0.25, 0.75))
    as_list = MeasureRecord(0, "gae", "aopc", 0.5, levels=[0.5, 1.0], curve=[0.25, 0.75])
    assert to_bytes(table("measure", [as_tuple])) == to_bytes(table("measure", [as_list]))


def test_some_columns_are_read_alone() -> None:
    content = to_bytes(table("measure", [MeasureRecord(0, "gae", "aopc", 0.5)]))
    assert from_bytes(content, ["value"]).equals(pyarrow.table({"value": [0.5]}))


def test_examples_come_back_with_their_labels_as_text() -> None:
    given = [
        Example("a film", 1),
        Example(("who", "mary did"), None, ("mary",)),
        Example("dull", "negative", marks=((0, 0, 4), (0, 1, 2))),
        Example("nobody found a reason", marks=()),
    ]
    found = examples_of(table("examples", example_records(given)))
    assert found == [Example("a film", "1"), *given[1:]]
