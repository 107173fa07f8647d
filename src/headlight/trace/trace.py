"""`Trace`: one forward pass, and the gradients and further passes that methods ask of it."""

from collections.abc import Callable, Collection, Hashable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Any

import torch
from torch import Tensor, nn

from headlight.batch import Inputs, Row, collate
from headlight.errors import UnsupportedModel
from headlight.models.model import Model
from headlight.running.double import double
from headlight.running.logits import check_finite, check_ids
from headlight.shapes import Attention, Hidden, Ids, Mixing, PerRow, Scores, TermValues, TokenMask
from headlight.target import Target
from headlight.tokens import ordinary
from headlight.trace.attention_block import Mixer, mixers_of
from headlight.trace.capture import Recorder, misshapen, unseen, watched_logits
from headlight.trace.double_embedding import embedded_twice
from headlight.trace.goal import Goal, Output, settle
from headlight.trace.padding import without_padding
from headlight.trace.readout import check_reading, read_place
from headlight.trace.relevance.deeplift import multipliers
from headlight.trace.relevance.intercept import Switchboard
from headlight.trace.relevance.sweep import Flow, Relevance, send_relevance

ATTENTION = {"attention", "attention_gradient", "mixers", "relevance"}
BLOCKS = {"hidden", "hidden_gradient", "mixers", "relevance"}
GRADIENTS = {"attention_gradient", "hidden_gradient", "embedding_gradient", "relevance"}
NEEDS = ATTENTION | BLOCKS | GRADIENTS | {"replay"}
"""What a method may need; the trace captures the union of what the requested methods need."""

TOKENS_AT_ONCE = 4_096
"""Tokens that are embedded together."""


@dataclass(frozen=True, eq=False)
class Gradients:
    """Gradients of the target with respect to what was captured, zero at padding."""

    embeddings: Hidden
    hidden: tuple[Hidden, ...] = ()
    attention: tuple[Attention, ...] = ()


@dataclass(frozen=True, eq=False)
class Trace:
    """One forward pass of a batch, captured and frozen; tensors are zero at padding.

    attention: weights of every layer, from input to output.
    hidden: h⁰ … h^L, the input of every block and the output of the last.
    mixers: the attention block of every layer, to be taken apart.
    embeddings: the input of the first block (of an unknown family: the word embeddings).
    ordinary: the tokens that are not special; all of a row that has no others.
    weights: how much each token's row counts in the read-out, by task: [CLS], the last token, the
        mask, the ends of an answer.
    """

    inputs: Inputs
    goal: Goal
    logits: Tensor
    embeddings: Hidden
    attention: tuple[Attention, ...]
    hidden: tuple[Hidden, ...]
    mixers: tuple[Mixer, ...]
    ordinary: TokenMask
    sweep: Callable[[Goal, Output | None], Gradients]
    run_again: Callable[[Hidden, Output | None], PerRow]
    embed: Callable[[Ids], Hidden]
    embed_mean: Callable[[], Hidden]
    embed_twice: Callable[[], tuple[Hidden, Hidden]]
    multiply: Callable[[Hidden], Hidden]
    place: Callable[[Goal], Scores]
    send: Callable[[Goal, Flow], Relevance]
    kept: dict[Hashable, Any] = field(default_factory=dict)

    def once(self, key: Hashable, make: Callable[[], Any]) -> Any:
        """What `make` gives, made once and kept for the next method that asks by this key."""
        if key not in self.kept:
            self.kept[key] = make()
        return self.kept[key]

    def gradients(self, output: Output | None = None) -> Gradients:
        """All gradients of the target from one backward sweep, made once."""
        found: Gradients = self.once(("gradients", output), lambda: self.sweep(self.goal, output))
        return found

    def relevance(self, flow: Flow) -> Relevance:
        """The relevance of everything captured from one backward sweep, made once."""
        found: Relevance = self.once(flow, lambda: self.send(self.goal, flow))
        return found

    def terms(self) -> "Iterator[tuple[TermValues, Trace]]":
        """Each logit of the target on its own: its sign in every row, and the trace that explains it."""
        for number in range(self.goal.signs.shape[1]):
            alone = replace(self, goal=self.goal.alone(number), kept={})
            yield self.goal.signs[:, number : number + 1], alone

    def replay(self, embeddings: Hidden, output: Output | None = None) -> PerRow:
        """The target of each row in another pass with other embeddings, differentiable in them.

        Embeddings of several such batches, one after the other, share the pass.
        """
        return self.run_again(embeddings, output)

    @property
    def weights(self) -> Scores:
        """The weights of the read-out."""
        return self.place(self.goal)

    def read(self, mixing: Mixing) -> Scores:
        """The row of a token-to-token matrix at the place where the prediction is read."""
        return torch.einsum("bq,bqk->bk", self.weights.to(mixing), mixing)


