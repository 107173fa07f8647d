"""`Trace`: one forward pass, and the gradients and further passes that methods ask of it."""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from typing import Any, Literal

import torch
from torch import Tensor

from headlight.batch import Inputs, Row, collate
from headlight.errors import UnsupportedModel
from headlight.models.model import Model
from headlight.shapes import Attention, Hidden, Mixing, PerRow, Scores, TermValues
from headlight.target import Target
from headlight.trace.capture import Recorder, max_precision, watching
from headlight.trace.goal import Goal, Output, read_place, settle
from headlight.trace.intercept import Gate, Sweep, Switchboard
from headlight.trace.network import check_finite, check_ids, logits_of
from headlight.trace.presets import preset_rules
from headlight.trace.rules import divide
from headlight.trace.twice import embedded_twice

ATTENTION = {"attention", "attention_gradient", "relevance"}
BLOCKS = {"hidden", "hidden_gradient", "relevance"}
GRADIENTS = {"attention_gradient", "hidden_gradient", "embedding_gradient", "relevance"}
NEEDS = ATTENTION | BLOCKS | GRADIENTS | {"replay"}
"""What a method may need; the trace captures the union of what the requested methods need."""


@dataclass(frozen=True, eq=False)
class Gradients:
    """Gradients of the target with respect to what was captured, zero at padding."""

    embeddings: Hidden
    hidden: tuple[Hidden, ...] = ()
    attention: tuple[Attention, ...] = ()


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
    is_smeared: the relevance of the last block's output is first spread over all tokens, as released
    code does for answers.
    """

    preset: str = "chefer"
    seed: Literal["one", "logit"] = "one"
    gate: Gate | None = None
    closed: frozenset[int] = frozenset()
    is_smeared: bool = False


@dataclass(frozen=True, eq=False)
class Trace:
    """One forward pass of a batch, captured and frozen; tensors are zero at padding.

    attention: weights of every layer, from input to output.
    hidden: h⁰ … h^L, the input of every block and the output of the last.
    embeddings: the input of the first block (of an unknown family: the word embeddings).
    weights: how much each token's row counts in the read-out, by task: [CLS], the last token, the
        mask, the ends of an answer.
    """

    inputs: Inputs
    goal: Goal
    logits: Tensor
    embeddings: Hidden
    attention: tuple[Attention, ...]
    hidden: tuple[Hidden, ...]
    sweep: Callable[[Goal, Output | None], Gradients]
    run_again: Callable[[Hidden, Output | None], PerRow]
    embed_twice: Callable[[], tuple[Hidden, Hidden]]
    place: Callable[[Goal], Scores]
    send: Callable[[Goal, Flow], Relevance]
    swept: dict[Output | None, Gradients] = field(default_factory=dict)
    sent: dict[Flow, Relevance] = field(default_factory=dict)

    def gradients(self, output: Output | None = None) -> Gradients:
        """All gradients of the target from one backward sweep, kept for the next method."""
        if output not in self.swept:
            self.swept[output] = self.sweep(self.goal, output)
        return self.swept[output]

    def relevance(self, flow: Flow) -> Relevance:
        """The relevance of everything captured from one backward sweep, kept for the next method."""
        if flow not in self.sent:
            self.sent[flow] = self.send(self.goal, flow)
        return self.sent[flow]

    def terms(self) -> "Iterator[tuple[TermValues, Trace]]":
        """Each logit of the target on its own: its sign in every row, and the trace that explains it."""
        for number in range(self.goal.signs.shape[1]):
            alone = replace(self, goal=self.goal.alone(number), swept={}, sent={})
            yield self.goal.signs[:, number : number + 1], alone

    def replay(self, embeddings: Hidden, output: Output | None = None) -> PerRow:
        """The target of each row in another pass with other embeddings, differentiable in them."""
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
        wants_gradient=bool(GRADIENTS & set(needs)),
        board=Switchboard(len(rows)) if "relevance" in needs else None,
    )
    check_ids(model, rows)
    inputs = collate(rows, model.pad_id or 0, model.network.device)
    with watching(model, recorder):
        logits = logits_of(model, inputs)
    check_finite(logits, model)
    if recorder.wants_attention and not recorder.attention:
        raise UnsupportedModel(
            f"{model.family} computed no attention that could be seen: neither through the attention "
            "interface of transformers nor as a softmax over [batch, head, query, key]."
        )
    goal = settle(targets, model, rows, inputs, logits, released=released)
    assert recorder.embeddings is not None, "the embedding module did not run"
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
        again = Recorder(wants_gradient=torch.is_grad_enabled(), replacement=embeddings)
        with watching(model, again):
            logits = logits_of(model, inputs)
        return goal.value(logits, inputs.present, output)

    return Trace(
        inputs=inputs,
        goal=goal,
        logits=logits.detach(),
        embeddings=without_padding(recorder.embeddings, inputs),
        attention=tuple(without_padding(a, inputs) for a in recorder.attention),
        hidden=tuple(without_padding(h, inputs) for h in hidden),
        sweep=sweep,
        run_again=run_again,
        embed_twice=lambda: embedded_twice(model, inputs, goal),
        place=lambda goal: read_place(goal, model),
        send=lambda goal, flow: send_relevance(flow, goal, logits, recorder, inputs),
    )


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
        sweep = Sweep(flow.preset, preset_rules(flow.preset), flow.gate)
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


def without_padding(values: Tensor, inputs: Inputs) -> Tensor:
    """Captured values [batch, token, feature] or [batch, head, query, key] for methods to read.

    Detached, on the device of the inputs, in at least 32 bits, and zero at padding.
    """
    values = values.detach().to(inputs.ids.device, max_precision(values.dtype))
    if bool(inputs.present.all()):
        return values
    present = inputs.present.to(values)
    if values.dim() == 4:
        return values * present[:, None, :, None] * present[:, None, None, :]
    return values * present[:, :, None]
