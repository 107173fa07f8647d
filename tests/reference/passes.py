"""An independent pass: transformers' own eager attention in 64 bits, one row, autograd on its outputs."""

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from copy import deepcopy
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch.overrides import TorchFunctionMode
from transformers import PreTrainedModel

from headlight.models.model import Task

Matrix = np.ndarray


@dataclass(frozen=True)
class Layernorm:
    """γ, ε, what went in and what came out."""

    gamma: Matrix
    epsilon: float
    given: Matrix
    output: Matrix


@dataclass(frozen=True)
class Block:
    """An attention block: values [token][head][width], W_O [head][width][feature], b_O, and its norms."""

    values: Matrix
    projection: Matrix
    bias: Matrix
    norms: list[Layernorm]
    output: Matrix


ENCODER = ("attention.output.dense", "attention.output.LayerNorm", "output.LayerNorm")
DECODER = ("self_attn.v_proj", "self_attn.o_proj", None, "post_attention_layernorm")
PARTS: dict[str, tuple[str, str, str | None, str]] = {
    "bert": ("attention.self.value", *ENCODER),
    "roberta": ("attention.self.value", *ENCODER),
    "deberta-v2": ("attention.self.value_proj", *ENCODER),
    "distilbert": ("attention.v_lin", "attention.out_lin", "sa_layer_norm", "output_layer_norm"),
    "mpnet": ("attention.attn.v", "attention.attn.o", "attention.LayerNorm", "output.LayerNorm"),
    "modernbert": ("attn.Wqkv", "attn.Wo", None, "mlp_norm"),
    "gpt2": ("attn.c_attn", "attn.c_proj", None, "ln_2"),
    "llama": DECODER,
    "mistral": DECODER,
    "qwen3": DECODER,
}
"""Value projection, output projection, norm after attention, other norm, by family."""


@dataclass(frozen=True)
class Pass:
    """What the oracles read: maps [layer][head][query][key], hidden states h⁰ … h^L, and gradients.

    `read_at` is the position of the prediction; `loss_gradient` is that of −log p at the embedding.
    """

    attention: list[Matrix]
    attention_gradient: list[Matrix]
    hidden: list[Matrix]
    hidden_gradient: list[Matrix]
    loss_gradient: Matrix
    read_at: int
    embedded_twice: tuple[Matrix, Matrix]
    blocks: "list[Block]"
    ids: list[int]
    baseline: Matrix
    value: Callable[[Matrix], float]
    gradient: Callable[[Matrix], Matrix]
    decode: Callable[[Matrix], Matrix]
    loss_gradients: list[Matrix]

    @property
    def size(self) -> int:
        return len(self.hidden[0])


EMBEDDING = {"gpt2": "drop", **dict.fromkeys(("llama", "mistral", "qwen3"), "embed_tokens")}
"""The module whose output goes into the first block; elsewhere 'embeddings'."""


def independent_pass(
    net: PreTrainedModel, ids: list[int], task: Task, label: int, speaker: PreTrainedModel
) -> Pass:
    """Run a double-precision network without headlight; `label` is a class, or a token id.

    `speaker` is a language model of the family, whose head decodes.
    """
    batch = torch.tensor([ids])
    if net._can_set_attn_implementation():
        net.set_attn_implementation("eager")
    blocks = last_block(net)
    kept: list[torch.Tensor] = []
    handle = blocks.register_forward_hook(lambda _m, _a, out: keep(kept, out))
    for parameter in net.parameters():
        parameter.requires_grad_(True)
    watched = {path: watch(net, path) for path in PARTS[net.config.model_type] if path}
    with WideSoftmax():
        answer = net(batch, output_attentions=True, output_hidden_states=True)
    handle.remove()
    logits = answer.logits[0] if task is Task.SEQUENCE else answer.logits[0, -1]
    hidden = [*answer.hidden_states[:-1], kept[-1]]
    attention = list(answer.attentions)
    parts = blocks_of(net, watched, attention[0].shape[1])
    found = torch.autograd.grad(logits[label], [*attention, *hidden], retain_graph=True)
    losses = torch.autograd.grad(-logits.log_softmax(-1)[label], hidden, retain_graph=True)

    def value(embeddings: torch.Tensor) -> torch.Tensor:
        with replaced(embedding_module(net), embeddings[None]), WideSoftmax():
            said = net(batch).logits[0]
        return (said if task is Task.SEQUENCE else said[-1])[label]

    def gradient(embeddings: Matrix) -> Matrix:
        leaf = torch.tensor(embeddings).requires_grad_()
        return torch.autograd.grad(value(leaf), leaf)[0].numpy()

    def decode(states: Matrix) -> Matrix:
        with torch.no_grad(), replaced(last_block(speaker), torch.tensor(states)[None]):
            return speaker(batch).logits[0].softmax(-1).numpy()

    is_decoder = bool(torch.triu(attention[0][0, 0], 1).abs().max() == 0)
    return Pass(
        attention=[a[0].detach().numpy() for a in attention],
        attention_gradient=[g[0].numpy() for g in found[: len(attention)]],
        hidden=[h[0].detach().numpy() for h in hidden],
        hidden_gradient=[g[0].numpy() for g in found[len(attention) :]],
        loss_gradient=losses[0][0].numpy(),
        loss_gradients=[g[0].numpy() for g in losses],
        ids=ids,
        baseline=baseline_of(net, ids),
        value=lambda embeddings: value(torch.tensor(embeddings)).item(),
        gradient=gradient,
        decode=decode,
        read_at=len(ids) - 1 if is_decoder else 0,
        blocks=parts,
        embedded_twice=twice(net, hidden[0].detach(), task, label),
    )


