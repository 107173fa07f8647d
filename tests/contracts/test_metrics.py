"""No metric can be won by the size of scores, or by scores that are all equal."""

import math
from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
import pytest

from headlight import METRICS
from headlight.metrics.measuring import measure
from headlight.metrics.words import TypeScores, token_overlap
from headlight.probing.probe import Outcome, Probe
from tests.metrics import Drawn, answer, asked, case_of, drawn, sentence
from tests.reference.metrics import ORACLES, Sentence

AMOUNTS = {"completeness", "answer_completeness"}
"""They compare the sum of scores with a number, so that another scale is another claim."""
UNSCORED = {"conservation", "runtime", "passes"}
"""They do not look at scores of tokens."""
OF_SCORES = [
    (metric, protocol) for metric, protocol in ORACLES if metric not in {*AMOUNTS, *UNSCORED}
]


def multiplied(s: Sentence, factor: float) -> Sentence:
    """All scores of a sentence times a number, those in other roles too."""

    def times(scores: Any) -> Any:
        return None if scores is None else [score * factor for score in scores]

    return replace(
        s,
        scores=times(s.scores),
        runner_up=times(s.runner_up),
        rivals={name: times(scores) for name, scores in s.rivals.items()},
        randomised={depth: times(scores) for depth, scores in s.randomised.items()},
    )


@pytest.mark.parametrize("factor", [1e-12, 3.0, 1e9])
@pytest.mark.parametrize(("metric", "protocol"), OF_SCORES)
def test_a_positive_factor_changes_nothing(metric: str, protocol: str, factor: float) -> None:
    options = {"protocol": protocol} if protocol else {}
    for seed in (1, 3, 4, 6, 12):
        found = asked(drawn(seed), metric, **options)[0]
        other = asked(multiplied(drawn(seed), factor), metric, **options)[0]
        assert list(found) == list(other)
        for part, own in found.items():
            assert own.value == pytest.approx(other[part].value, abs=1e-6, nan_ok=True)


def test_a_positive_factor_changes_no_words() -> None:
    def examples(factor: float) -> list[TypeScores]:
        return [
            TypeScores(("a", "b", "c"), factor * np.array([3.0, 1.0, -2.0]), "good"),
            TypeScores(("a", "d", "e"), factor * np.array([1.0, 2.0, 3.0]), "bad"),
        ]

    found = [token_overlap(examples(factor), sizes=(1, 2, 3))[""] for factor in (1, 1e-9, 1e9)]
    assert found[0] == found[1] == found[2]


def constant_and_random(metric: str, seed: int) -> tuple[list[float], list[float]]:
    """The values of scores that are all equal, and of 20 drawn ones, on a sentence where early words decide."""
    generator = np.random.default_rng(seed)
    length = 14
    ids = generator.integers(5, 120, length).tolist()
    model = Drawn(seed)
    label = int(np.argmax(model.predict(ids, [True] * length)))
    sources = [None, *sorted([0, 1, 2, 3] * 3), None]

    def scored(scores: list[float]) -> Sentence:
        others = generator.normal(size=(3, length)).tolist()
        return replace(
            sentence(ids, scores, model),
            label=label,
            gold=label,
            marks=[p in (2, 5, 6) for p in range(length)],
            answers=[[3, 4]],
            runner_up=[1.0] * length if len(set(scores)) == 1 else others[0],
            rivals={"other": [1.0] * length if len(set(scores)) == 1 else others[1]},
            randomised={1: [1.0] * length if len(set(scores)) == 1 else others[2]},
            sources=sources if METRICS[metric].group == "sources" else [],
            right_source=0,
        )

    options: dict[str, Any] = {"k": 4} if metric.endswith("_at_k") else {}

    every = [scored([0.7] * length)]
    every += [scored(generator.random(length).tolist()) for _ in range(20)]

    @cache
    def answered(probe: Probe) -> Outcome:
        return answer(every[0], probe)

    def put(_model: object, probes: Sequence[Probe]) -> list[Outcome]:
        return [answered(probe) for probe in probes]

    nobody: Any = None
    found = measure(nobody, [case_of(s) for s in every], {metric: options}, put)
    constant, *random = [[own.value for own in each[metric].values()] for each in found]
    return constant, np.nanmean(random, 0).tolist()


@pytest.mark.parametrize("metric", sorted({metric for metric, _ in OF_SCORES}))
def test_equal_scores_are_not_better_than_random_ones(metric: str) -> None:
    sign = 1 if METRICS[metric].better == "higher" else -1
    pairs = [constant_and_random(metric, seed) for seed in range(24)]
    gains = np.array([sign * (np.array(own) - np.array(chance)) for own, chance in pairs])
    gains = gains[~np.isnan(gains).any(1)]
    assert len(gains) > 18, "equal scores must not be passed over where others are measured"
    error = gains.std(0, ddof=1) / math.sqrt(len(gains))
    assert (gains.mean(0) <= 3 * error + 1e-9).all()
