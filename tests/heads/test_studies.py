"""How masks depend on thresholds, corpora and sample sizes; counts that add up."""

import pytest
import torch

import headlight
from headlight import HeadMask, InvalidInput, InvalidOption, Model
from headlight.heads import learn, mask_agreement, sample_sizes, threshold_sweep
from headlight.heads.statistics import COUNTED, HeadStatistics
from headlight.heads.synthetic_corpus import made_up_corpus

PARSES = list(made_up_corpus(24, seed=3))


@pytest.fixture(scope="module")
def counts(sentiment: Model) -> HeadStatistics:
    return learn(sentiment, PARSES)


@pytest.fixture(scope="module")
def sentiment() -> Model:
    return headlight.load("sentiment")


def test_higher_thresholds_never_select_more(counts: HeadStatistics) -> None:
    found = threshold_sweep(counts, syntactic=(0.0, 0.2), positional=(0.5, 0.9))
    low, more_positional, more_syntactic, high = (each.mask.heads for each in found)
    assert bool((low | ~more_positional).all())
    assert bool((low | ~more_syntactic).all())
    assert bool((more_positional | ~high).all())
    with pytest.raises(InvalidOption, match="at least one threshold"):
        threshold_sweep(counts, syntactic=())


def test_counts_of_two_halves_add_up_to_those_of_the_whole(
    sentiment: Model, counts: HeadStatistics
) -> None:
    added = learn(sentiment, PARSES[:5], name="a") + learn(sentiment, PARSES[5:], name="b")
    assert set(added.relations) == set(counts.relations)
    order = [added.relations.index(relation) for relation in counts.relations]
    for name in COUNTED[:-1]:
        assert torch.equal(getattr(added, name)[order], getattr(counts, name)), name
    assert torch.equal(added.offsets, counts.offsets)
    assert added.facts["texts"] == 24
    assert added.facts["corpus"] == "a + b"
    with pytest.raises(InvalidInput, match="different models"):
        counts + learn(headlight.load("topic"), PARSES[:5])


def test_roles_say_why_a_head_was_chosen(counts: HeadStatistics) -> None:
    mask = counts.mask(syntactic=0.0, positional=0.5)
    for (layer, head), roles in mask.roles.items():
        offsets = [role for role in roles if role[0] in "+-"]
        assert bool(mask.parts["positional"][layer - 1, head - 1]) == bool(offsets)
        assert bool(mask.parts["syntactic"][layer - 1, head - 1]) == (len(roles) > len(offsets))
    assert set(mask.roles) == {(n + 1, h + 1) for n, h in mask.heads.nonzero().tolist()}


def test_masks_agree_with_themselves_and_by_part() -> None:
    one = HeadMask({"syntactic": torch.eye(2).bool(), "positional": torch.zeros(2, 2).bool()})
    other = HeadMask({"syntactic": torch.tensor([[True, True], [False, False]])})
    (found,) = mask_agreement({"one": one, "other": other})
    assert found.overlap == pytest.approx(1 / 3)
    assert found.parts == {"syntactic": pytest.approx(1 / 3)}
    assert mask_agreement({"a": one, "b": one})[0].overlap == 1.0
    with pytest.raises(InvalidInput, match="at least two"):
        mask_agreement({"one": one})


def test_the_largest_sample_is_the_whole_corpus(sentiment: Model, counts: HeadStatistics) -> None:
    found = sample_sizes(sentiment, PARSES, parts=4, draws=3)
    assert [each.texts for each in found] == [6, 12, 24]
    assert found[-1].whole == (1.0,) * 3
    assert found[-1].heads == (counts.mask().count,) * 3
    assert [len(each.apart) for each in found] == [3, 3, 0]
    assert found == sample_sizes(sentiment, PARSES, parts=4, draws=3)
    with pytest.raises(InvalidOption, match=r"parts=25 .* of 24 texts\. Use 2 to 24"):
        sample_sizes(sentiment, PARSES, parts=25)
