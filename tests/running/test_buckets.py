"""Rows share a pass with rows of similar length."""

from headlight import Batch
from headlight.models.model import Task
from headlight.running.buckets import buckets
from tests.networks import model


def test_every_row_is_in_one_group_and_long_rows_come_first() -> None:
    rows = Batch.from_ids([[5] * length for length in (3, 9, 4, 8, 5)]).rows
    found = list(buckets(model("bert", Task.SEQUENCE), rows, 2))
    assert found == [[1, 3], [4, 2], [0]]


def test_a_bound_of_memory_makes_groups_smaller() -> None:
    rows = Batch.from_ids([[5] * 8] * 3).rows
    assert len(list(buckets(model("bert", Task.SEQUENCE), rows, 3))) == 1
    assert len(list(buckets(model("bert", Task.SEQUENCE), rows, 3, {"relevance"}, 1))) == 3
