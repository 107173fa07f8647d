"""Decisions without heads: the same label at the same tokens, and the network as it was."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

import headlight
from headlight import (
    Batch,
    HeadMask,
    InvalidInput,
    InvalidOption,
    Model,
    Target,
    UnsupportedModel,
    ablate,
    ablate_each,
)
from headlight.explaining import heads_off
from headlight.explaining.heads_off import chosen_heads
from headlight.explaining.prediction import predict
from headlight.models.model import Task
from tests.contracts.test_no_mark import assert_same, fail, fingerprint
from tests.networks import families, model, network, rows

TEXTS = ["a charming journey", "the film is dull but never boring", "bad"]


def test_before_is_the_plain_decision_and_after_is_about_the_same_label(classifier: Model) -> None:
    found = ablate(classifier, TEXTS, [(1, 2), (3, 4)])
    plain = headlight.explain(classifier, TEXTS, "random")
    for row, one, text in zip(found, plain, TEXTS, strict=True):
        assert row.texts == (text,)
        assert row.before.label == row.after.label == row.before.predicted == one.target.predicted
        assert row.before.logit == pytest.approx(one.target.logit, abs=1e-5)
        assert row.before.probability == pytest.approx(one.target.probability, abs=1e-5)
        assert row.change != 0
    assert found.heads.heads.nonzero().tolist() == [[0, 1], [2, 3]]
    assert found.model == "tiny classifier"
    assert len(ablate(classifier, TEXTS[0], [(1, 1)])) == 1


def test_with_no_heads_off_nothing_changes(classifier: Model) -> None:
    for row in ablate(classifier, TEXTS, HeadMask.at([], 3, 4)):
        assert row.before == row.after


def test_another_label_may_be_watched(classifier: Model) -> None:
    row = ablate(classifier, TEXTS[0], [(2, 2)], "neutral")[0]
    assert row.before.label == row.after.label == "neutral"
    contrast = Target(label="negative", contrast="positive")
    both = ablate(classifier, TEXTS[0], [(2, 2)], contrast)[0]
    one, other = (
        ablate(classifier, TEXTS[0], [(2, 2)], label)[0] for label in ("negative", "positive")
    )
    assert both.logit_change == pytest.approx(one.logit_change - other.logit_change, abs=1e-5)


def test_heads_may_be_named_in_several_ways(classifier: Model, tmp_path: Path) -> None:
    mask = HeadMask.at([(1, 2), (3, 4)], 3, 4)
    mask.save(tmp_path / "m.safetensors")
    ways: list[Any] = [
        mask, [(1, 2), (3, 4)], ((1, 2), (3, 4)), np.array([[1, 2], [3, 4]]).tolist(),
        mask.heads.numpy(), mask.heads.int(), tmp_path / "m.safetensors", str(tmp_path / "m.safetensors"),
        [np.array([1, 2]), torch.tensor([3, 4])],
    ]  # fmt: skip
    for way in ways:
        assert torch.equal(chosen_heads(classifier, way).heads, mask.heads)
    assert chosen_heads(classifier, ~mask).count == 10


@pytest.mark.parametrize("wrong", [(3, 4), [(1, 2, 3)], ["1.2"], [(1.0, 2)], [[True, False]], [7]])
def test_anything_but_pairs_is_no_head(classifier: Model, wrong: Any) -> None:
    with pytest.raises(InvalidOption, match=r"is not a head\. Give pairs \(layer, head\)"):
        ablate(classifier, "a film", wrong)


def test_heads_that_do_not_exist_are_refused(classifier: Model) -> None:
    with pytest.raises(
        InvalidOption, match="head 5 of layer 1 does not exist: there are layers 1 to 3"
    ):
        ablate(classifier, "a film", [(1, 5)])
    with pytest.raises(InvalidOption, match="head 1 of layer 0 does not exist"):
        ablate(classifier, "a film", [(0, 1)])
    with pytest.raises(
        InvalidInput, match="for 2 layers with 4 heads each, and tiny classifier has 3"
    ):
        ablate(classifier, "a film", np.zeros((2, 4)))
    other = HeadMask({"a": torch.ones(3, 4, dtype=torch.bool)}, {"fingerprint": "x", "model": "m"})
    with pytest.raises(InvalidInput, match="was learned on 'm'"):
        ablate(classifier, "a film", other)


def test_networks_without_heads_to_switch_are_refused(classifier: Model) -> None:
    blind = replace(classifier, attention_refusal="computes no attention that can be seen")
    for call in (lambda: ablate(blind, "a film", [(1, 1)]), lambda: ablate_each(blind, "a film")):
        with pytest.raises(UnsupportedModel, match="it computes no attention that can be seen"):
            call()


# ------------------------------------------------------------------------------------ every task


def test_answers_of_every_task_move(
    reader: Model, filler: Model, tagger: Model, writer: Model
) -> None:
    cases: list[tuple[Model, Any]] = [
        (reader, ("who wrote it", "it was written by mary shelley in london")),
        (filler, "the film is [MASK] but never boring"),
        (tagger, "mary shelley wrote it in london"),
        (writer, "the film is"),
    ]
    every = HeadMask.full(3, 4)
    for wrapped, text in cases:
        row = ablate(wrapped, text, every)[0]
        assert row.before.label == row.after.label
        assert row.before.positions == row.after.positions
        assert row.logit_change != 0
        if wrapped in (
            filler,
            tagger,
        ):  # what is decided without heads is then at least as probable
            again = ablate(wrapped, text, every, row.after.predicted)[0]
            assert again.after.label == row.after.predicted
            assert (again.after.probability or 0) >= (row.after.probability or 0) - 1e-6


def test_a_tagger_is_read_at_the_same_token_though_another_is_surer_without_heads(
    tagger: Model,
) -> None:
    row = ablate(tagger, "mary shelley wrote it in london", HeadMask.full(3, 4))[0]
    (place,) = row.before.positions or ()
    there = predict(
        tagger,
        headlight.explaining.inputs.rows_of(tagger, ["mary shelley wrote it in london"]),
        [Target(position=place)],
    )[0]
    assert row.before.predicted == there.resolved.predicted
    assert any("is explained" in note for note in row.notes)


def test_a_continuation_at_another_token_and_a_span_are_read_where_they_are(writer: Model) -> None:
    heads = [(2, 1)]
    early = ablate(writer, "the film is good", heads, Target(position=1))[0]
    assert early.before.positions == (1,)
    assert early.after.predicted
    span = ablate(writer, "the film is good", heads, Target(span=(1, 2)))[0]
    assert span.before.log_probability is not None
    assert span.after.log_probability != span.before.log_probability


def test_a_value_has_no_probability() -> None:
    found = ablate(model("bert", Task.REGRESSION), Batch.from_ids(rows()), [(1, 1)])
    assert [row.before.probability for row in found] == [None] * 3
    assert found[0].texts == (" ".join(map(str, rows()[0])),)
    each = ablate_each(model("bert", Task.REGRESSION), Batch.from_ids(rows()))
    assert each.probabilities is None
    assert each.unit == "value"


# ------------------------------------------------------------------------------------ every head


@families("bert", "llama")
def test_each_head_alone_is_what_it_is_beside_others_in_a_batch(family: str) -> None:
    wrapped = model(family, Task.SEQUENCE, torch.float64)
    given = Batch.from_ids(rows())
    found = ablate_each(wrapped, given, batch_size=5)
    assert found.logits.shape == found.decided_otherwise.shape == (3, 3, 4)
    for layer, head in ((1, 1), (2, 3), (3, 4)):
        alone = ablate(wrapped, given, [(layer, head)], batch_size=1)
        place = (slice(None), layer - 1, head - 1)
        assert found.logits[place] == pytest.approx([r.logit_change for r in alone], abs=1e-12)
        assert found.changes[place] == pytest.approx([r.change for r in alone], abs=1e-12)
        assert found.decided_otherwise[place].tolist() == [r.decided_otherwise for r in alone]


def test_a_network_that_takes_one_row_gets_one_row(monkeypatch: pytest.MonkeyPatch) -> None:
    alone = replace(model("bert", Task.SEQUENCE), takes_one_row=True)
    sizes: list[int] = []
    plain = heads_off.logits_without  # type: ignore[attr-defined]

    def counted(*given: Any) -> torch.Tensor:
        sizes.append(len(given[2]))
        return plain(*given)

    monkeypatch.setattr(heads_off, "logits_without", counted)
    ablate_each(alone, Batch.from_ids(rows()[:1]))
    assert sizes == [1] * 13


def test_batch_size_is_a_number(classifier: Model) -> None:
    with pytest.raises(InvalidOption, match="batch_size=0 is not possible"):
        ablate(classifier, "a film", [(1, 1)], batch_size=0)


# ----------------------------------------------------------------------------------- no mark left


@families("bert", "deberta-v2", "llama")
def test_switching_leaves_no_mark_also_when_a_pass_raises(
    family: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    net = network(family, Task.SEQUENCE).train()
    wrapped = headlight.wrap(net)
    before = fingerprint(net)
    ablate(wrapped, Batch.from_ids(rows()), [(1, 1)])
    ablate_each(wrapped, Batch.from_ids(rows()[:1]))
    with monkeypatch.context() as patch:
        patch.setattr(net.base_model, "forward", fail)
        with pytest.raises(UnsupportedModel, match="in the middle"):
            ablate(wrapped, Batch.from_ids(rows()), [(1, 1)])
    after = fingerprint(net)
    del before["forward"], after["forward"]
    assert_same(before, after)


def test_an_interrupt_in_the_middle_leaves_no_mark() -> None:
    net: Any = network("bert", Task.SEQUENCE)
    wrapped = headlight.wrap(net)

    def stop(*_: object) -> None:
        raise KeyboardInterrupt

    handle = net.bert.encoder.layer[1].register_forward_hook(stop)
    before = fingerprint(net)
    with pytest.raises(KeyboardInterrupt):
        ablate(wrapped, Batch.from_ids(rows()), [(1, 1)])
    assert_same(before, fingerprint(net))
    handle.remove()
    assert torch.is_grad_enabled()
    assert ablate(wrapped, Batch.from_ids(rows()), [(1, 1)])[0].logit_change != 0
