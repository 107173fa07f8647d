"""`explain_answer`: why a language model wrote an answer, from which words, sources or turns of its prompt.

One forward pass reads prompt and answer. Each explained part of the answer is one way back through it: gradients
add up, so the scores of a sentence are those of its tokens, added.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from headlight.answer import Answer, Numbers, Part, prompt_units
from headlight.attribution import Attribution
from headlight.batch import Row
from headlight.errors import InvalidInput, InvalidOption
from headlight.explaining.ablated import (
    Calls,
    Ranges,
    ablatable,
    ablated,
    asked_for,
    difference,
)
from headlight.explaining.batches import run_goals, sinks_of
from headlight.explaining.continuation import (
    Writing,
    added_ids,
    check_writes,
    continuations_of,
    continued,
)
from headlight.explaining.inputs import whole_number
from headlight.explaining.plan import Method, Plan, check_model, is_several, planned
from headlight.explaining.prompts import Asked, Prompt, Sources, prompts_of
from headlight.models.model import Model
from headlight.registry.entries import Entry
from headlight.target import Target
from headlight.units import Unit, Units, checked_spans, sentences, unit_numbers, words

Of = str | Sequence[str | tuple[int, int]]
"""Which parts of an answer are explained: 'answer', 'sentences', 'words', 'tokens', or texts or spans in it."""
Explained = Answer | list[Answer]

OWN_UNITS = ("sources", "turns", "words")
"""The units of an answer for which none are asked: the first that its prompt has."""
THOUGHTS = ("<think>", "</think>")
"""What opens and closes the thoughts of most models that write them."""
UNLIKELY = np.log(1e-4)
"""A token of an answer that is less probable gets a note: the model would not have written it."""


def explain_answer(
    model: Model,
    prompt: Asked | Sequence[Asked],
    answer: str | Sequence[str] | None = None,
    method: Method | Sequence[Method] | None = None,
    *,
    sources: Sources | Sequence[Sources] | None = None,
    template: str | None = None,
    tools: Sequence[Any] | None = None,
    units: Units | None = None,
    of: Of = "answer",
    rather_than: str | Sequence[str] | None = None,
    thoughts: bool | tuple[str, str] = False,
    max_new_tokens: int = 64,
    seed: int = 0,
    generation: Mapping[str, Any] | None = None,
    batch_size: int = 32,
    progress: bool = False,
    **options: Any,
) -> Explained | dict[str, Explained]:
    """Explain an answer that a language model wrote, or would have to write.

    prompt: a text, the messages of a chat ({"role": …, "content": …}), or a list of either; several prompts give
        a list of answers.
    answer: what is explained; by default what the model itself writes, at most `max_new_tokens` tokens. It
        follows the prompt as it is given: begin it with a space if one belongs there.
    method: a name in METHODS or ABLATIONS, or several; several give a dict by name. Ablations remove whole
        units and read the answer again: leave_one_out, context_cite, source_shapley.
    sources: passages that the prompt holds, as a list or a dict by name. If it holds none of them, `template`
        puts them in: a text with {sources} and {prompt}.
    units: what of the prompt gets scores: 'tokens', 'words', 'sentences', 'lines', 'paragraphs', 'items' of lists,
        'examples', 'turns' of a chat, 'sources', spans of characters, or a function from a text to spans. By
        default sources, else turns if there are several, else words (for ablations, sentences). The answer can
        be read by others later; that of an ablation only by larger ones.
    of: what of the answer is explained: the whole 'answer', its 'sentences', 'words' or 'tokens', or a list of
        texts in it or of spans of its characters.
    rather_than: another answer; explained is why the model writes `answer` rather than this one.
    thoughts: the answer begins with thoughts, which end with the second of these marks (True: <think>,
        </think>). What comes after them is explained, and scores of thoughts are sent on to the prompt.
    tools: tool descriptions for the chat template.
    seed, generation: arguments of transformers' generate, such as {"do_sample": True, "temperature": 0.7}; the
        seed is that of sampling, and of the choices of ablations.
    options: as in `explain`.
    """
    chosen = asked_for(method, options, seed)
    marks = THOUGHTS if thoughts is True else thoughts or None
    check_thoughts(marks, chosen.ablations)
    plan = planned_rest(model, chosen, batch_size, progress)
    check_writes(model)
    asked, is_one = prompts_of(model, prompt, sources, template, tools)
    writing = Writing(max_new_tokens, seed, generation or {})
    given = continuations_of(answer, len(asked))
    rows = [whole_row(model, p, text, writing) for p, text in zip(asked, given, strict=True)]
    texts = [Written(p, row) for p, row in zip(asked, rows, strict=True)]
    ranges = [ranges_of(text, of, marks) for text in texts]
    others = None if rather_than is None else other_answers(model, asked, texts, rather_than, of)
    made: dict[str, list[Answer]] = {}
    if plan is not None:
        made |= by_passes(model, texts, ranges, units, plan)
        made = made if others is None else contrasted(model, others, made, plan)
    if marks is not None and plan is not None:
        made = {
            entry.name: through_thoughts(model, texts, made[entry.name], marks, plan.only(entry))
            for entry in plan.entries
        }
    if chosen.ablations:
        made |= by_ablations(model, texts, ranges, units, chosen.ablations, others, batch_size)
    order = chosen.names or tuple(made)
    shaped = {name: made[name][0] if is_one else made[name] for name in order}
    return shaped if is_several(method) else next(iter(shaped.values()))


def planned_rest(model: Model, chosen: Calls, batch_size: int, progress: bool) -> Plan | None:
    """The plan of the methods that are no ablations; None if there are none."""
    if chosen.ablations and not chosen.others:
        check_model(model)
        whole_number(batch_size, "batch_size", 1)
        return None
    return planned(model, chosen.others, "paper", chosen.options, batch_size, progress)


def check_thoughts(marks: tuple[str, str] | None, ablations: Sequence[Entry]) -> None:
    """Refuse to send scores of ablations through thoughts."""
    if marks is not None and ablations:
        raise InvalidOption(
            f"thoughts= sends scores on by gradients, which {ablations[0].name} does not have. Use attn_lrp, "
            "libragrad, gim or input_x_gradient."
        )


def by_passes(
    model: Model,
    texts: Sequence["Written"],
    ranges: Sequence[Ranges],
    units: Units | None,
    plan: Plan,
) -> dict[str, list[Answer]]:
    """The answers of methods that explain a pass, by name."""
    goals = [[Target(span=span) for span in own] for own in ranges]
    found = run_goals(model, [text.row for text in texts], goals, plan)
    return {
        entry.name: [
            answer_of(model, text, [each[entry.name] for each in own], spans, units)
            for text, own, spans in zip(texts, found, ranges, strict=True)
        ]
        for entry in plan.entries
    }


def by_ablations(
    model: Model,
    texts: Sequence["Written"],
    ranges: Sequence[Ranges],
    units: Units | None,
    entries: Sequence[Entry],
    others: Sequence["Written"] | None,
    batch_size: int,
) -> dict[str, list[Answer]]:
    """The answers of methods that remove units, by name."""

    def made(texts: Sequence[Written], ranges: Sequence[Ranges]) -> list[dict[str, Answer]]:
        divided = (
            ablatable(text.prompt, text.row, spans, units)
            for text, spans in zip(texts, ranges, strict=True)
        )
        return [ablated(model, text, entries, batch_size) for text in divided]

    found = made(texts, ranges)
    if others is not None:
        left = made(others, [[other.whole] for other in others])
        found = [
            {name: difference(answer, other[name]) for name, answer in own.items()}
            for own, other in zip(found, left, strict=True)
        ]
    return {entry.name: [own[entry.name] for own in found] for entry in entries}


@dataclass(frozen=True)
class Written:
    """A prompt and the row of it and its answer."""

    prompt: Prompt
    row: Row

    @property
    def text(self) -> str:
        """Prompt and answer."""
        return self.row.texts[0]

    @property
    def prompt_end(self) -> int:
        """The first character of the answer."""
        return len(self.prompt.text)

    @property
    def first(self) -> int:
        """The first token of the answer."""
        return len(self.prompt.row)

    @property
    def whole(self) -> tuple[int, int]:
        """The first and last token of the answer."""
        return self.first, len(self.row) - 1

    @property
    def own_offsets(self) -> tuple[tuple[int, int], ...]:
        """The places of the answer's tokens."""
        assert self.row.offsets is not None
        return self.row.offsets[self.first :]


