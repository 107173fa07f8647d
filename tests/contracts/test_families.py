"""Modified gradients in families beyond the architecture table; `make families` tries all of transformers."""

from typing import Any

import numpy as np
import pytest
import torch
from benchmarks.families.tiny import tiny
from numpy.typing import NDArray

import headlight
from headlight import Attribution, Batch, Model, Target, UnsupportedModel
from headlight.batch import collate
from headlight.trace.forward import forward
from headlight.trace.recorder import Wants
from headlight.trace.relevance.modifications import MODIFICATIONS
from headlight.trace.trace import trace

ROWS = [[5, 17, 33, 8, 60, 41, 12, 25, 77, 3], [9, 14, 52, 71, 30, 3]]
MODEL, CLASSIFIER = "language model", "classifier"

FOLLOWED = {
    "gemma2": MODEL,  # capped scores and logits
    "gemma3_text": MODEL,  # norms of queries and keys
    "phi3": MODEL,  # one projection for queries, keys and values
    "olmo": MODEL,  # clipped queries, keys and values
    "olmo2": MODEL,  # norms after the parts of a block
    "granite": MODEL,  # constant multipliers
    "cohere": MODEL,  # parallel parts, scaled logits
    "falcon": MODEL,
    "gpt_neox": MODEL,  # parallel parts, a part of each head is rotated
    "gptj": MODEL,
    "gpt_neo": MODEL,
    "bloom": MODEL,  # positions are added to scores in one step
    "mpt": MODEL,
    "opt": MODEL,
    "stablelm": MODEL,
    "gpt_oss": MODEL,  # attention sinks, experts with biases and clipped gates
    "mixtral": MODEL,  # experts
    "qwen3_moe": CLASSIFIER,
    "deepseek_v3": MODEL,  # latent attention, a router of sigmoids
    "llama4_text": MODEL,  # rotations as complex numbers
    "lfm2": MODEL,  # gated convolutions
    "diffllama": MODEL,  # differences of attention
    "big_bird": CLASSIFIER,  # an activation that is no module of the network
    "deberta": CLASSIFIER,
    "fnet": CLASSIFIER,  # Fourier transforms for attention
    "xlm": CLASSIFIER,  # changes its states in place
}
"""Families in which gradients are modified as the papers say, and what is particular about them."""

REFUSED = {
    "mamba": "has no rule",
    "mamba2": "has no rule",
    "minimax": "not attention",
    "qwen3_next": "has no rule",
    "granite_swa": "'logsumexp'",
}
"""Families with states or linear attention, or with sinks outside the softmax, and what is said of them."""


@pytest.fixture(scope="module")
def wrapped() -> dict[str, Model]:
    return {}


def model_of(family: str, head: str, wrapped: dict[str, Model]) -> Model:
    if family not in wrapped:
        wrapped.clear()
        wrapped[family] = headlight.wrap(tiny(family, head))
    return wrapped[family]


def scores(model: Model, rows: list[list[int]], method: str) -> list[NDArray[Any]]:
    found = headlight.explain(model, Batch.from_ids(rows), method)
    return [a.scores for a in ([found] if isinstance(found, Attribution) else found)]


@pytest.mark.parametrize(("family", "head"), FOLLOWED.items())
def test_modified_gradients_are_followed(family: str, head: str, wrapped: dict[str, Model]) -> None:
    model = model_of(family, head, wrapped)
    assert not model.modified_refusal
    inputs = collate(Batch.from_ids(ROWS[:1]).rows, 0)
    runs = [forward(model, inputs, Wants(gradient=True, modified=m)) for m in (False, True)]
    ours, own = (
        torch.autograd.grad(run.logits.square().sum(), run.captured.embeddings)[0] for run in runs
    )
    assert float((ours - own).norm()) <= 1e-6 * float(own.norm())
    for row, beside in zip(ROWS, scores(model, ROWS, "attn_lrp"), strict=True):
        (alone,) = scores(model, [row], "attn_lrp")
        largest = np.abs(alone).max()
        assert np.isfinite(alone).all()
        assert largest > 0
        # Many families compute their softmax and norms in 32 bits.
        assert np.abs(alone - beside).max() <= 1e-5 * largest


@pytest.mark.parametrize("family", ["gemma3_text", "olmo", "mixtral", "deepseek_v3", "llama4_text"])
def test_libragrad_is_complete_where_nothing_is_added(
    family: str, wrapped: dict[str, Model]
) -> None:
    model = model_of(family, MODEL, wrapped)
    captured = trace(model, Batch.from_ids(ROWS[:1]).rows, [Target()], {"modified_gradient"})
    value = captured.goal.value(captured.logits, captured.inputs.present, "logit")
    gradient = captured.gradients("logit", MODIFICATIONS["libragrad"]).embeddings
    torch.testing.assert_close(
        (captured.embeddings * gradient).sum(), value.sum(), rtol=1e-5, atol=0
    )


def test_experts_are_followed_together_and_one_by_one() -> None:
    together = headlight.wrap(tiny("mixtral", MODEL, torch.float32))
    eager = headlight.wrap(tiny("mixtral", MODEL, torch.float32, experts_implementation="eager"))
    for method in ("attn_lrp", "libragrad", "gim"):
        (one,), (other,) = (scores(m, ROWS[:1], method) for m in (together, eager))
        np.testing.assert_allclose(one, other, atol=1e-3 * float(np.abs(other).max()))


@pytest.mark.parametrize(("family", "said"), REFUSED.items())
def test_other_mixers_are_refused_for_modified_gradients_alone(family: str, said: str) -> None:
    model = headlight.wrap(tiny(family, MODEL))
    with pytest.raises(UnsupportedModel, match=said):
        headlight.explain(model, Batch.from_ids(ROWS[:1]), "attn_lrp")
    (plain,) = scores(model, ROWS[:1], "input_x_gradient")
    assert np.abs(plain).max() > 0


@pytest.mark.parametrize("method", ["rollout", "gae", "grad_sam", "att_grads", "attcat"])
def test_attention_may_have_fewer_bits_than_the_network(method: str) -> None:
    """BLOOM computes its softmax in 32 bits, here in a network of 64."""
    model = headlight.wrap(tiny("bloom", MODEL))
    for row, beside in zip(ROWS, scores(model, ROWS, method), strict=True):
        (alone,) = scores(model, [row], method)
        assert np.abs(alone).max() > 0
        assert np.abs(alone - beside).max() <= 1e-5 * np.abs(alone).max()
