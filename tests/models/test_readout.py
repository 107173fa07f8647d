"""Where a head reads, as a rule for rows of any length."""

import pytest

from headlight.batch import Batch, Row
from headlight.models.readout import UNREAD, Readout, Stretch

PAD = 0


def row(ids: list[int], attended: list[int]) -> Row:
    return Batch.from_ids([ids], [attended]).rows[0]


ROW = row([5, 6, 7, 8, PAD], [1, 1, 1, 0, 0])


@pytest.mark.parametrize(
    ("stretch", "expected"),
    [
        (Stretch(0, 1), [0]),
        (Stretch(-1, None), [2]),
        (Stretch(1, -1), [1]),
        (Stretch(0, None, "all"), [0, 1, 2, 3, 4]),
        (Stretch(-1, None, "all"), [4]),
        (Stretch(-1, None, "not pad"), [3]),
        (Stretch(1, None, "not pad"), [1, 2, 3]),
    ],
)
def test_a_stretch_counts_the_tokens_that_count(stretch: Stretch, expected: list[int]) -> None:
    assert stretch.positions(ROW, PAD) == expected


def test_shares_of_several_stretches_add_up() -> None:
    both = Readout("body", ((0.25, Stretch(0, 1)), (0.75, Stretch(0, None))))
    assert both.weights(ROW, PAD) == pytest.approx([0.5, 0.25, 0.25, 0, 0])


def test_a_longer_row_is_read_by_the_same_rule() -> None:
    mean = Readout("body", ((1.0, Stretch(1, -1)),))
    for length in (3, 5, 9):
        weights = mean.weights(row([5] * length, [1] * length), PAD)
        assert weights == pytest.approx([0, *[1 / (length - 2)] * (length - 2), 0])


def test_a_network_that_was_not_proved_has_no_place() -> None:
    assert UNREAD.refusal
    assert UNREAD.weights(ROW, PAD) == [0.0] * 5
