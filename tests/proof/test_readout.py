"""Where a head reads is derived from the network: known answers for heads of many kinds."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor, nn
from transformers import (
    BertConfig,
    BertForMaskedLM,
    BertForSequenceClassification,
    BertForTokenClassification,
    BloomConfig,
    BloomForSequenceClassification,
)
from transformers.modeling_outputs import SequenceClassifierOutput, TokenClassifierOutput

import headlight
from headlight import Batch, Model, Target, UnsupportedModel
from headlight.models.model import Task
from headlight.trace.trace import trace
from tests.networks import ENCODER, TARGETS, families, in_pairs, model, network

Pool = Callable[[Any, Tensor, Tensor], Tensor]
"""What a head makes of (ids, states [batch, token, feature], mask [batch, token])."""

LENGTHS = (4, 7, 10)
READING = ("gae", "rollout", "raw_attention", "transformer_attribution", "alti", "attention_flow")
NOT_READING = ("input_x_gradient", "integrated_gradients", "grad_sam", "attcat")


class Pooled(BertForSequenceClassification):
    """A BERT classifier with a head of the test's own."""

    pool: Pool
    layer = -1

    def forward(
        self,
        input_ids: Tensor,
        attention_mask: Tensor,
        token_type_ids: Tensor | None = None,
        return_dict: bool = True,
    ) -> SequenceClassifierOutput:
        body = self.bert(
            input_ids, attention_mask, token_type_ids=token_type_ids, output_hidden_states=True
        )
        pooled = self.pool(input_ids, body.hidden_states[self.layer], attention_mask)
        return SequenceClassifierOutput(logits=self.classifier(pooled))


def pooled(pool: Pool, *, layer: int = -1, width: int = 32) -> Model:
    torch.manual_seed(3)
    net = Pooled(BertConfig(**{**ENCODER, "num_labels": 3})).eval()
    net.classifier = nn.Linear(width, 3)
    net.pool, net.layer = pool, layer
    return headlight.wrap(net)


def by_mask(states: Tensor, mask: Tensor) -> Tensor:
    """The mean of the attended states."""
    weights = mask[..., None].to(states)
    return (states * weights).sum(1) / weights.sum(1)


def last_of(states: Tensor, mask: Tensor) -> Tensor:
    """The last attended state."""
    return states[torch.arange(len(states)), mask.sum(1) - 1]


def attentive(states: Tensor, mask: Tensor) -> Tensor:
    """States weighted by what they hold."""
    scores = states[..., :4].sum(-1).masked_fill(mask == 0, -torch.inf)
    return (scores.softmax(1)[..., None] * states).sum(1)


def middle(count: int) -> list[float]:
    return [0.0, *[1 / (count - 2)] * (count - 2), 0.0]


def at(*places: int) -> Callable[[int], list[float]]:
    """Equal shares at these places."""

    def weights(count: int) -> list[float]:
        found = np.zeros(count)
        found[[p % count for p in places]] = 1 / len(places)
        return found.tolist()

    return weights


FIXED: dict[str, tuple[Pool, Callable[[int], list[float]]]] = {
    "first": (lambda _, h, m: h[:, 0], at(0)),
    "second": (lambda _, h, m: h[:, 1], at(1)),
    "last": (lambda _, h, m: last_of(h, m), at(-1)),
    "last of the padded row": (lambda _, h, m: h[:, -1], at(-1)),
    "before the last": (lambda _, h, m: h[torch.arange(len(h)), m.sum(1) - 2], at(-2)),
    "mean": (lambda _, h, m: by_mask(h, m), lambda n: [1 / n] * n),
    "mean of the padded row": (lambda _, h, m: h.mean(1), lambda n: [1 / n] * n),
    "sum": (lambda _, h, m: (h * m[..., None]).sum(1) / 8, lambda n: [1 / n] * n),
    "mean without the ends": (
        lambda _, h, m: (
            (by_mask(h, m) * m.sum(1)[:, None] - h[:, 0] - last_of(h, m)) / (m.sum(1)[:, None] - 2)
        ),
        middle,
    ),
    "first and last": (lambda _, h, m: h[:, 0] + last_of(h, m), at(0, -1)),
    "mostly first": (
        lambda _, h, m: 0.75 * h[:, 0] + 0.25 * last_of(h, m),
        lambda n: [0.75, *[0.0] * (n - 2), 0.25],
    ),
    "first and mean": (
        lambda _, h, m: h[:, 0] + by_mask(h, m),
        lambda n: [0.5 + 0.5 / n, *[0.5 / n] * (n - 1)],
    ),
    "mean, then a layer": (
        lambda _, h, m: torch.tanh(by_mask(h, m)),
        lambda n: [1 / n] * n,
    ),
}


