"""Whether relevance follows everything that a network computes, or misses a part."""

from collections.abc import Iterator

import torch
from torch import Tensor
from torch.autograd.graph import Node

from headlight.batch import Inputs
from headlight.errors import UnsupportedModel
from headlight.models.architectures import ARCHITECTURES
from headlight.models.model import Model
from headlight.proof.graph import inputs_of_step, steps_of
from headlight.proof.probes import shift
from headlight.trace.forward import Pass, forward
from headlight.trace.recorder import Wants
from headlight.trace.relevance.intercept import Sweep
from headlight.trace.relevance.presets import preset_rules

MOVING = frozenset(
    (
        "AccumulateGrad", "Alias", "Cat", "Clone", "Copy", "Expand", "Gather", "Index", "IndexSelect",
        "MaskedFill", "NativeDropout", "Permute", "Repeat", "ReshapeAlias", "Select", "Slice", "Split",
        "SplitWithSizes", "Squeeze", "Stack", "T", "ToCopy", "Transpose", "Unbind", "UnsafeView",
        "Unsqueeze", "View", "Where",
    )
)  # fmt: skip
"""Steps of autograd that only move or cast values (see `intercept.MOVES`), by their short names."""

CONSERVED = 0.2
"""How far the sum of relevance may be from 1 in 32 bits."""
LARGEST_SWEEP = 50_000_000
"""Parameters of the largest network for which costly proofs are run when it is wrapped."""


def escaping(model: Model, inputs: Inputs, expected: Tensor) -> str:
    """Why relevance does not follow everything that the network computes; '' if it does.

    expected: the logits of the plain network.
    """
    if model.attention_refusal:
        return "its attention cannot be watched"
    wants = Wants(attention=True, blocks=True, gradient=True, relevance=True)
    watched = forward(model, inputs, wants)
    if difference := shift(model, watched.logits, expected):
        return f"its logits move by {difference:.2g} when its operations are watched"
    unseen = {short_name(node) for node in relevance_path(watched.logits)} - MOVING
    if unseen:
        return f"it computes {', '.join(sorted(unseen))}, which is not an operation of torch that can be seen"
    is_known = model.network.config.model_type in ARCHITECTURES
    if is_known and not is_small(model):
        return ""
    total = relevance_sum(watched)
    if total is not None and abs(total - 1) > CONSERVED:
        return f"relevance of 1 at its logits becomes {total:.3g} at its embeddings"
    return ""


def is_small(model: Model) -> bool:
    """Whether a network is small enough for costly proofs."""
    return sum(parameter.numel() for parameter in model.network.parameters()) <= LARGEST_SWEEP


def short_name(node: Node) -> str:
    """The name of the operation whose backward a step of autograd is."""
    return type(node).__name__.rstrip("0123456789").removesuffix("s").removesuffix("Backward")


def relevance_path(logits: Tensor) -> Iterator[Node]:
    """The steps of autograd that a relevance sweep goes through, except the switches."""

    def onward(node: Node) -> list[Node | None]:
        # The first input of a switch is the operation itself, which relevance bypasses.
        return inputs_of_step(node)[1:] if is_switch(node) else inputs_of_step(node)

    return (node for node in steps_of(logits, onward) if not is_switch(node))


def is_switch(node: Node) -> bool:
    """Whether a step is one of our switches."""
    return type(node).__name__ == "SwitchBackward"


def relevance_sum(watched: Pass) -> float | None:
    """The sum of relevance at the embeddings if it is 1 at a logit; None if an operation has no rule."""
    captured, logits = watched.captured, watched.logits
    assert captured.board is not None
    seed = torch.zeros_like(logits)
    # The largest logit, because that of a padding token has weights of 0, through which no relevance passes.
    seed[0, -1, logits[0, -1].argmax()] = 1
    try:
        with captured.board.sweeping(Sweep("chefer", preset_rules("chefer"))):
            (relevance,) = torch.autograd.grad(logits, captured.embeddings, seed, allow_unused=True)
    except UnsupportedModel:
        return None
    return 0.0 if relevance is None else float(relevance.double().sum())
