"""Where a head reads an input, checked on every input that is explained.

∂logit/∂h [token, feature] of the last hidden states h says which tokens the head reads. A head that mixes
tokens by fixed weights, logit = f(Σ_t w_t h_t), has rows w_t v: all along one vector. Then w is known
exactly, whatever f is. Rows along several vectors mean that the head weighs tokens by what they hold.
`proof/readout.py` derives the rule from probes when a network is wrapped.
"""

import torch
from torch import Tensor

from headlight.errors import UnsupportedModel
from headlight.models.model import POOLED, Model, is_half_precision
from headlight.shapes import Scores
from headlight.trace.forward import Pass
from headlight.trace.goal import Goal

BY_CONTENT = "weighs the tokens by what they hold, as maximum or attention pooling does"
OTHER_TOKENS = "reads other tokens than the one it labels"
UNREAD = "reads nothing of its last hidden states"
ELSEWHERE = "reads this input at other tokens than the probes of when it was wrapped"


def tolerance(model: Model) -> float:
    """How far shares of a read-out may be off, of 1."""
    return 0.05 if is_half_precision(model.network) else 1e-3


def read_place(goal: Goal, model: Model) -> Scores:
    """The weights of the read-out, or the reason why there are none."""
    if model.readout.refusal or goal.weights is None:
        raise unread(model, model.readout.refusal)
    return goal.weights


def check_reading(forward: Pass, goal: Goal) -> None:
    """Refuse rows that the head reads elsewhere than it read the probes."""
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


# --------------------------------------------------------------------------- what gradients tell


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


def beside(gradient: Tensor, places: Tensor, most: float) -> str:
    """Why a gradient does not stand at these tokens alone, one of each row; empty if it does."""
    lengths = gradient.norm(dim=-1)
    own = lengths.gather(1, places[:, None])
    others = lengths.scatter(1, places[:, None], 0.0)
    if bool((others > most * own).any()):
        return OTHER_TOKENS
    return "" if bool(own.any()) else UNREAD
