"""Watching a pass. Everything is set on a double of the network, so the network itself is not touched.

Attention weights are seen through transformers' `AttentionInterface` or, in families that do not use it, by
watching softmax. The recorder of the running pass is in a context variable, so a pass in another thread is
never recorded by mistake.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import torch
from torch import Tensor, nn
from torch.overrides import TorchFunctionMode
from transformers import AttentionInterface, AttentionMaskInterface, PreTrainedModel
from transformers.masking_utils import eager_mask

from headlight.batch import Inputs
from headlight.errors import UnsupportedModel
from headlight.models.model import BlockParts, Model
from headlight.running.precision import max_precision
from headlight.trace.relevance.intercept import Switchboard, intercepted

IMPLEMENTATION = "headlight"
SOFTMAXES = (torch.softmax, torch.Tensor.softmax, nn.functional.softmax)
PRODUCTS = (
    torch.matmul,
    torch.bmm,
    torch.Tensor.matmul,
    torch.Tensor.__matmul__,
    torch.Tensor.bmm,
)


@dataclass(frozen=True)
class Wants:
    """What is captured in a pass.

    blocks: the input of every block and the output of the last. parts: the terms that each block's attention
    adds up. last: the last hidden states, which the head reads. gradient: everything with its graph.
    relevance: a switch behind every operation, so that relevance can be sent back.
    """

    attention: bool = False
    blocks: bool = False
    parts: bool = False
    last: bool = False
    gradient: bool = False
    relevance: bool = False


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

    embeddings: the input of the first block (in an unknown family: the word embeddings). hidden: h⁰ … h^L, the
    input of every block and the output of the last. attention: the weights of every layer. last: what the head
    reads. blocks: the attention blocks. board: controls the switches for a relevance sweep.
    """

    embeddings: Tensor
    hidden: tuple[Tensor, ...] = ()
    attention: tuple[Tensor, ...] = ()
    last: Tensor | None = None
    blocks: tuple[BlockRecord, ...] = ()
    board: Switchboard | None = None

    @property
    def depth(self) -> int:
        """How many blocks ran."""
        return max(0, len(self.hidden) - 1)


@dataclass(eq=False)
class Recorder:
    """Watches one forward pass and keeps what it sees, in the order in which it happens.

    replacement: replaces the embeddings that the network computes.
    """

    wants: Wants
    board: Switchboard | None = None
    replacement: Tensor | None = None
    embeddings: Tensor | None = None
    attention: list[Tensor] = field(default_factory=list)
    block_inputs: list[Tensor] = field(default_factory=list)
    block_output: Tensor | None = None
    last: Tensor | None = None
    values: list[Tensor] = field(default_factory=list)
    parts: list[BlockParts] = field(default_factory=list)
    norms: list[tuple[Tensor, Tensor]] = field(default_factory=list)
    second_norms: list[tuple[Tensor, Tensor]] = field(default_factory=list)

    def captured(self) -> Captured:
        """Everything that was seen in the finished pass."""
        assert self.embeddings is not None, "the embedding module did not run"
        output = () if self.block_output is None else (self.block_output,)
        return Captured(
            embeddings=self.embeddings,
            hidden=(*self.block_inputs, *output),
            attention=tuple(self.attention),
            last=self.last,
            blocks=tuple(self.blocks()),
            board=self.board,
        )

    def blocks(self) -> Iterator[BlockRecord]:
        """The attention blocks, if their values were seen; pre-norm families have no norm after the sum."""
        norms = iter(self.norms)
        # Attention outside the interface shows no values there; the proof then tries watching softmax.
        seen = zip(self.parts, self.values, self.second_norms, strict=False)
        for parts, values, second in seen if len(self.values) == len(self.parts) else ():
            first = None if parts.norm is None else next(norms)
            yield BlockRecord(parts, values, first, second)

    def see_embeddings(self, _module: nn.Module, _args: Any, output: Tensor) -> Tensor | None:
        """Record the embeddings as a leaf, and give the network a copy, which it may change in place."""
        if self.embeddings is not None:
            return None
        if self.replacement is None:
            self.embeddings = output.detach().requires_grad_(self.wants.gradient)
        else:
            self.embeddings = self.replacement
        return self.embeddings.clone()

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
        if not self.wants.gradient:
            torch.set_grad_enabled(True)
            states = states.detach().requires_grad_()
        self.last = states
        return states if isinstance(output, Tensor) else (states, *output[1:])

    def see_norm(self, _module: nn.Module, args: tuple[Tensor, ...], output: Tensor) -> None:
        """Record the normalisation of attention plus residual."""
        self.norms.append((args[0], output))

    def see_second_norm(
        self, parts: BlockParts, _module: nn.Module, args: tuple[Tensor, ...], output: Tensor
    ) -> None:
        """Record the other normalisation of a block, and to which block it belongs."""
        self.second_norms.append((args[0], output))
        self.parts.append(parts)