def whole_row(model: Model, prompt: Prompt, given: str | None, writing: Writing) -> Row:
    """The row of prompt and answer; an end-of-text token that the model wrote is not part of its answer."""
    assert model.tokenizer is not None
    added = added_ids(model, prompt.row, given, writing)
    if given is None:
        special = set(model.tokenizer.all_special_ids)
        while added and added[-1] in special:
            added = added[:-1]
        if not added:
            raise InvalidInput(
                "the model ends its text at once, so there is no answer to explain. Give answer=…, or ask otherwise."
            )
    row = continued(prompt.row, added, model.tokenizer)
    if row.offsets is None:
        raise InvalidInput(
            f"the tokenizer of {model.name} does not show where tokens are in the text, so an answer cannot be "
            "explained by words or sources. Use explain_generation, which explains tokens."
        )
    return row


# ----------------------------------------------------------------------------- parts of an answer


def ranges_of(written: Written, of: Of, marks: tuple[str, str] | None) -> list[tuple[int, int]]:
    """The first and last token of every part of the answer that is explained."""
    answer = written.text[written.prompt_end :]
    begin = 0 if marks is None else thoughts_in(answer, marks)[1]
    said = answer[begin:]
    if not said.strip():
        raise InvalidInput(
            "there is nothing after the thoughts of the answer. Raise max_new_tokens."
        )
    shift = written.prompt_end + begin
    if of == "tokens":
        places = [p for p, (_, end) in enumerate(written.own_offsets) if end > shift]
        return [(written.first + p, written.first + p) for p in places]
    parts = [Unit("", a + shift, b + shift) for a, b in answer_spans(said, of)]
    numbers = unit_numbers(parts, written.text, written.own_offsets)
    ranges = []
    for number, part in enumerate(parts):
        inside = [written.first + place for place, own in enumerate(numbers) if own == number]
        if not inside:
            raise InvalidInput(
                f"no token of the answer begins in {written.text[part.start : part.end]!r}, which is a part of a "
                "longer token. Choose a longer part."
            )
        ranges.append((inside[0], inside[-1]))
    return ranges


