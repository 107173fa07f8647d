"""What the tests of metrics share: toy models, sentences, and a metric asked through them."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Any, cast

import numpy as np
import pytest
from hypothesis import settings

from headlight.batch import Row
from headlight.metrics.case import Case, Measures
from headlight.metrics.measuring import measure
from headlight.models.model import Model
from headlight.probing.probe import Outcome, Probe, Subject
from tests.reference.metrics import ORACLES, Found, Sentence

few = settings(max_examples=40, deadline=None, derandomize=True)

CLS, SEP, MASK, PAD = 2, 3, 4, 0


def logarithm(number: float) -> float:
    """Of 0 as well."""
    return math.log(number) if number > 0 else -math.inf


@dataclass(frozen=True)
class Odds:
    """Two classes; every token that is attended to multiplies the odds of class 1."""

    factors: dict[int, float]

    def odds(
        self, ids: Sequence[int], attended: Sequence[bool], shares: Sequence[float] = ()
    ) -> float:
        found = 1.0
        for token, seen, share in zip(ids, attended, shares or [1.0] * len(ids), strict=True):
            found *= self.factors.get(token, 1.0) ** share if seen else 1.0
        return found

    def predict(
        self, ids: Sequence[int], attended: Sequence[bool], shares: Sequence[float] = ()
    ) -> list[float]:
        odds = self.odds(ids, attended, shares)
        return [1 / (1 + odds), odds / (1 + odds)]

    def logits(
        self, ids: Sequence[int], attended: Sequence[bool], shares: Sequence[float] = ()
    ) -> list[float]:
        return [0.0, logarithm(self.odds(ids, attended, shares))]


A, B, C, D = 10, 11, 12, 13
ODDS = Odds({A: 6.0, B: 2.0, C: 0.5, D: 0.5})
"""Of [CLS] A B C D [SEP] the odds are 3, the probability of class 1 is 3/4."""


@cache
def drawn_weights(seed: int) -> list[list[float]]:
    """A weight for every token id and class."""
    return np.random.default_rng(seed).normal(size=(120, 3)).tolist()


@dataclass(frozen=True)
class Drawn:
    """Three classes; logits are sums of drawn weights, the more the later a token stands."""

    seed: int

    def logits(
        self, ids: Sequence[int], attended: Sequence[bool], shares: Sequence[float] = ()
    ) -> list[float]:
        weights = drawn_weights(self.seed)
        found = [0.3, 0.0, -0.3]
        left = shares or [1.0] * len(ids)
        for place, (token, seen) in enumerate(zip(ids, attended, strict=True)):
            for label in range(3):
                effect = weights[token][label] * (1 + place / 10) / 3
                found[label] += left[place] * effect if seen else 0.0
        return found

    def predict(
        self, ids: Sequence[int], attended: Sequence[bool], shares: Sequence[float] = ()
    ) -> list[float]:
        sizes = [math.exp(logit) for logit in self.logits(ids, attended, shares)]
        return [size / sum(sizes) for size in sizes]


Toy = Odds | Drawn


def sentence(
    ids: Sequence[int], scores: Sequence[float], model: Toy = ODDS, **facts: Any
) -> Sentence:
    """A sentence in which [CLS] and [SEP] are special."""
    special = [token in (CLS, SEP) for token in ids]
    return Sentence(list(ids), special, list(scores), model.predict, model.logits, **facts)


def drawn(seed: int) -> Sentence:
    """A sentence of 3 to 25 tokens: ties, special and hidden tokens anywhere, decisions read anywhere."""
    generator = np.random.default_rng(seed)
    length = 3 + (7 * seed) % 23
    special = generator.random(length) < 0.15
    special[[0, -1]] = seed % 5 != 4

    def scores() -> list[float]:
        found = generator.normal(size=length)
        if seed % 3 == 0:
            found = np.round(found)
        return (found * (seed % 11 != 10)).tolist()

    def span() -> list[int]:
        first = int(generator.integers(length))
        return list(range(first, min(length, first + int(generator.integers(1, 5)))))

    model = Drawn(seed)
    found = Sentence(
        ids=generator.integers(5, 120, length).tolist(),
        special=special.tolist(),
        scores=scores(),
        predict=model.predict,
        logits=model.logits,
        label=seed % 3,
        attended=(generator.random(length) < 0.9).tolist(),
        kept=[int(generator.integers(length))] if seed % 4 == 3 else [],
        mask_id=None if seed % 6 == 5 else MASK,
        pad_id=None if seed % 8 == 7 else PAD,
        gold=None if seed % 9 == 8 else int(generator.integers(3)),
        answers=[span() for _ in range(seed % 3)],
        marks=None if seed % 9 == 7 else (generator.random(length) < 0.4).tolist(),
        runner_up=None if seed % 9 == 6 else scores(),
        rivals={str(n): scores() for n in range(seed % 4)},
        randomised={depth: scores() for depth in (2, 10, 1)[: seed % 4]},
        ledger=None if seed % 9 == 5 else scores(),
    )
    return replace(found, **drawn_sources(found, seed))


def drawn_sources(s: Sentence, seed: int) -> dict[str, Any]:
    """Up to five sources among the tokens that may be removed, and what is known of them."""
    generator = np.random.default_rng(1000 + seed)
    count = seed % 6
    free = s.removable()
    taken = dict(
        zip(free, sorted(generator.integers(0, max(count, 1), len(free)).tolist()), strict=True)
    )
    names = {own: new for new, own in enumerate(dict.fromkeys(taken.values()))}
    sources = [names[taken[p]] if p in taken else None for p in range(len(s.ids))]
    return {
        "sources": sources if count else [],
        "right_source": None if seed % 7 == 6 else int(generator.integers(max(count, 1))),
        "explained": 0.0 if seed % 7 == 5 else float(generator.normal()),
    }


def case_of(s: Sentence, method: str = "some") -> Case:
    """The same sentence as metrics know it."""
    row = Row(tuple(s.ids), tuple(s.seen), tuple(map(str, s.ids)), tuple(s.special))
    places = tuple(s.kept) or (0,)
    others = {f"rival:{name}": scores for name, scores in s.rivals.items()}
    others |= {f"randomised:{depth}": scores for depth, scores in s.randomised.items()}
    if s.runner_up is not None:
        others["runner_up"] = s.runner_up
    if s.ledger is not None:
        others["ledger"] = s.ledger
    classes = (s.label,) * len(places)
    return Case(
        subject=Subject(row, places, classes, not s.kept, s.mask_id, s.pad_id, s.unknown_id),
        scores=np.array(s.scores),
        method=method,
        signed=s.signed,
        gold=s.gold,
        marks=None if s.marks is None else np.array(s.marks),
        answers=tuple(map(tuple, s.answers)),
        others={role: np.array(scores) for role, scores in others.items()},
        sources=tuple(s.sources),
        right_source=s.right_source,
        explained=s.explained,
    )


def answer(s: Sentence, probe: Probe) -> Outcome:
    """What the sentence's model says to a probe; every draw keeps a little more than the one before."""
    shares = [share * (1 + probe.draw / 10) for share in probe.kept or ()]
    given = (list(probe.ids), list(probe.attended), shares)
    p = s.predict(*given)
    return Outcome(s.logits(*given)[s.label], logarithm(p[s.label]), p.index(max(p)))


