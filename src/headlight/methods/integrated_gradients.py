"""Integrated gradients: gradients added up on the straight line from a baseline to the input.

E is the embedding output, E' that of the baseline, f the target.
"""

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Annotated

import numpy as np
import torch
from torch import Tensor

from headlight.methods.gradient import norm
from headlight.methods.points import groups, slopes_at
from headlight.methods.registry import METHODS
from headlight.registry.options import BY_MODEL, Bounds
from headlight.running.precision import max_precision
from headlight.shapes import Hidden, PerRow
from headlight.trace.baselines import Baseline
from headlight.trace.trace import Noted, Trace

Steps = Annotated[int, Bounds(1, 5_000)]
"""The number of points on a path; finding them takes time with the cube of their number."""
STEPS = 50
MOST_STEPS = 800
"""By default: how many steps are taken first, and how many at most."""
TOLERANCE = 0.05
"""The share of f(E) − f(E') that the scores may miss."""
STEPS_OF_SPAN = 10
"""Steps in each span of a path that is cut into spans."""
Span = tuple[float, float]
Known = dict[Span, tuple[Tensor, float]]
"""The integral over each span of one row, [token, feature], and its error."""


@dataclass(frozen=True, eq=False)
class Path:
    """The straight line from the baseline to the input, in 32 bits or more.

    way: input minus baseline.
    """

    trace: Trace
    start: Hidden
    way: Hidden

    @classmethod
    def of(cls, trace: Trace, baseline: Baseline = BY_MODEL) -> "Path":
        """The path of a trace."""
        start, end = (
            values.to(max_precision(values.dtype))
            for values in (baseline.embeddings(trace), trace.embeddings)
        )
        return cls(trace, start, end - start)

    def integral(self, spans: Sequence[Span], steps: int) -> tuple[Hidden, Tensor, PerRow]:
        """(E − E') ⊙ ∫ ∇f over one span of each row's path, by Gauss-Legendre quadrature.

        Also f(end) − f(start) of each row's span, and how far the integral is from it.
        """
        places, weights = np.polynomial.legendre.leggauss(steps)
        low, high = torch.tensor(spans, dtype=torch.float64).T
        # The two ends follow with weight 0: only their values are needed.
        shares = torch.tensor([*((places + 1) / 2), 0.0, 1.0])[:, None]
        at = (low + shares * (high - low)).to(self.way)
        total = torch.zeros_like(self.way)
        values = []
        factors = torch.tensor([*(weights / 2), 0.0, 0.0]).to(self.way)
        for group in groups(self.trace, len(at)):
            points = self.start + at[group][..., None, None] * self.way
            gradients, targets = slopes_at(self.trace, points)
            total += torch.einsum("s,sbtd->btd", factors[group], gradients)
            values.append(targets.to(total))
        before, after = torch.cat(values)[-2:]
        result = self.way * total * (high - low).to(total)[:, None, None]
        return result, after - before, result.sum((1, 2)) - (after - before)


def integrated(
    trace: Trace, steps: int | None, baseline: Baseline = BY_MODEL
) -> tuple[Hidden, tuple[str, ...]]:
    """The integrated gradient of every feature and notes on its error, computed once for all its methods."""
    result: tuple[Hidden, tuple[str, ...]] = trace.once(
        ("integrated", steps, baseline), lambda: integrate(trace, steps, baseline)
    )
    return result


def integrate(
    trace: Trace, steps: int | None, baseline: Baseline = BY_MODEL
) -> tuple[Hidden, tuple[str, ...]]:
    """(E − E') ⊙ ∫ ∇f(E' + a (E − E')) da, and notes on how far the sum misses f(E) − f(E').

    By default, if STEPS miss too much in a row, its path is cut into spans, and the spans with the largest
    errors are halved. A row's result does not depend on its neighbours.
    """
    path = Path.of(trace, baseline)
    count = len(path.way)
    result, gained, missed = path.integral([(0.0, 1.0)] * count, steps or STEPS)
    used = [steps or STEPS] * count
    limits = TOLERANCE * gained.abs()
    is_far = (missed.abs() > limits).tolist()
    if steps is None and any(is_far):
        for row, (integral, taken) in refined(path, is_far, limits.tolist()).items():
            result[row], used[row] = integral, taken
    shares = (result.sum((1, 2)) - gained).abs() / gained.abs().clamp(min=1e-12)
    if steps is None and bool((shares > TOLERANCE).any()):
        warnings.warn(FAR.format(100 * float(shares.max()), max(used)), stacklevel=2)
    return result, tuple(note_on(share, n) for share, n in zip(shares.tolist(), used, strict=True))