def rows_of(lengths: tuple[int, ...]) -> Batch:
    generator = torch.Generator().manual_seed(5)
    return Batch.from_ids(
        [torch.randint(5, 120, (n,), generator=generator).tolist() for n in lengths]
    )


def weights_of(wrapped: Model, batch: Batch, target: Target | None = None) -> list[list[float]]:
    """The weights of the read-out of every row."""
    found = []
    for row in batch.rows:
        seen = trace(wrapped, [row], [target or Target()], {"attention"})
        found.append(seen.weights[0].tolist())
    return found


@pytest.mark.parametrize("name", FIXED)
def test_a_head_is_read_where_it_reads(name: str) -> None:
    pool, expected = FIXED[name]
    wrapped = pooled(pool)
    for count, weights in zip(LENGTHS, weights_of(wrapped, rows_of(LENGTHS)), strict=True):
        assert weights == pytest.approx(expected(count), abs=1e-4)


@pytest.mark.parametrize("name", FIXED)
def test_batches_are_read_as_their_rows(name: str) -> None:
    wrapped = pooled(FIXED[name][0])
    batch = rows_of(LENGTHS)
    together = headlight.explain(wrapped, batch, ["gae", "rollout", "input_x_gradient"], target=0)
    for number, row in enumerate(batch.rows):
        for method, found in together.items():
            alone = headlight.explain(wrapped, Batch((row,)), method, target=0)
            assert found[number].scores == pytest.approx(alone.scores, rel=1e-3, abs=1e-5)


def test_the_last_token_is_not_taken_for_the_first() -> None:
    found = headlight.explain(pooled(FIXED["last"][0]), rows_of((8,)), "gae")
    assert found.scores.argmax() == 7
    assert found.target.positions == (7,)


UNFIXED: dict[str, tuple[Pool, int, int, str]] = {
    "maximum": (
        lambda _, h, m: h.masked_fill(m[..., None] == 0, -9.0).amax(1),
        -1,
        32,
        "by their content",
    ),
    "attention": (lambda _, h, m: attentive(h, m), -1, 32, "by their content"),
    "first and last, each in its own way": (
        lambda _, h, m: torch.cat([h[:, 0], last_of(h, m)], -1),
        -1,
        64,
        "by their content",
    ),
    "difference": (lambda _, h, m: h[:, 0] - last_of(h, m), -1, 32, "by their content"),
    "token with the largest id": (
        lambda ids, h, m: h[torch.arange(len(h)), (ids * m).argmax(1)],
        -1,
        32,
        "by more than their place",
    ),
    "by length": (
        lambda _, h, m: h[:, 0] if int(m.sum(1).max()) % 2 else last_of(h, m),
        -1,
        32,
        "by more than their place",
    ),
    "an earlier layer": (lambda _, h, m: h[:, 0], -2, 32, "earlier than its last"),
}


@pytest.mark.parametrize("name", UNFIXED)
def test_a_head_without_a_fixed_place_is_refused_by_methods_that_read_a_row(name: str) -> None:
    pool, layer, width, reason = UNFIXED[name]
    wrapped = pooled(pool, layer=layer, width=width)
    batch = rows_of((6, 9))
    for method in READING:
        with pytest.raises(
            UnsupportedModel, match=f"({reason}|no rule).*input_x_gradient"
        ) as error:
            headlight.explain(wrapped, batch, method)
        assert "models/architectures.py" not in str(error.value)
    for method in NOT_READING:
        assert len(headlight.explain(wrapped, batch, method)) == 2


