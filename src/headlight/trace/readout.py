"""Where a head reads: derived from the network when it is wrapped, and checked on every input.

∂logit/∂h [token, feature] of the last hidden states h says which tokens the head reads. A head that mixes
tokens by fixed weights, logit = f(Σ_t w_t h_t), has rows w_t v: all along one vector. Then w is known
exactly, whatever f is. Rows along several vectors mean that the head weighs tokens by what they hold.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import combinations

import torch
from torch import Tensor

from headlight.batch import Inputs, Row
from headlight.errors import UnsupportedModel
from headlight.models.model import POOLED, Model, is_half_precision
from headlight.models.readout import Readout, Stretch
from headlight.shapes import Scores
from headlight.trace.goal import Goal

TOKENS = [(k, k + 1) for k in range(4)] + [(-1, None), (-2, -1), (-3, -2)]
MEANS = [(0, None), (1, -1), (1, None), (0, -1)]
STRETCHES = [
    Stretch(start, stop, counts)
    for counts in ("attended", "all", "not pad")
    for start, stop in (*TOKENS, *MEANS)
]
"""What a head may read: a token near an end of the row, or the mean with or without its ends."""

BY_CONTENT = "weighs the tokens by what they hold, as maximum or attention pooling does"
BY_CHOICE = "chooses the tokens that it reads by more than their place"
OTHER_TOKENS = "reads other tokens than the one it labels"
EARLIER = "reads hidden states earlier than its last ones"
UNREAD = "reads nothing of its last hidden states"
UNKNOWN = "is given states that could not be found in its body"
ELSEWHERE = "reads this input at other tokens than the probes of when it was wrapped"
NOT_BY_TOKEN = "is given states that are not one for each token"


def tolerance(model: Model) -> float:
    """How far shares of a read-out may be off, of 1."""
    return 0.05 if is_half_precision(model.network) else 1e-3


# ------------------------------------------------------------------------------ when it is wrapped


@dataclass(frozen=True, eq=False)
class Pass:
    """One pass of some probes: what went in, the last hidden states (if they were seen) and the logits."""

    rows: Sequence[Row]
    inputs: Inputs
    last: Tensor | None
    logits: Tensor


def derived(model: Model, passes: Sequence[Pass]) -> Readout:
    """Where a head reads, from its logits and last hidden states on several probes."""
    known = model.readout
    for each in passes:
        if each.last is None:
            return replace(known, refusal=UNKNOWN)
        if each.last.shape[:2] != each.inputs.ids.shape:
            return replace(known, refusal=NOT_BY_TOKEN)
        if not each.logits.requires_grad:
            return replace(known, refusal=UNREAD)
    if model.task in POOLED:
        return pooled(model, passes)
    refusals = [read_elsewhere(model, places, p) for p in passes for places in probed(p.inputs)]
    return replace(known, refusal=next(filter(None, refusals), ""))


def pooled(model: Model, passes: Sequence[Pass]) -> Readout:
    """What a head that decides once reads of every row."""
    rows: list[Row] = []
    weights: list[Tensor] = []
    for each in passes:
        for gradient in mixed_gradients(each):
            for row, own in zip(each.rows, gradient, strict=True):
                found = shares_of(own[: len(row)], tolerance(model))
                if isinstance(found, str):
                    return replace(model.readout, refusal=found)
                rows.append(row)
                weights.append(found.cpu())
    shares = fitting(model, rows, torch.cat(weights))
    return replace(model.readout, shares=shares, refusal="" if shares else BY_CHOICE)


def mixed_gradients(each: Pass) -> Iterator[Tensor]:
    """∂logit/∂h of two random mixtures of the classes, so that no class stands for all."""
    for seed in range(2):
        yield gradient_of(
            (each.logits * mixture(each.logits.shape[-1:], each.logits, seed)).sum(), each.last
        )


def mixture(shape: Sequence[int], like: Tensor, seed: int = 0) -> Tensor:
    """Random weights, the same each time."""
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed)).to(like)


def gradient_of(value: Tensor, states: Tensor | None) -> Tensor:
    """∂value/∂states in 64 bits; zero where the value does not depend on them."""
    assert states is not None
    (found,) = torch.autograd.grad(
        value, states, retain_graph=True, allow_unused=True, materialize_grads=True
    )
    return found.double()


def shares_of(gradient: Tensor, most: float) -> Tensor | str:
    """The weights w of a gradient w_t v, as shares, or why there are none."""
    strongest = gradient[gradient.norm(dim=-1).argmax()]
    if not bool(strongest.any()):
        return UNREAD
    weights = gradient @ strongest / strongest.square().sum()
    missed = (gradient - weights[:, None] * strongest).norm(dim=-1) / strongest.norm()
    if float(missed.max()) > most or float(weights.min()) < -most:
        return BY_CONTENT
    weights = weights.clamp(min=0)
    return weights / weights.sum()


def fitting(
    model: Model, rows: Sequence[Row], weights: Tensor
) -> tuple[tuple[float, Stretch], ...]:
    """The stretch, or the two stretches, that give these weights of all rows; nothing if none do."""

    def column(stretch: Stretch) -> Tensor:
        rule = Readout(shares=((1.0, stretch),))
        shares = [w for row in rows for w in rule.weights(row, model.own_pad_id)]
        return torch.tensor(shares, dtype=weights.dtype)

    columns = {stretch: column(stretch) for stretch in STRETCHES}
    for stretch, only in columns.items():
        if float((only - weights).abs().max()) <= tolerance(model):
            return ((1.0, stretch),)
    for pair in combinations(STRETCHES, 2):
        if pair[0].counts != pair[1].counts:
            continue
        both = torch.stack([columns[stretch] for stretch in pair], 1)
        shares = torch.linalg.lstsq(both, weights[:, None], driver="gelsd").solution[:, 0]
        missed = float((both @ shares - weights).abs().max())
        if missed <= tolerance(model) and float(shares.min()) > tolerance(model):
            return tuple(zip((shares / shares.sum()).tolist(), pair, strict=True))
    return ()


def probed(inputs: Inputs) -> tuple[Tensor, Tensor]:
    """Two tokens of every row: one in the middle, and the last."""
    return inputs.lengths // 2, inputs.lengths - 1


def read_elsewhere(model: Model, places: Tensor, each: Pass) -> str:
    """Why the logits at these tokens, one of each row, are not read there; empty if they are."""
    own_logits = each.logits[torch.arange(len(places), device=places.device), places]
    value = (own_logits * mixture(own_logits.shape[-1:], own_logits)).sum()
    return beside(gradient_of(value, each.last), places, tolerance(model))


def beside(gradient: Tensor, places: Tensor, most: float) -> str:
    """Why a gradient does not stand at these tokens alone, one of each row; empty if it does."""
    lengths = gradient.norm(dim=-1)
    own = lengths.gather(1, places[:, None])
    others = lengths.scatter(1, places[:, None], 0.0)
    if bool((others > most * own).any()):
        return OTHER_TOKENS
    return "" if bool(own.any()) else UNREAD


def reads_more(embeddings: Tensor | None, each: Pass, most: float = 1e-2) -> bool:
    """Whether the embeddings reach the logits by other ways than through the last hidden states."""
    if each.last is None:
        return False
    value = (each.logits * mixture(each.logits.shape, each.logits)).sum()
    total, upper = gradient_of(value, embeddings), gradient_of(value, each.last)
    through = gradient_of((each.last * upper.to(each.last)).sum(), embeddings)
    return float((total - through).norm()) > most * float(total.norm())


# ---------------------------------------------------------------------------- when it is explained


def read_place(goal: Goal, model: Model) -> Scores:
    """The weights of the read-out, or the reason why there are none."""
    if model.readout.refusal or goal.weights is None:
        raise unread(model, model.readout.refusal)
    return goal.weights


def check_reading(model: Model, goal: Goal, logits: Tensor, last: Tensor | None) -> None:
    """Refuse rows that the head reads elsewhere than it read the probes."""
    assert goal.weights is not None
    if last is None or not logits.requires_grad:
        raise unread(model, UNREAD)
    with torch.enable_grad():
        terms = goal.term_logits(logits) * goal.signs
    if model.task not in POOLED:
        for number, positions in enumerate(goal.positions.T):
            gradient = gradient_of(terms[:, number].sum(), last)
            if beside(gradient, positions, tolerance(model)) == OTHER_TOKENS:
                raise unread(model, OTHER_TOKENS)
        return
    gradients = gradient_of(terms.sum(), last)
    for weights, gradient in zip(goal.weights.double(), gradients, strict=True):
        found = shares_of(gradient, tolerance(model))
        if found == BY_CONTENT:
            raise unread(model, BY_CONTENT)
        if isinstance(found, Tensor) and float((found - weights).abs().max()) > 2 * tolerance(
            model
        ):
            raise unread(model, ELSEWHERE)


def unread(model: Model, reason: str) -> UnsupportedModel:
    """The error for methods that read a row where there is none to be read."""
    return UnsupportedModel(
        f"the head of {model.family} {reason}, so there is no row of a token-to-token matrix that "
        "explains it. Use a method that reads no row: input_x_gradient, integrated_gradients, grad_sam."
    )
