"""The embedded LLM: converted once, explained by every method that explains next tokens."""

from typing import Any

import numpy as np
import pytest
import torch

import headlight
from headlight import METHODS, Model
from tests.known import known
from tests.networks import FEW

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("llm")]


@pytest.fixture(scope="module")
def llm() -> Model:
    return headlight.load("llm")


def test_it_is_a_plain_llama_that_writes_sense(llm: Model) -> None:
    assert llm.network.config.model_type == "llama"
    chat = [{"role": "user", "content": "What is the capital of France?"}]
    asked: Any = known(llm.tokenizer).apply_chat_template(
        chat, add_generation_prompt=True, return_tensors="pt", return_dict=True
    )
    network: Any = llm.network
    written = network.generate(**asked, max_new_tokens=8, do_sample=False)
    assert "Paris" in known(llm.tokenizer).decode(written[0, asked["input_ids"].shape[1] :])


def test_it_knows_agreement_across_a_distractor(llm: Model) -> None:
    tokens = known(llm.tokenizer)("The keys to the cabinet", return_tensors="pt")
    with torch.inference_mode():
        logits = llm.network(**tokens).logits[0, -1]
    plural, singular = (known(llm.tokenizer)(form)["input_ids"][0] for form in (" are", " is"))
    assert logits[plural] > logits[singular]


def test_every_method_explains_its_next_token(llm: Model) -> None:
    found = headlight.explain(llm, "The capital of France is", list(METHODS), **FEW)
    assert set(found) == set(METHODS)
    for answer in found.values():
        assert np.isfinite(answer.scores).all()
    assert found["gae"].target.label.strip() == "Paris"


@pytest.mark.parametrize(
    "method", ["mask_lrp", "transformer_attribution", "attn_lrp", "gae", "attcat"]
)
def test_every_generated_token_is_explained(llm: Model, method: str) -> None:
    found = headlight.explain_generation(llm, "The capital of France is", method, max_new_tokens=2)
    assert found.output[0].endswith("Paris")
    for number, answer in enumerate(found.attributions):
        assert len(answer.scores) == len(found.prompt) + number
        assert np.isfinite(answer.scores).all()
        assert answer.scores.any()


def test_relevance_speaks_for_one_token_rather_than_another(llm: Model) -> None:
    contrast = headlight.Target(label="are", contrast="is")
    found = headlight.explain(llm, "The keys to the cabinet", "attn_lrp", contrast)
    assert found.target.label == "are − is"
    assert found.scores.any()
