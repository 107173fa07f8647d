"""`Trace`: a forward pass and one goal; it gives methods gradients, relevance and further passes."""

from collections.abc import Callable, Collection, Hashable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import torch
from torch import Tensor

from headlight.batch import Inputs, Row, collate
from headlight.errors import UnsupportedModel
from headlight.models.model import Model, Task
from headlight.running.logits import check_finite, check_ids
from headlight.shapes import Attention, Hidden, Ids, Mixing, PerRow, Scores, TermValues, TokenMask
from headlight.target import Target
from headlight.tokens import ordinary
from headlight.trace.attention_block import AttentionBlock
from headlight.trace.attention_maps import OnDemand
from headlight.trace.backward import swept_back
from headlight.trace.capture import misshapen, unseen
from headlight.trace.double_embedding import embedded_twice
from headlight.trace.forward import Pass, forward
from headlight.trace.goal import Goal, Output, goal_of
from headlight.trace.padding import zero_padding
from headlight.trace.readout import check_reading, read_place
from headlight.trace.recorder import Wants
from headlight.trace.relevance.deeplift import multipliers
from headlight.trace.relevance.modifications import Modification
from headlight.trace.relevance.steps import Steering
from headlight.trace.relevance.sweep import Flow, Relevance, send_relevance
from headlight.trace.resolve import read_positions

ATTENTION = {"attention", "attention_gradient", "attention_blocks", "relevance"}
BLOCKS = {"hidden", "hidden_gradient", "attention_blocks", "relevance"}
GRADIENTS = {
    "attention_gradient",
    "hidden_gradient",
    "embedding_gradient",
    "modified_gradient",
    "relevance",
}
NEEDS = ATTENTION | BLOCKS | GRADIENTS | {"replay", "again"}
"""What a method may need; the pass captures the union of what the requested methods need."""


@dataclass(frozen=True, eq=False)
class Gradients:
    """Gradients of the target with respect to what was captured, zero at padding."""

    embeddings: Hidden
    hidden: tuple[Hidden, ...] = ()
    attention: Sequence[Attention] = ()