def test_several_layers_at_once_are_refused_by_methods_that_read_a_row() -> None:
    class Several(Pooled):
        def forward(
            self, input_ids: Tensor, attention_mask: Tensor, *_: Any, **_options: Any
        ) -> Any:
            body = self.bert(input_ids, attention_mask, output_hidden_states=True)
            total = sum(states[:, 0] for states in body.hidden_states[1:])
            return SequenceClassifierOutput(logits=self.classifier(total))

    torch.manual_seed(0)
    wrapped = headlight.wrap(Several(BertConfig(**ENCODER)).eval())
    with pytest.raises(UnsupportedModel, match="earlier than its last"):
        headlight.explain(wrapped, rows_of((6,)), "rollout")
    assert headlight.explain(wrapped, rows_of((6,)), "attn_lrp").scores.any()


@in_pairs()
def test_every_known_family_is_read_where_its_head_reads(family: str, task: Task) -> None:
    wrapped = model(family, task)
    (weights,) = weights_of(wrapped, rows_of((6,)), TARGETS.get(task))
    if task in (Task.TOKEN, Task.MASKED):
        expected = at(2)(6)
    elif task is Task.QUESTION:
        return
    else:
        expected = at(-1 if family in ("gpt2", "llama", "mistral", "qwen2", "qwen3") else 0)(6)
    assert weights == pytest.approx(expected, abs=1e-6)


def test_mean_pooling_by_config_is_derived() -> None:
    wrapped = headlight.wrap(network("modernbert", Task.SEQUENCE, classifier_pooling="mean"))
    (weights,) = weights_of(wrapped, rows_of((5,)))
    assert weights == pytest.approx([0.2] * 5, abs=1e-4)


def test_the_last_token_of_a_decoder_is_the_last_that_is_no_padding() -> None:
    wrapped = model("llama", Task.SEQUENCE)
    (weights,) = weights_of(wrapped, Batch.from_ids([7, 8, 9, 0, 0]))
    assert weights == [0, 0, 1, 0, 0]


def test_the_place_of_an_unknown_classifier_is_derived() -> None:
    torch.manual_seed(0)
    config = BloomConfig(vocab_size=60, hidden_size=16, n_layer=2, n_head=2, pad_token_id=3)
    wrapped = headlight.wrap(BloomForSequenceClassification(config).eval())
    assert weights_of(wrapped, Batch.from_ids([5, 6, 7])) == [[0, 0, 1]]


class Mixed(BertForTokenClassification):
    """Labels of tokens from the states of their neighbours."""

    def forward(self, input_ids: Tensor, attention_mask: Tensor, **_: Any) -> Any:
        states = self.bert(input_ids, attention_mask).last_hidden_state
        return TokenClassifierOutput(logits=self.classifier(states + states.roll(1, 1)))


class Shifted(BertForMaskedLM):
    """Tokens from the states of the tokens before them."""

    def forward(self, input_ids: Tensor, attention_mask: Tensor, **_: Any) -> Any:
        states = self.bert(input_ids, attention_mask).last_hidden_state
        return TokenClassifierOutput(logits=self.cls(states.roll(1, 1)))


@pytest.mark.parametrize("kind", [Mixed, Shifted])
def test_a_token_head_that_reads_other_tokens_is_refused(kind: Any) -> None:
    torch.manual_seed(0)
    wrapped = headlight.wrap(kind(BertConfig(**ENCODER)).eval())
    with pytest.raises(UnsupportedModel, match="reads other tokens than the one it labels"):
        headlight.explain(wrapped, rows_of((6,)), "gae", target=Target(position=2))
    found = headlight.explain(wrapped, rows_of((6,)), "input_x_gradient", target=Target(position=2))
    assert found.scores.any()


@families("bert", "llama")
def test_half_precision_is_read_in_the_same_place(family: str) -> None:
    full, half = (model(family, Task.SEQUENCE, kind) for kind in (torch.float64, torch.bfloat16))
    batch = rows_of((6,))
    assert weights_of(half, batch)[0] == pytest.approx(weights_of(full, batch)[0], abs=0.02)
