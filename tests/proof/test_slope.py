"""Gradients are the slope of the logits, or the network is refused."""

import math
from typing import Any

import pytest
import torch
from torch import Tensor, nn
from transformers import (
    OPTConfig,
    OPTForSequenceClassification,
)

import headlight
from headlight import UnsupportedModel
from headlight.models.model import Task
from tests.networks import families, network


class Changed(nn.Module):
    """A module whose output is changed on the way."""

    def __init__(self, inner: nn.Module, change: Any) -> None:
        super().__init__()
        self.inner, self.change = inner, change

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        output = self.inner(*args, **kwargs)
        return self.change(output)


LIES = {
    "detached": lambda h: h.detach(),
    "by numpy": lambda h: torch.from_numpy(h.detach().numpy() * 1.0),
    "half of it detached": lambda h: h / 2 + h.detach() / 2,
    "twice the gradient": lambda h: Doubled.apply(h),
    "reversed": lambda h: 2 * h.detach() - h,
}

OPT = {
    "hidden_size": 32,
    "word_embed_proj_dim": 32,
    "ffn_dim": 48,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "max_position_embeddings": 80,
    "init_std": 0.3,
}


class Doubled(torch.autograd.Function):
    """The same value with twice the gradient."""

    @staticmethod
    def forward(ctx: Any, value: Tensor) -> Tensor:
        return value.view_as(value)

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> Tensor:
        return 2 * gradient


@pytest.mark.parametrize("family", ["bert", "llama"])
@pytest.mark.parametrize("lie", LIES)
def test_gradients_that_are_not_the_slope_are_refused(family: str, lie: str) -> None:
    net = network(family, Task.SEQUENCE)
    layer = net.bert.encoder.layer[1] if family == "bert" else net.model.layers[1]  # type: ignore[index, union-attr]
    name = "output" if family == "bert" else "mlp"
    setattr(layer, name, Changed(getattr(layer, name), LIES[lie]))
    with pytest.raises(
        UnsupportedModel, match=r"are not the slope of its logits|without gradients"
    ):
        headlight.wrap(net)


def test_a_hook_that_changes_gradients_is_refused() -> None:
    net = network("bert", Task.SEQUENCE)
    net.bert.encoder.layer[0].register_full_backward_hook(  # type: ignore[index, union-attr]
        lambda _module, given, _output: tuple(None if g is None else 3 * g for g in given)
    )
    with pytest.raises(UnsupportedModel, match=r"gradients of .* are not the slope"):
        headlight.wrap(net)


@families("bert", "modernbert", "gpt2", "llama")
@pytest.mark.parametrize("task", [Task.SEQUENCE, Task.TOKEN])
def test_honest_networks_are_not_refused(family: str, task: Task) -> None:
    for seed in range(3):
        wrapped = headlight.wrap(network(family, task, seed=seed))
        assert not wrapped.relevance_refusal
        assert not wrapped.attention_refusal


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_kinks_of_relu_are_not_taken_for_wrong_gradients(dtype: torch.dtype) -> None:
    for seed in range(6):
        torch.manual_seed(seed)
        config = OPTConfig(vocab_size=120, pad_token_id=0, num_labels=3, **OPT)  # type: ignore[arg-type, call-arg]
        headlight.wrap(OPTForSequenceClassification(config).to(dtype).eval())  # type: ignore[arg-type]


@pytest.mark.parametrize("largest", [0, 10**9])
def test_large_networks_are_not_copied_for_want_of_a_slope(
    largest: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    copies: list[Any] = []
    monkeypatch.setattr("headlight.proof.escape.LARGEST_SWEEP", largest)
    monkeypatch.setattr("headlight.proof.slope.missed_slope", lambda *_: (1.0, math.nan))
    monkeypatch.setattr(
        "headlight.proof.slope.widened",
        lambda model, _: (copies.append(model) or model, ""),  # type: ignore[func-returns-value]
    )
    headlight.wrap(network("bert", Task.SEQUENCE))
    assert bool(copies) == (largest > 0)
