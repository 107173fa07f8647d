"""Whatever a caller gives is read as what it is, or refused with a sentence that says what to give."""

from collections import UserString
from dataclasses import replace
from enum import StrEnum
from io import StringIO
from pathlib import Path
from typing import Any

import numpy as np
import pandas
import pytest
import torch
from datasets import Dataset
from transformers import BatchEncoding, PreTrainedTokenizerFast

import headlight
from headlight import Batch, InvalidInput, InvalidOption, Model, Target
from headlight.explaining.inputs import read, targets_of
from headlight.models.model import Task
from tests.networks import network

TEXTS = ["a charming film", "the story is dull and boring"]
PAIR = ("who wrote it", "it was mary shelley")


class Review(StrEnum):
    """Texts with names."""

    CHARMING = TEXTS[0]


def same(one: headlight.Attribution, other: headlight.Attribution) -> bool:
    """Whether two attributions have the same tokens and scores."""
    return one.tokens == other.tokens and np.allclose(one.scores, other.scores, atol=1e-6)


# -------------------------------------------------------------------------------- encodings


@pytest.mark.parametrize("tensors", [None, "pt", "np"])
def test_what_a_tokenizer_returns_is_explained_as_its_tokens(
    classifier: Model, tokenizer: PreTrainedTokenizerFast, tensors: str | None
) -> None:
    encoding = tokenizer(TEXTS, padding=True, return_tensors=tensors)
    found = headlight.explain(classifier, encoding, "gradient_l2")
    expected = headlight.explain(classifier, TEXTS, "gradient_l2")
    assert all(map(same, found, expected))
    assert [a.offsets for a in found] == [a.offsets for a in expected]
    as_dict = headlight.explain(classifier, dict(encoding), "gradient_l2")
    assert all(map(same, as_dict, expected))


def test_one_row_of_an_encoding_gets_one_answer(
    classifier: Model, tokenizer: PreTrainedTokenizerFast
) -> None:
    expected = headlight.explain(classifier, TEXTS[0], "gradient_l2")
    for encoding in (tokenizer(TEXTS[0]), tokenizer(TEXTS[0], return_tensors="pt")):
        assert same(headlight.explain(classifier, encoding, "gradient_l2"), expected)


def test_encodings_in_a_list_get_a_list(
    classifier: Model, tokenizer: PreTrainedTokenizerFast
) -> None:
    found = headlight.explain(classifier, [tokenizer(t) for t in TEXTS], "gradient_l2")
    assert all(map(same, found, headlight.explain(classifier, TEXTS, "gradient_l2")))
    with pytest.raises(InvalidInput, match=r"input 0 holds 2 rows of ids. Give it on its own"):
        headlight.explain(classifier, [tokenizer(TEXTS)], "gradient_l2")


def test_an_encoded_pair_keeps_its_texts_apart(
    reader: Model, tokenizer: PreTrainedTokenizerFast
) -> None:
    found = headlight.explain(reader, tokenizer(*PAIR), "gradient_l2")
    expected = headlight.explain(reader, PAIR, "gradient_l2")
    assert same(found, expected)
    assert found.segments == expected.segments
    assert found.word_ids == expected.word_ids
    assert found.target.positions == expected.target.positions


def test_words_of_an_encoding_are_named_by_their_tokens(
    classifier: Model, tokenizer: PreTrainedTokenizerFast
) -> None:
    text = "unboring films are dull"
    words = headlight.explain(classifier, tokenizer(text), "gradient_l2").words()
    assert words.tokens == ("[CLS]", "unboring", "films", "are", "dull", "[SEP]")
    drawn = headlight.render(words, "html")
    assert "unboring" in drawn
    expected = headlight.explain(classifier, text, "gradient_l2").words()
    np.testing.assert_allclose(words.scores, expected.scores, rtol=1e-5)


def test_ids_that_were_changed_lose_their_places(
    classifier: Model, tokenizer: PreTrainedTokenizerFast
) -> None:
    encoding = tokenizer(TEXTS[0])
    encoding["input_ids"][1] += 1
    assert headlight.explain(classifier, encoding, "gradient_l2").offsets is None


@pytest.mark.parametrize(
    ("encoding", "message"),
    [
        ({}, r"a mapping without 'input_ids' \(its keys: none\)"),
        ({"text": "a film", "label": 1}, r"its keys: 'text', 'label'\)"),
        ({"role": "user", "content": "hi"}, "a chat message. .*apply_chat_template"),
        (BatchEncoding({"input_ids": None}), "without 'input_ids'"),
        ({"input_ids": [[2, 5], [2]], "attention_mask": [[1, 1]]}, "differ in shape"),
        ({"input_ids": [[2, 5.5]]}, "whole numbers"),
        ({"input_ids": [[2, 500]]}, "token id 500"),
        (
            {"input_ids": [[2, 5]], "token_type_ids": [[0, 2]]},
            "token type 2, and .* knows 2, 0 to 1",
        ),
        (
            {"input_ids": [[2, 5]], "position_ids": [[0, 5]]},
            "has 'position_ids', which would change",
        ),
        ({"input_ids": [[2, 5]], "inputs_embeds": 1.0}, "has 'inputs_embeds'"),
    ],
)
def test_mappings_that_are_not_tokens_of_the_model_are_refused(
    classifier: Model, encoding: Any, message: str
) -> None:
    with pytest.raises(InvalidInput, match=message):
        headlight.explain(classifier, encoding, "gradient_l2")


