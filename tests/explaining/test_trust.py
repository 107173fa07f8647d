"""The verdict on one attribution: of every task, and refused where it would be about something else."""

from dataclasses import replace

import numpy as np
import pytest

import headlight
from headlight import Attribution, Example, InvalidInput, Model, Target
from headlight.metrics.trust import ORDERS

LONG = "the film is charming and often affecting but the plot was dull and the story not very good"


def test_the_curve_is_that_of_the_aopc(classifier: Model) -> None:
    found = headlight.trust(classifier, headlight.explain(classifier, LONG, "attcat"))
    measured = headlight.evaluate(classifier, [Example(LONG)], ["attcat"], ["aopc"], threads=1)
    assert len(found.random) == ORDERS
    assert found.whole - np.mean(found.curve[1:]) == pytest.approx(
        measured.values("aopc", "attcat")[0], abs=1e-5
    )
    assert found == headlight.trust(classifier, headlight.explain(classifier, LONG, "attcat"))


def test_the_best_order_of_many_is_never_poor_and_its_reverse_never_good(classifier: Model) -> None:
    first = headlight.explain(classifier, LONG, "random")
    draw = np.random.default_rng(5)
    maps = [replace(first, scores=draw.random(len(first))) for _ in range(30)]
    ranked = sorted(maps, key=lambda each: headlight.trust(classifier, each).mean)
    best, worst = (headlight.trust(classifier, each) for each in (ranked[0], ranked[-1]))
    assert best.lead > 0 > worst.lead
    assert worst.level in ("poor", "unknown")


def test_options_change_what_is_measured(classifier: Model) -> None:
    given = headlight.explain(classifier, LONG, "attcat")
    usual = headlight.trust(classifier, given)
    masked = headlight.trust(classifier, given, change="mask")
    other = headlight.trust(classifier, given, seed=3)
    assert masked.curve[1:] != usual.curve[1:]
    assert (other.curve, other.random == usual.random) == (usual.curve, False)


def test_every_task_that_has_probabilities_is_judged(
    classifier: Model, reader: Model, filler: Model, tagger: Model, writer: Model
) -> None:
    pair = ("who wrote it", "it was written by mary shelley in london")
    asked: list[tuple[Model, Attribution]] = [
        (classifier, headlight.explain(classifier, LONG, "attcat", "neutral")),
        (classifier, headlight.explain(classifier, ("the film", "is dull"), "attcat")),
        (reader, headlight.explain(reader, pair, "attcat")),
        (filler, headlight.explain(filler, "the film is [MASK] and dull", "attcat")),
        (tagger, headlight.explain(tagger, LONG, "attcat", Target(label="PER", position=4))),
        (writer, headlight.explain(writer, "the film is charming", "attcat")),
    ]
    for model, attribution in asked:
        found = headlight.trust(model, attribution)
        assert found.label == attribution.target.label
        assert found.whole == pytest.approx(attribution.target.probability, abs=1e-5)
        assert found.sentence


def test_foreign_scores_are_judged_like_our_own(classifier: Model) -> None:
    own = headlight.explain(classifier, LONG, "attcat")
    theirs = Attribution.from_scores(classifier, LONG, own.scores, method="theirs")
    assert headlight.trust(classifier, theirs) == headlight.trust(classifier, own)


def test_what_is_about_something_else_is_refused(classifier: Model, tagger: Model) -> None:
    found = headlight.explain(classifier, LONG, "attcat", "neutral")
    with pytest.raises(InvalidInput) as raised:
        headlight.trust(classifier, found.words())
    assert str(raised.value) == (
        "the attribution is of words, and the tokens of a text are removed to judge it. Give the attribution "
        "of tokens, before .words()."
    )
    bare = headlight.explain(classifier, headlight.Batch.from_ids([[2, 6, 3]]), "attcat")
    assert isinstance(bare, Attribution)
    with pytest.raises(InvalidInput, match="token ids without a text"):
        headlight.trust(classifier, bare)
    other = replace(found, target=replace(found.target, logit=found.target.logit + 1))
    with pytest.raises(InvalidInput, match=r"explains 'neutral' with the logit .*, which tiny"):
        headlight.trust(classifier, other)
    with pytest.raises(InvalidInput, match="which tiny tagger does not give"):
        headlight.trust(tagger, found)
    contrast = headlight.explain(classifier, LONG, "attcat", ("neutral", "positive"))
    with pytest.raises(InvalidInput, match="one class rather than another cannot be judged"):
        headlight.trust(classifier, contrast)
    shorter = replace(found, texts=("the film",))
    with pytest.raises(
        InvalidInput, match=r"has 20 tokens, and tiny classifier reads 4, or others"
    ):
        headlight.trust(classifier, shorter)
