"""Probes: what is taken away and how; and the answers of real networks to them."""

import math
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from headlight import InvalidOption, Model
from headlight.batch import Row
from headlight.metrics import METRICS
from headlight.metrics.measuring import measure
from headlight.models.model import Task
from headlight.probing.probe import CHANGES, Probe, Subject
from tests.metrics import CLS, MASK, PAD, SEP, asked, assert_equal, case_of, drawn, few
from tests.networks import model, rows
from tests.reference.metrics import ORACLES, Sentence, perturbed

UNKNOWN = 7


def subject(ids: Sequence[int], **facts: Any) -> Subject:
    """A row in which [CLS] and [SEP] are special, read as a whole."""
    row = Row(
        ids=tuple(ids),
        attended=(True,) * len(ids),
        tokens=tuple(map(str, ids)),
        is_special=tuple(token in (CLS, SEP) for token in ids),
    )
    known = {"positions": (0,), "classes": (1,), "is_pooled": True}
    known |= {"mask_id": MASK, "pad_id": PAD, "unknown_id": UNKNOWN}
    return Subject(**{"row": row, **known, **facts})


def typed(some: Subject, types: Sequence[int]) -> Subject:
    return replace(some, row=replace(some.row, types=tuple(types)))


PAIR = typed(subject([CLS, 10, 11, SEP, 12, 13, SEP]), [0, 0, 0, 0, 1, 1, 1])
TAGGED = replace(PAIR, is_pooled=False, positions=(2, 5), classes=(0, 1))


# ------------------------------------------------------------------------------------- probes


def test_the_whole_row_is_a_probe() -> None:
    assert PAIR.whole == Probe(PAIR.row.ids, PAIR.row.attended, PAIR.row.types, (0,), (1,))
    assert len(PAIR.whole) == 7
    assert all(PAIR.without([], change) == PAIR.whole for change in CHANGES)


def test_special_tokens_and_those_read_are_not_eligible() -> None:
    assert PAIR.eligible == [1, 2, 4, 5]
    assert TAGGED.eligible == [1, 4]
    assert replace(TAGGED, positions=(0, 6)).eligible == [1, 2, 4, 5]
    assert subject([CLS, SEP]).eligible == []
    assert subject([10, 11]).eligible == [0, 1]


def test_positions_follow_their_tokens() -> None:
    probe = TAGGED.without([1, 4], "delete")
    assert probe.ids == (CLS, 11, SEP, 13, SEP)
    assert probe.types == (0, 0, 0, 1, 1)
    assert probe.positions == (1, 3)
    assert probe.classes == (0, 1)
    assert [probe.ids[p] for p in probe.positions] == [TAGGED.row.ids[p] for p in TAGGED.positions]


def test_the_position_of_a_pooled_decision_stays() -> None:
    assert PAIR.without([1, 2], "delete").positions == (0,)


@pytest.mark.parametrize(
    ("change", "token", "is_attended"),
    [
        ("mask", MASK, True),
        ("unknown", UNKNOWN, True),
        ("pad", PAD, False),
        ("hide", MASK, False),
        ("pad_attended", PAD, True),
    ],
)
def test_tokens_are_replaced_where_they_stand(change: str, token: int, is_attended: bool) -> None:
    probe = TAGGED.without([1, 4], change)
    assert probe.ids == (CLS, token, 11, SEP, token, 13, SEP)
    assert probe.attended == (True, is_attended, True, True, is_attended, True, True)
    assert (probe.types, probe.positions) == (PAIR.row.types, (2, 5))


@pytest.mark.parametrize("change", CHANGES)
def test_a_token_that_was_not_attended_to_stays_so(change: str) -> None:
    row = replace(PAIR.row, attended=(True, False, True, False, True, True, True))
    kept = {"delete": (True, True, False, True, True)}
    replaced = (True, False, True, False, change in ("mask", "unknown", "pad_attended"), True, True)
    probe = replace(PAIR, row=row).without([4] if change != "delete" else [1, 4], change)
    assert probe.attended == kept.get(change, replaced)


@pytest.mark.parametrize("types", [None, (1, 1)])
def test_an_empty_text_is_one_pad_token(types: tuple[int, ...] | None) -> None:
    some = subject([10, 11], pad_id=7)
    some = some if types is None else typed(some, types)
    probe = some.without([0, 1], "delete")
    assert probe == Probe((7,), (True,), None if types is None else (0,), (0,), (1,))
    assert replace(some, pad_id=None).without([0, 1], "delete").ids == (0,)


def test_special_tokens_make_a_text_that_is_not_empty() -> None:
    assert PAIR.without(PAIR.eligible, "delete").ids == (CLS, SEP, SEP)


def test_a_model_without_a_mask_token() -> None:
    some = subject([CLS, 10, SEP], mask_id=None, pad_id=7)
    assert some.without([1], "hide") == some.without([1], "pad")
    assert some.without([1], "hide").ids == (CLS, 7, SEP)
    message = (
        "change='mask' needs a mask token, which this model does not have. Use 'delete' or 'pad'."
    )
    with pytest.raises(InvalidOption, match=message):
        some.without([1], "mask")


def test_a_missing_unknown_token_is_refused() -> None:
    message = (
        "change='unknown' needs an unknown token, which this model does not have. Use 'delete'"
    )
    with pytest.raises(InvalidOption, match=message):
        replace(PAIR, unknown_id=None).without([1], "unknown")


def test_a_thinned_row_has_its_shares_and_its_seed() -> None:
    probe = PAIR.thinned([1.0, 0.5, 0.25, 1.0, 0.0, 0.0, 1.0], 3)
    assert probe.kept == (1.0, 0.5, 0.25, 1.0, 0.0, 0.0, 1.0)
    assert probe.draw == 3
    assert replace(probe, kept=None, draw=0) == PAIR.whole
    assert probe != PAIR.whole


