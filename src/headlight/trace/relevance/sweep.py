"""Sending relevance back through a pass: how, from where, through which heads, and what is kept."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import Any, Literal

import torch
from torch import Tensor

from headlight.batch import Inputs
from headlight.errors import UnsupportedModel
from headlight.shapes import Attention, Hidden
from headlight.trace.capture import Recorder
from headlight.trace.goal import Goal
from headlight.trace.padding import without_padding
from headlight.trace.relevance.intercept import Gate, Sweep
from headlight.trace.relevance.presets import preset_rules
from headlight.trace.relevance.rules import divide


@dataclass(frozen=True, eq=False)
class Relevance:
    """Relevance of what was captured, zero at padding; without a mask it sums to 1 at every boundary.

    ungated: that of the attention before the mask of its own layer, which released code reads.
    """

    embeddings: Hidden
    hidden: tuple[Hidden, ...]
    attention: tuple[Attention, ...]
    ungated: tuple[Attention, ...] = ()


@dataclass(frozen=True)
class Flow:
    """How relevance is to be sent: by which preset, from which start, through which heads.

    seed: each explained logit starts with 1, or with its own value. gate: see `intercept.Gate`; layers
    that it closes altogether are named in `closed`, and their relevance goes on through the residual.
    keeps_ungated: also keep the relevance of each layer's attention before its gate.
    is_smeared: the relevance of the last block's output is first spread over all tokens, as released
    code does for answers.
    """

    preset: str = "chefer"
    seed: Literal["one", "logit"] = "one"
    gate: Gate | None = None
    closed: frozenset[int] = frozenset()
    keeps_ungated: bool = False
    is_smeared: bool = False


def send_relevance(
    flow: Flow, goal: Goal, logits: Tensor, recorder: Recorder, inputs: Inputs
) -> Relevance:
    """Relevance from the explained logits down; what speaks for a contrast is taken away."""
    assert recorder.board is not None, "the trace was not asked for relevance"
    assert recorder.embeddings is not None
    assert recorder.block_output is not None
    if flow.gate is not None:
        check_gate(recorder)
    hidden = [*recorder.block_inputs, recorder.block_output]
    captured = [recorder.embeddings, *hidden, *recorder.attention]
    total: list[Tensor] = []
    ungated: list[Tensor] = []
    for sign in (1.0, -1.0):
        seed = goal.seed(logits, sign, flow.seed)
        if sign < 0 and not bool(seed.any()):
            continue
        sweep = Sweep(flow.preset, preset_rules(flow.preset), flow.gate, flow.keeps_ungated)
        with recorder.board.sweeping(sweep), conserving(hidden, flow.closed) as sums:
            found = swept(logits, seed, captured, hidden[-1] if flow.is_smeared else None, inputs)
        for number, tensor in enumerate(captured):
            for layer in flow.closed:
                if tensor is hidden[layer]:
                    found[number] = summing_to(sums[layer], found[number])
        layers = [sweep.ungated[n] for n in sorted(sweep.ungated)]
        total = [t + sign * f for t, f in zip(total, found, strict=True)] if total else found
        ungated = (
            [u + sign * n for u, n in zip(ungated, layers, strict=True)] if ungated else layers
        )
    middle = 1 + len(hidden)
    return Relevance(
        embeddings=without_padding(total[0], inputs),
        hidden=tuple(without_padding(r, inputs) for r in total[1:middle]),
        attention=tuple(without_padding(r, inputs) for r in total[middle:]),
        ungated=tuple(without_padding(r, inputs) for r in ungated),
    )


def check_gate(recorder: Recorder) -> None:
    """Refuse a head mask where it is not known which product of each layer it should stand before."""
    assert recorder.board is not None
    if recorder.board.attended != len(recorder.attention):
        raise UnsupportedModel(
            f"{len(recorder.attention)} attention maps were seen, but {recorder.board.attended} products "
            "of attention and values, so a head mask has no place. With dtype=torch.float32 it may "
            "have; transformer_attribution needs no mask."
        )


def swept(
    logits: Tensor, seed: Tensor, captured: list[Tensor], smeared: Tensor | None, inputs: Inputs
) -> list[Tensor]:
    """Relevance of the captured tensors, in one sweep or, if it is smeared on the way, in two."""
    settings: dict[str, Any] = {
        "retain_graph": True,
        "allow_unused": True,
        "materialize_grads": True,
    }
    if smeared is None:
        return list(torch.autograd.grad(logits, captured, seed, **settings))
    (top,) = torch.autograd.grad(logits, smeared, seed, retain_graph=True)
    present = inputs.present.to(top)[..., None]
    spread = top.sum(1, keepdim=True) * present / present.sum(1, keepdim=True)
    return list(torch.autograd.grad(smeared, captured, spread, **settings))


@contextmanager
def conserving(hidden: Sequence[Tensor], closed: frozenset[int]) -> Iterator[Mapping[int, Tensor]]:
    """Give the input of every closed block the sum of its output: all goes through the residual.

    Yields the sums by layer. What is sent on is scaled; what a sweep returns may be taken before that.
    """
    sums: dict[int, Tensor] = {}

    def see(layer: int) -> Callable[[Tensor], Tensor]:
        def at_boundary(relevance: Tensor) -> Tensor:
            sums[layer] = sums[layer + 1] if layer in closed else relevance.sum((1, 2))
            return summing_to(sums[layer], relevance) if layer in closed else relevance

        return at_boundary

    with ExitStack() as undo:
        if closed:
            for layer, states in enumerate(hidden):
                handle: Any = torch.Tensor.register_hook(states, see(layer))  # type: ignore[no-untyped-call]
                undo.callback(handle.remove)
        yield sums


def summing_to(sums: Tensor, relevance: Hidden) -> Hidden:
    """Relevance scaled to these sums."""
    return relevance * divide(sums, relevance.sum((1, 2)))[:, None, None]
