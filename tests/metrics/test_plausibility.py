"""Scores against answers and marked reasons: numbers worked out by hand, oracles, what is refused."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import average_precision_score

from headlight import InvalidOption
from headlight.metrics.plausibility import average_precision
from headlight.metrics.statistics import summarise
from tests.metrics import CLS, SEP, asked, assert_replicated, drawn, few, protocols, sentence, value
from tests.reference.metrics import ORACLES, Sentence, precision_at_k, recall_at_k

QUESTION = [CLS, 10, 11, SEP, 12, 13, 14, SEP]
SCORES = [0.9, 0.1, 0.5, 0.8, 0.2, 0.7, 0.05, 0.0]
"""All tokens in order: 0 3 5 2 4 1 6 7; the ordinary ones: 5 2 4 1 6."""


def question(*answers: list[int]) -> Sentence:
    return sentence(QUESTION, SCORES, answers=list(answers))


@pytest.mark.parametrize("seed", range(18))
@pytest.mark.parametrize(
    ("metric", "protocol"), protocols("precision_at_k", "recall_at_k", "rationale")
)
def test_agreement_is_that_of_the_oracle(metric: str, protocol: str, seed: int) -> None:
    assert_replicated(metric, protocol, seed)


@pytest.mark.parametrize("seed", range(1, 12))
@pytest.mark.parametrize("k", [1, 3, 8])
@pytest.mark.parametrize("protocol", ["corrected", "attcat", "mask_lrp"])
def test_few_tokens_are_those_of_the_oracle(protocol: str, k: int, seed: int) -> None:
    s = drawn(seed)
    for metric, oracle in (("precision_at_k", precision_at_k), ("recall_at_k", recall_at_k)):
        found = asked(s, metric, protocol=protocol, k=k)[0][""]
        expected = oracle(s, protocol, k)[""]
        assert found.value == pytest.approx(expected.value, nan_ok=True)
        assert found.weight == expected.weight


# ------------------------------------------------------------------------------------ answers


@pytest.mark.parametrize(
    ("protocol", "k", "precision", "recall"),
    [
        ("corrected", 1, 1, 1 / 2),
        ("corrected", 2, 1 / 2, 1 / 2),
        ("corrected", 5, 2 / 5, 1),
        ("corrected", 20, 2 / 5, 1),
        ("attcat", 2, 0, 0),
        ("attcat", 3, 1, 1 / 2),
        ("attcat", 20, 2, 1),
        ("mask_lrp", 2, 0, 0),
        ("mask_lrp", 3, 1 / 2, 1 / 2),
        ("mask_lrp", 20, 1, 1),
    ],
)
def test_answers_by_hand(protocol: str, k: int, precision: float, recall: float) -> None:
    s = question([5, 6])
    assert value(s, "precision_at_k", k=k, protocol=protocol) == pytest.approx(precision)
    assert value(s, "recall_at_k", k=k, protocol=protocol) == pytest.approx(recall)


def test_twenty_tokens_are_taken_by_default() -> None:
    s = sentence(range(10, 40), [-n for n in range(30)], answers=[list(range(15, 25))])
    assert value(s, "precision_at_k") == pytest.approx(5 / 20)
    assert value(s, "recall_at_k") == pytest.approx(5 / 10)


def test_of_several_answers_the_best_counts_and_in_papers_the_first() -> None:
    s = question([6], [5, 2], [4])
    assert value(s, "precision_at_k", k=2) == 1
    assert value(s, "recall_at_k", k=1) == 1 / 2
    for protocol in ("attcat", "mask_lrp"):
        assert value(s, "precision_at_k", k=4, protocol=protocol) == 0
        assert value(s, "recall_at_k", k=4, protocol=protocol) == 0


def test_mask_lrp_weighs_examples_by_the_length_of_the_answer() -> None:
    some = [question([5, 6]), question([4]), question([0, 1, 2])]
    for metric in ("precision_at_k", "recall_at_k"):
        found = [asked(s, metric, k=3, protocol="mask_lrp")[0][""] for s in some]
        assert [each.weight for each in found] == [2, 1, 3]
        mean = summarise([f.value for f in found], [f.weight for f in found]).mean
        assert mean == pytest.approx((1 + 0 + 1) / (2 + 1 + 3))


@pytest.mark.parametrize("metric", ["precision_at_k", "recall_at_k"])
def test_without_an_answer_nothing_is_measured(metric: str) -> None:
    found = asked(question(), metric)[0][""]
    assert math.isnan(found.value)
    assert found.note == "no answer among the tokens"


@pytest.mark.parametrize("metric", ["precision_at_k", "recall_at_k"])
def test_impossible_options_are_refused(metric: str) -> None:
    with pytest.raises(InvalidOption, match=r"k=0 is not possible\. Use 1 or more\."):
        asked(question([5]), metric, k=0)
    message = "protocol='alti' does not exist here. Use one of corrected, attcat, mask_lrp."
    with pytest.raises(InvalidOption, match=message):
        asked(question([5]), metric, protocol="alti")


# --------------------------------------------------------------------------------- rationales


def marked(scores: list[float], marks: list[int], protocol: str = "corrected") -> list[float]:
    """f1, iou and auprc of [CLS] six tokens [SEP] of which some are marked."""
    ids = [CLS, *range(10, 16), SEP]
    s = sentence(ids, [9, *scores, 9], marks=[p in marks for p in range(8)])
    found = asked(s, "rationale", protocol=protocol)[0]
    return [found[part].value for part in ("f1", "iou", "auprc")]


ORDER = [0.5, 0.7, 0.6, 0.4, 0.9, 0.8]
"""Positions in order: 5 6 2 3 1 4."""


def test_rationale_by_hand() -> None:
    auprc = (1 / 1 + 2 / 3 + 3 / 5) / 3
    assert marked(ORDER, [1, 2, 5]) == pytest.approx([2 / 3, 1 / 2, auprc])
    assert marked(ORDER, [1, 2, 5], "eraser") == pytest.approx([2 / 3, 1, auprc])


@pytest.mark.parametrize(
    ("scores", "marks", "iou"),
    [
        ([1, 0, 0, 0, 0, 0], [3], 0),
        ([3, 2, 1, 0, 0, 0], [2, 3, 4], 1),
        ([3, 2, 0, 0, 1, 0], [2, 3, 5], 1 / 2),
        ([4, 3, 2, 1, 0, 0], [1, 3, 5, 6], 0),
        ([4, 3, 0, 0, 2, 1], [1, 2, 3, 4], 2 * (1 / 2) * 1 / (3 / 2)),
    ],
)
def test_overlapping_spans_by_hand(scores: list[float], marks: list[int], iou: float) -> None:
    assert marked(scores, marks, "eraser")[1] == pytest.approx(iou)


def test_marks_on_special_tokens_do_not_count() -> None:
    assert marked(ORDER, [0, 1, 2, 5, 7]) == marked(ORDER, [1, 2, 5])


def test_constant_scores_have_the_precision_of_chance() -> None:
    assert marked([1] * 6, [2, 4, 6])[2] == pytest.approx(3 / 6)


@pytest.mark.parametrize("marks", [[], [0, 7], [1, 2, 3, 4, 5, 6]])
def test_all_or_no_marks_are_passed_over(marks: list[int]) -> None:
    ids = [CLS, *range(10, 16), SEP]
    s = sentence(ids, range(8), marks=[p in marks for p in range(8)])
    assert asked(s, "rationale")[0][""].note == "all tokens or none are marked"


def test_a_text_that_nobody_marked_is_passed_over() -> None:
    assert asked(question(), "rationale")[0][""].note == "nobody marked tokens"


def test_an_unknown_protocol_is_refused() -> None:
    message = "protocol='attcat' does not exist here. Use one of corrected, eraser."
    with pytest.raises(InvalidOption, match=message):
        asked(question(), "rationale", protocol="attcat")


rankings = st.lists(st.tuples(st.integers(-3, 3), st.booleans()), min_size=2, max_size=25).filter(
    lambda pairs: 0 < sum(mark for _, mark in pairs) < len(pairs)
)


@few
@given(rankings)
def test_average_precision_is_that_of_scikit_learn(pairs: list[tuple[int, bool]]) -> None:
    scores, marks = (np.array(column) for column in zip(*pairs, strict=True))
    expected = average_precision_score(marks, scores)
    assert average_precision(scores.astype(float), marks) == pytest.approx(expected)


@few
@given(rankings)
def test_marks_as_scores_agree_wholly(pairs: list[tuple[int, bool]]) -> None:
    marks = [mark for _, mark in pairs]
    s = sentence([10] * len(marks), [float(mark) for mark in marks], marks=marks)
    for protocol in ("corrected", "eraser"):
        found = asked(s, "rationale", protocol=protocol)[0]
        assert [each.value for each in found.values()] == pytest.approx([1, 1, 1])
        oracle = ORACLES["rationale", protocol](s)
        assert [each.value for each in oracle.values()] == pytest.approx([1, 1, 1])
