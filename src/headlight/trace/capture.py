"""Watching a pass. Everything is set on a double of the network, so the network itself is not touched.

Attention weights are seen through transformers' `AttentionInterface` or, in families that do not use it, by
watching softmax. The recorder of the running pass is in a context variable, so a pass in another thread is
never recorded by mistake.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from functools import partial
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.functional import scaled_dot_product_attention
from torch.overrides import TorchFunctionMode
from transformers import AttentionInterface, AttentionMaskInterface, PreTrainedModel
from transformers.masking_utils import eager_mask

from headlight.batch import Inputs
from headlight.errors import UnsupportedModel
from headlight.models.model import Model
from headlight.trace.attention_maps import (
    Attended,
    shared_out,
    written_weights,
)
from headlight.trace.recompute import recomputed
from headlight.trace.recorder import RECORDER, Recorder
from headlight.trace.relevance.intercept import intercepted
from headlight.trace.relevance.modified import modifiable

WRITTEN, FUSED = "headlight_written", "headlight_fused"
"""Our implementations of attention: written out, so that rules see every operation, or by the fused kernel."""
SOFTMAXES = (torch.softmax, torch.Tensor.softmax, nn.functional.softmax)
PRODUCTS = (
    torch.matmul,
    torch.bmm,
    torch.Tensor.matmul,
    torch.Tensor.__matmul__,
    torch.Tensor.bmm,
)


# --------------------------------------------------------------------------------- attention


def written_attention(
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
    """Attention written out, softmax(q·k·scaling + mask)·v; the recorder gets its weights with their graph."""
    check_sinks(kwargs)
    key, value = shared_out(key, query), shared_out(value, query)
    scaling = query.shape[-1] ** -0.5 if scaling is None else scaling
    weights = written_weights(query, key, attention_mask, scaling, softcap)
    recorder = RECORDER.get()
    if recorder is not None and recorder.wants.attention:
        recorder.attention.append(weights)
    if recorder is not None and recorder.wants.parts:
        recorder.values.append(value)
    used = nn.functional.dropout(weights, dropout, module.training)
    return (used @ value).transpose(1, 2).contiguous(), weights


def fused_attention(
    module: nn.Module,
    query: Tensor,
    key: Tensor,
    value: Tensor,
    attention_mask: Tensor | None,
    scaling: float | None = None,
    dropout: float = 0.0,
    softcap: float | None = None,
    **kwargs: Any,
) -> tuple[Tensor, None]:
    """Fused attention, whose weights are made again when they are read; the recorder gets what they need."""
    check_sinks(kwargs)
    scaling = query.shape[-1] ** -0.5 if scaling is None else scaling
    mask = None if attention_mask is None else attention_mask[..., : key.shape[-2]]
    if softcap is None:
        keys, values = shared_out(key, query), shared_out(value, query)
        rate = dropout if module.training else 0.0
        result = scaled_dot_product_attention(query, keys, values, mask, rate, scale=scaling)
    else:  # no kernel bounds its scores
        weights = written_weights(query, shared_out(key, query), mask, scaling, softcap)
        used = nn.functional.dropout(weights, dropout, module.training)
        result = used @ shared_out(value, query)
    recorder = RECORDER.get()
    if recorder is not None and recorder.switch is not None:
        result = recorder.switch.applied(result, key.shape[-2])
    if recorder is not None and recorder.wants.attention:
        recorder.attended.append(Attended(query, key, value, mask, scaling, softcap, result))
    return result.transpose(1, 2).contiguous(), None


def check_sinks(others: Mapping[str, Any]) -> None:
    """Refuse attention some of which rests on no token, so that its map would not add up to 1."""
    if others.get("s_aux") is not None:
        raise UnsupportedModel(
            "adds attention sinks to its softmax, which headlight does not follow"
        )


for name, function in ((WRITTEN, written_attention), (FUSED, fused_attention)):
    # The same name must be known for masks, or padding and causal masks are silently dropped.
    AttentionInterface.register(name, function)
    AttentionMaskInterface.register(name, eager_mask)


class SoftmaxWatch(TorchFunctionMode):
    """Shows every [batch, head, query, key] softmax to the recorder, for families with their own attention.

    If heads are switched off, their weights become zero. The values are the second factor of the next product
    whose first factor has the shape of the weights.
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
            if recorder.switch is not None:
                return recorder.switch.applied(result, result.shape[-1])
            recorder.attention.append(result)
        elif func in PRODUCTS and recorder.misses_values:
            weights = recorder.attention[-1]
            if args[0].numel() == weights.numel() and args[0].shape[-2:] == weights.shape[-2:]:
                recorder.values.append(args[1].view(*weights.shape[:2], *args[1].shape[-2:]))
        return result