RECORDER: ContextVar[Recorder | None] = ContextVar("recorder", default=None)


# --------------------------------------------------------------------------------- attention


def watched_attention(
    module: nn.Module,
    query: Tensor,
    key: Tensor,
    value: Tensor,
    attention_mask: Tensor | None,
    scaling: float | None = None,
    dropout: float = 0.0,
    softcap: float | None = None,
    **kwargs: Any,
) -> tuple[Tensor, Tensor]:
    """Attention written out, softmax(q·k·scaling + mask)·v; the recorder gets its weights."""
    if kwargs.get("s_aux") is not None:
        raise UnsupportedModel(
            "adds attention sinks to its softmax, which headlight does not follow"
        )
    shared = query.shape[1] // key.shape[1]  # grouped queries: several heads share keys and values
    if shared > 1:
        key, value = key.repeat_interleave(shared, 1), value.repeat_interleave(shared, 1)
    logits = query @ key.transpose(2, 3) * (query.shape[-1] ** -0.5 if scaling is None else scaling)
    if softcap is not None:
        logits = torch.tanh(logits / softcap) * softcap
    if attention_mask is not None:
        logits = logits + attention_mask[..., : key.shape[-2]]
    weights = torch.softmax(logits, -1, dtype=max_precision(logits.dtype)).to(query.dtype)
    recorder = RECORDER.get()
    if recorder is not None and recorder.wants.attention:
        recorder.attention.append(weights)
    if recorder is not None and recorder.wants.parts:
        recorder.values.append(value)
    used = nn.functional.dropout(weights, dropout, module.training)
    return (used @ value).transpose(1, 2).contiguous(), weights


# The same name must be known for masks, or padding and causal masks are silently dropped.
AttentionInterface.register(IMPLEMENTATION, watched_attention)
AttentionMaskInterface.register(IMPLEMENTATION, eager_mask)


class SoftmaxWatch(TorchFunctionMode):
    """Shows every [batch, head, query, key] softmax to the recorder, for families with their own attention.

    The values are the second factor of the next product whose first factor has the shape of the weights.
    """

    def __torch_function__(
        self,
        func: Callable[..., Any],
        types: tuple[type, ...],
        args: tuple[Any, ...] = (),
        kwargs: Mapping[str, Any] | None = None,
    ) -> Any:
        result = func(*args, **(kwargs or {}))
        recorder = RECORDER.get()
        if recorder is None:
            return result
        if func in SOFTMAXES and result.dim() == 4:
            recorder.attention.append(result)
        elif func in PRODUCTS and recorder.misses_values:
            weights = recorder.attention[-1]
            if args[0].numel() == weights.numel() and args[0].shape[-2:] == weights.shape[-2:]:
                recorder.values.append(args[1].view(*weights.shape[:2], *args[1].shape[-2:]))
        return result


def misshapen(model: Model, attention: Sequence[Tensor], inputs: Inputs) -> str:
    """Why the attention maps are not one per layer, from all tokens to all tokens; '' if they are.

    Some networks attend differently from a certain length on, so every pass is checked.
    """
    count = inputs.ids.shape[1]
    if any(a.shape[-2:] != (count, count) for a in attention):
        return "does not attend from every token to every token"
    layers = getattr(model.network.config.get_text_config(), "num_hidden_layers", None)
    if layers is not None and layers != len(attention):
        return f"shows {len(attention)} attention maps in {layers} layers"
    return ""


