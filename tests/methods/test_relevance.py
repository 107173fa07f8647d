"""Relevance against its oracle, and what it must keep: sums, gradients, and the meaning of a mask."""

from functools import cache
from typing import Any

import numpy as np
import pytest
import torch
from transformers.models.llama.modeling_llama import LlamaRMSNorm

import headlight
from headlight import Batch, HeadMask, Target
from headlight.errors import InvalidOption
from headlight.models.model import Task
from tests.networks import MASK, TARGETS, in_pairs, model, network, rows
from tests.reference.passes import Matrix, Pass, independent_pass
from tests.reference.relevance import ATTN_LRP, CHEFER, WALKS, chained, weighted

CASES = {"bert": Task.SEQUENCE, "llama": Task.CAUSAL}
SPEAKERS = {"bert": Task.MASKED, "llama": Task.CAUSAL}
IDS = rows()[1]
LABEL = 1
PARTS = np.array(
    [[[1, 0, 0, 1], [0, 0, 0, 0], [0, 1, 0, 0]], [[0, 0, 0, 1], [0, 0, 0, 0], [0, 0, 1, 1]]]
)
TWO_PARTS = HeadMask(
    {
        name: torch.tensor(part).bool()
        for name, part in zip(("syntactic", "positional"), PARTS, strict=True)
    }
)


@cache
def independent(family: str) -> Pass:
    net = network(family, CASES[family]).double()
    speaker = network(family, SPEAKERS[family]).double()
    return independent_pass(net, IDS, CASES[family], LABEL, speaker)


def own_zero(row: Matrix, at: int) -> Matrix:
    row = row.copy()
    row[at] = 0
    return row


def expected(family: str, variant: str) -> dict[str, Matrix]:
    """What the methods should give, from the hand-written walk."""
    net, p = network(family, CASES[family]).double(), independent(family)
    walk, at = WALKS[family], independent(family).read_at
    plain = walk(net, p, LABEL, CHEFER)
    if variant == "released":
        masked = walk(net, p, LABEL, CHEFER, PARTS.max(0)[None], conserves=False)
        layers = weighted(p, [2 * r for r in masked.ungated], 0)
        return {
            "lrp": own_zero(plain.hidden[0].sum(-1), at),
            "partial_lrp": own_zero(np.maximum(plain.attention[-1], 0).mean(0)[at], at),
            "transformer_attribution": own_zero(
                chained(weighted(p, plain.attention, 0), normalises=True)[at], at
            ),
            "mask_lrp": own_zero(chained(layers, normalises=True)[at], at),
        }
    masked = walk(net, p, LABEL, CHEFER, PARTS)
    attn = walk(net, p, LABEL, ATTN_LRP)
    return {
        "lrp": plain.hidden[0].sum(-1),
        "partial_lrp": np.maximum(plain.attention[-1], 0).mean(0)[at],
        "transformer_attribution": chained(weighted(p, plain.attention, 0), False)[at],
        "mask_lrp": chained(weighted(p, masked.attention, 0), False)[at],
        "lrp:preset=attn_lrp": attn.hidden[0].sum(-1),
    }


def exact_norm(self: LlamaRMSNorm, hidden_states: torch.Tensor) -> torch.Tensor:
    """Llama's norm in the type of its input; transformers computes it in 32 bits, also in a 64-bit network."""
    variance = hidden_states.pow(2).mean(-1, keepdim=True)
    return self.weight * (hidden_states * torch.rsqrt(variance + self.variance_epsilon))


