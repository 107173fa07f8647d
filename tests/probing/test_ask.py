"""Answers to probes are those of plain passes, however they are packed."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest
import torch

import headlight
from headlight import Model, UnsupportedModel
from headlight.models.model import Task
from headlight.probing.ask import ask
from headlight.probing.probe import Outcome, Probe, Subject
from tests.contracts.test_no_mark import assert_same, fingerprint
from tests.metrics import CLS, MASK, SEP
from tests.networks import model, network, rows
from tests.probing.test_probe import PAIR, counted, subject, typed
from tests.proof.test_encoder_decoders import in_64_bits, t5

FAMILIES = [
    ("bert", Task.SEQUENCE),
    ("bert", Task.TOKEN),
    ("bert", Task.QUESTION),
    ("gpt2", Task.SEQUENCE),
    ("llama", Task.CAUSAL),
]

PRECISIONS = [(torch.float32, 1e-5), (torch.float64, 1e-10)]


def probes_of(task: Task) -> list[Probe]:
    """Probes of several lengths in no order, some of them twice."""
    found = []
    for some in subjects(task):
        found += [some.whole, some.without(some.eligible[:2], "delete"), some.whole]
        found += [some.without(some.eligible[::2], change) for change in ("hide", "pad_attended")]
        found.append(some.without(some.eligible, "delete"))
    return found


def plain(own: Model, probe: Probe) -> Outcome:
    """One probe on its own, through the network's own call."""
    given = {"input_ids": [probe.ids], "attention_mask": [probe.attended]}
    given |= {} if probe.types is None else {"token_type_ids": [probe.types]}
    with torch.no_grad():
        out = own.network(**{name: torch.tensor(v).long() for name, v in given.items()})
    if own.task is Task.QUESTION:
        ends = (out.start_logits[0].double(), out.end_logits[0].double())
        chosen = list(zip(ends, probe.positions, strict=True))
        logit = sum(float(logits[p]) for logits, p in chosen)
        log = sum(float(logits.log_softmax(0)[p]) for logits, p in chosen)
        first = [float(logits[probe.positions[0]]) for logits in ends]
        return Outcome(logit, log, first.index(max(first)))
    logits = out.logits[0].double()
    logits = logits if own.task is Task.SEQUENCE else logits[probe.positions[0]]
    label = probe.classes[0]
    return Outcome(float(logits[label]), float(logits.log_softmax(0)[label]), int(logits.argmax()))


def assert_alike(found: Sequence[Outcome], expected: Sequence[Outcome], precision: float) -> None:
    for one, other in zip(found, expected, strict=True):
        assert one.logit == pytest.approx(other.logit, abs=precision)
        assert one.log_probability == pytest.approx(other.log_probability, abs=precision)
        assert one.predicted == other.predicted


def subjects(task: Task) -> list[Subject]:
    """Rows of three lengths, read where the task reads."""
    found = []
    for ids in rows():
        whole = [CLS, *ids, SEP]
        places = {Task.TOKEN: (2,), Task.QUESTION: (1, 3), Task.CAUSAL: (len(whole) - 1,)}
        classes = (0, 1) if task is Task.QUESTION else (1,)
        is_pooled = task is Task.SEQUENCE
        mask_id = None if task is Task.CAUSAL else MASK
        own = subject(whole, positions=places.get(task, (0,)), classes=classes)
        found.append(replace(own, is_pooled=is_pooled, mask_id=mask_id))
    return found


@pytest.mark.parametrize(("dtype", "precision"), PRECISIONS)
@pytest.mark.parametrize(("family", "task"), FAMILIES)
def test_answers_are_those_of_a_plain_pass(
    family: str, task: Task, dtype: torch.dtype, precision: float
) -> None:
    own, probes = model(family, task, dtype), probes_of(task)
    assert_alike(ask(own, probes), [plain(own, probe) for probe in probes], precision)


@pytest.mark.parametrize(("dtype", "precision"), PRECISIONS)
@pytest.mark.parametrize(("family", "task"), FAMILIES)
def test_answers_do_not_depend_on_the_packing(
    family: str, task: Task, dtype: torch.dtype, precision: float
) -> None:
    own, probes = model(family, task, dtype), probes_of(task)
    alone = ask(own, probes, tokens_at_once=1)
    for size in (30, 4_096):
        assert_alike(ask(own, probes, tokens_at_once=size), alone, precision)


@pytest.mark.parametrize(("family", "task"), FAMILIES)
def test_answers_are_in_the_order_of_the_probes(family: str, task: Task) -> None:
    own, probes = model(family, task), probes_of(task)
    assert_alike(ask(own, probes[::-1]), ask(own, probes)[::-1], 1e-5)


