"""Measures as arrays, gathered part by part: the same whatever the parts are."""

import math
from collections.abc import Iterator, Sequence
from random import Random

import numpy as np
import pyarrow
import pytest

from headlight.evaluation.columns import (
    Block,
    Column,
    Tables,
    blocks_of,
    coded,
    curves_of,
    names_of,
)
from headlight.evaluation.records import MeasureRecord, table

COUNT = 6
RECORDS = [
    MeasureRecord(
        n,
        method,
        metric,
        None if (n, metric) == (2, "b") else n + 10.0 * len(method),
        weight=2.0 if metric == "b" and n == 1 else 1.0,
        levels=(0.5, 1.0) if metric == "a" and n != 3 else None,
        curve=(float(n), 2.0 * n) if metric == "a" and n != 3 else None,
        note="cut" if n % 2 else None,
    )
    for n in range(COUNT)
    for method in ("x", "yy")
    for metric in ("a", "b")
    if (n, method) != (4, "yy")
]


def in_parts(records: Sequence[MeasureRecord], size: int) -> Tables:
    """A source of tables of this many records each."""

    def tables(columns: Sequence[str]) -> Iterator[pyarrow.Table]:
        for start in range(0, len(records), size):
            yield table("measure", records[start : start + size]).select(list(columns))

    return tables


def column(blocks: dict[str, Block], metric: str, method: str) -> Column:
    found = blocks[metric].column(method)
    assert found is not None
    return found


def test_names_are_in_the_order_in_which_they_are_met() -> None:
    assert names_of(in_parts(RECORDS, 3)) == {"a": ["x", "yy"], "b": ["x", "yy"]}
    assert names_of(in_parts([], 3)) == {}


@pytest.mark.parametrize("size", [1, 4, 100])
@pytest.mark.parametrize("is_shuffled", [False, True])
def test_columns_are_in_the_order_of_the_examples_however_they_are_kept(
    size: int, is_shuffled: bool
) -> None:
    records = Random(0).sample(RECORDS, len(RECORDS)) if is_shuffled else RECORDS
    blocks = blocks_of(in_parts(records, size), {"a": ["x", "yy"], "b": ["x", "yy"]}, COUNT)
    found = column(blocks, "b", "x")
    assert found.example.tolist() == [0, 1, 2, 3, 4, 5]
    np.testing.assert_array_equal(found.value, [10, 11, math.nan, 13, 14, 15])
    assert found.weight.tolist() == [1, 2, 1, 1, 1, 1]
    assert found.noted == 3
    shorter = column(blocks, "a", "yy")
    assert shorter.example.tolist() == [0, 1, 2, 3, 5]
    assert shorter.weight.tolist() == [1] * 5


def test_weights_take_no_room_as_long_as_all_are_one() -> None:
    blocks = blocks_of(in_parts(RECORDS, 5), {"a": ["x"], "b": ["x", "yy"]}, COUNT)
    assert blocks["a"].weight is None
    assert blocks["b"].weight is not None
    assert blocks["a"].column("yy") is None


def test_only_the_metrics_that_are_asked_for_are_gathered() -> None:
    assert list(blocks_of(in_parts(RECORDS, 5), {"b": ["x", "yy"]}, COUNT)) == ["b"]


def test_names_are_numbered_and_others_are_minus_one() -> None:
    found = coded(pyarrow.chunked_array([["b", "a"], ["c", None]]), ["a", "b"])
    assert found.tolist() == [1, 0, -1, -1]


@pytest.mark.parametrize("size", [1, 4, 100])
def test_the_mean_curve_is_of_the_examples_that_have_one(size: int) -> None:
    found = curves_of(in_parts(RECORDS, size))
    assert set(found) == {("a", "x"), ("a", "yy")}
    levels, means = found["a", "x"].mean
    assert levels.tolist() == [0.5, 1.0]
    kept = [0, 1, 2, 4, 5]
    assert means.tolist() == [np.mean(kept), 2 * np.mean(kept)]


def test_the_levels_that_most_curves_have_are_taken() -> None:
    usual = [MeasureRecord(n, "x", "a", 1.0, 1.0, (0.5,), (float(n),)) for n in range(3)]
    other = [MeasureRecord(9, "x", "a", 1.0, 1.0, (0.25,), (100.0,))]
    levels, means = curves_of(in_parts(other + usual, 2))["a", "x"].mean
    assert (levels.tolist(), means.tolist()) == ([0.5], [1.0])
    bare = [MeasureRecord(0, "x", "a", 1.0, curve=(3.0, 4.0))]
    levels, means = curves_of(in_parts(bare, 2))["a", "x"].mean
    assert (levels.tolist(), means.tolist()) == ([0, 1], [3, 4])
