"""Encoder-decoders that classify: a token's gradient is that of both places where it is read."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch
from transformers import (
    BartConfig,
    BartForConditionalGeneration,
    BartForQuestionAnswering,
    BartForSequenceClassification,
    PreTrainedModel,
    T5Config,
    T5ForConditionalGeneration,
    T5ForSequenceClassification,
)

import headlight
from headlight import Batch, Model, UnsupportedModel
from headlight.proof.probes import check_embeddings, inputs_of, probe_rows

T5: dict[str, Any] = {
    "vocab_size": 60, "d_model": 16, "d_kv": 8, "d_ff": 16, "num_layers": 2, "num_heads": 2, "pad_token_id": 0,
    "eos_token_id": 1, "decoder_start_token_id": 0, "num_labels": 3,
}  # fmt: skip
BART: dict[str, Any] = {
    "vocab_size": 60, "d_model": 16, "encoder_layers": 2, "decoder_layers": 2, "encoder_attention_heads": 2,
    "decoder_attention_heads": 2, "encoder_ffn_dim": 16, "decoder_ffn_dim": 16, "max_position_embeddings": 40,
    "pad_token_id": 1, "bos_token_id": 0, "eos_token_id": 2, "decoder_start_token_id": 2, "num_labels": 3,
    "init_std": 0.3,
}  # fmt: skip


def t5() -> PreTrainedModel:
    return T5ForSequenceClassification(T5Config(**T5))


def bart() -> PreTrainedModel:
    return BartForSequenceClassification(BartConfig(**BART))


def scaled_bart() -> PreTrainedModel:
    return BartForSequenceClassification(BartConfig(**BART, scale_embedding=True))


MAKERS = [t5, bart, scaled_bart]
makers = pytest.mark.parametrize("make", MAKERS, ids=lambda make: make.__name__)


def in_64_bits(make: Callable[[], PreTrainedModel]) -> Any:
    torch.manual_seed(0)
    return make().double().eval()


def texts(model: Model) -> list[list[int]]:
    """Rows of different lengths, in which every token occurs once, with the end token."""
    end = model.end_id
    assert end is not None
    return [[7, 8, 9, 10, end], [11, 12, 13, 14, 15, 16, 17, end], [20, 21, end]]


def slope(net: Any, row: list[int], token: int, label: int, step: float) -> torch.Tensor:
    """∂logit/∂(the token's row of the table) by central differences: both lookups move with it."""
    ids = torch.tensor([row])
    table = net.get_input_embeddings().weight
    found = torch.zeros(table.shape[1], dtype=torch.float64)
    with torch.no_grad():
        for feature in range(len(found)):
            values = []
            for sign in (1, -1):
                before = table[token, feature].clone()
                table[token, feature] += sign * step
                values.append(net(input_ids=ids).logits[0, label])
                table[token, feature] = before
            found[feature] = (values[0] - values[1]) / (2 * step)
    return found


@makers
def test_gradients_are_those_of_both_lookups(make: Callable[[], PreTrainedModel]) -> None:
    net = in_64_bits(make)
    model = headlight.wrap(net)
    (row, *_) = texts(model)
    product = headlight.explain(model, Batch.from_ids([row]), "input_x_gradient", target=1)
    length = headlight.explain(model, Batch.from_ids([row]), "gradient_l2", target=1)
    table = net.get_input_embeddings()
    scale = float(getattr(table, "embed_scale", 1.0))
    # T5 normalises and weighs in 32 bits whatever its type, so its steps must be longer.
    step, error = (3e-3, 2e-3) if make is t5 else (1e-6, 1e-5)
    for place, token in enumerate(row[:-1]):  # the end token also starts BART's decoder
        expected = slope(net, row, token, 1, step)
        own = table.weight[token].detach()
        size = float(expected.norm() * own.norm())
        assert product.scores[place] == pytest.approx(float(expected @ own), abs=error * size)
        assert length.scores[place] == pytest.approx(float(expected.norm()) / scale, rel=error)


@makers
@pytest.mark.parametrize(
    "method", ["input_x_gradient", "integrated_gradients", "gradient_l2", "occlusion", "shapley"]
)
def test_a_row_beside_longer_ones_has_the_scores_that_it_has_alone(
    make: Callable[[], PreTrainedModel], method: str
) -> None:
    model = headlight.wrap(in_64_bits(make))
    told: dict[str, Any] = {"steps": 5} if method == "integrated_gradients" else {}
    rows = texts(model)
    together = headlight.explain(model, Batch.from_ids(rows), method, **told)
    for row, found in zip(rows, together, strict=True):
        alone = headlight.explain(model, Batch.from_ids([row]), method, **told)
        np.testing.assert_allclose(found.scores, alone.scores, rtol=1e-6, atol=1e-8)


@makers
def test_occlusion_hides_a_token_in_both_places(make: Callable[[], PreTrainedModel]) -> None:
    """By hand: the logit falls by what it falls if the token's row of the table becomes zero."""
    net = in_64_bits(make)
    model = headlight.wrap(net)
    (row, *_) = texts(model)
    found = headlight.explain(
        model, Batch.from_ids([row]), "occlusion", target=1, baseline="zero"
    ).scores
    table = net.get_input_embeddings().weight
    with torch.no_grad():
        whole = net(input_ids=torch.tensor([row])).logits[0, 1]
        for place, token in enumerate(row[:-1]):
            before = table[token].clone()
            table[token] = 0
            hidden = net(input_ids=torch.tensor([row])).logits[0, 1]
            table[token] = before
            assert found[place] == pytest.approx(float(whole - hidden), rel=1e-6, abs=1e-9)


@pytest.mark.parametrize("method", ["rollout", "lrp", "alti", "grad_cam", "deeplift"])
def test_what_needs_one_stack_of_layers_is_refused_by_its_reason(method: str) -> None:
    model = headlight.wrap(in_64_bits(bart))
    with pytest.raises(UnsupportedModel, match=r"is an encoder-decoder.*input_x_gradient"):
        headlight.explain(model, Batch.from_ids(texts(model)), method)


def test_modified_gradients_count_both_places_where_a_token_is_read() -> None:
    """Without modification they are the gradient; with it, batch and single agree."""
    model = headlight.wrap(in_64_bits(bart))
    (found, *others) = headlight.explain(model, Batch.from_ids(texts(model)))
    assert found.method == "attn_lrp"
    plain: dict[str, Any] = {
        "norms": "derivative",
        "activations": "derivative",
        "scores": 1.0,
        "value": 1.0,
    }
    batch = Batch.from_ids(texts(model))
    one = headlight.explain(model, batch, "modified_gradient", gate=1.0, **plain)
    two = headlight.explain(model, batch, "input_x_gradient")
    for a, b in zip(one, two, strict=True):
        np.testing.assert_allclose(a.scores, b.scores, rtol=1e-9, atol=1e-12)
    alone = headlight.explain(model, Batch.from_ids(texts(model)[-1]), "attn_lrp")
    np.testing.assert_allclose(others[-1].scores, alone.scores, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize(
    ("kind", "config"),
    [
        (BartForConditionalGeneration, BartConfig(**BART)),
        (BartForQuestionAnswering, BartConfig(**BART)),
        (T5ForConditionalGeneration, T5Config(**T5)),
    ],
)
def test_other_heads_are_refused_by_their_true_reason(kind: Any, config: Any) -> None:
    with pytest.raises(UnsupportedModel, match="is an encoder-decoder whose decoder reads another"):
        headlight.wrap(kind(config).eval())


def test_a_second_lookup_that_is_not_one_token_later_is_refused() -> None:
    model = headlight.wrap(in_64_bits(t5))
    inputs = inputs_of(model, probe_rows(model)[:1])
    first = torch.randn(*inputs.ids.shape, 16)
    later = torch.cat([torch.zeros(1, 1, 16), first[:, :-1]], 1)
    check_embeddings(model, inputs, [first])
    check_embeddings(model, inputs, [first, later])
    for seen in ([first, first], [first, later, later], [first, later[:, :-1]], [first, None]):
        with pytest.raises(UnsupportedModel, match=f"embeds its input {len(seen)} times"):
            check_embeddings(model, inputs, seen)


def test_a_decoder_that_reads_something_else_in_a_later_pass_is_refused() -> None:
    net = in_64_bits(bart)
    model = headlight.wrap(net)
    net.model.decoder.embed_tokens.register_forward_pre_hook(lambda _module, args: args[0].flip(1))
    with pytest.raises(UnsupportedModel, match="embeds its input twice"):
        headlight.explain(model, Batch.from_ids(texts(model)), "input_x_gradient")


@makers
def test_the_mean_of_all_words_is_read_in_both_places(make: Callable[[], PreTrainedModel]) -> None:
    """A word that no text has is given the mean embedding; then it stands for the removed token."""
    network, other = in_64_bits(make), in_64_bits(make)
    model = headlight.wrap(network)
    row, unused = texts(model)[0], 59
    assert unused not in row
    with torch.no_grad():
        table = other.get_input_embeddings().weight
        table[unused] = table.mean(0)
        found = headlight.explain(model, Batch.from_ids([row]), "occlusion", baseline="mean")
        whole = network(torch.tensor([row])).logits[0]
        for place in range(len(row) - 1):
            changed = [unused if n == place else token for n, token in enumerate(row)]
            without = other(torch.tensor([changed])).logits[0]
            expected = float((whole - without)[whole.argmax()])
            assert found.scores[place] == pytest.approx(expected, rel=1e-6, abs=1e-9)
    assert np.abs(found.scores).max() > 1e-3
