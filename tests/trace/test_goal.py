"""The numbers that are explained: logits, probabilities, and where relevance starts."""

import numpy as np
import pytest
import torch
from transformers import (
    PreTrainedTokenizerFast,
)

import headlight
from headlight import (
    Batch,
    InvalidOption,
    Model,
    Target,
)
from headlight.models.model import Task
from tests.networks import model, network, rows

TEXT = "a charming and often affecting journey"


def test_probability_gradient_is_the_logit_gradient_by_the_chain_rule(classifier: Model) -> None:
    logits = [headlight.explain(classifier, TEXT, "input_x_gradient", k) for k in range(3)]
    chances = [a.target.probability for a in logits]
    assert sum(chances) == pytest.approx(1, rel=1e-5)
    found = headlight.explain(
        classifier, TEXT, "input_x_gradient", Target(label=0, output="probability")
    )
    mean = sum(p * a.scores for p, a in zip(chances, logits, strict=True))
    expected = chances[0] * (logits[0].scores - mean)
    np.testing.assert_allclose(found.scores, expected, rtol=1e-3, atol=1e-6)


def test_regression_explains_its_value() -> None:
    answer = headlight.explain(model("bert", Task.REGRESSION), Batch.from_ids(rows()[0]), "simple")
    assert answer.target.probability is None
    with pytest.raises(InvalidOption, match="no probability"):
        headlight.explain(
            model("bert", Task.REGRESSION),
            Batch.from_ids(rows()[0]),
            target=Target(output="probability"),
        )


def test_multi_label_probabilities_are_independent(tokenizer: PreTrainedTokenizerFast) -> None:
    net = network("bert", Task.SEQUENCE, problem_type="multi_label_classification")
    answer = headlight.explain(headlight.wrap(net, tokenizer), TEXT, target=1)
    expected = torch.sigmoid(torch.tensor(answer.target.logit))
    assert answer.target.probability == pytest.approx(float(expected))
