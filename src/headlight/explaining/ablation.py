"""`ABLATIONS`: methods that remove whole units of a prompt, such as its sources, and read the answer again.

Each is a function of a `Removal`, which reads the answer's log-probability with some units removed. What one
of them has read, the others do not read again.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from math import factorial

import numpy as np
from numpy.typing import NDArray

from headlight.answer import Numbers
from headlight.errors import InvalidInput
from headlight.explaining.removal import Kept, Removal
from headlight.registry.entries import Functions
from headlight.registry.options import Count, NotNegative, Seed

ABLATIONS = Functions("ablation")

EXACT_UNITS = 8
"""Up to so many units, Shapley values come from all choices of units; above, from drawn orders."""
CERTAIN = -1e-9
"""Log-probabilities are cut off here before they become logits, because that of a sure answer is infinite."""
ROUNDS, CLOSE = 10_000, 1e-10
"""When the sparse fit ends: after so many rounds, or when no weight changes by more."""


@dataclass(frozen=True, eq=False)
class UnitScores:
    """Scores [part, unit], and for each part the number that they explain.

    value: how much all units together raise the answer's log-probability, or its logit.
    """

    scores: Numbers
    value: Numbers


def check_units(removal: Removal, method: str) -> None:
    """Refuse a prompt in which there is nothing to compare."""
    if removal.unit_count < 2:
        raise InvalidInput(
            f"{method} compares units by removing them, and the prompt has {removal.unit_count}. Give two "
            "sources or more, or smaller units, such as units='sentences'."
        )


def raised(removal: Removal, number: Callable[[Numbers], Numbers] = np.asarray) -> Numbers:
    """How much all units together raise a number of the answer."""
    whole, nothing = number(removal.log_probabilities([removal.whole, removal.nothing]))
    value: Numbers = whole - nothing
    return value


# ------------------------------------------------------------------------------- leave one out


@ABLATIONS.register(
    "leave_one_out", needs={"removal"}, signed=True, aliases=("loo",), paper="leave one out"
)
def leave_one_out(removal: Removal) -> UnitScores:
    """How much the answer's log-probability falls when a unit is removed and all others stay.

    φ_u = log p(all units) − log p(all but u). Two units that say the same both get little.
    """
    check_units(removal, "leave_one_out")
    count = removal.unit_count
    cases = [tuple(n != left_out for n in range(count)) for left_out in range(count)]
    whole, _, *without = removal.log_probabilities([removal.whole, removal.nothing, *cases])
    return UnitScores((whole - np.stack(without)).T, raised(removal))


# --------------------------------------------------------------------------------- ContextCite


@ABLATIONS.register(
    "context_cite", needs={"removal"}, signed=True, paper="Cohen-Wang et al. (2024)"
)
def context_cite(
    removal: Removal, *, samples: Count = 64, alpha: NotNegative = 0.01, seed: Seed = 0
) -> UnitScores:
    """Weights of a sparse linear model of the answer's logit, fitted on random removals of units.

    Each removal keeps each unit with probability ½; if all choices of units are no more than `samples`, each is
    read once instead. log(p / (1 − p)), divided by the number of the answer's tokens, is fitted by LASSO on
    standardised columns with the penalty `alpha`; weights are those of the logit itself.
    """
    check_units(removal, "context_cite")
    cases = drawn_cases(removal.unit_count, samples, seed)
    # Read together with what `raised` needs, so that progress is shown of all of them.
    logits = logit(removal.log_probabilities([*cases, removal.whole, removal.nothing])[:-2])
    lengths = removal.text.part_lengths
    kept = np.array(cases, np.float64)
    fitted = [
        length * standardised_lasso(kept, logits[:, part] / length, alpha)
        for part, length in enumerate(lengths)
    ]
    return UnitScores(np.stack(fitted), raised(removal, logit))


def drawn_cases(count: int, samples: int, seed: int) -> list[Kept]:
    """All choices of units if they are no more than `samples`, else this many drawn ones."""
    if 2**count <= samples:
        return list(product((True, False), repeat=count))
    flags = np.random.default_rng(seed).random((samples, count)) < 0.5
    return [tuple(map(bool, row)) for row in flags]


def logit(logs: Numbers) -> Numbers:
    """log(p / (1 − p)) of log-probabilities."""
    cut = np.minimum(logs, CERTAIN)
    odds: Numbers = cut - np.log(-np.expm1(cut))
    return odds


def standardised_lasso(
    kept: NDArray[np.float64], values: Numbers, alpha: float
) -> NDArray[np.float64]:
    """Weights of the columns of `kept` [case, unit], fitted with a penalty on weights of equal scale.

    Minimises ½ mean (y − b − Xw)² + α Σ|w| over columns X of mean 0 and variance 1, by coordinate descent. A
    unit that is kept in all cases, or in none, gets 0.
    """
    scales = kept.std(0)
    varied = scales > 0
    columns = (kept[:, varied] - kept[:, varied].mean(0)) / scales[varied]
    rest = np.asarray(values, np.float64) - np.mean(values)
    weights = np.zeros(columns.shape[1])
    for _ in range(ROUNDS):
        before = weights.copy()
        for number, column in enumerate(columns.T):
            pull = weights[number] + column @ rest / len(rest)
            new = np.sign(pull) * max(abs(pull) - alpha, 0.0)
            rest += column * (weights[number] - new)
            weights[number] = new
        if np.abs(weights - before).max(initial=0.0) < CLOSE:
            break
    found = np.zeros(kept.shape[1])
    found[varied] = weights / scales[varied]
    return found


# ------------------------------------------------------------------------------ Shapley values


@ABLATIONS.register("source_shapley", needs={"removal"}, signed=True, paper="Shapley (1953)")
def source_shapley(removal: Removal, *, samples: Count = 32, seed: Seed = 0) -> UnitScores:
    """Shapley values of units for the answer's log-probability; they add up to what all units raise it by.

    Exact for up to 8 units, from all choices of them. Above, the mean over `samples` drawn orders in which
    units are added one by one.
    """
    check_units(removal, "source_shapley")
    exact = removal.unit_count <= EXACT_UNITS
    scores = exact_shapley(removal) if exact else sampled_shapley(removal, samples, seed)
    return UnitScores(scores, raised(removal))


def exact_shapley(removal: Removal) -> Numbers:
    """φ_u = Σ over choices S without u of |S|! (n − |S| − 1)! / n! · (log p(S ∪ u) − log p(S))."""
    count = removal.unit_count
    cases = list(product((True, False), repeat=count))
    logs = dict(zip(cases, removal.log_probabilities(cases), strict=True))
    scores = np.zeros((len(removal.text.parts), count))
    for case in cases:
        size = sum(case)
        for unit in range(count):
            if not case[unit]:
                weight = factorial(size) * factorial(count - size - 1) / factorial(count)
                scores[:, unit] += weight * (logs[added(case, unit)] - logs[case])
    return scores


def sampled_shapley(removal: Removal, samples: int, seed: int) -> Numbers:
    """The mean gain of each unit over drawn orders."""
    draw = np.random.default_rng(seed)
    orders = [draw.permutation(removal.unit_count).tolist() for _ in range(samples)]
    chains = [list(chain(removal.nothing, order)) for order in orders]
    removal.log_probabilities([case for cases in chains for case in cases])
    scores = np.zeros((len(removal.text.parts), removal.unit_count))
    for order, cases in zip(orders, chains, strict=True):
        gains = np.diff(removal.log_probabilities(cases), axis=0)
        scores[:, order] += gains.T / samples
    return scores


def chain(case: Kept, order: Sequence[int]) -> Iterator[Kept]:
    """The cases from this one on, each with one more unit."""
    yield case
    for unit in order:
        case = added(case, unit)
        yield case


def added(case: Kept, unit: int) -> Kept:
    """The case with a unit kept too."""
    return (*case[:unit], True, *case[unit + 1 :])