def test_what_changes_no_logit_may_be_in_an_encoding(classifier: Model) -> None:
    encoding = {"input_ids": [2, 5, 3], "labels": 1, "text": "a", "position_ids": None}
    assert len(headlight.explain(classifier, encoding, "gradient_l2")) == 3


def test_token_types_of_a_network_without_them_are_refused() -> None:
    model = headlight.wrap(network("distilbert", Task.SEQUENCE), None, name="tiny")
    assert len(headlight.explain(model, {"input_ids": [2, 5], "token_type_ids": [0, 0]})) == 2
    with pytest.raises(InvalidInput, match=r"tiny takes no token types. Leave token_type_ids out"):
        headlight.explain(model, {"input_ids": [2, 5], "token_type_ids": [0, 1]})


def test_a_question_needs_its_context_in_an_encoding_too(
    reader: Model, tokenizer: PreTrainedTokenizerFast
) -> None:
    with pytest.raises(InvalidInput, match=r"Encode both: tokenizer\(question, context\)"):
        headlight.explain(reader, tokenizer(PAIR[0]))


# ------------------------------------------------------------------------------------ texts


@pytest.mark.parametrize(
    "inputs",
    [
        np.array(TEXTS),
        np.array(TEXTS, dtype=object),
        pandas.Series(TEXTS, index=[7, 3]),
        pandas.Series(TEXTS, dtype="category"),
        pandas.Index(TEXTS),
        Dataset.from_dict({"text": TEXTS})["text"],
        (text for text in TEXTS),
        map(str, TEXTS),
        dict.fromkeys(TEXTS).keys(),
        [np.str_(text) for text in TEXTS],
    ],
)
def test_collections_of_texts_are_read_in_their_order(classifier: Model, inputs: Any) -> None:
    asked = read(classifier, inputs)
    assert [row.texts for row in asked.rows] == [(text,) for text in TEXTS]
    assert not asked.is_one


@pytest.mark.parametrize("text", [np.str_(TEXTS[0]), Review.CHARMING])
def test_a_subclass_of_str_is_one_text(classifier: Model, text: str) -> None:
    found = headlight.explain(classifier, text, "gradient_l2")
    assert found.texts == (TEXTS[0],)
    assert type(found.texts[0]) is str


@pytest.mark.parametrize(
    ("inputs", "message"),
    [
        (None, "the input is None, not text"),
        (b"a film", "the input is bytes, not text. Decode them first"),
        ({"a film", "b"}, "the input is a set, which has no order"),
        (
            Path("film.txt"),
            r"the input is a path, not text. Read the file first: path.read_text\(\)",
        ),
        (7, "the input is a int, not text"),
        (1.5, "the input is a float, not text"),
        (StringIO("a film"), "the input is a StringIO, not text"),
        (torch.tensor([[2, 5]]), "a Tensor of numbers, not text. .*from_ids"),
        (np.array([2, 5]), "a ndarray of numbers, not text"),
        (pandas.Series([2, 5]), "a Series of numbers, not text"),
        (pandas.DataFrame({"text": TEXTS, "label": [0, 1]}), "the columns text, label. Give one"),
        (Dataset.from_dict({"text": TEXTS}), "a table with the columns text. Give one column"),
        (iter(()), "the list of texts is empty"),
        ([None], "input 0 is None, not text"),
        ([TEXTS[0], b"x"], "input 1 is bytes"),
        ([TEXTS[0], float("nan")], r"input 1 is missing \(NaN\)"),
        ([Path("film.txt")], "input 0 is a path"),
        ([["a", "film"]], r"A pair is a tuple .* ' '.join\(words\)"),
        (np.array([["a", "b"]]), "input 0 is a list inside a list. A pair is a tuple"),
        ([UserString("a film")], "input 0 is a UserString, not text"),
        ([TEXTS[0], 5], "input 1 is a int, not text"),
        ([[2, 5, 3]], "input 0 is a list inside a list"),
        (("a", "b", "c"), "a tuple of 3; .* Several texts are given as a list"),
        ((PAIR, PAIR), "input 0 is a tuple, not text"),
        ([Batch.from_ids([5])], "input 0 is a Batch, not text"),
        ([{"role": "user", "content": "hi"}], "input 0 is a chat message"),
        ([TEXTS[0], {"role": "user", "content": "hi"}], "input 1 is a chat message"),
        ([{"input_ids": [5]}, {"text": "a"}], "input 1 is a mapping without 'input_ids'"),
        (Batch(()), "the batch is empty"),
    ],
)
def test_what_is_neither_text_nor_tokens_is_refused_by_its_kind(
    classifier: Model, inputs: Any, message: str
) -> None:
    with pytest.raises(InvalidInput, match=message):
        headlight.explain(classifier, inputs, "gradient_l2")


