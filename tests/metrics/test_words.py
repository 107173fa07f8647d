"""Words of classes: numbers worked out by hand, an oracle on drawn corpora, properties."""

import math
from math import log
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from headlight import InvalidInput
from headlight.metrics.words import (
    SIZES,
    TypeScores,
    class_words,
    inverse_frequencies,
    overlap,
    own_frequencies,
    read_frequencies,
    token_overlap,
)
from tests.metrics import few
from tests.reference import metrics as reference
from tests.reference.metrics import Corpus

REVIEWS: Corpus = [
    (["good", "film"], [2, 1], "positive"),
    (["bad", "film"], [3, 1], "negative"),
    (["good", "plot"], [1, 1], "positive"),
]
OFTEN, SELDOM = log(4 / 3) + 1, log(4 / 2) + 1
"""The IDF of words in two and in one of the three reviews."""


def typed(corpus: Corpus) -> list[TypeScores]:
    return [
        TypeScores(tuple(tokens), np.array(scores, np.float64), label)
        for tokens, scores, label in corpus
    ]


def drawn_corpus(seed: int) -> Corpus:
    generator = np.random.default_rng(seed)
    words = [f"word{n}" for n in range(15)]
    found = []
    for _ in range(2 + seed * 3):
        length = int(generator.integers(1, 12))
        scores = np.round(generator.normal(size=length), seed % 3)
        label = f"class {generator.integers(1 + seed % 4)}"
        found.append((generator.choice(words, length).tolist(), scores.tolist(), label))
    return found


def near(value: float) -> Any:
    """A number up to rounding; Any, because it stands for a float inside tuples."""
    return pytest.approx(value)


def test_words_by_hand() -> None:
    found = class_words(typed(REVIEWS), 5)
    assert list(found) == ["negative", "positive"]
    assert found["positive"] == [
        ("good", near(3 * OFTEN)),
        ("plot", near(SELDOM)),
        ("film", near(OFTEN)),
    ]
    assert found["negative"] == [
        ("bad", near(3 * SELDOM)),
        ("film", near(OFTEN)),
    ]
    assert [word for word, _ in class_words(typed(REVIEWS), 1)["positive"]] == ["good"]


def test_overlap_by_hand() -> None:
    found = token_overlap(typed(REVIEWS), sizes=(1, 2, 3))[""]
    assert found.curve == pytest.approx((0, 0, 1 / 3))
    assert found.levels == (1, 2, 3)
    assert found.value == pytest.approx(1 / 9)


def test_overlap_is_averaged_over_pairs_of_classes() -> None:
    words = {"a": [("x", 2.0), ("y", 1.0)], "b": [("x", 2.0), ("z", 1.0)], "c": [("x", 1.0)]}
    assert overlap(words, 1) == 1
    assert overlap(words, 2) == pytest.approx(1 / 2)
    assert math.isnan(overlap({"a": []}, 2))


def test_a_word_twice_in_a_text_is_summed_and_its_text_counted_once() -> None:
    corpus = [(["very", "very"], [1, 2], "a"), (["dull"], [1], "b")]
    assert own_frequencies(typed(corpus)) == ({"very": 1, "dull": 1}, 2)
    assert class_words(typed(corpus), 5)["a"] == [("very", near(3 * (log(3 / 2) + 1)))]


def test_words_of_other_documents_are_weighed_by_their_rarity() -> None:
    documents = ({"film": 99, "good": 9, "plot": 99}, 99)
    assert inverse_frequencies(*documents)["good"] == pytest.approx(log(10) + 1)
    found = class_words(typed(REVIEWS), 5, documents)
    assert found["positive"] == [
        ("good", near(3 * (log(10) + 1))),
        ("film", near(1)),
        ("plot", near(1)),
    ]
    assert found["negative"][0] == ("bad", near(3 * (log(100) + 1)))


@pytest.mark.parametrize("token", ["##ing", "Ġing", "▁ing"])
def test_parts_of_words_are_found_without_their_marks(token: str) -> None:
    documents = ({"ing": 9}, 99)
    found = class_words(typed([([token], [1], "a")]), 5, documents)
    assert found == {"a": [(token, near(log(10) + 1))]}


def test_equal_words_are_in_the_order_of_the_alphabet() -> None:
    found = class_words(typed([(["c", "a", "b"], [1, 1, 1], "x")]), 2)
    assert [word for word, _ in found["x"]] == ["a", "b"]


def test_examples_are_weighed() -> None:
    found = class_words(typed(REVIEWS), 5, weights=[0, 1, 2])
    assert found["positive"] == [
        ("plot", pytest.approx(2 * SELDOM)),
        ("good", pytest.approx(2 * OFTEN)),
        ("film", 0),
    ]


@pytest.mark.parametrize("corpus", [[], REVIEWS[:1], [REVIEWS[0], REVIEWS[2]]])
def test_fewer_than_two_classes_are_passed_over(corpus: Corpus) -> None:
    found = token_overlap(typed(corpus))[""]
    assert math.isnan(found.value)
    assert found.note == "fewer than two classes were predicted"


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("sizes", [SIZES, (1, 3, 7)])
def test_overlap_is_that_of_the_oracle(seed: int, sizes: tuple[int, ...]) -> None:
    corpus = drawn_corpus(seed)
    documents = ({f"word{n}": n for n in range(0, 15, 2)}, 20) if seed % 2 else None
    weights = [1 + n % 3 for n in range(len(corpus))] if seed % 3 else None
    expected = reference.token_overlap(corpus, sizes, documents, weights)
    found = token_overlap(typed(corpus), sizes=sizes, documents=documents, weights=weights)[""]
    assert found.value == pytest.approx(expected.value, abs=1e-9, nan_ok=True)
    assert found.curve == pytest.approx(expected.curve, abs=1e-9)


@pytest.mark.parametrize("seed", range(12))
def test_words_are_those_of_the_oracle(seed: int) -> None:
    corpus = drawn_corpus(seed)
    expected = reference.class_words(corpus, 9)
    found = class_words(typed(corpus), 9)
    assert list(found) == list(expected)
    for label, ranked in expected.items():
        assert [score for _, score in found[label]] == pytest.approx([s for _, s in ranked])


@few
@given(st.integers(0, 11), st.sampled_from([0.25, 2.0, 1024.0]))
def test_overlap_is_a_share_and_does_not_depend_on_the_scale(seed: int, scale: float) -> None:
    corpus = drawn_corpus(seed)
    found = token_overlap(typed(corpus), weights=[scale] * len(corpus))[""].curve
    assert found == token_overlap(typed(corpus))[""].curve
    assert all(0 <= share <= 1 for share in found)


def test_counts_of_documents_are_read_from_a_file(tmp_path: Path) -> None:
    path = tmp_path / "counts.tsv"
    path.write_text("# documents\t10\nfilm\t4\nplot\t1\n", encoding="utf-8")
    assert read_frequencies(str(path)) == ({"film": 4, "plot": 1}, 10)
    (tmp_path / "wrong.tsv").write_text("film 4\n", encoding="utf-8")
    with pytest.raises(InvalidInput, match="does not hold counts of documents"):
        read_frequencies(str(tmp_path / "wrong.tsv"))