@dataclass(frozen=True, eq=False)
class Trace:
    """One forward pass of a batch and the goal that is explained: the argument of every method.

    Any number of traces may share a pass, each with its own goal.
    ordinary: the tokens that are not special; all tokens of a row that has only special ones.
    rows: the texts as tokens, for methods that change them. kept: what `once` has computed.
    """

    forward: Pass
    goal: Goal
    ordinary: TokenMask
    rows: tuple[Row, ...] = ()
    kept: dict[Hashable, Any] = field(default_factory=dict)

    # ------------------------------------------------------------------------ what was captured

    @property
    def inputs(self) -> Inputs:
        """What the network received."""
        return self.forward.inputs

    @property
    def logits(self) -> Tensor:
        """What the network returned, [batch, position, class]."""
        return self.forward.logits.detach()

    @property
    def embeddings(self) -> Hidden:
        """The input of the first block (in an unknown family: the word embeddings)."""
        return self.forward.embeddings

    @property
    def hidden(self) -> tuple[Hidden, ...]:
        """h⁰ … h^L, the input of every block and the output of the last."""
        return self.forward.hidden

    @property
    def attention(self) -> Sequence[Attention]:
        """The weights of every layer, from input to output, made when they are read."""
        return self.forward.attention

    @property
    def blocks(self) -> Sequence[AttentionBlock]:
        """The attention block of every layer, for methods that decompose it."""
        return self.forward.blocks

    # --------------------------------------------------------------------------- about the goal

    def about(self, goal: Goal) -> "Trace":
        """A trace of the same pass with another goal."""
        return replace(self, goal=goal, kept={})

    def terms(self) -> "Iterator[tuple[TermValues, Trace]]":
        """Each logit of the target on its own: its sign in every row, and the trace that explains it."""
        for number in range(self.goal.signs.shape[1]):
            yield self.goal.signs[:, number : number + 1], self.about(self.goal.alone(number))

    def once(self, key: Hashable, make: Callable[[], Any]) -> Any:
        """The result of `make`, computed once for this goal and kept for every method that uses this key."""
        if key not in self.kept:
            self.kept[key] = make()
        return self.kept[key]

    def gradients(
        self, output: Output | None = None, modification: Modification | None = None
    ) -> Gradients:
        """All gradients of the target from one backward sweep, computed once; modified if asked for."""
        run = self.forward if modification is None else self.forward.modifiable()
        gradients: Gradients = self.once(
            ("gradients", output, modification),
            lambda: gradients_of(run, self.goal, output, modification),
        )
        return gradients

    def relevance(self, flow: Flow) -> Relevance:
        """The relevance of everything captured from one backward sweep, computed once.

        Relevance through a gate is not kept: every mask has its own, and no other method uses it.
        """
        if flow.gate is not None:
            return send_relevance(self.forward, self.goal, flow)
        sent: Relevance = self.once(flow, lambda: send_relevance(self.forward, self.goal, flow))
        return sent

    def replay(self, embeddings: Hidden, output: Output | None = None) -> PerRow:
        """The target of each row in another pass with other embeddings, differentiable in them.

        Several such batches of embeddings, one after the other, share the pass.
        """
        count = len(embeddings) // len(self.inputs.ids)
        logits, present = self.forward.again(embeddings), self.inputs.present.repeat(count, 1)
        return self.goal.repeated(count).value(logits, present, output)

    def without_separators(self) -> "Trace":
        """The same goal on a further pass in which no token attends to a separator such as [SEP]."""
        model = self.forward.model
        separator = model.separator_id
        if separator is None:
            raise UnsupportedModel(
                f"{model.name} has no separator token such as [SEP] that could be hidden. Leave "
                "separators='hidden' out."
            )

        def again() -> Trace:
            hidden = self.inputs.ids.eq(separator)
            forward: Pass = self.forward.once(
                "without separators", lambda: self.forward.hiding(hidden, wanted({"relevance"}))
            )
            return replace(self, forward=forward, kept={})

        hiding: Trace = self.once("without separators", again)
        return hiding

    def embed(self, ids: Ids) -> Hidden:
        """The embeddings of other tokens in the same places."""
        return self.forward.embed(ids)

    def embed_mean(self) -> Hidden:
        """The embeddings with every ordinary token replaced by the mean of all word embeddings."""
        return self.forward.embed_mean(self.ordinary)

    def embed_twice(self) -> tuple[Hidden, Hidden]:
        """Embeddings and gradient of the doubly embedded network that released ALTI code explains."""
        return embedded_twice(self.forward.model, self.inputs, self.goal)

    def multiply(self, reference: Hidden) -> Hidden:
        """DeepLIFT's multipliers of the embeddings with respect to those of a reference."""
        return multipliers(self.forward, self.goal, reference)

    # ------------------------------------------------------------------------- where it is read

    @property
    def weights(self) -> Scores:
        """The weight of each token's row in the read-out, such as 1 for [CLS] and 0 for the others."""
        weights = read_place(self.goal, self.forward.model)
        self.once("reading", lambda: check_reading(self.forward, self.goal))
        return weights

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
    """Run the model once on these rows, capturing what `needs` names; each row has one target."""
    (only,) = traces(model, rows, [targets], needs, released=released)
    return only


def traces(
    model: Model,
    rows: Sequence[Row],
    goals: Sequence[Sequence[Target]],
    needs: Collection[str],
    *,
    released: bool = False,
    recomputes: bool = False,
) -> Iterator[Trace]:
    """Run the model once on these rows, and trace the same pass for every list of targets, one per row.

    They are yielded one by one, so that what one trace keeps can be freed before the next. recomputes: what is
    inside a block is not kept for the way back, but computed again.
    """
    run = run_on(model, rows, read_by(model, rows, goals), needs, recomputes)
    for targets in goals:
        goal = goal_of(targets, run.model, rows, run.inputs, run.logits, released=released)
        yield trace_of(run, goal, rows)


def run_on(
    model: Model,
    rows: Sequence[Row],
    read: tuple[int, ...] | None,
    needs: Collection[str],
    recomputes: bool,
) -> Pass:
    """Run the model once on these rows, with the logits at the positions `read`, and check what is captured."""
    check_ids(model, rows)
    inputs = replace(collate(rows, model.pad_id or 0, model.device), read=read)
    run = forward(model, inputs, replace(wanted(needs), recomputes=recomputes))
    check_finite(run.logits, run.model)
    if ATTENTION & set(needs):
        check_attention(run)
    return run