# ------------------------------------------------------------------------------------ pairs


def test_one_text_for_a_model_of_pairs_is_refused(
    classifier: Model, tokenizer: PreTrainedTokenizerFast
) -> None:
    pairs = replace(classifier, reads="pair", name="tiny pairs")
    for one in (TEXTS[0], TEXTS, tokenizer(TEXTS[0])):
        with pytest.raises(InvalidInput, match=r"tiny pairs decides about two texts.*\(first, se"):
            headlight.explain(pairs, one, "gradient_l2")
    assert headlight.explain(pairs, PAIR, "gradient_l2").notes == ()
    assert headlight.explain(pairs, tokenizer(*PAIR), "gradient_l2").notes == ()


def test_a_pair_for_a_model_of_single_texts_is_noted(classifier: Model) -> None:
    single = replace(classifier, reads="text")
    assert headlight.explain(single, TEXTS[0], "gradient_l2").notes == ()
    (note,) = headlight.explain(single, PAIR, "gradient_l2").notes
    assert note == "tiny classifier was trained on single texts, and a pair was given"


def test_labels_of_pairs_make_a_note_on_one_text(tokenizer: PreTrainedTokenizerFast) -> None:
    labels = {0: "ENTAILMENT", 1: "neutral", 2: "contradiction"}
    net = network(
        "bert", Task.SEQUENCE, id2label=labels, label2id={v: k for k, v in labels.items()}
    )
    model = headlight.wrap(net, tokenizer)
    (note,) = headlight.explain(model, TEXTS[0], "gradient_l2").notes
    assert note == "the labels are those of pairs of texts, and one text was given"
    assert headlight.explain(model, PAIR, "gradient_l2").notes == ()


# --------------------------------------------------------------------- targets and numbers


@pytest.mark.parametrize(
    "target", [np.int64(2), torch.tensor(2), np.str_("positive"), "POSITIVE", [np.int8(2)]]
)
def test_targets_of_other_types_mean_the_same(classifier: Model, target: Any) -> None:
    assert headlight.explain(classifier, TEXTS[0], "random", target).target.label == "positive"


@pytest.mark.parametrize("targets", [np.array([2, 0]), torch.tensor([2, 0]), pandas.Series([2, 0])])
def test_a_column_of_targets_gives_each_text_its_own(classifier: Model, targets: Any) -> None:
    found = headlight.explain(classifier, TEXTS, "random", targets)
    assert [a.target.label for a in found] == ["positive", "negative"]


@pytest.mark.parametrize(
    ("target", "message"),
    [
        (True, "target=True is not understood"),
        (np.bool_(True), "target=True is not understood"),
        (np.float64(1.0), "target=1.0 is not understood"),
        (-1, "label -1 does not exist"),
        (b"positive", "is not understood"),
        ((0, 1, 2), r"target=\(0, 1, 2\) is not understood"),
        ((1.5, 0), r"Target\(label=1.5\) is not possible"),
        ({"label": 1}, "is not understood"),
        ({1}, "is not understood"),
        ([[0, 1]], r"target=\[0, 1\] is not understood"),
    ],
)
def test_targets_that_mean_nothing_are_refused(
    classifier: Model, target: Any, message: str
) -> None:
    with pytest.raises(InvalidOption, match=message):
        headlight.explain(classifier, TEXTS[0], "random", target)


def test_targets_are_counted() -> None:
    with pytest.raises(InvalidOption, match="1 targets were given for 2 inputs"):
        targets_of([1], 2)
    assert targets_of(None, 2) == [Target(), Target()]


@pytest.mark.parametrize("stride", [-1, 1.5, 2.0, True, "3"])
def test_a_stride_is_a_whole_number(classifier: Model, stride: Any) -> None:
    with pytest.raises(InvalidOption, match=f"stride={stride!r} is not possible. Use a whole"):
        headlight.explain(classifier, TEXTS[0], "random", stride=stride)


def test_a_stride_that_leaves_no_room_is_refused(classifier: Model) -> None:
    with pytest.raises(InvalidInput, match=r"would not advance. Use a smaller stride"):
        headlight.explain(classifier, "good " * 200, "random", stride=1000)
    stride: Any = np.int64(3)
    long = headlight.explain(classifier, "good " * 200, "random", stride=stride)
    assert "share 3 tokens" in long.notes[-1]