def answer_spans(answer: str, of: Of) -> list[tuple[int, int]]:
    """The spans of characters of an answer that `of` asks for."""
    splits = {"answer": lambda text: [(0, len(text))], "sentences": sentences, "words": words}
    if isinstance(of, str):
        if of not in splits:
            known = ", ".join(map(repr, (*splits, "tokens")))
            raise InvalidOption(
                f"of={of!r} does not exist. Use {known}, or a list of texts in the answer, such as of=[{of!r}]."
            )
        return list(splits[of](answer))
    asked = list(of)
    if not asked:
        raise InvalidOption("of=[] asks for no part of the answer.")
    return checked_spans(answer, [found_in(answer, part) for part in asked], "of")


def found_in(answer: str, part: str | tuple[int, int]) -> tuple[int, int]:
    """The span of a part that is given as text; refused unless it is in the answer once."""
    if not isinstance(part, str):
        return part
    count = answer.count(part) if part else 0
    if count != 1:
        where = "is not in the answer" if not count else f"is in the answer {count} times"
        raise InvalidInput(
            f"of: {part!r} {where}, {answer!r}. Give a text that is in it once, or (first, last + 1) characters."
        )
    start = answer.index(part)
    return start, start + len(part)


# ------------------------------------------------------------------------------------- results


def answer_of(
    model: Model,
    written: Written,
    found: Sequence[Attribution],
    ranges: Sequence[tuple[int, int]],
    units: Units | None,
) -> Answer:
    """The answer from the attributions of its parts."""
    row, offsets = written.row, written.row.offsets
    assert offsets is not None
    known = written.prompt.known
    chosen = next(u for u in OWN_UNITS if u in known or u == "words") if units is None else units
    if units is None and chosen == "turns" and len(known["turns"]) < 3:
        chosen = "words"
    parts = [
        Part(
            min(start for start, _ in offsets[first : last + 1]),
            max(end for _, end in offsets[first : last + 1]),
            each.target.logit,
            each.target.log_probability,
        )
        for (first, last), each in zip(ranges, found, strict=True)
    ]
    first = found[0]
    units_found = prompt_units(written.prompt.text, chosen, known, offsets, row.is_special)
    return Answer(
        text=written.text,
        prompt_end=written.prompt_end,
        tokens=row.tokens,
        offsets=offsets,
        is_special=row.is_special,
        is_sink=sinks_of(model, row),
        parts=tuple(parts),
        scores=np.stack([each.scores for each in found]),
        units=units_found,
        unit=chosen if isinstance(chosen, str) else "spans",
        method=first.method,
        model=first.model,
        signed=first.signed,
        known=known,
        options=first.options,
        versions=first.versions,
        notes=tuple(dict.fromkeys(note for each in found for note in each.notes)),
    )


def other_answers(
    model: Model,
    asked: Sequence[Prompt],
    texts: Sequence[Written],
    rather_than: str | Sequence[str],
    of: Of,
) -> list[Written]:
    """The other answers with which those of a call are compared, as wholes."""
    if of != "answer":
        raise InvalidOption(
            "rather_than= compares whole answers. Leave out of=, or explain one answer."
        )
    others = []
    for prompt, text, own in zip(
        asked, continuations_of(rather_than, len(asked)), texts, strict=True
    ):
        if not text:
            raise InvalidInput("rather_than= is empty. Give another answer.")
        if text == own.text[own.prompt_end :]:
            raise InvalidInput("rather_than= is the answer itself. Give another answer.")
        others.append(Written(prompt, whole_row(model, prompt, text, Writing())))
    return others


