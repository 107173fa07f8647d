"""What a model predicts on examples, and which target is explained."""

from collections.abc import Sequence
from typing import Any

import pytest
import torch

import headlight
from headlight import Example, InvalidOption, Model
from headlight.evaluation import predictions as module
from headlight.evaluation.predictions import ExamplePrediction, predict_examples, same_decisions
from headlight.evaluation.settings import Settings
from headlight.models.model import Task
from tests.known import known
from tests.networks import network

TEXTS = ("a charming journey", "the film is dull but never boring", "bad plot")


def settings(**changes: Any) -> Settings:
    return Settings("tiny classifier", "f", "made up", "h", 3, **changes)


def predictions(
    model: Model, examples: Sequence[Example], **changes: Any
) -> tuple[list[ExamplePrediction], dict[int, str]]:
    """Predictions and the reasons of failures."""
    failures: dict[int, str] = {}
    numbered = dict(enumerate(examples))
    found = predict_examples(model, settings(**changes), numbered, failures.__setitem__)
    return found, failures


def test_the_predicted_class_is_that_of_the_network(classifier: Model) -> None:
    found, failures = predictions(classifier, [Example(text) for text in TEXTS])
    assert failures == {}
    assert [each.number for each in found] == [0, 1, 2]
    for text, each in zip(TEXTS, found, strict=True):
        inputs = known(classifier.tokenizer)(text, return_tensors="pt")
        with torch.no_grad():
            order = classifier.network(**inputs).logits[0].argsort(descending=True).tolist()
        assert (each.predicted, each.runner_up) == (order[0], order[1])
        assert each.classes == [order[0]]
        assert each.target.label == order[0]
        assert each.gold is None


def test_predictions_do_not_depend_on_how_many_share_a_pass(
    classifier: Model, examples: list[Example], monkeypatch: pytest.MonkeyPatch
) -> None:
    together, _ = predictions(classifier, examples)
    monkeypatch.setattr(module, "BATCH", 1)
    alone, _ = predictions(classifier, examples)
    assert [each.predicted for each in together] == [each.predicted for each in alone]


def test_the_right_class_is_explained_and_what_is_predicted_is_kept(classifier: Model) -> None:
    for gold, name in enumerate(("negative", "neutral", "positive")):
        (each,), _ = predictions(classifier, [Example(TEXTS[0], name)], explain="gold")
        (usual,), _ = predictions(classifier, [Example(TEXTS[0], name)])
        assert each.target.label == each.gold == gold
        assert each.predicted == usual.predicted
        assert each.runner_up != gold


def test_what_fails_is_reported_and_left_out(classifier: Model) -> None:
    given = [Example(" ", "neutral"), Example("a film", "neutral"), Example("dull", "joy")]
    found, failures = predictions(classifier, given)
    assert [each.number for each in found] == [1]
    assert "empty or only spaces" in failures[0]
    assert "the label 'joy' is not known" in failures[2]


def test_an_example_without_a_label_has_no_right_class(classifier: Model, reader: Model) -> None:
    _, failures = predictions(classifier, [Example("a film")], explain="gold")
    assert failures == {
        0: "the example has no label to explain. Use explain='predicted' instead of 'gold'."
    }
    question = Example(("who is it", "the film is a charming journey"), answers=("journey",))
    (each,), _ = predictions(reader, [question], explain="gold")
    assert {each.row.tokens[place] for place in each.positions} == {"journey"}


def test_answers_to_questions_have_no_second_best(reader: Model) -> None:
    (each,), _ = predictions(reader, [Example(("who", "mary wrote it"))])
    assert each.runner_up is None
    assert len(each.positions) == 2


def test_a_rival_shares_the_examples_on_which_it_decides_alike(
    classifier: Model, tokenizer: Any, examples: list[Example]
) -> None:
    own, _ = predictions(classifier, examples)
    assert same_decisions(classifier, settings(), own) == own
    labels = classifier.network.config.id2label
    other = headlight.wrap(network("bert", Task.SEQUENCE, id2label=labels), tokenizer, name="other")
    with torch.no_grad():
        other.network.get_parameter("classifier.weight").zero_()
        other.network.get_parameter("classifier.bias").copy_(torch.tensor([0.0, 1.0, 0.0]))
    alike = same_decisions(other, settings(), own)
    assert alike == [each for each in own if each.predicted == 1]


def test_a_rival_with_other_tokens_is_refused(
    classifier: Model, byte_tokenizer: Any, examples: list[Example]
) -> None:
    own, _ = predictions(classifier, examples)
    net = network("roberta", Task.SEQUENCE, vocab_size=360, id2label=classifier.labels)
    other = headlight.wrap(net, byte_tokenizer, name="other")
    with pytest.raises(InvalidOption, match=r"'other' reads other tokens .* cannot be compared"):
        same_decisions(other, settings(), own)