def embedding_module(net: PreTrainedModel) -> torch.nn.Module:
    return getattr(net.base_model, EMBEDDING.get(net.config.model_type, "embeddings"))


@contextmanager
def replaced(module: torch.nn.Module, output: torch.Tensor) -> Iterator[None]:
    """A module that gives this, as a tensor or as the first of several things."""
    handle = module.register_forward_hook(
        lambda _m, _a, out: output if isinstance(out, torch.Tensor) else (output, *out[1:])
    )
    yield
    handle.remove()


def baseline_of(net: PreTrainedModel, ids: list[int]) -> Matrix:
    """The embedding output where every word is the mean of all words."""
    even = deepcopy(net)
    words = even.get_input_embeddings().get_parameter("weight").detach()
    words[:] = words.mean(0)
    kept: list[torch.Tensor] = []
    embedding_module(even).register_forward_hook(lambda _m, _a, out: keep(kept, out))
    with torch.no_grad():
        even(torch.tensor([ids]), attention_mask=torch.ones(1, len(ids)))
    return kept[0][0].numpy()


Seen = list[tuple[Any, Matrix, Matrix]]


def watch(net: PreTrainedModel, path: str) -> Seen:
    """The modules at the path in every block, with what goes in and out."""
    seen: Seen = []
    for name, module in net.named_modules():
        if re.fullmatch(rf".*\.\d+\.{re.escape(path)}", name):
            module.register_forward_hook(
                lambda m, a, out: seen.append(
                    (m, a[0][0].detach().numpy(), out[0].detach().numpy())
                )
            )
    return seen


def blocks_of(net: PreTrainedModel, watched: dict[str, Seen], heads: int) -> list[Block]:
    """Attention blocks from what the hooks saw."""
    value, projection, first, second = PARTS[net.config.model_type]
    found = []
    for number, (_, _, mixed) in enumerate(watched[value]):
        size = len(mixed)
        if value in ("attn.Wqkv", "attn.c_attn"):
            mixed = mixed[:, mixed.shape[1] // 3 * 2 :]
        module = watched[projection][number][0]
        weight = module.weight.detach().numpy()
        weight = weight if value == "attn.c_attn" else weight.T
        width = len(weight) // heads
        shared = heads * width // mixed.shape[1]
        values = np.repeat(mixed.reshape(size, -1, width), shared, axis=1)
        bias = np.zeros(weight.shape[1]) if module.bias is None else module.bias.detach().numpy()
        norms = [
            Layernorm(m.weight.detach().numpy(), m.eps, given, output)
            for m, given, output in (
                watched[path][number] for path in ((first, second) if first else ())
            )
        ]
        output = norms[0].output if norms else watched[second][number][1]
        found.append(Block(values, weight.reshape(heads, width, -1), bias, norms, output))
    return found


class WideSoftmax(TorchFunctionMode):
    """Keeps softmax in 64 bits where a family's eager attention asks for 32."""

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        if func is torch.nn.functional.softmax:
            kwargs = {name: value for name, value in kwargs.items() if name != "dtype"}
        return func(*args, **(kwargs or {}))


def keep(kept: list[torch.Tensor], output: object) -> None:
    kept.append(output if isinstance(output, torch.Tensor) else output[0])  # type: ignore[index]


def last_block(net: PreTrainedModel) -> torch.nn.Module:
    """The last member of the longest list of modules: the blocks."""
    lists = [list(m) for m in net.modules() if isinstance(m, torch.nn.ModuleList)]
    return max(lists, key=len)[-1]


def twice(
    net: PreTrainedModel, embeddings: torch.Tensor, task: Task, label: int
) -> tuple[Matrix, Matrix]:
    """Embedding output and gradient of the probability when it is fed back as inputs_embeds."""
    leaf = embeddings.clone().requires_grad_()
    with WideSoftmax():
        logits = net(inputs_embeds=leaf).logits[0]
    chosen = logits if task is Task.SEQUENCE else logits[-1]
    (gradient,) = torch.autograd.grad(chosen.softmax(-1)[label], leaf)
    return embeddings[0].numpy(), gradient[0].numpy()
