"""Sending relevance back through a pass: by which rules, from where, through which heads, and what is kept."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from headlight.errors import UnsupportedModel
from headlight.shapes import Attention, Hidden
from headlight.trace.forward import Pass
from headlight.trace.goal import Goal
from headlight.trace.padding import zero_padding
from headlight.trace.recorder import Captured
from headlight.trace.relevance.intercept import Bits, Gate, Sweep
from headlight.trace.relevance.presets import preset_rules
from headlight.trace.relevance.rules import divide


@dataclass(frozen=True, eq=False)
class Relevance:
    """Relevance of what was captured, zero at padding; without a mask it sums to 1 at every boundary.

    attention: of every layer or, if the flow has a floor, of the layers from there up.
    states: of the embeddings and of h⁰ … h^L; none if the flow has a floor.
    ungated: the relevance of each layer's attention before the mask of that layer, which released code reads.
    """

    attention: tuple[Attention, ...]
    states: tuple[Hidden, ...] = ()
    ungated: tuple[Attention, ...] = ()

    @property
    def embeddings(self) -> Hidden:
        """That of the embeddings."""
        return self.states[0]

    @property
    def hidden(self) -> tuple[Hidden, ...]:
        """That of h⁰ … h^L."""
        return self.states[1:]


@dataclass(frozen=True)
class Flow:
    """How to send relevance: by which preset and through which heads.

    gate: see `intercept.Gate`.
    closed: the layers that the gate closes completely; their relevance goes on through the residual.
    keeps_ungated: also keep the relevance of each layer's attention before its gate.
    is_smeared: first spread the relevance of the last block's output over all tokens, as released code does
    for answers.
    floor: the lowest layer whose attention is read, from 0, or from the end if negative: relevance is not
    sent further down. None sends it to the embeddings.
    bits: "stored" halves the cost of a sweep and keeps the relevance of attention within 1e-6 of the largest,
    but that of embeddings only within 1e-4, because it sums numbers that nearly cancel.
    """

    preset: str = "chefer"
    gate: Gate | None = None
    closed: frozenset[int] = frozenset()
    keeps_ungated: bool = False
    is_smeared: bool = False
    floor: int | None = None
    bits: Bits = "pass"


def send_relevance(forward: Pass, goal: Goal, flow: Flow) -> Relevance:
    """Relevance sent from the explained logits; that of logits with a negative sign is subtracted."""
    captured = forward.captured
    assert captured.board is not None, "the pass was not watched for relevance"
    if flow.gate is not None:
        check_gate(captured)
    seeds = {sign: goal.seed(forward.logits, sign) for sign in (1.0, -1.0)}
    sweeps = [
        (sign, one_sweep(forward, seed, flow))
        for sign, seed in seeds.items()
        if sign > 0 or bool(seed.any())
    ]

    def total(part: Callable[[Relevance], tuple[Tensor, ...]]) -> tuple[Tensor, ...]:
        columns = zip(*(part(relevance) for _, relevance in sweeps), strict=True)
        return tuple(
            zero_padding(sum_of(column, [sign for sign, _ in sweeps]), forward.inputs)
            for column in columns
        )

    return Relevance(
        attention=total(lambda relevance: relevance.attention),
        states=total(lambda relevance: relevance.states),
        ungated=total(lambda relevance: relevance.ungated),
    )


def sum_of(tensors: Sequence[Tensor], signs: Sequence[float]) -> Tensor:
    """The sum of tensors, each with its sign."""
    total = tensors[0] * signs[0]
    for tensor, sign in zip(tensors[1:], signs[1:], strict=True):
        total = total + sign * tensor
    return total


def one_sweep(forward: Pass, seed: Tensor, flow: Flow) -> Relevance:
    """The relevance of what was captured, as a sweep from this seed returns it, padding included."""
    captured = forward.captured
    assert captured.board is not None
    sweep = Sweep(flow.preset, preset_rules(flow.preset), flow.gate, flow.keeps_ungated, flow.bits)
    states = [captured.embeddings, *captured.hidden] if flow.floor is None else []
    # autograd goes no further down than to the lowest tensor that it is asked for.
    tensors = [*states, *captured.attention[flow.floor :]]
    with captured.board.sweeping(sweep), conserving(captured.hidden, flow.closed) as sums:
        relevance = swept(forward, seed, tensors, flow.is_smeared)
    # autograd may return a tensor as it was before the hook that rescales it, so it is rescaled again.
    for number, tensor in enumerate(tensors):
        for layer in flow.closed:
            if tensor is captured.hidden[layer]:
                relevance[number] = summing_to(sums[layer], relevance[number])
    return Relevance(
        attention=tuple(relevance[len(states) :]),
        states=tuple(relevance[: len(states)]),
        ungated=tuple(sweep.ungated[layer] for layer in sorted(sweep.ungated)),
    )


def check_gate(captured: Captured) -> None:
    """Refuse a head mask if it is not known which product of each layer it belongs to."""
    assert captured.board is not None
    if captured.board.attended != len(captured.attention):
        raise UnsupportedModel(
            f"{len(captured.attention)} attention maps were seen, but {captured.board.attended} products "
            "of attention and values, so a head mask cannot be applied. With dtype=torch.float32 it may "
            "work; transformer_attribution needs no mask."
        )


def swept(forward: Pass, seed: Tensor, tensors: Sequence[Tensor], is_smeared: bool) -> list[Tensor]:
    """Relevance of the tensors: in one sweep or, if it is smeared on the way, in two."""
    settings: dict[str, Any] = {
        "retain_graph": True,
        "allow_unused": True,
        "materialize_grads": True,
    }
    if not is_smeared:
        return list(torch.autograd.grad(forward.logits, tensors, seed, **settings))
    output = forward.captured.hidden[-1]
    (top,) = torch.autograd.grad(forward.logits, output, seed, retain_graph=True)
    present = forward.inputs.present.to(top)[..., None]
    spread = top.sum(1, keepdim=True) * present / present.sum(1, keepdim=True)
    return list(torch.autograd.grad(output, tensors, spread, **settings))


@contextmanager
def conserving(hidden: Sequence[Tensor], closed: frozenset[int]) -> Iterator[Mapping[int, Tensor]]:
    """Rescale the relevance that enters a fully masked block so that it sums to what leaves it.

    All of it then goes through the residual. Yields the sums by layer.
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
    return relevance * divide(sums.to(relevance), relevance.sum((1, 2)))[:, None, None]
