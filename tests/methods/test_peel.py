"""Peeling: against loops in 64 bits, and what is removed, kept, measured and said."""

import re
from dataclasses import replace
from itertools import count
from typing import Any, get_args

import numpy as np
import pytest
import torch
from transformers.models.llama.modeling_llama import LlamaRMSNorm

import headlight
from headlight import METHODS, Attribution, Batch, InvalidOption, Model, Target
from headlight.methods import peel as home
from headlight.methods.peel import Change, Peeled, unit_names
from headlight.models.model import Task
from headlight.probing.probe import CHANGES
from headlight.trace.again import again
from tests.methods.test_relevance import exact_norm
from tests.networks import TARGETS, model, network, rows
from tests.reference.peeling import peeled

CASES = {"bert": Task.SEQUENCE, "llama": Task.CAUSAL, "gpt2": Task.CAUSAL}
IDS = rows()[2]
TEXT = "a charming and often affecting journey but the plot is dull"
NOTE = "an order of removal, not amounts: "


def one(wrapped: Model, inputs: Any = TEXT, target: Any = None, **options: Any) -> Attribution:
    found = headlight.explain(wrapped, inputs, "peel", target, **options)
    assert isinstance(found, Attribution)
    return found


@pytest.fixture
def falling(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is measured always falls, so that all cuts are made."""
    steps = count(0, -1)
    monkeypatch.setattr(home, "measured", lambda seen: [float(next(steps))] * len(seen.rows))


def order_of(found: Attribution, places: list[int]) -> list[int]:
    """These places from the highest score down."""
    return sorted(places, key=lambda place: -found.scores[place])


# ------------------------------------------------------------------------------------- the formula


@pytest.mark.parametrize(
    ("cuts", "mix", "base"),
    [([0.2, 0.5], 0.5, "attn_lrp"), ([0.15, 0.35, 0.6], 1.0, "libragrad"), ([], 0.5, "attn_lrp")],
)
@pytest.mark.parametrize("family", CASES)
def test_scores_equal_those_of_the_oracle(
    family: str, cuts: list[float], mix: float, base: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(LlamaRMSNorm, "forward", exact_norm)
    net = network(family, CASES[family]).double()
    wrapped, steps = headlight.wrap(net), []
    for ids, label in ((rows()[1], 0), (rows()[1], 2), (IDS, 1), (IDS, 2)):
        # A language model is read at its last token, which stays.
        last = len(ids) - (CASES[family] is Task.CAUSAL)
        expected, logs = peeled(net, ids, label, [[p] for p in range(last)], cuts, mix, base)
        found = one(wrapped, Batch.from_ids(ids), label, cuts=cuts, mix=mix, base=base)
        assert np.abs(found.scores - expected).max() < 1e-9 * np.abs(expected).max()
        measured = re.findall(r"(?:from|to) (-?[\d.e-]+\d)", found.notes[0])
        assert [float(n) for n in measured] == pytest.approx(logs if cuts else [], rel=1e-3)
        steps.append(len(logs) - 1)
    assert max(steps) >= min(2, len(cuts)), "some row goes beyond the first cut"


def test_words_are_removed_whole(classifier: Model) -> None:
    wrapped = headlight.wrap(network("bert", Task.SEQUENCE).double(), classifier.tokenizer)
    found = one(wrapped, "boring and unfunny but never dullly good", 1, units="words")
    assert found.word_ids is not None
    groups = [
        [p for p, own in enumerate(found.word_ids) if own == word]
        for word in sorted({word for word in found.word_ids if word is not None})
    ]
    assert max(map(len, groups)) > 1
    ids = wrapped.tokenizer("boring and unfunny but never dullly good")["input_ids"]  # type: ignore[misc]
    expected, _ = peeled(wrapped.network, ids, 1, groups, [0.2, 0.5], 0.5)
    np.testing.assert_allclose(found.scores, expected, rtol=1e-8, atol=1e-12)
    assert all(np.ptp(found.scores[group]) == 0 for group in groups)


def test_the_values_are_those_of_the_base_in_another_order() -> None:
    wrapped, batch = model("bert", Task.SEQUENCE, torch.float64), Batch.from_ids(rows())
    peels = headlight.explain(wrapped, batch, "peel", 1)
    bases = headlight.explain(wrapped, batch, "attn_lrp", 1)
    pairs = list(zip(peels, bases, strict=True))
    for peel, base in pairs:
        np.testing.assert_array_equal(np.sort(peel.scores), np.sort(base.scores))
    assert any((peel.scores != base.scores).any() for peel, base in pairs)


def test_up_to_the_first_cut_it_is_the_order_of_the_base(falling: None) -> None:
    wrapped, batch = model("bert", Task.SEQUENCE, torch.float64), Batch.from_ids(IDS)
    base = headlight.explain(wrapped, batch, "attn_lrp", 1)
    found = one(wrapped, batch, 1, cuts=[0.3], mix=1.0)
    places = list(range(len(IDS)))
    assert order_of(found, places)[:4] == order_of(base, places)[:4]
    assert order_of(found, places) != order_of(base, places)


def test_equal_cuts_and_their_order_do_not_matter() -> None:
    wrapped, batch = model("bert", Task.SEQUENCE, torch.float64), Batch.from_ids(IDS)
    once = one(wrapped, batch, 1, cuts=[0.2, 0.5])
    again = one(wrapped, batch, 1, cuts=[0.5, 0.2, 0.5])
    np.testing.assert_array_equal(once.scores, again.scores)


# ------------------------------------------------------------------------------------ one row


def row(current: list[float], **facts: Any) -> Peeled:
    """A row of single tokens before anything is removed."""
    units = tuple((n,) for n in range(len(current)))
    values = np.array(current)
    return replace(Peeled(0, units, values, values, (), (0.0,)), **facts)


@pytest.mark.parametrize(
    ("size", "counts"), [(10, [2, 5]), (5, [1, 3]), (3, [1]), (2, []), (1, []), (0, [])]
)
def test_a_cut_removes_at_least_one_unit_and_leaves_two(size: int, counts: list[int]) -> None:
    state = row([float(-n) for n in range(size)])
    found = []
    for step, cut in enumerate((0.2, 0.5, 1.0)):
        if state.goes_on(cut):
            state = state.after(cut, np.zeros(size), -1.0 - step, 0.5)
            found.append(len(state.order))
    assert found == counts


def test_what_is_left_gets_the_new_relevance_as_shares() -> None:
    state = row([0.4, 0.1, 0.3, -0.2]).after(0.25, np.array([9.0, 3.0, -1.0, 4.0]), -1.0, 0.5)
    assert state.order == (0,)
    np.testing.assert_allclose(state.current, [0.4, 0.2375, 0.0875, 0.15])
    assert state.whole_order == (0, 1, 3, 2)
    np.testing.assert_allclose(state.scores(np.full(4, 7.0)), [0.4, 0.3, -0.2, 0.1])


@pytest.mark.parametrize("value", [0.0, 0.5])
def test_a_removal_that_lowers_nothing_ends_it_and_is_said(value: float) -> None:
    start = row([0.1, 0.4, 0.3, 0.2])
    state = start.after(0.25, np.array([9.0, 0.0, 0.0, 1.0]), value, 0.5)
    assert state.is_done
    assert not state.goes_on(0.5)
    assert state.whole_order == start.whole_order == (1, 2, 3, 0)
    assert state.note("value") == (
        f"{NOTE}of 4 that can be removed, the value goes from 0 to {value:.4g} without the first 1; there "
        "the base's order was kept, because that is no fall"
    )


def test_rows_that_stop_leave_the_others_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    wrapped, batch = model("bert", Task.SEQUENCE, torch.float64), Batch.from_ids([IDS, IDS, IDS])
    calls: list[int] = []

    def measured(seen: Any) -> list[float]:
        calls.append(len(seen.rows))
        values = {1: [0.0, 0.0, 0.0], 2: [-1.0, 0.0, -1.0], 3: [-2.0, -2.0]}
        return values[len(calls)]

    base = headlight.explain(wrapped, Batch.from_ids(IDS), "attn_lrp", 1).scores
    monkeypatch.setattr(home, "measured", measured)
    found = headlight.explain(wrapped, batch, "peel", 1)
    assert calls == [3, 3, 2]
    np.testing.assert_allclose(found[1].scores, base, rtol=1e-8)
    assert (found[0].scores != found[1].scores).any()
    np.testing.assert_allclose(found[2].scores, found[0].scores, rtol=1e-8)
    assert "no fall" in found[1].notes[0]


# ------------------------------------------------------------------------ what may be removed, and how


@pytest.mark.parametrize("change", get_args(Change))
@pytest.mark.parametrize("family", ["bert", "roberta", "gpt2", "llama"])
def test_every_way_of_removing_gives_an_order(family: str, change: str, tokenizer: Any) -> None:
    assert change in CHANGES
    task = Task.SEQUENCE
    wrapped = headlight.wrap(network(family, task).double(), tokenizer)
    batch = Batch.from_ids(rows())
    together = headlight.explain(wrapped, batch, "peel", 1, change=change)
    alone = one(wrapped, Batch.from_ids(rows()[0]), 1, change=change)
    np.testing.assert_allclose(together[0].scores, alone.scores, rtol=1e-8)
    assert all(np.isfinite(each.scores).all() for each in together)


def test_ways_of_removing_differ(classifier: Model) -> None:
    found = {change: one(classifier, target=2, change=change).notes for change in get_args(Change)}
    assert len(set(found.values())) >= 3
    assert found["pad"] == found["hide"], "what is not attended to is not seen"


def test_a_model_without_a_mask_token_says_so() -> None:
    with pytest.raises(InvalidOption, match="needs a mask token, which this model does not have"):
        one(model("bert", Task.SEQUENCE), Batch.from_ids(IDS), change="mask")


def test_special_tokens_stay_and_keep_the_score_of_the_base(classifier: Model) -> None:
    found = one(classifier, target=1)
    base = headlight.explain(classifier, TEXT, "attn_lrp", 1)
    special = np.array(found.is_special)
    np.testing.assert_array_equal(found.scores[special], base.scores[special])
    assert f"of {(~special).sum()} that can be removed" in found.notes[0]


@pytest.mark.parametrize(
    ("family", "task", "target", "read"),
    [
        ("bert", Task.TOKEN, TARGETS[Task.TOKEN], {2}),
        ("bert", Task.MASKED, Target(position=4), {4}),
        ("bert", Task.QUESTION, Target(span=(3, 6)), {3, 6}),
        ("bert", Task.QUESTION, Target(span=(3, 6), part="end"), {6}),
        ("llama", Task.CAUSAL, Target(label=5, contrast=6), {len(IDS) - 1}),
        ("llama", Task.CAUSAL, Target(span=(8, 10)), {7, 8, 9}),
        ("llama", Task.SEQUENCE, Target(label=2), set()),
        ("bert", Task.REGRESSION, None, set()),
    ],
)
def test_tokens_at_which_a_target_is_read_stay_and_move_with_the_rest(
    family: str,
    task: Task,
    target: Target | None,
    read: set[int],
    falling: None,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    wrapped, seen = model(family, task, torch.float64), []

    def watched(trace: Any, changed: Any, needs: Any) -> Any:
        found = again(trace, changed, needs)
        seen.append((changed[0], found.goal))
        return found

    monkeypatch.setattr(home, "again", watched)
    found = one(wrapped, Batch.from_ids(IDS), target)
    assert len(seen) == 2
    for changed, goal in seen:
        assert read <= set(changed.places)
        moved = {changed.places[p] for p in goal.positions[0].tolist()} if read else set()
        assert moved == read
        assert changed.row.ids == tuple(IDS[p] for p in changed.places)
    later = max(read, default=len(IDS) - 1) if task is Task.CAUSAL else len(IDS) - 1
    removable = later + 1 - len(read & set(range(later + 1)))
    assert f"of {removable} that can be removed" in found.notes[0]


def test_units_of_a_row_are_those_of_the_call_words_or_tokens() -> None:
    (bare,) = Batch.from_ids([[5, 6, 7]]).rows
    assert unit_names(bare, "tokens") == [("token", 0), ("token", 1), ("token", 2)]
    worded = replace(bare, word_ids=(0, None, 0))
    assert unit_names(worded, "words") == [("word", 0), ("token", 1), ("word", 0)]
    given = replace(worded, units=(None, 1, 1))
    assert unit_names(given, "words") == [None, ("unit", 1), ("unit", 1)]
    with pytest.raises(InvalidOption, match="for token ids, which have no words"):
        unit_names(bare, "words")


def test_a_word_at_which_the_target_is_read_stays_whole(tagger: Model) -> None:
    found = one(tagger, "mary unfunny london dull", Target(word=1), units="words")
    assert "of 3 that can be removed" in found.notes[0]


# ------------------------------------------------------------------------------- bases and options


@pytest.mark.parametrize("base", ["gim", "gae", "rollout", "input_x_gradient", "lrp", "attcat"])
def test_every_method_of_one_pass_may_be_the_base(classifier: Model, base: str) -> None:
    found = one(classifier, target=1, base=base)
    alone = headlight.explain(classifier, TEXT, base, 1)
    assert found.options["base"] == base
    assert found.signed == alone.signed
    np.testing.assert_allclose(np.sort(found.scores), np.sort(alone.scores), rtol=1e-5, atol=1e-7)


def test_the_options_of_a_base_are_part_of_its_name(classifier: Model) -> None:
    found = one(classifier, target=1, base="modified_gradient:value=1.0,scores=0.0")
    same = one(classifier, target=1, base="cp_lrp")
    np.testing.assert_allclose(found.scores, same.scores, rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize("base", ["peel", "occlusion", "integrated_gradients", "attention_flow"])
def test_a_base_of_many_passes_is_refused(classifier: Model, base: str) -> None:
    with pytest.raises(InvalidOption, match=f"base='{base}' takes more than one pass"):
        one(classifier, base=base)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"cuts": [0.0]}, r"cuts=\[0.0\] is not possible for 'peel'. Use a list, each a number"),
        ({"cuts": 0.2}, "cuts=0.2 is not possible"),
        ({"mix": 1.5}, "mix=1.5 is not possible"),
        ({"change": "pad_attended"}, "change='pad_attended' is not possible"),
        ({"units": "sentences"}, "units='sentences' is not possible"),
    ],
)
def test_bad_options_are_refused(classifier: Model, options: dict[str, Any], said: str) -> None:
    with pytest.raises(InvalidOption, match=said):
        one(classifier, **options)


def test_lists_are_part_of_a_name(classifier: Model) -> None:
    given = one(classifier, target=1, cuts=[0.15, 0.6], mix=1.0)
    named = headlight.explain(classifier, TEXT, "peel:cuts=[0.15,0.6],mix=1", 1)
    chosen = headlight.explain(classifier, TEXT, headlight.using.peel(cuts=[0.15, 0.6], mix=1.0), 1)
    assert named.method == "peel:cuts=[0.15,0.6],mix=1.0"
    assert chosen.method == named.method
    assert named.options["cuts"] == given.options["cuts"] == [0.15, 0.6]
    for each in (named, chosen):
        np.testing.assert_array_equal(each.scores, given.scores)
    assert Attribution.from_dict(named.to_dict()).options["cuts"] == [0.15, 0.6]


def test_a_text_that_is_too_short_has_the_order_of_the_base(classifier: Model) -> None:
    found, base = (headlight.explain(classifier, "dull film", m, 1) for m in ("peel", "attn_lrp"))
    np.testing.assert_array_equal(found.scores, base.scores)
    assert found.notes[0] == f"{NOTE}too short to be peeled, so it is the order of the base"


def test_it_is_registered_as_an_order_that_a_few_passes_make() -> None:
    entry = METHODS["conditional_relevance"]
    assert (entry.name, entry.cost, entry.is_order) == ("peel", "fast", True)
    assert [name for name in METHODS if METHODS[name].is_order] == ["peel"]
