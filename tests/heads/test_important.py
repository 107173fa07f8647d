"""The importance of heads: against gates that are moved and sums by hand, and masks selected from it."""

from pathlib import Path

import numpy as np
import pytest
import torch
from transformers import PreTrainedTokenizerFast

import headlight
from headlight import HeadMask, InvalidInput, InvalidOption, Model, Target, UnknownName
from headlight.batch import Batch
from headlight.heads import HeadImportance, importance
from headlight.heads.important import (
    PART,
    gradient_importance,
    learned_from,
    read_rows,
    relevance_importance,
)
from headlight.models.fingerprint import fingerprint
from headlight.models.model import Task
from headlight.trace.relevance.sweep import Flow
from headlight.trace.trace import trace
from tests.heads.carriers import CARRIER, TEXTS, carrying
from tests.networks import families, model, network, rows
from tests.reference.heads import gate_slope, relevance_shares

VALUES = torch.tensor([[4.0, 0.0, 1.0], [2.0, 2.0, 1.0]])


def test_gradient_importance_is_the_slope_of_a_gate_on_the_head() -> None:
    net, ids = network("bert", Task.SEQUENCE).double(), rows()
    wrapped = headlight.wrap(net)
    found = gradient_importance(
        trace(wrapped, Batch.from_ids(ids).rows, [Target()] * 3, {"attention_gradient"})
    )
    expected = [
        [[gate_slope(net, row, (layer, head)) for head in range(4)] for layer in range(3)]
        for row in ids
    ]
    np.testing.assert_allclose(found.numpy(), expected, rtol=1e-6, atol=1e-8)


def test_relevance_importance_is_a_share_of_the_sums() -> None:
    wrapped, ids = model("bert", Task.SEQUENCE, torch.float64), rows()
    captured = trace(wrapped, Batch.from_ids(ids).rows, [Target()] * 3, {"relevance"})
    found = relevance_importance(captured)
    sent = captured.relevance(Flow("chefer"))
    expected = [relevance_shares(sent, number, len(row)) for number, row in enumerate(ids)]
    np.testing.assert_allclose(found.numpy(), expected, rtol=1e-6, atol=1e-9)
    np.testing.assert_allclose(found.sum((1, 2)).numpy(), 1)


