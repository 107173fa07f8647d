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
from tests.networks import MASK, model, network, rows
from tests.reference.passes import Matrix, Pass, independent_pass
from tests.reference.relevance import ATTN_LRP, CHEFER, WALKS, Masking, chained, weighted

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
        masked = walk(net, p, LABEL, CHEFER, PARTS.max(0)[None], masking="lost")
        layers = weighted(p, [2 * r for r in masked.ungated], 0)
        return {
            "lrp": own_zero(plain.hidden[0].sum(-1), at),
            "partial_lrp": own_zero(np.maximum(plain.attention[-1], 0).mean(0)[at], at),
            "transformer_attribution": own_zero(
                chained(weighted(p, plain.attention, 0), normalises=True)[at], at
            ),
            "mask_lrp": own_zero(chained(layers, normalises=True)[at], at),
        }
    attn = walk(net, p, LABEL, ATTN_LRP)
    own = weighted(p, plain.attention, 0)

    def read(parts: Matrix, masking: Masking) -> list[Matrix]:
        return weighted(p, walk(net, p, LABEL, CHEFER, parts, masking).attention, 0)

    opened, closed = read(PARTS, "open"), read(PARTS, "residual")
    united = read(PARTS.max(0)[None], "open")
    return {
        "lrp": plain.hidden[0].sum(-1),
        "partial_lrp": np.maximum(plain.attention[-1], 0).mean(0)[at],
        "transformer_attribution": chained(own, False)[at],
        "transformer_attribution:rows=normalised": chained(own, True)[at],
        "transformer_attribution:diagonal=zero": own_zero(chained(own, False)[at], at),
        "mask_lrp": chained(opened, False)[at],
        "mask_lrp:empty=residual": chained(closed, False)[at],
        "mask_lrp:parts=union": chained(united, False)[at],
        "mask_lrp:rows=normalised": chained(opened, True)[at],
        "mask_lrp:diagonal=zero": own_zero(chained(opened, False)[at], at),
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


def test_the_readings_of_a_mask_differ() -> None:
    wrapped, batch = model("bert", Task.SEQUENCE, torch.float64), Batch.from_ids(IDS)
    names = ["mask_lrp", *(f"mask_lrp:{reading}" for reading in ("empty=residual", "parts=union"))]
    found = headlight.explain(wrapped, batch, [*names, "transformer_attribution"], mask=TWO_PARTS)
    ranked = [answer.scores[1:] / answer.scores[1:].sum() for answer in found.values()]
    for number, one in enumerate(ranked):
        for other in ranked[:number]:
            assert not np.allclose(one, other, rtol=1e-3)


@pytest.mark.parametrize("method", ["transformer_attribution", "mask_lrp", "random_mask_lrp"])
@pytest.mark.parametrize("variant", ["paper", "released"])
def test_hidden_separators_are_a_pass_that_does_not_attend_to_them(
    method: str, variant: str
) -> None:
    places = (3, len(IDS) - 1)
    ids = [7 if place in places else 8 + token % 100 for place, token in enumerate(IDS)]
    wrapped = headlight.wrap(network("bert", Task.SEQUENCE, sep_token_id=7).double())
    attended = [[int(place not in places) for place in range(len(ids))]]
    given: dict[str, Any] = {} if method == "transformer_attribution" else {"mask": MASK}
    expected = headlight.explain(
        wrapped, Batch.from_ids([ids], attention_mask=attended), method, 1, variant=variant, **given
    )
    # Padding beside it must change nothing.
    batch = Batch.from_ids([ids, [*IDS, *IDS]])
    found, _ = headlight.explain(
        wrapped, batch, f"{method}:separators=hidden", 1, variant=variant, **given
    )
    seen, _ = headlight.explain(wrapped, batch, method, 1, variant=variant, **given)
    np.testing.assert_allclose(found.scores, expected.scores, rtol=1e-6, atol=1e-12)
    assert not np.allclose(found.scores, seen.scores, rtol=1e-2)


def test_separators_that_do_not_exist_cannot_be_hidden() -> None:
    wrapped = model("llama", Task.CAUSAL)
    with pytest.raises(headlight.UnsupportedModel, match=r"no separator token such as \[SEP\]"):
        headlight.explain(
            wrapped, Batch.from_ids(IDS), "transformer_attribution", separators="hidden"
        )


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
        ({"mask": MASK, "empty": "shut"}, InvalidOption, "Use 'open' or 'residual'"),
        ({"mask": MASK, "parts": "both"}, InvalidOption, "Use 'sum' or 'union'"),
        (
            {"mask": MASK, "rows": "plain", "variant": "released"},
            InvalidOption,
            "no option 'rows'. It belongs to variant 'paper'",
        ),
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