def test_an_unknown_change_is_refused() -> None:
    message = (
        "change='swap' does not exist. Use one of delete, mask, unknown, pad, hide, pad_attended."
    )
    with pytest.raises(InvalidOption, match=message):
        PAIR.without([1], "swap")


@few
@given(seed=st.integers(0, 60), share=st.floats(0, 1), change=st.sampled_from(sorted(CHANGES)))
def test_probes_are_those_of_the_oracle(seed: int, share: float, change: str) -> None:
    s = replace(drawn(seed), mask_id=MASK)
    removed = [p for p in s.removable() if np.random.default_rng([seed, p]).random() < share]
    probe = case_of(s).subject.without(removed, change)
    assert (list(probe.ids), list(probe.attended)) == perturbed(s, removed, change)
    assert probe.types is None
    assert [probe.ids[p] for p in probe.positions if s.kept] == [s.ids[p] for p in s.kept]


# ------------------------------------------------------------------------------------ answers


@contextmanager
def counted(own: Model) -> Iterator[list[tuple[int, int]]]:
    """The rows and width of every pass."""
    sizes: list[tuple[int, int]] = []

    def note(_module: object, _args: object, given: dict[str, torch.Tensor]) -> None:
        sizes.append((given["input_ids"].shape[0], given["input_ids"].shape[1]))

    handle = own.network.register_forward_pre_hook(note, with_kwargs=True)
    try:
        yield sizes
    finally:
        handle.remove()


# ------------------------------------------------------------------------------------- measure

WHOLE = {
    f"{metric}@{protocol}" if protocol else metric: {"protocol": protocol} if protocol else {}
    for metric, protocol in ORACLES
    if not metric.startswith(("soft_", "naopc"))
}
"""Metrics of whole tokens that ask once; test_ask.py leaves out elements of embeddings, and the oracle of
`naopc` takes hundreds of passes."""


def read(own: Model) -> Sentence:
    """A sentence without content, put to a real network in 64 bits."""

    def logits(
        ids: Sequence[int], attended: Sequence[bool], shares: Sequence[float] = ()
    ) -> list[float]:
        assert not shares
        given = {
            "input_ids": torch.tensor([list(ids)]),
            "attention_mask": torch.tensor([attended]).long(),
        }
        with torch.no_grad():
            out = own.network(**given).logits[0]
        return (out if own.task is Task.SEQUENCE else out[-1]).tolist()

    def predict(
        ids: Sequence[int], attended: Sequence[bool], shares: Sequence[float] = ()
    ) -> list[float]:
        return torch.tensor(logits(ids, attended, shares), dtype=torch.float64).softmax(0).tolist()

    return Sentence([], [], [], predict, logits)


def real(own: Model) -> list[Sentence]:
    """Drawn sentences put to a network; a language model is read at the last token."""
    found = []
    for seed, ids in enumerate(rows(3, shortest=17), 13):
        model_of, generator = read(own), np.random.default_rng(seed)
        length = len(ids)
        scores = np.round(generator.normal(size=(3, length)), 1).tolist()
        found.append(
            replace(
                model_of,
                ids=ids,
                special=[p in (0, 9) for p in range(length)],
                scores=scores[0],
                kept=[] if own.task is Task.SEQUENCE else [length - 1],
                mask_id=MASK if own.task is Task.SEQUENCE else None,
                gold=int(np.argmax(model_of.predict(ids, [True] * length))),
                answers=[[4, 5, 6]],
                marks=[p % 4 == 1 for p in range(length)],
                runner_up=scores[1],
                rivals={"other": scores[2]},
                randomised={1: scores[1], 2: scores[2]},
                ledger=scores[2],
            )
        )
    return found


@pytest.mark.parametrize(("family", "task"), [("bert", Task.SEQUENCE), ("llama", Task.CAUSAL)])
def test_metrics_of_a_network_are_those_of_the_oracle(family: str, task: Task) -> None:
    own = model(family, task, torch.float64)
    some = real(own)
    found = measure(own, [case_of(s) for s in some], WHOLE)
    for s, by_metric in zip(some, found, strict=True):
        assert list(by_metric) == list(WHOLE)
        for name, measures in by_metric.items():
            metric, _, protocol = name.partition("@")
            assert_equal(measures, ORACLES[metric, protocol](s))


def test_metrics_share_their_probes() -> None:
    own = model("bert", Task.SEQUENCE, torch.float64)
    some = real(own)
    metrics: dict[str, dict[str, Any]] = {"aopc": {}, "log_odds": {}, "sufficiency": {}}
    unique = {probe for s in some for name in metrics for probe in asked(s, name)[1]}
    with counted(own) as sizes:
        measure(own, [case_of(s) for s in some], metrics)
    assert sum(count for count, _ in sizes) == len(unique)


def test_examples_that_are_passed_over_stand_in_their_place() -> None:
    own = model("bert", Task.SEQUENCE)
    short, long = case_of(drawn(0)), case_of(real(own)[2])
    found = measure(own, [short, long, short], {"aopc": {"protocol": "mask_lrp"}})
    assert [math.isnan(each["aopc"][""].value) for each in found] == [True, False, True]


def test_refused_options_are_told() -> None:
    own = model("bert", Task.SEQUENCE)
    with pytest.raises(InvalidOption, match="protocol='best' does not exist here"):
        measure(own, [case_of(drawn(1))], {"aopc": {"protocol": "best"}})


def test_every_metric_has_an_oracle() -> None:
    elsewhere = {"token_overlap", "runtime", "passes"}
    assert {metric for metric, _ in ORACLES} == set(METRICS) - elsewhere
