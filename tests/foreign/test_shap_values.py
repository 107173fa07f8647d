"""Explanations in the shape of SHAP's: pieces with '' for special tokens, values by class, base values."""

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import headlight
from headlight import Attribution, HeadlightError, Model
from headlight.foreign import from_shap

TEXT = "the films are charming"
PIECES = ["", "the ", "film", "s ", "are ", "charming", ""]
NAMES = ["negative", "neutral", "positive"]


def explanation(**fields: Any) -> SimpleNamespace:
    values = np.arange(21.0).reshape(7, 3)
    usual = {"data": np.array(PIECES), "values": values, "base_values": np.array([0.1, 0.2, 0.3])}
    return SimpleNamespace(**{**usual, "output_names": NAMES, **fields})


def one(model: Model, found: Any, **options: Any) -> Attribution:
    made = from_shap(model, found, **options)
    assert isinstance(made, Attribution)
    return made


def test_the_predicted_class_is_read_with_its_base_value(classifier: Model) -> None:
    ours = headlight.explain(classifier, TEXT, "random")
    found = one(classifier, explanation())
    column = NAMES.index(ours.target.predicted)
    assert found.texts == (TEXT,)
    assert found.target == ours.target
    assert found.scores.tolist() == [3.0 * n + column for n in range(7)]
    assert found.options == {"base_value": pytest.approx(0.1 * (column + 1))}
    assert (found.method, found.signed) == ("shap", True)


def test_another_class_and_other_orders_of_the_names(classifier: Model) -> None:
    found = one(
        classifier, explanation(output_names=["Positive", "negative", "neutral"]), target="positive"
    )
    assert found.scores[0] == 0
    unnamed = one(
        classifier, explanation(output_names=["LABEL_0", "LABEL_1", "LABEL_2"]), target="positive"
    )
    assert unnamed.scores[0] == 2
    assert one(classifier, explanation(output_names=None), target=1).scores[0] == 1


def test_an_explanation_of_one_class_says_which(classifier: Model) -> None:
    values = np.arange(7.0)
    found = one(classifier, explanation(values=values, output_names="neutral", base_values=0.5))
    assert (found.target.label, found.scores.tolist()) == ("neutral", values.tolist())
    assert found.options == {"base_value": 0.5}
    asked = one(classifier, explanation(values=values, output_names=None), target="negative")
    assert asked.target.label == "negative"


def test_several_texts_give_a_list(classifier: Model) -> None:
    data = [PIECES, ["", "a ", "film", ""]]
    values = np.empty(2, object)
    values[:] = [np.ones((7, 3)), np.full((4, 3), 2.0)]
    many = explanation(data=data, values=values, base_values=np.zeros((2, 3)))
    found = from_shap(classifier, many)
    assert isinstance(found, list)
    assert [each.texts[0] for each in found] == [TEXT, "a film"]
    assert found[1].scores.tolist() == [2.0] * 4
    padded = explanation(
        data=data, values=np.stack([np.ones((7, 3)), np.pad(values[1], ((0, 3), (0, 0)))])
    )
    assert (
        from_shap(classifier, SimpleNamespace(**{**vars(padded), "base_values": None})) is not None
    )


def test_words_of_a_masker_with_other_pieces_are_aligned(classifier: Model) -> None:
    words = explanation(
        data=["the ", "films ", "are ", "charming"], values=np.ones((4, 3)) * [[1, 2, 3]]
    )
    found = one(classifier, words, target="positive")
    assert found.words().scores.tolist() == pytest.approx([0, 3, 3, 3, 3, 0])


@pytest.mark.parametrize(
    ("fields", "options", "sentence"),
    [
        ({"data": None}, {}, "this SimpleNamespace has no 'data'. Give a shap.Explanation of texts."),
        (
            {"values": np.ones(7), "output_names": None},
            {},
            "the explanation does not say which class its values are for. Give target=, one of negative, "
            "neutral, positive.",
        ),
        (
            {"output_names": ["joy", "fear", "rage"]},
            {},
            "the explanation has 3 classes (joy, fear, rage), and tiny classifier has 3 (negative, neutral, "
            "positive). Name them alike in output_names, or give the explanation of one class and target=.",
        ),
        (
            {"values": np.ones((7, 2)), "output_names": None},
            {},
            "the explanation has 2 classes (without names), and tiny classifier has 3 (negative, neutral, "
            "positive). Name them alike in output_names, or give the explanation of one class and target=.",
        ),
        (
            {"values": np.ones((5, 3))},
            {},
            "7 pieces need values of the shape [piece] or [piece, class]; these have the shape (5, 3).",
        ),
        (
            {},
            {"target": ("positive", "negative")},
            "SHAP explains one class. Give a target without a contrast.",
        ),
        ({}, {"text": ["a", "b"]}, "2 texts were given, and the explanation has 1."),
        (
            {},
            {"text": "the film was charming", "target": "positive"},
            "token 3, 's ', is not what stands in the text at character 9: 'was charming'. Give the tokens of "
            "this text, all and in order, or the characters of each: spans=[(start, end), …].",
        ),
    ],
)  # fmt: skip
def test_what_does_not_match_is_refused(
    classifier: Model, fields: dict[str, Any], options: dict[str, Any], sentence: str
) -> None:
    with pytest.raises(HeadlightError) as raised:
        from_shap(classifier, explanation(**fields), **options)
    assert str(raised.value) == sentence


def test_columns_of_a_network_without_classes_are_refused(writer: Model) -> None:
    with pytest.raises(HeadlightError, match="tiny writer does not classify texts"):
        from_shap(writer, explanation())
