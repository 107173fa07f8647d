"""Texts become rows; rows are cut, windowed and padded without losing a position."""

import tracemalloc
from itertools import pairwise

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from transformers import PreTrainedTokenizerFast

from headlight import Batch, InvalidInput
from headlight.batch import WordPlaces, collate, encode, shortened, trimmed, windows
from headlight.units import WORD
from tests.known import known


def test_rows_know_their_text(tokenizer: PreTrainedTokenizerFast) -> None:
    row = encode(["The charming film, unboring"], tokenizer)[0]
    assert row.tokens[:5] == ("[CLS]", "the", "charming", "film", ",")
    assert row.is_special == (True, *[False] * (len(row) - 2), True)
    assert row.segments == (None, *[0] * (len(row) - 2), None)
    spans = [row.texts[0][slice(*offset)] for offset in known(row.offsets)][1:-1]
    assert spans[:4] == ["The", "charming", "film", ","]
    word_ids = known(row.word_ids)
    assert word_ids[:6] == (None, 0, 1, 2, 3, 4)
    assert set(word_ids[5:-1]) == {4}


def test_words_of_a_pair_are_counted_through(tokenizer: PreTrainedTokenizerFast) -> None:
    row = encode([("who wrote it ?", "it was mary")], tokenizer)[0]
    assert row.word_ids == (None, 0, 1, 2, 3, None, 4, 5, 6, None)
    assert row.segments == (None, 0, 0, 0, 0, None, 1, 1, 1, None)
    assert row.types == (0, 0, 0, 0, 0, 0, 1, 1, 1, 1)


def test_texts_and_pairs_may_be_mixed(tokenizer: PreTrainedTokenizerFast) -> None:
    rows = encode(["a film", ("a film", "is good"), "dull"], tokenizer)
    assert [row.texts for row in rows] == [("a film",), ("a film", "is good"), ("dull",)]


def test_bytes_of_an_emoji_share_its_word(byte_tokenizer: PreTrainedTokenizerFast) -> None:
    row = encode(["good 🎬 film"], byte_tokenizer)[0]
    words = zip(known(row.word_ids), known(row.offsets), strict=True)
    emoji = [word for word, (start, _) in words if start == 5]
    assert len(emoji) > 1
    assert set(emoji) == {1}


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("didn't stop", ["didn't", "stop"]),
        ("well-made!!", ["well", "-", "made", "!!"]),
        ("לא טוב.", ["לא", "טוב", "."]),
        ("好电影", ["好", "电", "影"]),
        ("हिन्दी फ़िल्म", ["हिन्दी", "फ़िल्म"]),
        ("naïve café 🎬🎬", ["naïve", "café", "🎬🎬"]),
    ],
)
def test_words_of_many_scripts(text: str, words: list[str]) -> None:
    assert WORD.findall(text) == words


@given(st.text(min_size=1).filter(lambda text: text.strip()))
@settings(max_examples=200, deadline=None)
def test_words_cover_every_character_that_is_not_a_space(text: str) -> None:
    covered = {c for match in WORD.finditer(text) for c in range(*match.span())}
    assert {c for c, letter in enumerate(text) if not letter.isspace()} <= covered


@settings(max_examples=60, deadline=None, derandomize=True)
@given(st.text(alphabet="ab1'’ \n漢!\u0301😀", max_size=30), st.integers(0, 30), st.integers(0, 30))
def test_a_span_belongs_to_the_word_of_its_first_character_that_is_not_a_space(
    text: str, start: int, end: int
) -> None:
    word_of = {c: n for n, m in enumerate(WORD.finditer(text)) for c in range(*m.span())}
    expected = next((word_of[c] for c in range(start, end) if c in word_of), None)
    assert WordPlaces(text).first_in(start, end) == expected


@pytest.mark.parametrize("unit", ["a", "\u0301", "!?", "1", "ع", "👩\u200d", "'", " "])
def test_a_long_word_takes_no_memory_a_character(unit: str) -> None:
    text = unit * 100_000
    tracemalloc.start()
    places = WordPlaces(text)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert len(places.starts) <= 1
    assert peak < 100_000


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "empty or only spaces"),
        (" \n\t ", "empty or only spaces"),
        ("bad \ud800 text", "lone surrogate at character 4"),
        (("one", "two", "three"), "exactly two texts"),
        (("one", ""), "empty or only spaces"),
        (7, "is a int, not text"),
        ("\u200b\u200b", "invisible characters"),
    ],
)
def test_what_is_not_text_is_refused(
    tokenizer: PreTrainedTokenizerFast, text: object, message: str
) -> None:
    with pytest.raises(InvalidInput, match=message):
        encode([text], tokenizer)  # type: ignore[list-item]


def test_unknown_tokens_are_noted(tokenizer: PreTrainedTokenizerFast) -> None:
    row = encode(["a 好 film"], tokenizer)[0]
    assert row.notes == ("1 of 5 tokens are unknown to the model's vocabulary",)


def test_a_long_text_is_cut_and_says_so(tokenizer: PreTrainedTokenizerFast) -> None:
    row = shortened(encode(["good " * 50], tokenizer)[0], 20, keep_first_text=False)
    assert len(row) == 20
    assert row.tokens[-1] == "[SEP]"
    assert row.notes[0].startswith("cut to the first 20 of 52 tokens")