def misshapen(model: Model, sizes: Sequence[tuple[int, int]], inputs: Inputs) -> str:
    """Why the attention maps are not one per layer, from all tokens to all tokens; '' if they are.

    sizes: queries and keys of each. Some networks attend differently from a certain length on, so every pass is
    checked.
    """
    count = inputs.ids.shape[1]
    if any(size != (count, count) for size in sizes):
        return "does not attend from every token to every token"
    layers = getattr(model.network.config.get_text_config(), "num_hidden_layers", None)
    if layers is not None and layers != len(sizes):
        return f"shows {len(sizes)} attention maps in {layers} layers"
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
    if recorder.steering is not None and model.modified_refusal:
        raise UnsupportedModel(
            f"gradients cannot be modified in {model.family}: {model.modified_refusal}. Use a method of plain "
            "gradients: input_x_gradient, integrated_gradients."
        )
    with ExitStack() as undo:
        undo.enter_context(hooked(model, recorder))
        undo.enter_context(uncached(model.network))
        if recorder.wants.recomputes:
            undo.enter_context(recomputed(model, partial(computing, model, recorder)))
        if recorder.board is not None:
            undo.enter_context(
                intercepted(
                    model.network,
                    recorder.board,
                    lambda: RECORDER.get() is recorder,
                    lambda: recorder.attention[-1] if recorder.attention else None,
                )
            )
        undo.enter_context(computing(model, recorder))
        if recorder.needs_attention and model.sees_attention_by == "softmax":
            undo.enter_context(SoftmaxWatch())
        token = RECORDER.set(recorder)
        undo.callback(RECORDER.reset, token)
        undo.enter_context(torch.set_grad_enabled(recorder.wants.gradient))
        yield


@contextmanager
def uncached(network: PreTrainedModel) -> Iterator[None]:
    """Run without a cache of keys and values, which some heads cannot be told by an argument.

    It takes memory, and a block that is computed again would find itself in it.
    """
    configs = [
        c for c in (network.config, network.config.get_text_config()) if vars(c).get("use_cache")
    ]
    for config in configs:
        config.use_cache = False
    try:
        yield
    finally:
        for config in configs:
            config.use_cache = True


@contextmanager
def computing(model: Model, recorder: Recorder) -> Iterator[None]:
    """Compute as this recorder's pass does: with its attention, and rewritten if it modifies gradients."""
    with ExitStack() as undo:
        if recorder.steering is not None:
            undo.enter_context(modifiable(model.network, recorder.steering))
        if recorder.needs_attention and model.sees_attention_by == "interface":
            own = FUSED if recorder.board is None else WRITTEN
            undo.enter_context(attending(model.network, own))
        elif recorder.needs_attention:
            undo.enter_context(attending(model.network, "eager"))
        elif recorder.steering is not None and not is_visible(model.network):
            undo.enter_context(attending(model.network, "sdpa"))
        yield


def is_visible(network: PreTrainedModel) -> bool:
    """Whether the network's own attention consists of operations of torch; kernels of other packages do not."""
    return network.config._attn_implementation in (None, "eager", "sdpa")


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
        for lookup in model.embedding_lookups:
            undo.callback(lookup.register_forward_hook(ours(recorder.see_embeddings)).remove)
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
        row = model.architecture
        if recorder.switch is not None and row is not None and row.parts is not None:
            check = ours(recorder.switch.check_joined)
            for projection in {parts.projection for parts in model.block_parts}:
                undo.callback(projection.register_forward_pre_hook(check).remove)
        yield
