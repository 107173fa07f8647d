"""Foreign scores as attributions that differ from ours in nothing but where they are from."""

from typing import Any

import numpy as np
import pytest
import torch

import headlight
from headlight import Attribution, HeadlightError, Model

TEXT = "the films are charming, unhelpful"


@pytest.fixture(scope="module")
def ours(classifier: Model) -> Attribution:
    return headlight.explain(classifier, TEXT, "attcat")


def same(found: Attribution, ours: Attribution) -> None:
    np.testing.assert_array_equal(found.scores, ours.scores)
    for name in (
        "tokens",
        "target",
        "is_special",
        "texts",
        "offsets",
        "segments",
        "word_ids",
        "model",
    ):
        assert getattr(found, name) == getattr(ours, name)
    assert (found.method, found.options, found.notes) == ("theirs", {}, ())


def test_scores_of_the_models_own_tokens_stay_as_they_are(
    classifier: Model, ours: Attribution
) -> None:
    for scores in (ours.scores, ours.scores.tolist(), torch.from_numpy(ours.scores.copy())):
        same(Attribution.from_scores(classifier, TEXT, scores, method="theirs"), ours)
    tokens = list(ours.tokens)
    same(
        Attribution.from_scores(classifier, TEXT, ours.scores, method="theirs", tokens=tokens), ours
    )
    inner = Attribution.from_scores(classifier, TEXT, ours.scores[1:-1], method="theirs")
    assert inner.scores.tolist() == [0, *ours.scores[1:-1].tolist(), 0]


def test_spans_of_the_models_tokens_keep_their_scores(classifier: Model, ours: Attribution) -> None:
    assert ours.offsets is not None
    found = Attribution.from_scores(
        classifier, TEXT, ours.scores[1:-1], method="x", spans=ours.offsets[1:-1]
    )
    assert found.scores[1:-1].tolist() == ours.scores[1:-1].tolist()
    assert found.notes == (
        f"scores of {len(ours) - 2} spans were put on {len(ours)} tokens by characters",
    )


def test_words_are_divided_among_their_tokens_and_add_up_again(classifier: Model) -> None:
    words = TEXT.split()
    scores = [1.0, 10.0, 100.0, 1000.0, 9.0]
    found = Attribution.from_scores(classifier, TEXT, scores, method="lime", words=words)
    by_name = dict(found.as_tuples())
    assert by_name["film"] == pytest.approx(8)
    assert by_name["##s"] == pytest.approx(2)
    assert by_name["un"] == pytest.approx(2)
    assert by_name["##ful"] == pytest.approx(3)
    assert by_name[","] == pytest.approx(1000 / 9)
    assert found.scores.sum() == pytest.approx(sum(scores))
    assert found.signed


def test_spans_may_leave_characters_out(classifier: Model) -> None:
    found = Attribution.from_scores(
        classifier, TEXT, [2.0], method="marks", spans=[(14, 22)], signed=False
    )
    assert [(t, s) for t, s in found if s] == [("charming", 2.0)]
    assert not found.signed


def test_pairs_have_spans_and_words_of_both_texts(classifier: Model) -> None:
    pair = ("the film", "is dull")
    found = Attribution.from_scores(
        classifier, pair, [1.0, 2.0], method="x", spans=[(1, 3, 7), (0, 0, 3)]
    )
    assert [(t, s) for t, s in found if s] == [("the", 2.0), ("dull", 1.0)]
    words = Attribution.from_scores(
        classifier, pair, [1, 2, 3, 4], method="x", words=["the", "film", "is", "dull"]
    )
    assert [s for _, s in words if s] == [1, 2, 3, 4]


def test_foreign_special_tokens_go_to_ours_in_order(classifier: Model) -> None:
    tokens = ["[CLS]", "the", "fil", "m", "[SEP]"]
    found = Attribution.from_scores(
        classifier, "the film", [5, 1, 2, 3, 6], method="x", tokens=tokens
    )
    assert found.as_tuples() == [("[CLS]", 5), ("the", 1), ("film", 5), ("[SEP]", 6)]
    bare = Attribution.from_scores(
        classifier, "the film", [0, 1, 2], method="x", tokens=["", "the", "film"]
    )
    assert bare.scores.tolist() == [0, 1, 2, 0]


def test_the_target_is_that_of_explain(classifier: Model) -> None:
    found = Attribution.from_scores(classifier, "the film", [1, 2], method="x", target="neutral")
    assert found.target == headlight.explain(classifier, "the film", "random", "neutral").target


@pytest.mark.parametrize(
    ("scores", "options", "sentence"),
    [
        (
            [1, 2, 3],
            {},
            "3 scores were given, and the model reads 4 tokens, 2 without special ones. If the scores are of "
            "other pieces, say which: tokens=, words= or spans=.",
        ),
        (
            [1],
            {"words": ["the"]},
            "the words end before 'film' at character 4, which the model reads. Give a score for all of the "
            "text, or spans=.",
        ),
        ([1], {"words": ["the", "film"]}, "2 words need as many scores, not 1."),
        ([1], {"words": ["the"], "spans": [(0, 1)]}, "words and spans say the same twice. Give one of them."),
        ([1, np.nan], {}, "score 1 is nan, which is not a finite number."),
        (
            [[1, 2]],
            {},
            "the scores must be in one dimension, one per token, word or span; these have the shape (1, 2).",
        ),
        (["a", "b"], {}, "the scores must be numbers, one per token, word or span."),
        ([1], {"spans": [(0, 9)]}, "span 0, (0, 9), is not in the text, of 8 characters."),
        ([1], {"spans": [(0, 1, 2)]}, "span 0 is (0, 1, 2). Give (start, end), in characters."),
        (
            [1, 2],
            {"spans": [(0, 3), (2, 5)]},
            "the spans (0, 3) and (2, 5) overlap. Give each character one score.",
        ),
        ([1], {"words": [3]}, "words= must be a list of texts."),
        ([1, 2], {"method": " "}, "method=' ' is no name. Say where the scores are from, such as 'shap'."),
        (
            [1, 2, 3],
            {"tokens": ["", "the", "film"]},
            "1 pieces have no characters in the text, as special tokens do, and the model reads 2 special "
            "tokens, so it is not clear which is which. Leave them and their scores out.",
        ),
    ],
)  # fmt: skip
def test_what_does_not_match_is_refused(
    classifier: Model, scores: Any, options: dict[str, Any], sentence: str
) -> None:
    with pytest.raises(HeadlightError) as raised:
        Attribution.from_scores(classifier, "the film", scores, **{"method": "x", **options})
    assert str(raised.value) == sentence