# -------------------------------------------------------------------------------- a watched pass


def unseen(model: Model, reason: str) -> UnsupportedModel:
    """The error for methods that need attention if it cannot be used."""
    return UnsupportedModel(
        f"{model.family} {reason}. Use a method without attention: "
        "input_x_gradient, integrated_gradients, occlusion."
    )


@contextmanager
def watching(model: Model, recorder: Recorder) -> Iterator[None]:
    """Watch the passes of a double inside the block; afterwards another recorder can watch it."""
    if recorder.wants.attention and model.attention_refusal:
        raise unseen(model, model.attention_refusal)
    if recorder.board is not None and model.relevance_refusal:
        raise UnsupportedModel(
            f"relevance cannot be sent through {model.family}: {model.relevance_refusal}. Use a method without "
            "relevance: input_x_gradient, integrated_gradients, attcat."
        )
    with ExitStack() as undo:
        undo.enter_context(hooked(model, recorder))
        if recorder.board is not None:
            undo.enter_context(
                intercepted(
                    model.network,
                    recorder.board,
                    lambda: RECORDER.get() is recorder,
                    lambda: recorder.attention[-1] if recorder.attention else None,
                )
            )
        if recorder.wants.attention and model.sees_attention_by == "interface":
            undo.enter_context(attending(model.network, IMPLEMENTATION))
        elif recorder.wants.attention:
            undo.enter_context(attending(model.network, "eager"))
            undo.enter_context(SoftmaxWatch())
        token = RECORDER.set(recorder)
        undo.callback(RECORDER.reset, token)
        undo.enter_context(torch.set_grad_enabled(recorder.wants.gradient))
        yield


@contextmanager
def attending(network: PreTrainedModel, implementation: str) -> Iterator[None]:
    """Use another attention implementation for the network and every part with its own config.

    Every family has "eager"; ours is set only if the family allows a choice of implementations.
    """
    configs = {id(m.config): m.config for m in network.modules() if isinstance(m, PreTrainedModel)}
    # The private attribute, because `set_attn_implementation` only warns in families without the interface,
    # where "eager" is needed, and cannot restore several configs one by one.
    former = [(config, config._attn_implementation_internal) for config in configs.values()]
    try:
        if implementation == "eager" or network._can_set_attn_implementation():
            for config in configs.values():
                config._attn_implementation_internal = implementation
        yield
    finally:
        for config, original in former:
            config._attn_implementation_internal = original


@contextmanager
def hooked(model: Model, recorder: Recorder) -> Iterator[None]:
    """Set hooks on the embeddings and, if wanted, on the blocks; they act only in this recorder's pass."""

    def ours(see: Callable[..., Any]) -> Callable[..., Any]:
        return lambda *args: see(*args) if RECORDER.get() is recorder else None

    with ExitStack() as undo:
        embeddings = model.embedding_stages[-1]
        undo.callback(embeddings.register_forward_hook(ours(recorder.see_embeddings)).remove)
        for block in model.blocks if recorder.wants.blocks else []:
            before = ours(recorder.see_input)
            undo.callback(block.register_forward_pre_hook(before, with_kwargs=True).remove)
            undo.callback(block.register_forward_hook(ours(recorder.see_output)).remove)
        if recorder.wants.last and model.readout.stage is not None:
            stage = model.network.get_submodule(model.readout.stage)
            undo.callback(stage.register_forward_hook(ours(recorder.see_last)).remove)
        for parts in model.block_parts if recorder.wants.parts else []:
            if parts.norm is not None:
                undo.callback(parts.norm.register_forward_hook(ours(recorder.see_norm)).remove)
            second = ours(partial(recorder.see_second_norm, parts))
            undo.callback(parts.second_norm.register_forward_hook(second).remove)
        yield