@families("bert", "llama")
@pytest.mark.parametrize("measure", [gradient_importance, relevance_importance])
def test_texts_beside_others_have_the_importance_they_have_alone(
    family: str, measure: object
) -> None:
    wrapped, ids = model(family, Task.SEQUENCE, torch.float64), rows()
    needs = {"attention_gradient", "relevance"} - (
        {"relevance"} if measure is gradient_importance else set()
    )
    read = [
        measure(trace(wrapped, Batch.from_ids(part).rows, [Target()] * len(part), needs))  # type: ignore[operator]
        for part in (ids, *([row] for row in ids))
    ]
    torch.testing.assert_close(read[0], torch.cat(read[1:]), rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize("by", ["gradient", "relevance"])
def test_the_head_that_carries_the_decision_comes_first(
    by: str, tokenizer: PreTrainedTokenizerFast
) -> None:
    carrier = carrying(tokenizer)
    found = importance(carrier, TEXTS, by=by, batch_size=5, name="made up")
    others = torch.arange(4) != CARRIER
    assert found.values[0, CARRIER] > 0
    assert float(found.values[0, others].max()) < 0.05 * float(found.values[0, CARRIER])
    mask = found.mask(count=1)
    assert mask.facts["roles"] == {PART: [[1, CARRIER + 1]]}
    assert mask.facts["corpus"] == "made up"
    assert mask.facts["by"] == by


def test_importance_is_the_mean_over_texts(classifier: Model) -> None:
    texts = ["a charming film", "the story is dull and boring", " "]
    both = importance(classifier, texts, batch_size=1)
    alone = [importance(classifier, [text]).values for text in texts[:2]]
    torch.testing.assert_close(both.values, (alone[0] + alone[1]) / 2)
    assert both.facts["texts"] == 2
    assert both.facts["fingerprint"] == fingerprint(classifier)
    other = importance(classifier, texts, target="negative").values
    assert not torch.allclose(other, both.values)


def test_pairs_are_read_as_pairs(reader: Model) -> None:
    pair = ("who wrote it", "it was mary shelley")
    assert importance(reader, [pair], by="relevance").values.sum() == pytest.approx(1)
    with pytest.raises(InvalidInput, match="needs a question and a context"):
        importance(reader, ["who wrote it"])


def test_a_mask_by_importance_is_used_and_bound_to_its_model(
    classifier: Model, sentiment: Model
) -> None:
    mask = importance(classifier, ["a charming film"]).mask(keep=0.5)
    found = headlight.explain(classifier, "a charming film", "mask_lrp", mask=mask)
    assert found.options["mask"] == "important: 6 of 12 heads"
    with pytest.raises(InvalidInput, match="was learned on 'tiny classifier'"):
        headlight.explain(sentiment, "a charming film", "mask_lrp", mask=mask)


# -------------------------------------------------------------------------------- selecting


@pytest.mark.parametrize(
    ("asked", "expected"),
    [
        ({}, [[1, 0, 0], [1, 0, 0]]),
        ({"keep": 0.5}, [[1, 0, 0], [1, 1, 0]]),
        ({"keep": 0.01}, [[1, 0, 0], [0, 0, 0]]),
        ({"keep": 1.0}, [[1, 1, 1], [1, 1, 1]]),
        ({"count": 4}, [[1, 0, 1], [1, 1, 0]]),
        ({"share": 0.6}, [[1, 0, 0], [1, 0, 0]]),
        ({"share": 0.61}, [[1, 0, 0], [1, 1, 0]]),
        ({"share": 1.0}, [[1, 0, 1], [1, 1, 1]]),
        ({"keep": 0.34, "within": "layer"}, [[1, 0, 0], [1, 0, 0]]),
        ({"keep": 0.01, "within": "layer"}, [[1, 0, 0], [1, 0, 0]]),
        ({"count": 2, "within": "layer"}, [[1, 0, 1], [1, 1, 0]]),
        ({"share": 0.8, "within": "layer"}, [[1, 0, 0], [1, 1, 0]]),
    ],
)
def test_the_most_important_heads_are_kept(
    asked: dict[str, object], expected: list[list[int]]
) -> None:
    mask = HeadImportance(VALUES).mask(**asked)  # type: ignore[arg-type]
    assert mask.heads.int().tolist() == expected
    assert list(mask.parts) == [PART]
    first = mask.facts["roles"][PART][0]
    assert first == [1, 1]


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        ({"keep": 0.5, "count": 2}, "keep and count say the same in two ways"),
        ({"keep": 0}, "keep=0 is not a share"),
        ({"keep": 1.5}, "keep=1.5 is not a share"),
        ({"share": -1}, "share=-1 is not a share"),
        ({"count": 0}, "count=0 is not possible"),
        ({"count": 1.5}, "count=1.5 is not possible"),
        ({"count": 7}, "7 heads cannot be kept: there are 6"),
        ({"count": 4, "within": "layer"}, "4 heads cannot be kept: there are 3"),
        ({"within": "block"}, "block"),
    ],
)
def test_what_cannot_be_selected_is_refused(asked: dict[str, object], message: str) -> None:
    with pytest.raises((InvalidOption, UnknownName), match=message):
        HeadImportance(VALUES).mask(**asked)  # type: ignore[arg-type]


def test_importance_is_saved_and_loaded(tmp_path: Path) -> None:
    path = tmp_path / "importance.safetensors"
    HeadImportance(VALUES, {"model": "x"}).save(path)
    found = HeadImportance.load(path)
    assert torch.equal(found.values, VALUES.double())
    assert found.facts["model"] == "x"
    HeadMask.of([[1, 0]]).save(path)
    with pytest.raises(InvalidInput, match="holds no head importance"):
        HeadImportance.load(path)


@pytest.mark.parametrize("wrong", [torch.tensor([[-1.0]]), torch.tensor([[torch.nan]])])
def test_values_that_are_no_importance_are_refused(wrong: torch.Tensor) -> None:
    with pytest.raises(InvalidInput, match="finite numbers from 0 on"):
        HeadImportance(wrong)


def test_what_cannot_be_learned_from_is_refused(classifier: Model) -> None:
    with pytest.raises(UnknownName, match="gradient"):
        importance(classifier, ["a film"], by="gradients")
    for empty in ([], [" "]):
        with pytest.raises(InvalidInput, match="no text to learn from"):
            importance(classifier, empty)
    assert len(read_rows(classifier, "a film")) == 1
    assert learned_from(classifier, "x", None, 3)["corpus"] == "given texts"
