"""Texts are read as the model reads them, cut to its limit; test_inputs.py has what is refused."""

from dataclasses import replace

import pytest

from headlight import Batch, InvalidInput, Model
from headlight.models.reading import cut_to_limit, paired, text_count, texts_of


def test_texts_and_pairs_become_rows(classifier: Model, reader: Model) -> None:
    one, pair = texts_of(classifier, ["a film", ("who", "mary")])
    assert (text_count(one), text_count(pair)) == (1, 2)
    assert text_count(Batch.from_ids([[5, 6]]).rows[0]) is None
    with pytest.raises(InvalidInput, match="needs a question and a context"):
        texts_of(reader, ["who"])
    with pytest.raises(InvalidInput, match="the list of texts is empty"):
        texts_of(classifier, [])


def test_a_model_of_pairs_refuses_one_text_and_one_of_texts_notes_a_pair(classifier: Model) -> None:
    one, pair = texts_of(classifier, ["a film", ("who", "mary")])
    with pytest.raises(InvalidInput, match="decides about two texts"):
        paired(replace(classifier, reads="pair"), one)
    (note,) = paired(replace(classifier, reads="text"), pair).notes
    assert "trained on single texts" in note


def test_a_long_text_is_cut(classifier: Model) -> None:
    (row,) = texts_of(classifier, [" ".join(["film"] * 200)])
    assert len(cut_to_limit(classifier, row)) == classifier.token_limit
    (short,) = texts_of(classifier, ["a film"])
    assert cut_to_limit(classifier, short) is short