FAR = (
    "not reliable: integrated gradients miss the difference from the baseline by {:.2g} % after {} steps; "
    "use another baseline, or attn_lrp or deeplift, which need no steps"
)


def note_on(missed: float, steps: int) -> str:
    """The note on the error of an integral."""
    if missed > TOLERANCE:
        return FAR.format(100 * missed, steps)
    return (
        f"integrated gradients miss the difference from the baseline by {100 * missed:.2g} % "
        f"after {steps} steps"
    )


def refined(
    path: Path, is_far: Sequence[bool], limits: Sequence[float]
) -> dict[int, tuple[Tensor, int]]:
    """The integrals of the rows that are far off, computed span by span, and the steps they took."""
    cuts = np.linspace(0.0, 1.0, STEPS // STEPS_OF_SPAN + 1).tolist()
    waiting = {row: list(pairwise(cuts)) for row, far in enumerate(is_far) if far}
    known: dict[int, Known] = {row: {} for row in waiting}
    while any(waiting.values()):
        for turn in range(max(map(len, waiting.values()))):
            next_spans = {row: spans[turn] for row, spans in waiting.items() if turn < len(spans)}
            # Rows without a span in this turn get an empty one, so that the batch keeps its shape.
            spans = [next_spans.get(row, (1.0, 1.0)) for row in range(len(is_far))]
            integrals, _, missed = path.integral(spans, STEPS_OF_SPAN)
            for row, span in next_spans.items():
                known[row][span] = integrals[row], abs(float(missed[row]))
        waiting = {row: halved(known[row], limits[row]) for row in waiting}
    return {
        row: (
            torch.stack([integral for integral, _ in spans.values()]).sum(0),
            STEPS_OF_SPAN * len(spans),
        )
        for row, spans in known.items()
    }


def halved(spans: Known, limit: float) -> list[Span]:
    """Remove the spans with the largest errors and return their halves; [] if the total error is small."""
    errors = {span: error for span, (_, error) in spans.items()}
    if sum(errors.values()) <= limit:
        return []
    room = MOST_STEPS // STEPS_OF_SPAN - len(spans)
    worst = sorted(errors, key=lambda span: -errors[span])[: max(0, room)]
    chosen = [span for span in worst if errors[span] > limit / 2 / len(spans)]
    for span in chosen:
        del spans[span]
    return [half for low, high in chosen for half in pairwise((low, (low + high) / 2, high))]


@METHODS.register(
    "integrated_gradients",
    group="gradients",
    needs={"replay"},
    signed=True,
    aliases=("IG", "LIG"),
    paper="Sundararajan, Taly and Yan (2017)",
)
def integrated_gradients(
    trace: Trace, *, steps: Steps | None = None, baseline: Baseline = BY_MODEL
) -> Noted:
    """Gradients added up on the straight line from a baseline, times that line, summed with sign.

    Σ_k (E − E')_k ∫₀¹ ∂f/∂E_k(E' + a (E − E')) da, by `steps` Gauss-Legendre points. The scores add up to
    f(E) − f(E'); a note says by how much they miss it. By default 50 steps are taken, and if they miss more
    than 5 %, up to 800, most of them where the target changes fastest. If they still miss more than 5 %,
    there is a warning.
    """
    features, notes = integrated(trace, steps, baseline)
    return Noted(features.sum(-1), notes)


@METHODS.register(
    "integrated_gradients_l2",
    group="gradients",
    needs={"replay"},
    aliases=("IG_l2",),
    paper="Sundararajan et al. (2017); Ferrando et al. (2022)",
)
def integrated_gradients_l2(
    trace: Trace, *, steps: Steps | None = None, baseline: Baseline = BY_MODEL
) -> Noted:
    """Length of the integrated gradient of each token.

    ‖(E − E') ⊙ ∫ ∇f‖₂.
    """
    features, notes = integrated(trace, steps, baseline)
    return Noted(norm(features), notes)


@METHODS.register(
    "integrated_gradients_mean",
    group="gradients",
    needs={"replay"},
    aliases=("IG_mu", "integrated_gradients_mu"),
    paper="Sundararajan et al. (2017); Ferrando et al. (2022), Eq. 15",
)
def integrated_gradients_mean(
    trace: Trace, *, steps: Steps | None = None, baseline: Baseline = BY_MODEL
) -> Noted:
    """Mean magnitude of the integrated gradient of each token.

    1/d Σ_k |(E − E') ⊙ ∫ ∇f|_k.
    """
    features, notes = integrated(trace, steps, baseline)
    return Noted(features.abs().mean(-1), notes)