@pytest.mark.parametrize("variant", ["paper", "released"])
@pytest.mark.parametrize("family", CASES)
def test_methods_equal_their_oracles(
    family: str, variant: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(LlamaRMSNorm, "forward", exact_norm)
    wrapped = model(family, CASES[family], torch.float64)
    answers = expected(family, variant)
    batch = Batch.from_ids([IDS, rows()[2]])
    found = headlight.explain(wrapped, batch, list(answers), LABEL, variant=variant, mask=TWO_PARTS)
    for name, oracle in answers.items():
        error = np.abs(found[name][0].scores - oracle).max() / np.abs(oracle).max()
        assert error < 1e-6, (name, error)


@in_pairs()
def test_a_mask_keeps_the_sum_and_all_heads_are_no_mask(family: str, task: Task) -> None:
    wrapped, batch = model(family, task, torch.float64), Batch.from_ids(rows())
    names = ["transformer_attribution", "mask_lrp"]
    both = headlight.explain(wrapped, batch, names, TARGETS.get(task), mask=np.ones((3, 4)))
    for plain, masked in zip(both["transformer_attribution"], both["mask_lrp"], strict=True):
        np.testing.assert_allclose(masked.scores, plain.scores, rtol=1e-6, atol=1e-12)


def test_a_contrast_is_the_difference_of_two_relevances() -> None:
    wrapped, batch = model("bert", Task.SEQUENCE, torch.float64), Batch.from_ids(IDS)
    one, two = (headlight.explain(wrapped, batch, "lrp", k).scores for k in (0, 1))
    both = headlight.explain(wrapped, batch, "lrp", Target(label=0, contrast=1)).scores
    np.testing.assert_allclose(both, one - two, rtol=1e-9, atol=1e-12)


def test_random_masks_are_seeded_and_averaged() -> None:
    wrapped, batch = model("bert", Task.SEQUENCE, torch.float64), Batch.from_ids(IDS)

    def scores(**options: Any) -> Matrix:
        return headlight.explain(wrapped, batch, "random_mask_lrp", mask=MASK, **options).scores

    np.testing.assert_array_equal(scores(seed=1), scores(seed=1))
    assert not np.allclose(scores(seed=1), scores(seed=2))
    np.testing.assert_allclose(scores(seed=1, draws=2), (scores(seed=1) + scores(seed=2)) / 2)


@pytest.mark.parametrize("variant", ["paper", "released"])
def test_no_draw_is_refused(variant: str) -> None:
    with pytest.raises(InvalidOption, match="draws=0 is not possible"):
        headlight.explain(
            model("bert", Task.SEQUENCE),
            Batch.from_ids(IDS),
            "random_mask_lrp",
            mask=MASK,
            draws=0,
            variant=variant,
        )


def test_full_corruption_is_no_mask() -> None:
    wrapped, batch = model("bert", Task.SEQUENCE, torch.float64), Batch.from_ids(IDS)
    found = headlight.explain(
        wrapped, batch, ["mask_lrp", "transformer_attribution"], mask=MASK, corruption=1.0
    )
    plain = found["transformer_attribution"].scores
    np.testing.assert_allclose(found["mask_lrp"].scores, plain, rtol=1e-6)


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"preset": "cheffer", "mask": MASK}, InvalidOption, "Use one of 'chefer', "),
        ({"first_layer": 4, "mask": MASK}, InvalidOption, "layers 1 to 3"),
        (
            {"mask": np.ones((2, 4))},
            InvalidOption,
            "2 layers of 4 heads, but the network has 3 of 4",
        ),
        ({"mask": np.ones(4)}, headlight.InvalidInput, r"must be \[layer, head\]"),
        ({"mask": MASK, "draws": 0}, InvalidOption, "'mask_lrp' has no option 'draws'"),
        ({"mask": MASK, "corruption": 2.0}, InvalidOption, "a number, from 0 to 1"),
        ({"mask": "none.safetensors"}, headlight.InvalidInput, "no head mask can be read"),
        ({}, InvalidOption, "comes without a head mask"),
    ],
)
def test_bad_options_say_what_would_do(
    options: dict[str, Any], error: type[Exception], message: str
) -> None:
    wrapped = model("bert", Task.SEQUENCE)
    with pytest.raises(error, match=message):
        headlight.explain(wrapped, Batch.from_ids(IDS), "mask_lrp", **options)
