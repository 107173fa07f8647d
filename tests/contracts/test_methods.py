"""What every method keeps on every family and task, because it is registered."""

from functools import cache

import numpy as np
import pytest
import torch

import headlight
from headlight import METHODS, Batch
from headlight.models.model import Task
from headlight.trace.trace import NEEDS
from tests.networks import CONFIGS, FAMILIES_AND_TASKS, TARGETS, model, network, options, rows

VARIANTS = ["paper", "released"]
CASES = [
    pytest.param(f, t, id=f"{f}-{t.name.lower()}", marks=pytest.mark.xdist_group(f"{f} {t}"))
    for f, t in FAMILIES_AND_TASKS
]
Answers = dict[str, list[np.ndarray]]


@cache
def answers(family: str, task: Task, variant: str, dtype: torch.dtype, alone: bool) -> Answers:
    """Scores of every method on rows of different lengths, together in one pass or one by one."""
    groups = [[row] for row in rows()] if alone else [rows()]
    names = [name for name in METHODS if variant == "paper" or METHODS[name].released]
    found: Answers = {name: [] for name in names}
    for group in groups:
        several = headlight.explain(
            model(family, task, dtype),
            Batch.from_ids(group),
            names,
            TARGETS.get(task),
            variant=variant,
            **options(*names, family=family, dtype=dtype),
        )
        for name, answer in several.items():
            found[name] += [a.scores for a in (answer if isinstance(answer, list) else [answer])]
    return found


def distance(first: list[np.ndarray], second: list[np.ndarray]) -> float:
    """The largest difference of two lists of scores, relative to the largest score of its row."""
    return max(
        float(np.abs(a - b).max() / max(np.abs(b).max(), 1e-12))
        for a, b in zip(first, second, strict=True)
    )


@pytest.mark.parametrize(("family", "task"), CASES)
@pytest.mark.parametrize("variant", VARIANTS)
def test_one_finite_score_for_each_token(variant: str, family: str, task: Task) -> None:
    for name, found in answers(family, task, variant, torch.float32, False).items():
        for scores, row in zip(found, rows(), strict=True):
            assert scores.shape == (len(row),), name
            assert scores.dtype == np.float32, name
            assert np.isfinite(scores).all(), name
            assert METHODS[name].signed or (scores >= 0).all(), name


@pytest.mark.parametrize(("family", "task"), CASES)
@pytest.mark.parametrize("variant", VARIANTS)
def test_padding_and_neighbours_do_not_change_scores(variant: str, family: str, task: Task) -> None:
    """Exactly in 64 bits; in 32 bits to 1e-5 where the scores themselves are that exact.

    Some scores are small differences of large terms (∇h·h is nearly 0 where a normalisation follows),
    or divide by sums that nearly cancel (relevance). Where the row alone is already off by more than
    1e-6 in 32 bits, 1e-4 is allowed, or ten times what it is off by; for relevance, ten times what its one
    sweep is off by.
    """
    exact = answers(family, task, variant, torch.float64, True)
    exact_together = answers(family, task, variant, torch.float64, False)
    alone = answers(family, task, variant, torch.float32, True)
    together = answers(family, task, variant, torch.float32, False)
    errors = {name: distance(alone[name], exact[name]) for name in exact if name != "random"}
    of_sweep = max(e for name, e in errors.items() if "relevance" in METHODS[name].needs)
    for name in exact:
        assert distance(exact_together[name], exact[name]) < 1e-8, name
        error = errors.get(name, 0.0)
        allowed = 1e-5 if error < 1e-6 else max(1e-4, 10 * error)
        if "relevance" in METHODS[name].needs:
            allowed = max(1e-5, 10 * of_sweep)
        assert distance(together[name], alone[name]) <= allowed, name


@pytest.mark.parametrize("name", list(METHODS))
def test_scores_say_something(name: str) -> None:
    scores = answers("bert", Task.SEQUENCE, "paper", torch.float32, False)[name]
    assert all(np.ptp(row) > 0 for row in scores)


@pytest.mark.parametrize("name", list(METHODS))
def test_the_same_call_gives_the_same_scores(name: str) -> None:
    first, second = (
        headlight.explain(
            model("bert", Task.SEQUENCE), Batch.from_ids(rows()), name, **options(name)
        )
        for _ in range(2)
    )
    assert [a.to_dict() for a in first] == [a.to_dict() for a in second]


@pytest.mark.parametrize("name", list(METHODS))
def test_entries_are_documented(name: str) -> None:
    entry = METHODS[name]
    assert entry.needs <= NEEDS
    assert entry.paper
    assert entry.summary.endswith(".")
    assert entry.released is None or entry.difference


@pytest.mark.parametrize("name", [n for n in METHODS if "replay" not in METHODS[n].needs])
def test_a_frozen_network_in_training_mode_is_explained_as_in_evaluation(name: str) -> None:
    wrapped = model("bert", Task.SEQUENCE)
    batch = Batch.from_ids(rows())
    expected = headlight.explain(wrapped, batch, name, **options(name))
    wrapped.network.train().requires_grad_(False)
    try:
        with torch.inference_mode():
            found = headlight.explain(wrapped, batch, name, **options(name))
    finally:
        wrapped.network.eval().requires_grad_(True)
    for a, b in zip(found, expected, strict=True):
        np.testing.assert_array_equal(a.scores, b.scores)


@pytest.mark.parametrize("family", CONFIGS)
@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
def test_half_precision_gives_finite_32_bit_scores(
    family: str, variant: str, dtype: torch.dtype
) -> None:
    net = network(family, Task.SEQUENCE, initializer_range=0.05).to(dtype)
    wrapped = headlight.wrap(net)
    found = headlight.explain(
        wrapped,
        Batch.from_ids(rows()),
        list(METHODS),
        variant=variant,
        **options(*METHODS, family=family),
    )
    for name, answers_ in found.items():
        for answer in answers_:
            assert answer.scores.dtype == np.float32, name
            assert np.isfinite(answer.scores).all(), name
            assert "about three digits" in answer.notes[-1], name
