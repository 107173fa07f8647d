"""What every method keeps on every family and task, because it is registered."""

from functools import cache

import numpy as np
import pytest
import torch

import headlight
from headlight import METHODS, Batch
from headlight.models.model import Task
from headlight.trace.trace import NEEDS
from tests.networks import TARGETS, families, in_pairs, model, network, options, rows

VARIANTS = ["paper", "released"]
ENDS = (0, 2)
"""The rows that are also explained alone: the shortest, which gets the most padding, and the longest."""
Answers = dict[str, list[np.ndarray]]


@cache
def answers(family: str, task: Task, variant: str, dtype: torch.dtype, alone: bool) -> Answers:
    """Scores of every method on rows of different lengths, together in one pass or one by one."""
    groups = [[rows()[n]] for n in ENDS] if alone else [rows()]
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


def distance(first: np.ndarray, second: np.ndarray) -> float:
    """The largest difference of two rows of scores, relative to the largest score."""
    return float(np.abs(first - second).max() / max(np.abs(second).max(), 1e-12))


@in_pairs()
@pytest.mark.parametrize("variant", VARIANTS)
def test_one_finite_score_for_each_token(variant: str, family: str, task: Task) -> None:
    for name, found in answers(family, task, variant, torch.float64, False).items():
        for scores, row in zip(found, rows(), strict=True):
            assert scores.shape == (len(row),), name
            assert np.isfinite(scores).all(), name
            assert METHODS[name].signed or (scores >= 0).all(), name


@in_pairs()
@pytest.mark.parametrize("variant", VARIANTS)
def test_padding_and_neighbours_do_not_change_scores(variant: str, family: str, task: Task) -> None:
    together = answers(family, task, variant, torch.float64, False)
    for name, alone in answers(family, task, variant, torch.float64, True).items():
        for row, scores in zip(ENDS, alone, strict=True):
            assert distance(together[name][row], scores) < 1e-8, name


@in_pairs([("bert", Task.SEQUENCE), ("gpt2", Task.CAUSAL), ("llama", Task.CAUSAL)])
def test_scores_of_a_32_bit_network_are_32_bit_numbers_near_the_exact_ones(
    family: str, task: Task
) -> None:
    """Near only for what is read from attention and its parts, which are sums of positive shares.

    Gradients and relevance of these random networks are small differences of large terms: how many of
    their digits are right depends on the processor, so they are held to the truth in 64 bits alone.
    """
    exact = answers(family, task, "paper", torch.float64, False)
    for name, found in answers(family, task, "paper", torch.float32, False).items():
        assert all(scores.dtype == np.float32 for scores in found), name
        assert all(np.isfinite(scores).all() for scores in found), name
        if METHODS[name].needs and METHODS[name].needs <= {"attention", "attention_blocks"}:
            near = [distance(a, b) for a, b in zip(found, exact[name], strict=True)]
            assert max(near) < 1e-3, name


@pytest.mark.parametrize("name", list(METHODS))
def test_scores_say_something(name: str) -> None:
    scores = answers("bert", Task.SEQUENCE, "paper", torch.float64, False)[name]
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


@families("bert", "llama")
@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
def test_half_precision_gives_finite_32_bit_scores(
    family: str, variant: str, dtype: torch.dtype
) -> None:
    net = network(family, Task.SEQUENCE, initializer_range=0.05).to(dtype)  # type: ignore[arg-type]
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
            kind = str(dtype).removeprefix("torch.")
            told = (
                f"computed in {kind}: errors",
                f"computed in {kind}, as released",
                f"from {kind} weights",
            )
            assert any(words in note for note in answer.notes for words in told), name
