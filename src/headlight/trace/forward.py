"""`Pass`: one forward pass that was watched: its inputs, what was captured, and the logits."""

from collections.abc import Callable, Hashable, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import Any

import torch
from torch import Tensor, nn

from headlight.batch import Inputs
from headlight.errors import UnsupportedModel
from headlight.models.model import Model
from headlight.running.double import double
from headlight.running.logits import logits_of
from headlight.running.memory import TOKENS_AT_ONCE
from headlight.running.undisturbed import plain_state, undisturbed
from headlight.shapes import Attention, Hidden, Ids, TokenMask
from headlight.trace.attention_block import AttentionBlock, block_of
from headlight.trace.attention_maps import OnDemand
from headlight.trace.capture import watching
from headlight.trace.padding import zero_padding
from headlight.trace.recorder import Captured, Embedded, Recorder, Wants
from headlight.trace.relevance.intercept import Switchboard
from headlight.trace.relevance.steps import Steering


@dataclass(frozen=True, eq=False)
class Pass:
    """One forward pass of a batch: a model (a double of it), its inputs, what was captured, and the logits.

    Logits are [batch, position, class]. They and the captured tensors keep their graph, so that any number of
    targets can be explained by sweeps back through it. The properties are for methods: detached, in at least
    32 bits, and zero at padding. Nothing here depends on a target. further: passes of the same batch, by name.
    recomputes: whether what is inside a block is computed again on the way back.
    """

    model: Model
    inputs: Inputs
    captured: Captured
    logits: Tensor
    kept: dict[Hashable, Any] = field(default_factory=dict)
    further: dict[str, "Pass"] = field(default_factory=dict)
    recomputes: bool = False

    def once(self, key: Hashable, make: Callable[[], Any]) -> Any:
        """The result of `make`, computed once and kept under this key."""
        if key not in self.kept:
            self.kept[key] = make()
        return self.kept[key]

    @cached_property
    def embeddings(self) -> Hidden:
        """The input of the first block."""
        return zero_padding(self.captured.embeddings, self.inputs)

    @cached_property
    def hidden(self) -> tuple[Hidden, ...]:
        """h⁰ … h^L, the input of every block and the output of the last."""
        return tuple(zero_padding(states, self.inputs) for states in self.captured.hidden)

    @property
    def attention(self) -> Sequence[Attention]:
        """The weights of every layer, from input to output, made when they are read."""

        def prepared(layer: int) -> Attention:
            return zero_padding(self.captured.attention[layer], self.inputs)

        return OnDemand(tuple(partial(prepared, n) for n in range(len(self.captured.attention))))

    @property
    def blocks(self) -> Sequence[AttentionBlock]:
        """The attention block of every layer, for methods that decompose it, made when they are read."""
        count = len(self.captured.blocks)
        return OnDemand(
            tuple(partial(block_of, self.captured, self.inputs, n) for n in range(count))
        )

    # ------------------------------------------------------------------------- further passes

    def until(self, reached: TokenMask) -> "Pass":
        """The same pass as if it had ended with these tokens, which no later one has changed."""
        present = self.inputs.present & reached
        if bool((present == self.inputs.present).all()):
            return self
        return replace(self, inputs=replace(self.inputs, present=present), kept={})

    def modifiable(self) -> "Pass":
        """The pass itself if its gradients can be modified, else one more of the same batch."""
        if self.captured.steering is not None:
            return self
        if "modifiable" not in self.further:
            wants = Wants(gradient=True, modified=True)
            self.further["modifiable"] = forward(self.model, self.inputs, wants)
        return replace(self.further["modifiable"], inputs=self.inputs)

    def hiding(self, places: TokenMask, wants: Wants) -> "Pass":
        """One more pass of the same batch, in which no token attends to those in these places."""
        attended = self.inputs.attended & ~places
        return forward(self.model, replace(self.inputs, attended=attended), wants)

    def again(self, embeddings: Hidden) -> Tensor:
        """The logits of the same batch with other embeddings, differentiable in them.

        Several such batches of embeddings, one after the other, share the pass.
        """
        size = 1 if self.model.takes_one_row else len(embeddings)
        repeated = self.inputs.repeated(len(embeddings) // len(self.inputs.ids))
        wants = Wants(gradient=torch.is_grad_enabled())
        kind = self.captured.embeddings.dtype
        parts = [slice(start, start + size) for start in range(0, len(embeddings), size)]
        return torch.cat(
            [
                forward(self.model, repeated.part(part), wants, embeddings[part].to(kind)).logits
                for part in parts
            ]
        )

    def embed(self, ids: Ids) -> Hidden:
        """The embeddings of other tokens in the same places."""
        return zero_padding(embedded(self.model, replace(self.inputs, ids=ids)), self.inputs)

    def embed_mean(self, places: TokenMask) -> Hidden:
        """The embeddings with the mean of all word embeddings in these places."""
        replaced: list[Tensor] = []

        def replace_words(module: Any, _args: Any, output: Tensor) -> Tensor:
            replaced.append(torch.where(places[..., None], means[module].to(output), output))
            return replaced[-1]

        means = {module: mean_output(module) for module in word_lookups(self.model)}
        with ExitStack() as undo:
            for module in means:
                # Before the hook that captures the embeddings, which some families have on this module.
                undo.callback(module.register_forward_hook(replace_words, prepend=True).remove)
            embeddings = self.embed(self.inputs.ids)
        if not replaced:
            raise UnsupportedModel(
                f"{self.model.name} looks its words up in another place than its input embeddings, so they "
                "cannot be replaced by their mean. Use another baseline, such as baseline='zero'."
            )
        return embeddings


def word_lookups(model: Model) -> list[nn.Module]:
    """The modules that look words up in the network's table: a family may have one for each of its halves."""
    table = model.network.get_input_embeddings()
    shared = (m for m in model.network.modules() if isinstance(m, nn.Embedding))
    return list(dict.fromkeys([table, *(m for m in shared if m.weight is table.weight)]))


def forward(model: Model, inputs: Inputs, wants: Wants, embeddings: Tensor | None = None) -> Pass:
    """Run the model once and capture what is wanted; `embeddings` replace those that it computes."""
    model = double(model)
    board = Switchboard(len(inputs.ids)) if wants.relevance else None
    steering = Steering() if wants.modified else None
    recorder = Recorder(wants, board, steering, embeddings)
    logits = undisturbed(lambda: logits_of(model, inputs), plain_state(), watching(model, recorder))
    return Pass(model, inputs, recorder.captured(), logits, recomputes=wants.recomputes)


def embedded(model: Model, inputs: Inputs) -> Tensor:
    """The input of the first block, from a pass that goes no further."""
    model = double(model)
    recorder = Recorder(Wants(only_embeddings=True))
    with suppress(Embedded):
        undisturbed(lambda: logits_of(model, inputs), plain_state(), watching(model, recorder))
    assert recorder.embeddings is not None, "the pass looked up no embeddings"
    return recorder.embeddings


def mean_output(words: nn.Module) -> Tensor:
    """The mean output of a word-embedding module over its vocabulary."""
    weight = words.weight
    assert isinstance(weight, Tensor)
    # The module is run instead of its weight read, because some families scale what it looks up.
    with torch.no_grad():
        parts = torch.split(torch.arange(len(weight), device=weight.device), TOKENS_AT_ONCE)
        total = sum((words(ids).double().sum(0) for ids in parts), torch.zeros(()))
    return total / len(weight)
