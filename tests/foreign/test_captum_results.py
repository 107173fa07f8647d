"""What captum itself returns, read."""

from typing import Any

import numpy as np
import pytest
import torch
from captum.attr import LayerGradientXActivation
from captum.attr._core.llm_attr import LLMAttributionResult

import headlight
from headlight import HeadlightError, Model
from headlight.foreign import from_captum
from tests.known import known

TEXT = "the films are charming"


def by_captum(model: Model, text: str, label: int) -> torch.Tensor:
    """Input × gradient at the embeddings by captum, [1, token, embedding]."""
    encoded = known(model.tokenizer)(text, return_tensors="pt")
    network: Any = model.network
    method = LayerGradientXActivation(
        lambda ids, mask: network(ids, attention_mask=mask).logits, network.bert.embeddings
    )
    found: Any = method.attribute(
        encoded["input_ids"], target=label, additional_forward_args=(encoded["attention_mask"],)
    )
    return torch.as_tensor(found).detach()


def test_captums_input_x_gradient_is_ours(classifier: Model) -> None:
    label = list(classifier.labels.values()).index("positive")
    values = by_captum(classifier, TEXT, label)
    ours = headlight.explain(classifier, TEXT, "input_x_gradient", "positive")
    found = from_captum(classifier, TEXT, values, target="positive", method="captum_ixg")
    np.testing.assert_allclose(found.scores, ours.scores, atol=1e-5)
    assert (found.method, found.tokens, found.target) == ("captum_ixg", ours.tokens, ours.target)
    norm = from_captum(classifier, TEXT, values[0], target="positive", merge="norm")
    np.testing.assert_allclose(norm.scores, values[0].norm(dim=-1).numpy(), rtol=1e-6)
    assert not norm.signed
    single = from_captum(classifier, TEXT, values.sum(-1), target="positive")
    np.testing.assert_allclose(single.scores, found.scores, atol=1e-6)


def test_the_result_of_a_language_model_explains_its_first_token(
    writer: Model,
) -> None:
    ours = headlight.explain(writer, "the film", "random")
    first = known(writer.tokenizer).convert_ids_to_tokens(
        int(
            writer.network(**known(writer.tokenizer)("the film", return_tensors="pt"))
            .logits[0, -1]
            .argmax()
        )
    )
    rows = np.arange(2.0 * len(ours)).reshape(2, len(ours))
    result = LLMAttributionResult(
        input_tokens=list(ours.tokens),
        output_tokens=[first, "x"],
        seq_attr=rows.sum(0),
        token_attr=rows,
    )
    found = from_captum(writer, "the film", result)
    assert found.scores.tolist() == rows[0].tolist()
    assert found.target == ours.target
    alone = LLMAttributionResult(
        input_tokens=list(ours.tokens), output_tokens=[first], seq_attr=rows[1]
    )
    assert from_captum(writer, "the film", alone).scores.tolist() == rows[1].tolist()
    together = LLMAttributionResult(
        input_tokens=list(ours.tokens), output_tokens=[first, "x"], seq_attr=rows[1]
    )
    with pytest.raises(HeadlightError, match="the result explains 2 tokens together"):
        from_captum(writer, "the film", together)


@pytest.mark.parametrize(
    ("values", "options", "sentence"),
    [
        (
            (torch.ones(1, 4, 2), torch.ones(1, 4)),
            {},
            "captum returned 2 tensors, one per input of the network. Give the one of the tokens.",
        ),
        (
            torch.ones(2, 4, 3),
            {},
            "the attributions have the shape (2, 4, 3). Give those of one text: attributions[number].",
        ),
        (torch.ones(4, 3), {"merge": "max"}, "merge='max' does not exist. Use 'sum' or 'norm'."),
        ("scores", {}, "the attributions must be a tensor of numbers."),
    ],
)
def test_what_does_not_match_is_refused(
    classifier: Model, values: Any, options: dict[str, Any], sentence: str
) -> None:
    with pytest.raises(HeadlightError) as raised:
        from_captum(classifier, "the film", values, **options)
    assert str(raised.value) == sentence
