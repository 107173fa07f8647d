"""Marks are of values as they were, and keep nothing alive."""

import gc
from weakref import ref

import torch

from headlight.trace.relevance.marks import CONSTANT, Marks, Root, Scores, tensors


def test_a_mark_ends_when_its_value_changes_or_goes() -> None:
    marks, value = Marks(), torch.ones(2)
    assert marks.of(marks.put(value, CONSTANT)) == CONSTANT
    assert marks.of(torch.ones(2)) is None
    assert marks.of(3.0) is None
    value.mul_(2)
    assert marks.of(value) is None
    other = marks.put(torch.ones(2), CONSTANT)
    known = ref(other)
    del other
    gc.collect()
    assert known() is None


def test_a_mark_is_taken_back_by_none() -> None:
    marks, value = Marks(), torch.ones(2)
    marks.put(marks.put(value, CONSTANT), None)
    assert marks.of(value) is None


def test_values_share_a_mark_only_if_all_have_it() -> None:
    marks = Marks()
    a, b, c = (torch.ones(2, requires_grad=True) for _ in range(3))
    for value in (a, b):
        marks.put(value, CONSTANT)
    assert marks.shared([a, [b, torch.ones(2)]]) == CONSTANT
    assert marks.shared([a, c]) is None
    assert marks.shared([]) is None


def test_scores_that_are_added_are_followed_together() -> None:
    marks, places = Marks(), ([False], [False])
    a, b = (torch.ones(2, requires_grad=True) for _ in range(2))
    for value, place in zip((a, b), places, strict=True):
        marks.put(value, Scores([place]))
    marks.shared([a, b]).follow()
    assert places == ([True], [True])


def test_a_root_is_known_until_it_changes() -> None:
    value = torch.ones(2)
    root = Root(ref(value), value._version)
    assert root.now() is value
    value.add_(1)
    assert root.now() is None


def test_tensors_are_found_in_lists() -> None:
    a, b = torch.ones(1), torch.ones(2)
    assert list(tensors([a, 3, (b, [a]), None])) == [a, b, a]
