"""Head masks for people: letters, colours, and what heads do."""

import pytest
import torch

from headlight import HeadMask
from headlight.renderers.heads import HeadMap, bars, table
from tests.renderers.test_terminal import printed


@pytest.fixture
def mask() -> HeadMask:
    syntactic = torch.tensor([[0, 0, 0], [1, 1, 0]]).bool()
    positional = torch.tensor([[1, 0, 0], [0, 1, 0]]).bool()
    roles = {"nsubj": [[2, 1], [2, 2]], "-1": [[1, 1]], "obj": []}
    return HeadMask({"syntactic": syntactic, "positional": positional}, {"roles": roles})


def test_a_terminal_has_the_last_layer_on_top_and_a_letter_for_each_kind(mask: HeadMask) -> None:
    lines = printed(HeadMap(mask), no_color=True).splitlines()
    assert lines[0].split() == ["layer", "1", "2", "3"]
    assert lines[1].split() == ["2", "S", "B", "·"]
    assert lines[2].split() == ["1", "P", "·", "·"]
    assert "S syntactic, P positional, B both" in lines[3]
    assert lines[4:] == ["nsubj: 2.1, 2.2", "-1: 1.1"]


def test_heads_of_another_part_are_marked() -> None:
    own = HeadMask.of([[1, 0]])
    assert printed(HeadMap(own), no_color=True).splitlines()[1].split() == ["1", "X", "·"]
    assert "1.1: kept" in table(own)
    assert "given: 1 of 2 heads (X given)" in printed(HeadMap(own), no_color=True)


def test_html_says_on_hovering_what_a_head_does(mask: HeadMask) -> None:
    shown = table(mask)
    assert 'title="2.1: nsubj"' in shown
    assert 'title="1.1: -1"' in shown
    assert shown.count("title=") == 3
    assert shown.count(">·</td>") == 3


@pytest.mark.parametrize(
    ("shares", "expected"),
    [
        ([0.0, 0.5, 1.0], " ▄█"),
        ([0.0, 0.0], "  "),
        ([0.001, 1.0], "▁█"),
        ([0.2, 0.2], "██"),
    ],
)
def test_bars_are_of_the_largest_and_what_is_above_nothing_is_seen(
    shares: list[float], expected: str
) -> None:
    assert bars(shares) == expected