def trace(
    model: Model,
    rows: Sequence[Row],
    targets: Sequence[Target],
    needs: Collection[str],
    *,
    released: bool = False,
) -> Trace:
    """Run the model once on these rows, capturing what `needs` names."""
    recorder = Recorder(
        wants_attention=bool(ATTENTION & set(needs)),
        wants_blocks=bool(BLOCKS & set(needs)),
        wants_mixers="mixers" in needs,
        wants_last=bool(ATTENTION & set(needs)),
        wants_gradient=bool(GRADIENTS & set(needs)),
        board=Switchboard(len(rows)) if "relevance" in needs else None,
    )
    check_ids(model, rows)
    model = double(model)
    inputs = collate(rows, model.pad_id or 0, model.network.device)
    logits = watched_logits(model, recorder, inputs)
    check_finite(logits, model)
    if recorder.wants_attention:
        check_attention(model, recorder.attention, inputs)
    goal = settle(targets, model, rows, inputs, logits, released=released)
    assert recorder.embeddings is not None, "the embedding module did not run"
    kind = recorder.embeddings.dtype
    embeddings = without_padding(recorder.embeddings, inputs)
    blocks = recorder.block_inputs
    hidden = [*blocks, recorder.block_output] if recorder.block_output is not None else blocks
    captured = [recorder.embeddings, *hidden, *recorder.attention]

    def sweep(goal: Goal, output: Output | None) -> Gradients:
        with torch.enable_grad():
            value = goal.value(logits, inputs.present, output).sum()
        found = torch.autograd.grad(
            value, captured, retain_graph=True, allow_unused=True, materialize_grads=True
        )
        middle = 1 + len(hidden)
        return Gradients(
            embeddings=without_padding(found[0], inputs),
            hidden=tuple(without_padding(g, inputs) for g in found[1:middle]),
            attention=tuple(without_padding(g, inputs) for g in found[middle:]),
        )

    def run_again(embeddings: Hidden, output: Output | None) -> PerRow:
        count = len(embeddings) // len(inputs.ids)
        size = 1 if model.takes_one_row else len(embeddings)
        repeated = inputs.repeated(count)
        answers = []
        for start in range(0, len(embeddings), size):
            part = slice(start, start + size)
            again = Recorder(
                wants_gradient=torch.is_grad_enabled(), replacement=embeddings[part].to(kind)
            )
            answers.append(watched_logits(model, again, repeated.part(part)))
        logits = torch.cat(answers)
        return goal.repeated(count).value(logits, repeated.present, output)

    @cache
    def check_once() -> None:
        check_reading(model, goal, logits, recorder.last)

    def place(goal: Goal) -> Scores:
        weights = read_place(goal, model)
        check_once()
        return weights

    def embed(ids: Ids) -> Hidden:
        again = Recorder()
        watched_logits(model, again, replace(inputs, ids=ids))
        assert again.embeddings is not None
        return without_padding(again.embeddings, inputs)

    def embed_mean() -> Hidden:
        words = model.network.get_input_embeddings()
        mean, plain = mean_output(words), ordinary_tokens(rows, inputs)[..., None]

        def replace_words(_module: Any, _args: Any, output: Tensor) -> Tensor:
            return torch.where(plain, mean.to(output), output)

        handle = words.register_forward_hook(replace_words, prepend=True)
        try:
            return embed(inputs.ids)
        finally:
            handle.remove()

    return Trace(
        inputs=inputs,
        goal=goal,
        logits=logits.detach(),
        embeddings=embeddings,
        attention=tuple(without_padding(a, inputs) for a in recorder.attention),
        hidden=tuple(without_padding(h, inputs) for h in hidden),
        mixers=tuple(mixers_of(recorder, inputs)) if recorder.wants_mixers else (),
        sweep=sweep,
        ordinary=ordinary_tokens(rows, inputs),
        run_again=run_again,
        embed=embed,
        embed_mean=embed_mean,
        embed_twice=lambda: embedded_twice(model, inputs, goal),
        multiply=lambda reference: multipliers(model, inputs, goal, embeddings, reference),
        place=place,
        send=lambda goal, flow: send_relevance(flow, goal, logits, recorder, inputs),
    )


def check_attention(model: Model, attention: Sequence[Tensor], inputs: Inputs) -> None:
    """Refuse attention that is of another form than it was when the network was wrapped."""
    if not attention:
        raise UnsupportedModel(
            f"{model.family} computed no attention that could be seen: neither through the attention "
            "interface of transformers nor as a softmax over [batch, head, query, key]."
        )
    if reason := misshapen(model, attention, inputs):
        raise unseen(model, f"{reason} on an input of {inputs.ids.shape[1]} tokens")


def mean_output(words: nn.Module) -> Tensor:
    """What a module of word embeddings gives on the average of all its tokens."""
    weight = words.weight
    assert isinstance(weight, Tensor)
    with torch.no_grad():
        parts = torch.split(torch.arange(len(weight), device=weight.device), TOKENS_AT_ONCE)
        total = sum((words(ids).double().sum(0) for ids in parts), torch.zeros(()))
    return total / len(weight)


def ordinary_tokens(rows: Sequence[Row], inputs: Inputs) -> TokenMask:
    """Where the tokens are that are not special."""
    found = torch.zeros_like(inputs.present)
    for number, row in enumerate(rows):
        found[number, : len(row)] = torch.tensor(ordinary(row.is_special))
    return found


@dataclass(frozen=True, eq=False)
class Noted:
    """Scores, and a note on each row for the reader of its attribution."""

    scores: Scores
    notes: tuple[str, ...]
