"""Where a head reads an input, checked on every input that is explained.

∂logit/∂h [token, feature] with respect to the last hidden states h shows which tokens the head reads. If a head
mixes tokens by fixed weights, logit = f(Σ_t w_t h_t), its rows are w_t v, all along one vector, and w is known
exactly, whatever f is. Rows along several vectors mean that the head weighs tokens by their content.
`proof/readout.py` derives the rule from probes when a network is wrapped.
"""

import torch
from torch import Tensor

from headlight.errors import UnsupportedModel
from headlight.models.model import POOLED, Model, is_half_precision
from headlight.shapes import Scores
from headlight.trace.forward import Pass
from headlight.trace.goal import Goal

BY_CONTENT = "weighs the tokens by their content, as maximum or attention pooling does"
OTHER_TOKENS = "reads other tokens than the one it labels"
UNREAD = "reads nothing of its last hidden states"
ELSEWHERE = "reads this input at other tokens than it read the probes when it was wrapped"


def tolerance(model: Model) -> float:
    """How far the shares of a read-out, which sum to 1, may be off."""
    return 0.05 if is_half_precision(model.network) else 1e-3


def read_place(goal: Goal, model: Model) -> Scores:
    """The weights of the read-out; refused with the reason if there are none."""
    if model.readout.refusal or goal.weights is None:
        raise unread(model, model.readout.refusal)
    return goal.weights


def check_reading(forward: Pass, goal: Goal) -> None:
    """Refuse rows that the head reads at other tokens than the rule from the probes says."""
    model, logits, last = forward.model, forward.logits, forward.captured.last
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
        shares = shares_of(gradient, tolerance(model))
        if shares == BY_CONTENT:
            raise unread(model, BY_CONTENT)
        # Twice the tolerance, because the rule and the shares of this row may each be off by one.
        if isinstance(shares, Tensor) and float((shares - weights).abs().max()) > 2 * tolerance(
            model
        ):
            raise unread(model, ELSEWHERE)


def unread(model: Model, reason: str) -> UnsupportedModel:
    """The error for methods that read a row of a matrix if there is no such row."""
    return UnsupportedModel(
        f"the head of {model.family} {reason}, so there is no row of a token-to-token matrix that "
        "explains it. Use a method that reads no row: input_x_gradient, integrated_gradients, grad_sam."
    )


# --------------------------------------------------------------------------- what gradients show


def gradient_of(value: Tensor, states: Tensor | None) -> Tensor:
    """∂value/∂states in 64 bits, on the device of the value; zero where it does not depend on them."""
    assert states is not None
    (gradient,) = torch.autograd.grad(
        value, states, retain_graph=True, allow_unused=True, materialize_grads=True
    )
    return gradient.to(value.device, torch.float64)


def shares_of(gradient: Tensor, most: float) -> Tensor | str:
    """The weights w of a gradient w_t v, as shares of 1, or why there are none."""
    strongest = gradient[gradient.norm(dim=-1).argmax()]
    if not bool(strongest.any()):
        return UNREAD
    weights = gradient @ strongest / strongest.square().sum()
    missed = (gradient - weights[:, None] * strongest).norm(dim=-1) / strongest.norm()
    if float(missed.max()) > most or float(weights.min()) < -most:
        return BY_CONTENT
    weights = weights.clamp(min=0)
    return weights / weights.sum()


def beside(gradient: Tensor, places: Tensor, most: float) -> str:
    """Why a gradient is not at these tokens alone, one token per row; '' if it is."""
    lengths = gradient.norm(dim=-1)
    here = lengths.gather(1, places[:, None])
    others = lengths.scatter(1, places[:, None], 0.0)
    if bool((others > most * here).any()):
        return OTHER_TOKENS
    return "" if bool(here.any()) else UNREAD