def test_equal_probes_are_asked_once() -> None:
    own, probes = model("bert", Task.SEQUENCE), probes_of(Task.SEQUENCE)
    unique = len(set(probes))
    assert unique < len(probes)
    with counted(own) as sizes:
        found = ask(own, probes * 3)
    assert sum(count for count, _ in sizes) == unique
    assert found[: len(probes)] == found[len(probes) : 2 * len(probes)]


@pytest.mark.parametrize("limit", [1, 20, 30, 100, 4_096])
def test_passes_are_filled_up_to_the_limit(limit: int) -> None:
    own, probes = model("bert", Task.SEQUENCE), probes_of(Task.SEQUENCE)
    with counted(own) as sizes:
        ask(own, probes, tokens_at_once=limit)
    assert all(count == 1 or count * width <= limit for count, width in sizes)
    assert [width for _, width in sizes] == sorted(width for _, width in sizes)
    assert limit > 1 or len(sizes) == len(set(probes))
    assert limit < 4_096 or len(sizes) == 1


def test_a_network_that_refuses_batches_is_given_single_rows() -> None:
    own = headlight.wrap(network("gpt2", Task.SEQUENCE, pad_token_id=None))
    probes = probes_of(Task.SEQUENCE)
    with counted(own) as sizes:
        found = ask(own, probes)
    assert {count for count, _ in sizes} == {1}
    assert_alike(found, [plain(own, probe) for probe in probes], 1e-5)


def test_token_types_reach_the_network() -> None:
    own = model("bert", Task.SEQUENCE, torch.float64)
    one, other = (typed(PAIR, types) for types in ([0] * 7, [0, 0, 0, 0, 1, 1, 1]))
    probes = [some.without(gone, "delete") for some in (one, other) for gone in ([], [1], [4, 5])]
    found = ask(own, probes)
    assert_alike(found, [plain(own, probe) for probe in probes], 1e-10)
    assert abs(found[0].logit - found[3].logit) > 1e-3


def test_no_probes_have_no_answers() -> None:
    own = model("bert", Task.SEQUENCE)
    with counted(own) as sizes:
        assert ask(own, []) == []
    assert sizes == []


@pytest.mark.parametrize("family", ["bert", "gpt2"])
def test_asking_leaves_no_mark(family: str) -> None:
    net = network(family, Task.SEQUENCE).train()
    next(net.parameters()).requires_grad_(False)
    own = headlight.wrap(net)
    before = fingerprint(net)
    ask(own, probes_of(Task.SEQUENCE))
    assert_same(before, fingerprint(net))


def test_a_network_in_training_mode_answers_as_in_evaluation_mode() -> None:
    net = network("bert", Task.SEQUENCE)
    own, probes = headlight.wrap(net), probes_of(Task.SEQUENCE)
    before = ask(own, probes)
    net.train()
    assert ask(own, probes) == before


@pytest.mark.parametrize("family", ["bert", "distilbert", "gpt2"])
def test_elements_of_word_embeddings_are_left_out(family: str) -> None:
    own = model(family, Task.SEQUENCE, torch.float64)
    some = [each for each in subjects(Task.SEQUENCE) if len(each.row) > 3][:2]
    probes = [
        each.thinned([1.0, *np.linspace(0, 1, len(each.row) - 2), 1.0], draw)
        for each in some
        for draw in (0, 8)
    ]
    probes += [each.whole for each in some]
    found = ask(own, probes)
    for probe, outcome in zip(probes, found, strict=True):
        words = own.word_embeddings.weight[list(probe.ids)].detach().clone()
        if probe.kept is not None:
            drawn = np.random.default_rng(probe.draw).random(tuple(words.shape))
            for token, share in enumerate(probe.kept):
                for element in range(words.shape[1]):
                    if drawn[token, element] >= share:
                        words[token, element] = 0
        with torch.no_grad():
            logits = own.network(inputs_embeds=words[None]).logits[0]
        assert outcome.logit == pytest.approx(float(logits[1]), abs=1e-9)
    assert len({outcome.logit for outcome in found}) == len(probes)


def test_keeping_everything_changes_nothing_and_leaves_no_mark() -> None:
    net = network("bert", Task.SEQUENCE)
    own = headlight.wrap(net)
    before = fingerprint(net)
    whole = subjects(Task.SEQUENCE)[0]
    all_kept = whole.thinned([1.0] * len(whole.row), 4)
    assert_alike(ask(own, [all_kept]), ask(own, [whole.whole]), 1e-6)
    assert_same(before, fingerprint(net))


def test_a_network_that_reads_its_text_twice_keeps_all_elements() -> None:
    own = headlight.wrap(in_64_bits(t5))
    some = subjects(Task.SEQUENCE)[0]
    with pytest.raises(UnsupportedModel, match="an encoder-decoder, which reads its text twice"):
        ask(own, [some.thinned([0.5] * len(some.row), 0)])