def test_the_longer_text_of_a_pair_is_cut(tokenizer: PreTrainedTokenizerFast) -> None:
    row = encode([("good " * 30, "bad " * 10)], tokenizer)[0]
    cut = shortened(row, 25, keep_first_text=False)
    assert [known(cut.segments).count(s) for s in (0, 1)] == [12, 10]
    question = encode([("good " * 10, "bad " * 30)], tokenizer)[0]
    kept = known(shortened(question, 25, keep_first_text=True).segments)
    assert [kept.count(s) for s in (0, 1)] == [
        10,
        12,
    ]
    with pytest.raises(InvalidInput, match="Shorten the first text"):
        shortened(row, 25, keep_first_text=True)


@given(length=st.integers(1, 70), limit=st.integers(6, 30), stride=st.integers(0, 3))
@settings(max_examples=100, deadline=None)
def test_windows_cover_the_text_and_share_the_stride(length: int, limit: int, stride: int) -> None:
    row = Batch.from_ids(list(range(1, length + 3))).rows[0]
    row = row.__class__(
        **{**row.__dict__, "is_special": (True, *[False] * length, True), "texts": ("x",)}
    )
    found = windows(row, limit, stride)
    assert set().union(*found) == set(range(len(row)))
    assert all(len(window) <= limit for window in found)
    for first, second in pairwise(found):
        shared = set(first) & set(second) - {0, len(row) - 1}
        assert len(shared) == stride


def test_windows_must_advance(tokenizer: PreTrainedTokenizerFast) -> None:
    row = encode(["good " * 50], tokenizer)[0]
    with pytest.raises(InvalidInput, match="smaller stride"):
        windows(row, 10, 8)


def test_from_ids_takes_lists_tensors_and_ragged_rows() -> None:
    assert len(Batch.from_ids([1, 2, 3])) == 1
    assert len(Batch.from_ids(torch.ones(2, 3, dtype=torch.long))) == 2
    assert [len(row) for row in Batch.from_ids([[1, 2], [3]]).rows] == [2, 1]


@pytest.mark.parametrize(
    ("call", "message"),
    [
        ({"input_ids": [[]]}, "without tokens"),
        ({"input_ids": []}, "without tokens"),
        ({"input_ids": [[1.5]]}, "whole numbers from 0 on; row 0 has 1.5"),
        ({"input_ids": [[1], [-1]]}, "whole numbers from 0 on; row 1 has -1"),
        ({"input_ids": [[True]]}, "whole numbers from 0 on; row 0 has True"),
        ({"input_ids": torch.tensor([[1.0, 2.0]])}, "whole numbers from 0 on; row 0 has 1.0"),
        ({"input_ids": ["12"]}, "whole numbers from 0 on; row 0 has '12'"),
        ({"input_ids": [[[1]]]}, "more than two dimensions"),
        ({"input_ids": [[1], 2]}, "one sequence of numbers or several"),
        ({"input_ids": [[1, 2]], "attention_mask": [[1, 2]]}, "row 0 has 2"),
        ({"input_ids": [[1, 2]], "attention_mask": [[1, 0.5]]}, "row 0 has 0.5"),
        ({"input_ids": [[1, 2]], "attention_mask": [[1, float("nan")]]}, "row 0 has nan"),
        ({"input_ids": [[1, 2]], "token_type_ids": [[0, -1]]}, "token_type_ids must hold whole"),
        ({"input_ids": [[1, 2]], "attention_mask": [[1]]}, "differ in shape"),
        ({"input_ids": [[1, 2]], "token_type_ids": [[1]]}, "differ in shape"),
        ({"input_ids": [[1, 2]], "attention_mask": [[0, 0]]}, "all zeros"),
        ({"input_ids": 3}, "must be one sequence of numbers or several, not 3"),
    ],
)
def test_bad_ids_are_refused(call: dict[str, object], message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        Batch.from_ids(**call)


def test_only_masked_pads_at_the_ends_are_padding() -> None:
    row = Batch.from_ids([0, 0, 7, 0, 8, 0], attention_mask=[0, 0, 1, 0, 1, 1]).rows[0]
    assert trimmed(row, 0).ids == (7, 0, 8, 0)
    assert trimmed(row, 5).ids == row.ids


def test_collate_pads_on_the_right() -> None:
    inputs = collate(Batch.from_ids([[5, 6, 7], [8]]).rows, pad_id=9)
    assert inputs.ids.tolist() == [[5, 6, 7], [8, 9, 9]]
    assert inputs.present.tolist() == [[True] * 3, [True, False, False]]
    assert inputs.lengths.tolist() == [3, 1]
    assert inputs.row(1).ids.tolist() == [[8]]


@pytest.mark.parametrize(
    "ids",
    [
        [[5, 6]],
        ((5, 6),),
        np.array([[5, 6]]),
        torch.tensor([5, 6]),
        [torch.tensor([5, 6])],
        [np.int64(5), np.int32(6)],
        [[torch.tensor(5), 6]],
    ],
)
def test_ids_of_any_form_are_the_same_row(ids: object) -> None:
    assert Batch.from_ids(ids) == Batch.from_ids([5, 6])


@pytest.mark.parametrize("mask", [[1, 0], [True, False], [1.0, 0.0], np.array([True, False])])
def test_masks_of_any_form_hide_the_same_token(mask: object) -> None:
    assert Batch.from_ids([5, 6], mask).rows[0].attended == (True, False)