def trace_of(run: Pass, goal: Goal, rows: Sequence[Row]) -> Trace:
    """The trace of a pass over these rows for one goal."""
    reached = reached_by(goal, run)
    return Trace(run.until(reached), goal, ordinary_tokens(rows, run.inputs) & reached, tuple(rows))


def reached_by(goal: Goal, run: Pass) -> TokenMask:
    """The tokens that a goal can depend on: in a causal language model, those up to the last that is read.

    What comes after them is left out like padding, so that each token of a text is explained as if it were the
    last, though all share one pass.
    """
    if run.model.task is not Task.CAUSAL or not run.model.is_causal:
        return torch.ones_like(run.inputs.present)
    last = goal.positions.masked_fill(goal.signs == 0, 0).amax(1, keepdim=True)
    return torch.arange(run.inputs.ids.shape[1], device=last.device) <= last


def read_by(
    model: Model, rows: Sequence[Row], goals: Sequence[Sequence[Target]]
) -> tuple[int, ...] | None:
    """The positions whose logits these targets read; None if all logits are computed.

    A vocabulary is large: the logits of every token of a long text would take more memory than all the rest.
    """
    if not model.gives_few_logits:
        return None
    pairs = (pair for targets in goals for pair in zip(targets, rows, strict=True))
    return tuple(sorted({place for pair in pairs for place in read_positions(*pair)}))


def wanted(needs: Collection[str]) -> Wants:
    """What must be captured in a pass for methods with these needs."""
    names = set(needs)
    return Wants(
        attention=bool(ATTENTION & names),
        blocks=bool(BLOCKS & names),
        parts="attention_blocks" in names,
        last=bool(ATTENTION & names),
        gradient=bool(GRADIENTS & names),
        relevance="relevance" in names,
        # Switches behind every operation would be rewritten too, so these get a pass of their own.
        modified="modified_gradient" in names and "relevance" not in names,
    )


def gradients_of(
    forward: Pass, goal: Goal, output: Output | None, modification: Modification | None = None
) -> Gradients:
    """The gradients of everything captured, from one backward sweep."""
    captured, inputs = forward.captured, forward.inputs
    steering = captured.steering or Steering()
    tensors = [captured.embeddings, *captured.hidden, *captured.mixed]

    def value(logits: Tensor) -> PerRow:
        return goal.value(logits, inputs.present, output)

    with steering.by(modification):
        scales, gradients = swept_back(value, forward.logits, tensors)

    def prepared(gradient: Tensor) -> Tensor:
        gradient = zero_padding(gradient, inputs)
        return gradient / scales.view(-1, *[1] * (gradient.dim() - 1))

    middle = 1 + len(captured.hidden)
    embeddings, *hidden = map(prepared, gradients[:middle])

    def at_map(layer: int) -> Attention:
        gradient = gradients[middle + layer]
        # What carries the graph of the weights is the weights themselves, or what they have mixed.
        return prepared(
            captured.attended[layer].gradient(gradient) if captured.attended else gradient
        )

    makers = tuple(partial(at_map, layer) for layer in range(len(captured.mixed)))
    return Gradients(embeddings, tuple(hidden), OnDemand(makers))


def check_attention(run: Pass) -> None:
    """Refuse attention that has another form than when the network was wrapped."""
    model = run.model
    if not run.captured.attention:
        raise UnsupportedModel(
            f"{model.family} computed no attention that could be seen: neither through the attention "
            "interface of transformers nor as a softmax over [batch, head, query, key]."
        )
    if reason := misshapen(model, run.captured.sizes, run.inputs):
        raise unseen(model, f"{reason} on an input of {run.inputs.ids.shape[1]} tokens")


def ordinary_tokens(rows: Sequence[Row], inputs: Inputs) -> TokenMask:
    """Which tokens of the batch are not special."""
    places = torch.zeros_like(inputs.present)
    for number, row in enumerate(rows):
        places[number, : len(row)] = torch.tensor(ordinary(row.is_special))
    return places


@dataclass(frozen=True, eq=False)
class Noted:
    """Scores, and one note per row for the reader of its attribution."""

    scores: Scores
    notes: tuple[str, ...]
