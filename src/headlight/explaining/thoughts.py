"""Thoughts before an answer: scores that land on them are sent on to the prompt."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from headlight.answer import Answer, Numbers
from headlight.errors import InvalidInput, InvalidOption
from headlight.explaining.batches import run_goals
from headlight.explaining.chats import THOUGHTS
from headlight.explaining.plan import Plan
from headlight.explaining.written import Written
from headlight.models.model import Model
from headlight.registry.entries import Entry
from headlight.target import Target
from headlight.units import Span

Marks = tuple[str, str]
"""What opens and what closes thoughts."""
CANCELLED = 1e-3
"""Scores whose sum is a smaller share of their magnitudes cannot be scaled."""


def marks_of(thoughts: Any) -> Marks | None:
    """The marks that a call asks for; None if it asks for no thoughts."""
    if thoughts in (None, False):
        return None
    if thoughts is True:
        return THOUGHTS
    is_pair = isinstance(thoughts, list | tuple) and len(thoughts) == 2
    if not is_pair or not all(isinstance(mark, str) and mark for mark in thoughts):
        raise InvalidOption(
            f"thoughts={thoughts!r} is not possible. Use True, or what opens and closes thoughts, such as "
            f"{THOUGHTS!r}."
        )
    return thoughts[0], thoughts[1]


def check_sends(entry: Entry) -> None:
    """Refuse a method whose scores are no gradients, along which scores can be sent."""
    if not entry.signed or not {"relevance", "replay", "removal", "again"}.isdisjoint(entry.needs):
        raise InvalidOption(
            f"thoughts= sends scores on by gradients, which {entry.name} does not. Use attn_lrp, libragrad, "
            "gim or input_x_gradient."
        )


def thoughts_in(answer: str, marks: Marks) -> Span:
    """The characters of the thoughts with which an answer begins, with what closes them."""
    end = answer.find(marks[1])
    if end < 0:
        raise InvalidInput(
            f"the answer has no thoughts that end with {marks[1]!r}. Raise max_new_tokens so that the model "
            "can finish them, give the marks that it writes as thoughts=(first, last), or leave thoughts= out."
        )
    if not answer[end + len(marks[1]) :].strip():
        raise InvalidInput(
            "there is nothing after the thoughts of the answer. Raise max_new_tokens, or leave thoughts= out."
        )
    start = answer.find(marks[0], 0, end)
    return (0 if start < 0 else start + len(marks[0])), end + len(marks[1])


def through_thoughts(
    model: Model, texts: Sequence[Written], answers: Sequence[Answer], marks: Marks, plan: Plan
) -> list[Answer]:
    """Answers of one method whose scores of thoughts are sent on to the prompt.

    The scores of the thoughts weigh their logits in a second backward pass; what it finds in the prompt is
    scaled so that it adds up to those scores.
    """
    (entry,) = plan.entries
    spans = [thought_tokens(text, marks) for text in texts]
    goals = [
        [
            Target(span=(first, last), weights=tuple(map(float, scores[first : last + 1])))
            for scores in answer.scores
        ]
        for (first, last), answer in zip(spans, answers, strict=True)
    ]
    found = run_goals(model, [text.row for text in texts], goals, plan)
    return [
        sent_on(answer, [each[entry.name].scores[: text.first] for each in own], span)
        for answer, text, own, span in zip(answers, texts, found, spans, strict=True)
    ]


def thought_tokens(made: Written, marks: Marks) -> Span:
    """The first and last token of the thoughts."""
    start, end = thoughts_in(made.answer, marks)
    (places,) = made.tokens_in([(start + made.prompt_end, end + made.prompt_end)])
    if not places:
        raise InvalidInput(
            "the thoughts of the answer are empty, so no scores can be sent through them."
        )
    return places[0], places[-1]


def sent_on(answer: Answer, sent: Sequence[Numbers], span: Span) -> Answer:
    """The answer with the scores of its thoughts replaced by what they were sent on to in the prompt."""
    first, last = span
    scores, through = answer.scores.astype(np.float64), np.zeros(answer.scores.shape)
    notes = list(answer.notes)
    for number, found in enumerate(sent):
        wide = found.astype(np.float64)
        landed, total = scores[number, first : last + 1].sum(), wide.sum()
        if not total or abs(total) < CANCELLED * np.abs(wide).sum():
            notes.append(f"scores of thoughts of part {number} cancel and were left where they are")
            continue
        through[number, : len(wide)] = wide * (landed / total)
        scores[number, first : last + 1] = 0
    return replace(answer, scores=scores + through, through_thoughts=through, notes=tuple(notes))
