"""What a pass records: what is wanted of it, the recorder that watches it, and what was captured.

The recorder of the running pass is in a context variable, so a pass in another thread is never recorded by
mistake.
"""

from collections.abc import Iterator, Sequence
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor, nn

from headlight.errors import UnsupportedModel
from headlight.models.model import BlockParts
from headlight.trace.attention_maps import Attended, OnDemand
from headlight.trace.head_switch import HeadSwitch
from headlight.trace.relevance.intercept import Switchboard
from headlight.trace.relevance.steps import Steering


@dataclass(frozen=True)
class Wants:
    """What is captured in a pass.

    blocks: the input of every block and the output of the last. parts: the terms that each block's attention
    adds up. last: the last hidden states, which the head reads. gradient: everything with its graph.
    relevance: a switch behind every operation, so that relevance can be sent back.
    modified: every operation rewritten, so that gradients can be modified; not together with relevance.
    recomputes: what is inside a block is computed again on the way back instead of kept.
    only_embeddings: nothing else, so that the pass ends there.
    """

    attention: bool = False
    blocks: bool = False
    parts: bool = False
    last: bool = False
    gradient: bool = False
    relevance: bool = False
    modified: bool = False
    recomputes: bool = False
    only_embeddings: bool = False


class Embedded(BaseException):
    """Ends a pass of which only the embeddings are wanted; it is no error that a network may handle."""


@dataclass(frozen=True, eq=False)
class BlockRecord:
    """What was seen of one attention block: its modules, and their inputs and outputs.

    values: what the heads mix, [batch, head, key, width]. norm: the input and output of the normalisation of
    attention plus residual, None in pre-norm blocks. second_norm: the same for the other normalisation.
    """

    parts: BlockParts
    values: Tensor
    norm: tuple[Tensor, Tensor] | None
    second_norm: tuple[Tensor, Tensor]


@dataclass(frozen=True, eq=False)
class Captured:
    """What was captured in a pass, as it was computed: with its graph, and not zero at padding.

    embeddings: the input of the first block (in an unknown family: the word embeddings). hidden: h⁰ … h^L,
    the input of every block and the output of the last. attention: the weights of every layer. attended: what
    fused attention was given, if its weights are made from that. last: what the head reads. blocks: the
    attention blocks. board: controls the switches for a relevance sweep. steering: controls how gradients are
    modified.
    """

    embeddings: Tensor
    hidden: tuple[Tensor, ...] = ()
    attention: Sequence[Tensor] = ()
    attended: tuple[Attended, ...] = ()
    last: Tensor | None = None
    blocks: tuple[BlockRecord, ...] = ()
    board: Switchboard | None = None
    steering: Steering | None = None

    @property
    def mixed(self) -> Sequence[Tensor]:
        """What carries the graph of every layer's attention: the result of fused attention, or its weights."""
        return tuple(each.result for each in self.attended) or self.attention

    @property
    def sizes(self) -> list[tuple[int, int]]:
        """The queries and keys of every layer's attention."""
        seen = [each.size for each in self.attended]
        return seen or [(a.shape[-2], a.shape[-1]) for a in self.attention]

    @property
    def depth(self) -> int:
        """How many blocks ran."""
        return max(0, len(self.hidden) - 1)


