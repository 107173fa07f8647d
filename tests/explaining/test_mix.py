"""Matrices of every method that has them, for every task."""

import numpy as np
import pytest

import headlight
from headlight import (
    METHODS,
    Batch,
    InvalidOption,
    Model,
    Target,
)
from headlight.models.model import Task
from tests.networks import TARGETS, model, rows

MIXED = [name for name in METHODS if METHODS[name].mixing]


@pytest.mark.parametrize("name", MIXED)
@pytest.mark.parametrize(
    ("family", "task"),
    [
        ("bert", Task.SEQUENCE),
        ("bert", Task.TOKEN),
        ("deberta-v2", Task.MASKED),
        ("llama", Task.CAUSAL),
        ("roberta", Task.QUESTION),
    ],
)
def test_the_row_where_the_prediction_is_read_is_the_explanation(
    name: str, family: str, task: Task
) -> None:
    batch = Batch.from_ids(rows())
    mixed = headlight.mix(model(family, task), batch, name)
    target = TARGETS.get(task) or Target()
    explained = headlight.explain(model(family, task), batch, name, target)
    for found, answer in zip(mixed, explained, strict=True):
        places = answer.target.positions or (0,)
        expected = sum(found.at()[place] for place in places)
        np.testing.assert_allclose(expected, answer.scores, rtol=1e-5, atol=1e-7)


def test_methods_without_matrices_and_unknown_options_are_refused(classifier: Model) -> None:
    with pytest.raises(InvalidOption, match=r"no token-to-token matrices\. Use rollout, alti"):
        headlight.mix(classifier, "a text", "attcat")
    with pytest.raises(InvalidOption, match="no option 'second'"):
        headlight.mix(classifier, "a text", "alti", second=True)
    with pytest.raises(InvalidOption, match="mix follows the paper only"):
        headlight.mix(classifier, "a text", "alti:variant=released")


def test_several_texts_come_back_in_order_whatever_shares_a_pass(classifier: Model) -> None:
    texts = ["a charming and often affecting journey", "dull", "the film is bad"]
    found = headlight.mix(classifier, texts, "alti", batch_size=2)
    assert [each.tokens[1:-1] for each in found] == [tuple(text.split()) for text in texts]
    for text, own in zip(texts, found, strict=True):
        alone = headlight.mix(classifier, text, "alti")
        assert (own.method, own.model) == ("alti", "tiny classifier")
        for layer in (1, 2, 3):
            np.testing.assert_allclose(own.at(layer), alone.at(layer), rtol=1e-4, atol=1e-6)
            np.testing.assert_allclose(own.at(layer).sum(1), 1, rtol=1e-5)