def asked(
    s: Sentence, metric: str, method: str = "some", **options: Any
) -> tuple[Measures, list[Probe]]:
    """What a metric finds on a sentence, and the probes that it puts to the model."""
    probes: list[Probe] = []

    def put(_model: object, asked: Sequence[Probe]) -> list[Outcome]:
        probes.extend(asked)
        return [answer(s, probe) for probe in asked]

    nobody = cast("Model", None)
    (found,) = measure(nobody, [case_of(s, method)], {metric: options}, put)
    return found[metric], probes


def value(s: Sentence, metric: str, **options: Any) -> float:
    """The one value of a metric."""
    return asked(s, metric, **options)[0][""].value


def assert_equal(found: Measures, expected: dict[str, Found], precision: float = 1e-9) -> None:
    """Values, weights and curves are those of the oracle."""
    assert set(found) == set(expected)
    for part, own in expected.items():
        near: dict[str, Any] = {"abs": precision, "nan_ok": True}
        assert found[part].value == pytest.approx(own.value, **near)
        assert found[part].weight == own.weight
        assert list(found[part].curve) == pytest.approx(own.curve, **near)
        assert bool(found[part].note) or not math.isnan(own.value)


def assert_replicated(metric: str, protocol: str, seed: int) -> None:
    """A metric finds on a drawn sentence what its oracle finds."""
    s = drawn(seed)
    options = {"protocol": protocol} if protocol else {}
    assert_equal(asked(s, metric, **options)[0], ORACLES[metric, protocol](s))


def protocols(*metrics: str) -> list[tuple[str, str]]:
    """The oracles of these metrics."""
    return [key for key in ORACLES if key[0] in metrics]