@dataclass(eq=False)
class Recorder:
    """Watches one forward pass and keeps what it sees, in the order in which it happens.

    replacement: replaces the embeddings that the network computes. computed: those that it computed itself.
    switch: switches attention heads off.
    """

    wants: Wants
    board: Switchboard | None = None
    steering: Steering | None = None
    replacement: Tensor | None = None
    switch: HeadSwitch | None = None
    embeddings: Tensor | None = None
    computed: Tensor | None = None
    attention: list[Tensor] = field(default_factory=list)
    attended: list[Attended] = field(default_factory=list)
    block_inputs: list[Tensor] = field(default_factory=list)
    block_output: Tensor | None = None
    last: Tensor | None = None
    values: list[Tensor] = field(default_factory=list)
    parts: list[BlockParts] = field(default_factory=list)
    norms: list[tuple[Tensor, Tensor]] = field(default_factory=list)
    second_norms: list[tuple[Tensor, Tensor]] = field(default_factory=list)

    @property
    def needs_attention(self) -> bool:
        """Whether attention must be computed where it can be reached."""
        return self.wants.attention or self.switch is not None

    def captured(self) -> Captured:
        """Everything that was seen in the finished pass."""
        assert self.embeddings is not None, "the embedding module did not run"
        output = () if self.block_output is None else (self.block_output,)
        return Captured(
            embeddings=self.embeddings,
            hidden=(*self.block_inputs, *output),
            attention=self.maps,
            attended=tuple(self.attended),
            last=self.last,
            blocks=tuple(self.blocks()),
            board=self.board,
            steering=self.steering,
        )

    def blocks(self) -> Iterator[BlockRecord]:
        """The attention blocks, if their values were seen; pre-norm families have no norm after the sum."""
        norms = iter(self.norms)
        every = [each.values for each in self.attended] or self.values
        # Attention outside the interface shows no values there; the proof then tries watching softmax.
        seen = zip(self.parts, every, self.second_norms, strict=False)
        for parts, values, second in seen if len(every) == len(self.parts) else ():
            first = None if parts.norm is None else next(norms)
            yield BlockRecord(parts, values, first, second)

    @property
    def maps(self) -> Sequence[Tensor]:
        """The weights of every layer: as they were computed, or made when they are read."""
        makers = tuple(each.weights for each in self.attended)
        return OnDemand(makers) if makers else tuple(self.attention)

    def see_embeddings(self, _module: nn.Module, _args: Any, output: Tensor) -> Tensor:
        """Record the embeddings as a leaf, and give the network a copy, which it may change in place.

        A decoder that reads the same text one token later gets the same leaf, so a gradient has both ways.
        """
        if self.embeddings is not None and self.computed is not None:
            if not is_shifted(self.computed, output):
                raise UnsupportedModel(
                    "the network embeds its input twice, and not the same tokens one place later, so the "
                    "gradient of one embedding would miss the other. Use a network that embeds each token once."
                )
            return torch.cat([output[:, :1], self.embeddings[:, :-1].to(output)], 1)
        self.computed = output
        if self.replacement is None:
            self.embeddings = output.detach().requires_grad_(self.wants.gradient)
        else:
            self.embeddings = self.replacement
        if self.wants.only_embeddings:
            raise Embedded
        return self.embeddings.to(output.device, copy=True)

    @property
    def misses_values(self) -> bool:
        """Whether the values that belong to the last attention weights have not been seen yet."""
        return self.wants.parts and len(self.values) < len(self.attention)

    def see_input(self, _module: nn.Module, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        """Record the input of a block."""
        self.block_inputs.append(args[0] if args else kwargs["hidden_states"])

    def see_output(self, _module: nn.Module, _args: Any, output: Any) -> None:
        """Record the output of a block; the last one is kept."""
        self.block_output = output if isinstance(output, Tensor) else output[0]

    def see_last(self, _module: nn.Module, _args: Any, output: Any) -> Any:
        """Record the last hidden states. In a pass without gradients, only the head gets them.

        A module that runs several times, as in ALBERT, is seen several times; the last time counts.
        """
        states = output if isinstance(output, Tensor) else output[0]
        self.last = states
        if not self.wants.gradient:
            torch.set_grad_enabled(True)
            self.last = states.detach().requires_grad_()
            states = self.last
        given = (
            states.clone() if states.is_leaf else states
        )  # the network may change it in place, as XLM does
        return given if isinstance(output, Tensor) else (given, *output[1:])

    def see_norm(self, _module: nn.Module, args: tuple[Tensor, ...], output: Tensor) -> None:
        """Record the normalisation of attention plus residual."""
        self.norms.append((args[0], output))

    def see_second_norm(
        self, parts: BlockParts, _module: nn.Module, args: tuple[Tensor, ...], output: Tensor
    ) -> None:
        """Record the other normalisation of a block, and to which block it belongs."""
        self.second_norms.append((args[0], output))
        self.parts.append(parts)


def is_shifted(first: Tensor, second: object) -> bool:
    """Whether the second lookup [batch, token, feature] has the first one's vectors, one token later."""
    is_like = isinstance(second, Tensor) and second.shape == first.shape and first.dim() == 3
    return is_like and torch.equal(second[:, 1:], first[:, :-1].to(second))  # type: ignore[index, call-overload]


RECORDER: ContextVar[Recorder | None] = ContextVar("recorder", default=None)
