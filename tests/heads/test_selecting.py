"""The search for a faithful mask, on networks whose heads are known."""

from pathlib import Path

import numpy as np
import pytest
import torch
from transformers import PreTrainedTokenizerFast

import headlight
from headlight import HeadMask, InvalidInput, InvalidOption, Model, Target
from headlight.heads import Search, select
from headlight.heads.important import read_rows
from headlight.heads.selecting import Judge, changed, contrast, nanmeans, parted, shaken
from headlight.metrics.statistics import compare
from headlight.models.model import Task
from headlight.running.precision import widened
from tests.heads.carriers import CARRIER, MISLEADER, TEXTS, carrying
from tests.networks import network


def judge_of(model: Model) -> Judge:
    wide, _ = widened(model, torch.float64)
    return Judge(model, wide, Target(), 8, lambda *_: None)


def test_a_head_that_misleads_is_dropped_and_the_gain_is_measured_on_other_texts(
    tokenizer: PreTrainedTokenizerFast,
) -> None:
    model = carrying(tokenizer, misleading=3.0)
    mask = select(model, TEXTS, search=Search(steps=2, draws=12), batch_size=4, name="made up")
    assert bool(mask.heads[0, CARRIER])
    assert not bool(mask.heads[0, MISLEADER])
    found = mask.facts["held_out"]
    assert found["gain"] == pytest.approx(found["aopc"] - found["no_mask"])
    assert found["low"] > 0
    assert found["texts"] == 6
    assert mask.facts["corpus"] == "made up"
    assert mask.facts["selection"]["steps"] == 2


def test_the_head_that_carries_the_decision_is_the_one_to_keep(
    tokenizer: PreTrainedTokenizerFast,
) -> None:
    model = carrying(tokenizer)
    full = torch.ones(1, 4, dtype=torch.bool)
    chance = torch.Generator().manual_seed(0)
    effects = judge_of(model).effects(read_rows(model, TEXTS), full, 24, chance)
    assert int(effects.argmin()) == CARRIER
    assert float(effects[0, CARRIER]) < 0
    mask = select(model, TEXTS, search=Search(1, 6))
    assert bool(mask.heads[0, CARRIER])
    assert mask.facts["held_out"]["gain"] == 0


def test_masks_are_measured_as_evaluate_measures_them(classifier: Model, tmp_path: Path) -> None:
    texts = ["a charming film", "the movie is dull but never boring", "mary wrote it in london"]
    heads = torch.tensor([[1, 0, 0, 1], [0, 1, 0, 0], [0, 1, 1, 0]]).bool()
    found = judge_of(classifier).faithfulness(read_rows(classifier, texts), [heads])
    HeadMask.of(heads).save(tmp_path / "mask")
    run = headlight.evaluate(
        classifier,
        [headlight.Example(text, None) for text in texts],
        ["mask_lrp"],
        ["aopc"],
        options={"mask": str(tmp_path / "mask")},
        threads=1,
    )
    assert found.mean() == pytest.approx(run.summary("aopc", "mask_lrp").mean)


def test_no_mask_is_transformer_attribution(classifier: Model) -> None:
    rows = read_rows(classifier, ["the movie is dull but never boring"])
    full = torch.ones(3, 4, dtype=torch.bool)
    text = "the movie is dull but never boring"
    masked = headlight.explain(classifier, text, "mask_lrp", mask=HeadMask.of(full))
    plain = headlight.explain(classifier, text, "transformer_attribution")
    np.testing.assert_allclose(masked.scores, plain.scores, rtol=1e-5)
    assert judge_of(classifier).shape(rows[0]) == (3, 4)


# ------------------------------------------------------------------------------------ steps


def test_effects_are_differences_of_means() -> None:
    generator = torch.Generator().manual_seed(0)
    changes = (torch.rand(9, 2, 3, generator=generator) < 0.5).double()
    sums, weights = torch.rand(9, generator=generator).double(), torch.tensor([2.0, 5, 3] * 3)
    changes[:, 1, 2] = 0
    found = contrast(changes, sums, weights.double())
    for layer in range(2):
        for head in range(3):
            is_in = [n for n in range(9) if changes[n, layer, head]]
            is_out = [n for n in range(9) if not changes[n, layer, head]]
            expected = 0.0
            if is_in and is_out:
                inside, outside = (
                    sum(float(sums[n]) for n in group) / sum(float(weights[n]) for n in group)
                    for group in (is_in, is_out)
                )
                expected = inside - outside
            assert float(found[layer, head]) == pytest.approx(expected)


def test_only_heads_that_promise_something_change_and_no_layer_is_emptied() -> None:
    mask = torch.tensor([[1, 1, 1, 1], [1, 0, 0, 0]]).bool()
    effects = torch.tensor([[0.3, -0.1, 0.2, 0.0], [0.4, 0.1, -0.2, -0.3]]).double()
    candidates = changed(mask, effects)
    # The most promising change would empty the second layer; of two changes, the other one remains.
    assert [each.int().tolist() for each in candidates] == [[[0, 1, 1, 1], [1, 0, 0, 0]]]
    assert changed(mask, -effects.abs()) == []


def test_random_masks_change_about_a_quarter_and_keep_every_layer() -> None:
    mask, chance = torch.ones(6, 2, dtype=torch.bool), torch.Generator().manual_seed(0)
    drawn = torch.stack([shaken(mask, chance) for _ in range(400)])
    assert bool(drawn.any(2).all())
    # Both heads of a layer would go once in 16 times; then both stay.
    assert float((~drawn).double().mean()) == pytest.approx(0.25 - 1 / 16, abs=0.02)


def test_texts_are_parted_without_overlap() -> None:
    parts = parted(list(range(10)), 3)
    assert sorted(number for part in parts for number in part) == list(range(10))
    assert [len(part) for part in parts] == [5, 3, 2]
    assert parted(list(range(10)), 3) == parts


def test_the_cost_is_said_before(tokenizer: PreTrainedTokenizerFast) -> None:
    search = Search(steps=2, draws=3)
    assert search.explanations(8) == 4 * 2 * (3 + 5) + 2 * 3 + 2 * 2
    with pytest.raises(InvalidOption, match="steps=0 is not possible"):
        Search(steps=0)
    with pytest.raises(InvalidOption, match=r"draws=1\.5 is not possible"):
        Search(draws=1.5)  # type: ignore[arg-type]


def test_what_cannot_be_searched_is_refused(
    classifier: Model, tokenizer: PreTrainedTokenizerFast
) -> None:
    with pytest.raises(InvalidInput, match="3 texts are too few"):
        select(classifier, ["a film"] * 3)
    valued = headlight.wrap(network("bert", Task.REGRESSION), tokenizer, task="regression")
    with pytest.raises(InvalidInput, match="a value without a probability"):
        select(valued, ["a film"] * 9)
    with pytest.raises(InvalidInput, match="no token of these texts may be removed"):
        nanmeans(np.full((2, 3), np.nan))
    assert nanmeans(np.array([[1.0, np.nan, 3.0]])).tolist() == [2.0]
    assert compare([1.0, 1.0], [0.0, 0.0]).difference == 1
