"""Traces: built by hand from tensors, and many of them on one pass."""

import math
from collections.abc import Callable, Sequence
from functools import partial
from types import SimpleNamespace
from typing import Any

import pytest
import torch
from torch import Tensor, nn
from transformers import PretrainedConfig, PreTrainedModel

from headlight import METHODS, Batch, HeadMask, Model, Target
from headlight.batch import Inputs, collate
from headlight.explaining.plan import planned
from headlight.models.model import BlockParts, Task
from headlight.models.readout import Readout, Stretch
from headlight.running import logits as running
from headlight.trace.baselines import ZERO
from headlight.trace.decoder import Decoder
from headlight.trace.forward import Pass
from headlight.trace.goal import Goal
from headlight.trace.recorder import BlockRecord, Captured
from headlight.trace.relevance.intercept import Interception, Switchboard
from headlight.trace.resolve import ResolvedTarget, Term
from headlight.trace.trace import NEEDS, Noted, Trace, trace, traces
from tests.networks import in_pairs, model, options, rows

TOKENS, HEADS, WIDTH, FEATURES, CLASSES = 5, 4, 8, 32, 3
ROWS = [[4, 9, 17, 33, 8], [7, 21, 5, 60, 11]]
ONE_PASS = [name for name in METHODS if not {"replay", "again"} & METHODS[name].needs]


# ------------------------------------------------------------------------------------- by hand


class OneBlock(PreTrainedModel):
    """One attention block with a residual, and a classifier that reads the first token."""

    config_class = PretrainedConfig
    base_model_prefix = ""
    main_input_name = "input_ids"

    def __init__(self, config: PretrainedConfig) -> None:
        super().__init__(config)
        self.words = nn.Embedding(120, FEATURES)
        self.query, self.key, self.value, self.joined = (
            nn.Linear(FEATURES, FEATURES) for _ in range(4)
        )
        self.rest = nn.Identity()
        self.classifier = nn.Linear(FEATURES, CLASSES)

    def get_input_embeddings(self) -> nn.Module:
        return self.words

    def by_head(self, states: Tensor) -> Tensor:
        return states.view(len(states), -1, HEADS, WIDTH).transpose(1, 2)

    def block(self, states: Tensor, see: Callable[[Tensor], Tensor] = lambda w: w) -> Any:
        scores = self.by_head(self.query(states)) @ self.by_head(self.key(states)).transpose(2, 3)
        weights = see(torch.softmax(scores / math.sqrt(WIDTH), -1))
        values = self.by_head(self.value(states))
        mixed = (weights @ values).transpose(1, 2).reshape(states.shape)
        return SimpleNamespace(weights=weights, values=values, output=states + self.joined(mixed))

    def forward(
        self,
        input_ids: Tensor | None = None,
        attention_mask: Tensor | None = None,
        inputs_embeds: Tensor | None = None,
        **_: Any,
    ) -> dict[str, Tensor]:
        states = self.words(input_ids) if inputs_embeds is None else inputs_embeds
        return {"logits": self.classifier(self.rest(self.block(states).output)[:, 0])}


@pytest.fixture(scope="module")
def hand_made() -> Trace:
    """A trace put together from tensors, without `wrap`, hooks or a recorded pass."""
    torch.manual_seed(0)
    sizes: dict[str, Any] = {
        "num_hidden_layers": 1,
        "num_attention_heads": HEADS,
        "pad_token_id": 0,
    }
    config = PretrainedConfig(**sizes)
    network = OneBlock(config).double().eval().requires_grad_(False)
    own = Model(
        network, None, "by hand", Task.SEQUENCE, None,
        readout=Readout("rest", shares=((1.0, Stretch(0, 1)),)),
    )  # fmt: skip
    batch = Batch.from_ids(ROWS).rows
    run = watched(own, network, collate(batch, 0))
    return Trace(run, goal_for([2, 0]), torch.ones(2, TOKENS).bool(), batch)


def watched(own: Model, network: OneBlock, inputs: Inputs) -> Pass:
    """The block written out, its operations behind switches so that relevance can be sent."""
    embeddings = network.words(inputs.ids).requires_grad_()
    seen: list[Tensor] = []
    board = Switchboard(len(inputs.ids))
    with Interception(board, network, lambda: seen[-1] if seen else None):
        found = network.block(embeddings.clone(), lambda w: seen.append(w) or w)  # type: ignore[func-returns-value]
        logits = network.classifier(found.output[:, 0])[:, None]
    parts = BlockParts(network.joined, None, nn.Identity())
    record = BlockRecord(parts, found.values, None, (found.output, found.output))
    captured = Captured(
        embeddings=embeddings,
        hidden=(embeddings, found.output),
        attention=tuple(seen),
        last=found.output,
        blocks=(record,),
        board=board,
    )
    return Pass(own, inputs, captured, logits)


