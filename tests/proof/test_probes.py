"""Made-up inputs on which a network is first run, and what its answer must be like."""

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest
import torch

from headlight import Model, UnsupportedModel
from headlight.models.model import Task
from headlight.proof.probes import (
    PROBE_LENGTHS,
    WeightsKept,
    check_answer,
    check_embeddings,
    first_run,
    inputs_of,
    probe_rows,
    size_of_error,
    stage_of_row,
)
from tests.networks import CONFIGS, model


@pytest.fixture
def own() -> Model:
    return model("bert", Task.SEQUENCE)


def test_probes_differ_in_length_and_content_and_fit_the_model(own: Model) -> None:
    rows = probe_rows(own)
    assert [len(row) for row in rows] == [*PROBE_LENGTHS[:-1], PROBE_LENGTHS[-1] + 1]
    assert rows[-1].ids[-1] == own.own_pad_id
    assert [row.attended.count(False) for row in rows] == [0, 1, 0, 0]
    assert all(max(row.ids) < own.vocabulary_size for row in rows)
    assert len({row.ids[:6] for row in rows}) == 4
    assert all(row.types is not None and set(row.types) == {0, 1} for row in rows)


def test_probes_are_cut_to_a_short_limit_and_have_no_types_where_there_are_none(own: Model) -> None:
    short = replace(own, tokenizer=SimpleNamespace(model_max_length=4, pad_token_id=None))  # type: ignore[arg-type]
    assert [len(row) for row in probe_rows(short)] == [4] * 4
    assert all(row.types is None for row in probe_rows(model("distilbert", Task.SEQUENCE)))


def test_texts_end_with_the_end_token() -> None:
    decoder = model("llama", Task.CAUSAL)
    assert decoder.end_id is not None
    assert all(decoder.end_id in row.ids[-2:] for row in probe_rows(decoder))


def test_half_precision_may_differ_by_more(own: Model) -> None:
    assert size_of_error(own) < size_of_error(model("bert", Task.SEQUENCE, torch.float16))


@pytest.mark.parametrize("family", CONFIGS)
def test_the_first_run_gives_logits_and_the_module_before_the_head(family: str) -> None:
    found = model(family, Task.SEQUENCE)
    inputs = inputs_of(found, probe_rows(found)[:1])
    logits, stage = first_run(found, inputs)
    assert logits.shape == (1, 1, 3)
    assert stage == found.readout.stage
    named = stage_of_row(found)
    assert named is not None
    last = (found.final_norms or found.blocks)[-1]
    assert found.network.get_submodule(named) is last
    assert stage_of_row(replace(found, architecture=None)) is None


def test_logits_of_another_form_are_refused(own: Model) -> None:
    inputs = inputs_of(own, probe_rows(own)[:1])
    check_answer(own, inputs, torch.zeros(1, 1, 3))
    for wrong in (torch.zeros(1, 6, 3), torch.zeros(1, 1, 3, 2)):
        with pytest.raises(
            UnsupportedModel, match=r"for one input of 6 tokens, which is not sequence"
        ):
            check_answer(own, inputs, wrong)
    tagger = model("bert", Task.TOKEN)
    with pytest.raises(UnsupportedModel, match=r"shape \[1, 1, 3\].*not token classification"):
        check_answer(tagger, inputs, torch.zeros(1, 1, 3))


@pytest.mark.parametrize(
    ("seen", "message"),
    [
        ([torch.arange(24.0).view(1, 6, 4)] * 2, "embeds its input 2 times in a pass"),
        ([], "does not make its embeddings"),
        ([(torch.zeros(1, 6, 4),)], "does not make its embeddings"),
        ([torch.zeros(6, 4)], "does not make its embeddings"),
        ([torch.zeros(1, 7, 4)], "one vector per input token"),
    ],
)
def test_embeddings_are_made_once_one_for_each_token(
    own: Model, seen: list[Any], message: str
) -> None:
    inputs = inputs_of(own, probe_rows(own)[:1])
    check_embeddings(own, inputs, [torch.zeros(1, 6, 4)])
    with pytest.raises(UnsupportedModel, match=message):
        check_embeddings(own, inputs, seen)


def test_weights_may_be_read_and_other_tensors_written(own: Model) -> None:
    weight = own.network.classifier.weight  # type: ignore[union-attr]
    before = weight.detach().clone()  # type: ignore[operator]
    with torch.no_grad(), WeightsKept(own):
        other = weight * 2  # type: ignore[operator]
        other.add_(1)  # type: ignore[union-attr]
        torch.add(other, 1, out=torch.empty_like(other))  # type: ignore[arg-type]
        with pytest.raises(UnsupportedModel, match="changes its own weights or buffers"):
            weight.mul_(2)  # type: ignore[operator]
        with pytest.raises(UnsupportedModel, match="changes its own weights or buffers"):
            torch.mul(other, 2, out=weight)  # type: ignore[arg-type]
    assert torch.equal(weight, before)  # type: ignore[arg-type]
