"""Labels of data sets among those of a model."""

import pytest

from headlight import InvalidInput
from headlight.data import gold_class
from headlight.data.example import ORDERS, plain

SENTIMENT = ("negative", "positive")
INFERENCE = ("entailment", "neutral", "contradiction")
TOPICS = ("World", "Sports", "Business", "Sci/Tech")


def numbered(count: int) -> dict[int, str]:
    return {number: f"LABEL_{number}" for number in range(count)}


def named(*labels: str) -> dict[int, str]:
    return dict(enumerate(labels))


def test_no_label_has_no_class() -> None:
    assert gold_class(None, SENTIMENT, named(*SENTIMENT), "any") is None


@pytest.mark.parametrize(
    ("label", "model_labels", "expected"),
    [
        ("positive", named("negative", "positive"), 1),
        ("Positive", named("NEGATIVE", "POSITIVE"), 1),
        ("negative", named("Positive", "Negative"), 1),
        (1, named("positive", "negative"), 0),
        ("1", named("positive", "negative"), 0),
        (0, named("negative", "neutral", "positive"), 0),
        (1, named("negative", "neutral", "positive"), 2),
        ("pos", named("negative", "positive"), 1),
        ("positive", named("NEG", "POS"), 1),
    ],
)
def test_names_and_numbers_of_the_data_are_found_by_name(
    label: str | int, model_labels: dict[int, str], expected: int
) -> None:
    assert gold_class(label, SENTIMENT, model_labels, "any") == expected


@pytest.mark.parametrize(("label", "expected"), [(0, 0), (1, 1), ("1", 1), ("Second", 1)])
def test_without_names_the_labels_are_those_of_the_model(label: str | int, expected: int) -> None:
    assert gold_class(label, (), named("first", "second"), "any") == expected


@pytest.mark.parametrize(
    ("label", "model_label"),
    [
        ("neg", "NEGATIVE"),
        ("pos", "positive"),
        ("not_duplicate", "different"),
        ("not paraphrase", "different"),
        ("Paraphrase", "duplicate"),
        ("contradictory", "CONTRADICTION"),
        ("Technology", "Sci/Tech"),
        ("Science/Technology", "Sci/Tech"),
        ("sci-tech", "Sci/Tech"),
    ],
)
def test_synonyms_are_one_label_either_way(label: str, model_label: str) -> None:
    assert plain(label) == plain(model_label)
    assert gold_class(label, (), named("another", model_label), "any") == 1
    assert gold_class(model_label, (), named("another", label), "any") == 1


@pytest.mark.parametrize("names", [SENTIMENT, INFERENCE, TOPICS])
def test_numbered_models_follow_the_order_of_the_data(names: tuple[str, ...]) -> None:
    model_labels = numbered(len(names))
    for number, name in enumerate(names):
        for label in (number, str(number), name, name.upper()):
            assert gold_class(label, names, model_labels, "any") == number


def test_lower_case_numbered_labels_are_numbered_too() -> None:
    assert gold_class("positive", SENTIMENT, named("label_0", "label_1"), "any") == 1


@pytest.mark.parametrize("model", sorted(ORDERS))
@pytest.mark.parametrize(
    ("label", "expected"),
    [
        ("entailment", 1),
        ("neutral", 2),
        ("contradiction", 0),
        (0, 1),
        (1, 2),
        (2, 0),
        ("0", 1),
        ("2", 0),
    ],
)
def test_textattack_orders_inference_otherwise(model: str, label: str | int, expected: int) -> None:
    assert gold_class(label, INFERENCE, numbered(3), model) == expected


def test_textattack_inference_is_known_by_name() -> None:
    assert "textattack/bert-base-uncased-MNLI" in ORDERS
    assert gold_class("entailment", (), numbered(3), "textattack/bert-base-uncased-MNLI") == 1


def test_labels_with_names_need_no_order() -> None:
    model_labels = named("contradiction", "neutral", "entailment")
    found = [
        gold_class(n, INFERENCE, model_labels, "textattack/bert-base-uncased-MNLI")
        for n in range(3)
    ]
    assert found == [2, 1, 0]


@pytest.mark.parametrize(
    ("label", "names", "model_labels", "message"),
    [
        ("joy", SENTIMENT, named("NEG", "POS"), r"the label 'joy' is not known.*: NEG, POS\."),
        ("", SENTIMENT, named("NEG", "POS"), "the label '' is not known"),
        ("World", TOPICS, named("NEG", "POS"), "the label 'World' is not known"),
        (
            3,
            TOPICS,
            named("World", "Sports"),
            "the label 'Sci/Tech' is not known.*: World, Sports",
        ),
        (2, SENTIMENT, named("NEG", "POS"), "the label '2' is not known.*: negative, positive"),
        (-1, SENTIMENT, named("NEG", "POS"), "the label '-1' is not known"),
        ("-1", SENTIMENT, numbered(2), "the label '-1' is not known"),
        ("7", (), named("NEG", "POS"), "the label '7' is not known.*: NEG, POS"),
        ("joy", SENTIMENT, numbered(2), "the label 'joy' is not known"),
        ("negative", (), numbered(2), "the label 'negative' is not known"),
    ],
)
def test_unknown_labels_say_what_is_known_and_what_to_do(
    label: str | int, names: tuple[str, ...], model_labels: dict[int, str], message: str
) -> None:
    with pytest.raises(InvalidInput, match=rf"{message}.*Name the labels .* with --labels\."):
        gold_class(label, names, model_labels, "any")