def goal_for(classes: Sequence[int]) -> Goal:
    """One logit of the pooled head for each row."""
    decisions = tuple(ResolvedTarget((Term(0, c),), ((0, 1.0),), str(c), str(c)) for c in classes)
    first = torch.zeros(len(classes), 1, dtype=torch.long)
    weights = torch.zeros(len(classes), TOKENS, dtype=torch.float64)
    weights[:, 0] = 1
    return Goal(
        decisions, first, first, torch.tensor(classes)[:, None], torch.ones(len(classes), 1).double(),
        weights, "class", ("logit",) * len(classes),
    )  # fmt: skip


def given(name: str) -> dict[str, Any]:
    """What the model would decide, where nothing is said."""
    decoder = Decoder(model("bert", Task.MASKED, torch.float64))
    every = {
        "mask": HeadMask.full(1, HEADS),
        "baseline": ZERO,
        "decoder": decoder,
        "layer": 1,
        "base": METHODS["input_x_gradient"],
        "steps": 5,
        "samples": 20,
        "permutations": 2,
    }
    return {option: every[option] for option in METHODS[name].options if option in every}


@pytest.mark.parametrize("variant", ["paper", "released"])
@pytest.mark.parametrize("name", METHODS)
def test_every_method_is_a_function_of_a_trace_made_by_hand(
    hand_made: Trace, name: str, variant: str
) -> None:
    answer = METHODS[name].in_variant(variant).computing(hand_made, **given(name))
    scores = answer.scores if isinstance(answer, Noted) else answer
    assert scores.shape == (2, TOKENS)
    assert torch.isfinite(scores).all()


def test_known_answers_of_the_trace_made_by_hand(hand_made: Trace) -> None:
    attention = hand_made.forward.captured.attention[0].detach()
    torch.testing.assert_close(
        METHODS["raw_attention"].function(hand_made), attention.mean(1)[:, 0]
    )
    embeddings = hand_made.embeddings.requires_grad_()
    network: Any = hand_made.forward.model.network
    logits = network.classifier(network.block(embeddings).output[:, 0])
    (gradient,) = torch.autograd.grad(logits[0, 2] + logits[1, 0], embeddings)
    expected = (gradient * embeddings).sum(-1).detach()
    torch.testing.assert_close(METHODS["input_x_gradient"].function(hand_made), expected)
    torch.testing.assert_close(
        METHODS["lrp"].function(hand_made).sum(1), torch.ones(2).double(), atol=1e-3, rtol=0
    )


def test_a_trace_about_another_goal_is_wholly_about_it(hand_made: Trace) -> None:
    other = hand_made.about(goal_for([1, 1]))
    alone = Trace(hand_made.forward, goal_for([1, 1]), hand_made.ordinary, hand_made.rows)
    for name in METHODS:
        if name == "random":
            continue
        first, second = (METHODS[name].function(t, **given(name)) for t in (other, alone))
        scores = [f.scores if isinstance(f, Noted) else f for f in (first, second)]
        torch.testing.assert_close(*scores)
    before = METHODS["occlusion"].function(hand_made, **given("occlusion"))
    after = METHODS["occlusion"].function(other, **given("occlusion"))
    assert not torch.allclose(before, after)


# ------------------------------------------------------------------------- many goals, one pass

GOALS: dict[Task, tuple[Target, ...]] = {
    Task.SEQUENCE: (Target(label=0), Target(label=1), Target(label=2, contrast=0)),
    Task.TOKEN: (Target(position=1), Target(position=2, label=0), Target(position=0)),
    Task.QUESTION: (Target(span=(1, 2)), Target(span=(0, 3)), Target(span=(2, 2), part="start")),
    Task.MASKED: (Target(position=1, label=7), Target(position=3), Target(position=2, label=9)),
    Task.CAUSAL: (Target(position=1, label=7), Target(position=3), Target(label=9, contrast=8)),
}


@in_pairs([("bert", task) for task in GOALS if task is not Task.CAUSAL] + [("llama", Task.CAUSAL)])
def test_many_goals_on_one_pass_are_one_pass_each(
    family: str, task: Task, monkeypatch: pytest.MonkeyPatch
) -> None:
    own = model(family, task, torch.float64)
    batch = Batch.from_ids(rows()).rows
    goals = [[target] * len(batch) for target in GOALS[task]]
    passes: list[int] = []
    plain = running.logits_of
    monkeypatch.setattr(
        "headlight.trace.forward.logits_of",
        lambda *call: passes.append(1) or plain(*call),  # type: ignore[func-returns-value]
    )
    together = list(traces(own, batch, goals, NEEDS))
    assert len(passes) == 1
    for targets, found in zip(goals, together, strict=True):
        alone = trace(own, batch, targets, NEEDS)
        for name in ONE_PASS:
            (entry,) = planned(
                own, name, options=options(name, family=family, dtype=torch.float64)
            ).entries
            scores = [entry.function(t, **entry.settled) for t in (found, alone)]
            torch.testing.assert_close(*scores, msg=partial("{}: {}".format, name))