def contrasted(
    model: Model, others: Sequence[Written], made: Mapping[str, list[Answer]], plan: Plan
) -> dict[str, list[Answer]]:
    """The answers of methods that explain a pass, each compared with the other answer."""
    goals = [[Target(span=other.whole)] for other in others]
    left = [own for (own,) in run_goals(model, [other.row for other in others], goals, plan)]
    return {
        name: [minus(answer, own[name]) for answer, own in zip(answers, left, strict=True)]
        for name, answers in made.items()
    }


def minus(answer: Answer, other: Attribution) -> Answer:
    """Why this answer rather than the other: the difference of the scores of what both were written after."""
    pairs = zip(answer.tokens, other.tokens, strict=False)
    shared = next(
        (n for n, (a, b) in enumerate(pairs) if a != b), min(len(answer.tokens), len(other))
    )
    scores = answer.scores.astype(np.float64).copy()
    scores[0, :shared] -= other.scores[:shared]
    (part,) = answer.parts
    name = other.target.label
    chance = np.exp(np.clip(part.log_probability - other.target.log_probability, -700, 700))
    note = f"rather than {name!r}: the answer is {chance:.3g} times as probable"
    return replace(
        answer,
        scores=scores,
        parts=(replace(part, value=part.value - other.target.logit),),
        signed=True,
        notes=(*answer.notes, note),
        options={**answer.options, "rather_than": name},
    )


# ------------------------------------------------------------------------------------ thoughts


def thoughts_in(answer: str, marks: tuple[str, str]) -> tuple[int, int]:
    """The characters of the thoughts with which an answer begins."""
    end = answer.find(marks[1])
    if end < 0:
        raise InvalidInput(
            f"the answer has no thoughts that end with {marks[1]!r}. Raise max_new_tokens so that the model can "
            "finish them, give the marks that it writes as thoughts=(first, last), or leave thoughts= out."
        )
    start = answer.find(marks[0], 0, end)
    return (0 if start < 0 else start + len(marks[0])), end + len(marks[1])


def through_thoughts(
    model: Model,
    texts: Sequence[Written],
    answers: Sequence[Answer],
    marks: tuple[str, str],
    plan: Plan,
) -> list[Answer]:
    """Answers whose scores of thoughts are sent on to what the thoughts were written after.

    The scores of the thoughts weigh their logits in a second backward pass; what it finds is scaled so that it
    adds up to those scores.
    """
    (entry,) = plan.entries
    if not entry.signed or not {"relevance", "replay"}.isdisjoint(entry.needs):
        raise InvalidOption(
            f"thoughts= sends scores on by gradients, which {entry.name} does not. Use attn_lrp, libragrad, gim or "
            "input_x_gradient."
        )
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
        sent_on(answer, [each[entry.name].scores for each in own], span)
        for answer, own, span in zip(answers, found, spans, strict=True)
    ]


def thought_tokens(written: Written, marks: tuple[str, str]) -> tuple[int, int]:
    """The first and last token of the thoughts."""
    start, end = (
        n + written.prompt_end for n in thoughts_in(written.text[written.prompt_end :], marks)
    )
    inside = unit_numbers([Unit("", start, end)], written.text, written.own_offsets)
    places = [written.first + place for place, number in enumerate(inside) if number == 0]
    if not places:
        raise InvalidInput(
            "the thoughts of the answer are empty, so no scores can be sent through them."
        )
    return places[0], places[-1]


def sent_on(answer: Answer, sent: Sequence[Numbers], span: tuple[int, int]) -> Answer:
    """The answer with the scores of its thoughts replaced by what they were sent on to."""
    first, last = span
    scores, through = answer.scores.astype(np.float64).copy(), np.zeros(answer.scores.shape)
    notes = list(answer.notes)
    for number, found in enumerate(sent):
        wide = found.astype(np.float64)
        landed, total = scores[number, first : last + 1].sum(), wide.sum()
        if abs(total) < 1e-3 * np.abs(wide).sum() or not total:
            notes.append(f"scores of thoughts of part {number} cancel and were left where they are")
            continue
        through[number] = wide * (landed / total)
        scores[number, first : last + 1] = 0
        scores[number] += through[number]
    return replace(answer, scores=scores, through_thoughts=through, notes=tuple(notes))
