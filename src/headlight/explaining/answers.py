"""`explain_answer`: why a language model wrote an answer, from which words, sources or turns of its prompt.

One forward pass reads prompt and answer. Each explained part of the answer is one way back through it:
gradients add up, so the scores of a sentence are those of its tokens, added.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any, overload

import numpy as np

from headlight.answer import Answer, Other, Part
from headlight.attribution import Attribution
from headlight.batch import Row
from headlight.errors import InvalidInput, InvalidOption
from headlight.explaining.ablated import Calls, ablatable, ablated_answers, calls_of
from headlight.explaining.batches import run_goals, sinks_of
from headlight.explaining.continuation import Writing, check_writes, continuations_of
from headlight.explaining.inputs import whole_number
from headlight.explaining.plan import Method, Plan, check_model, is_several, planned
from headlight.explaining.prompts import Asked, Prompt, Sources, numbered, prompts_of
from headlight.explaining.removal import Reading
from headlight.explaining.thoughts import (
    Marks,
    check_sends,
    marks_of,
    thoughts_in,
    through_thoughts,
)
from headlight.explaining.written import (
    Of,
    Written,
    check_of,
    improbable_part,
    improbable_token,
    ranges_of,
    written,
)
from headlight.models.model import Model
from headlight.target import Target
from headlight.units import Span, Unit, Units, prompt_units, unit_numbers


@dataclass(frozen=True)
class Settings:
    """Options of `explain_answer` that are not options of methods."""

    max_new_tokens: int = 64
    generation: Mapping[str, Any] | None = None
    thoughts: bool | Marks = False
    batch_size: int = 32
    progress: bool = False
    variant: str = "paper"


@overload
def explain_answer(
    model: Model,
    prompt: str | Mapping[str, Any],
    answer: str | None = ...,
    method: Method | None = ...,
    *,
    sources: Sources | None = ...,
    units: Units | None = ...,
    of: Of = ...,
    rather_than: str | None = ...,
    **options: Any,
) -> Answer: ...
@overload
def explain_answer(
    model: Model,
    prompt: str | Mapping[str, Any],
    answer: str | None = ...,
    method: Sequence[Method] = ...,
    *,
    sources: Sources | None = ...,
    units: Units | None = ...,
    of: Of = ...,
    rather_than: str | None = ...,
    **options: Any,
) -> dict[str, Answer]: ...
@overload
def explain_answer(
    model: Model,
    prompt: list[str],
    answer: str | Sequence[str] | None = ...,
    method: Method | None = ...,
    *,
    sources: Sequence[Sources] | None = ...,
    units: Units | None = ...,
    of: Of = ...,
    rather_than: str | Sequence[str] | None = ...,
    **options: Any,
) -> list[Answer]: ...
@overload
def explain_answer(
    model: Model,
    prompt: Asked | Sequence[Asked],
    answer: str | Sequence[str] | None = ...,
    method: Method | Sequence[Method] | None = ...,
    *,
    sources: Sources | Sequence[Sources] | None = ...,
    units: Units | None = ...,
    of: Of = ...,
    rather_than: str | Sequence[str] | None = ...,
    **options: Any,
) -> Any: ...


def explain_answer(
    model: Model,
    prompt: Asked | Sequence[Asked],
    answer: str | Sequence[str] | None = None,
    method: Method | Sequence[Method] | None = None,
    *,
    sources: Sources | Sequence[Sources] | None = None,
    units: Units | None = None,
    of: Of = "answer",
    rather_than: str | Sequence[str] | None = None,
    **options: Any,
) -> Any:
    """Explain an answer that a language model wrote, or would have to write.

    prompt: a text, the messages of a chat ({"role": …, "content": …}), or {"messages": …} with other arguments
        of the chat template, such as "tools"; or a list of these, which gives a list of answers. If the last
        message is the assistant's, the answer goes on with it.
    answer: what is explained; by default what the model itself writes. It follows the prompt as it is given:
        begin it with a space if one belongs there.
    method: a name in METHODS or ABLATIONS, or several; several give a dict by name. Ablations (leave_one_out,
        context_cite, source_shapley) remove whole units and read the answer again.
    sources: passages, as a list or a dict by name; for several prompts, a list with those of each. They are
        found in the prompt, or put where it says {sources}; if they are not in it, they are put before it.
    units: what of the prompt gets scores: 'tokens', 'words', 'sentences', 'lines', 'paragraphs', 'items' of
        lists, 'examples', 'turns' of a chat, 'sources', spans of characters, or a function from a text to
        spans. By default sources, else turns if there are more than two, else words; for ablations sources,
        else sentences. `Answer.by` chooses others later; for ablations, larger ones.
    of: what of the answer is explained: the whole 'answer', its 'sentences', 'words' or 'tokens', or a list of
        texts in it or of spans of its characters.
    rather_than: another answer; explained is why the model writes `answer` rather than this one: the sum of
        the logits of its tokens less that of the other's. `Answer.other` has the other's own tokens.
    options: of the methods, and batch_size, progress, variant and memory, as in `explain`; also
        max_new_tokens (64): the longest answer that the model may write;
        generation: arguments of transformers' generate, such as {"do_sample": True, "temperature": 0.7,
        "seed": 1} or {"streamer": TextStreamer(tokenizer)}, which shows the answer as it is written;
        thoughts: True if the answer begins with thoughts, which end with </think>, or a pair of other marks.
        What comes after them is explained, and scores of thoughts are sent on to the prompt.
    """
    settings, own = settings_of(options)
    calls = calls_of(method, own)
    plan = planned_rest(model, calls, settings)
    check_writes(model)
    check_of(of)
    if rather_than is not None:
        check_compares(of, plan)
    marks = marks_of(settings.thoughts)
    if rather_than is not None and marks is not None:
        raise InvalidOption(
            "rather_than= does not go with thoughts=. Put the thoughts at the end of the prompt, and give both "
            "answers after them."
        )
    for entry in (*calls.ablations, *plan.entries) if marks else ():
        check_sends(entry)
    writing = Writing.of(settings.max_new_tokens, settings.generation or {}, settings.progress)
    prompts, is_one = prompts_of(model, prompt, sources)
    texts = answered(
        model, prompts, continuations_of(answer, len(prompts), "answer"), writing, units
    )
    begins = [0 if marks is None else thoughts_in(each.made.answer, marks)[1] for each in texts]
    ranges = [ranges_of(each.made, of, at) for each, at in zip(texts, begins, strict=True)]
    others = None
    if rather_than is not None:
        given = continuations_of(rather_than, len(texts), "answer")
        others = other_answers(model, texts, given)
    made = explained_answers(model, texts, ranges, plan) if plan.entries else {}
    if others is not None and made:
        made = contrasted(model, texts, others, made, plan)
    if marks is not None:
        wholes = [each.made for each in texts]
        made = {
            entry.name: through_thoughts(model, wholes, made[entry.name], marks, plan.only(entry))
            for entry in plan.entries
        }
    if calls.ablations:
        removable = [
            ablatable(each.made, own, units) for each, own in zip(texts, ranges, strict=True)
        ]
        reading = Reading(settings.batch_size, settings.progress)
        made |= ablated_answers(model, removable, others, calls.ablations, reading)
    names = calls.names or tuple(made)
    shaped = {name: made[name][0] if is_one else made[name] for name in names}
    return shaped if is_several(method) else next(iter(shaped.values()))


def check_compares(of: Of, plan: Plan) -> None:
    """Refuse to compare an answer with another one by parts, or by scores that cannot be subtracted."""
    if of != "answer":
        raise InvalidOption("rather_than= compares whole answers, so of= must be 'answer'.")
    for entry in plan.entries:
        if entry.is_order:
            raise InvalidOption(
                f"rather_than= subtracts the scores of two answers, and those of {entry.name} are an order. "
                "Use a method whose scores are amounts, such as attn_lrp."
            )


def settings_of(options: Mapping[str, Any]) -> tuple[Settings, dict[str, Any]]:
    """The options of a call that are settings, and those of its methods."""
    names = [field.name for field in fields(Settings)]
    settings = Settings(**{name: options[name] for name in names if name in options})
    return settings, {name: value for name, value in options.items() if name not in names}


def planned_rest(model: Model, calls: Calls, settings: Settings) -> Plan:
    """The plan of the methods that are no ablations; an empty one if there are only ablations."""
    if calls.ablations and not calls.others:
        check_model(model)
        return Plan((), whole_number(settings.batch_size, "batch_size", 1))
    return planned(
        model, calls.others, settings.variant, calls.options, settings.batch_size, settings.progress
    )


@dataclass(frozen=True)
class Text:
    """A prompt with its answer, and the units of the prompt that get scores, by their name."""

    made: Written
    units: tuple[Unit, ...]
    unit: str


def answered(
    model: Model,
    prompts: Sequence[Prompt],
    given: Sequence[str | None],
    writing: Writing,
    units: Units | None,
) -> list[Text]:
    """Each prompt with its answer; units that a prompt does not have are refused before one is written."""
    chosen = []
    for number, prompt in enumerate(prompts):
        asked = own_units(prompt) if units is None else units
        with numbered("prompt", number, len(prompts) == 1):
            row = prompt.row
            found = prompt_units(
                prompt.text, asked, prompt.known, row.offsets or (), row.is_special
            )
        chosen.append((found, asked if isinstance(asked, str) else "spans"))
    texts = []
    for number, (prompt, text) in enumerate(zip(prompts, given, strict=True)):
        with numbered("prompt", number, len(prompts) == 1):
            texts.append(Text(written(model, prompt, text, writing), *chosen[number]))
    return texts


def own_units(prompt: Prompt) -> str:
    """The units of a prompt for which none are asked."""
    if "sources" in prompt.known:
        return "sources"
    return "turns" if len(prompt.known.get("turns", ())) > 2 else "words"


def explained_answers(
    model: Model, texts: Sequence[Text], ranges: Sequence[Sequence[Span]], plan: Plan
) -> dict[str, list[Answer]]:
    """The answers by method, from one pass over each text."""
    goals = [[Target(span=span) for span in own] for own in ranges]
    found = run_goals(model, [row_by_units(text) for text in texts], goals, plan)
    return {
        entry.name: [
            answer_of(model, text, [each[entry.name] for each in by_part], own)
            for text, by_part, own in zip(texts, found, ranges, strict=True)
        ]
        for entry in plan.entries
    }


def row_by_units(text: Text) -> Row:
    """The row of a text that says which unit of the prompt each token is in, for methods that remove units."""
    row = text.made.row
    numbers = unit_numbers(text.units, text.made.prompt.text, text.made.offsets)
    flags = zip(numbers, row.is_special, strict=True)
    return replace(row, units=tuple(None if special else number for number, special in flags))


def answer_of(
    model: Model, text: Text, found: Sequence[Attribution], ranges: Sequence[Span]
) -> Answer:
    """The answer from the attributions of its parts."""
    made, first = text.made, found[0]
    parts = [part_of(made, span, each) for span, each in zip(ranges, found, strict=True)]
    notes = dict.fromkeys(note for each in found for note in each.notes)
    unlikely = improbable_part(made, ranges, [part.log_probability for part in parts])
    if not unlikely:
        logs = [each.target.token_log_probabilities for each in found]
        unlikely = improbable_token(made, ranges, logs)
    return Answer(
        text=made.text,
        prompt_end=made.prompt_end,
        tokens=made.row.tokens,
        offsets=made.offsets,
        is_special=made.row.is_special,
        is_sink=sinks_of(model, made.row),
        parts=tuple(parts),
        scores=np.stack([each.scores for each in found]),
        units=text.units,
        unit=text.unit,
        method=first.method,
        model=first.model,
        signed=first.signed,
        known=made.prompt.known,
        options=first.options,
        versions=first.versions,
        notes=(*notes, *unlikely),
    )


def part_of(made: Written, span: Span, found: Attribution) -> Part:
    """A part of the answer, from its first and last token."""
    chance = found.target.log_probability
    assert chance is not None, "a span of a language model has a probability"
    return Part(*made.span_of(span), found.target.logit, chance)


def other_answers(
    model: Model, texts: Sequence[Text], others: Sequence[str | None]
) -> list[Written]:
    """The other answers with which those of a call are compared, after the same prompts."""
    wholes = []
    for number, (text, other) in enumerate(zip(texts, others, strict=True)):
        with numbered("prompt", number, len(texts) == 1):
            if other is None or other == text.made.answer:
                raise InvalidInput("rather_than= is the answer itself. Give another answer.")
            wholes.append(written(model, text.made.prompt, other, Writing()))
    return wholes


def contrasted(
    model: Model,
    texts: Sequence[Text],
    others: Sequence[Written],
    answers: Mapping[str, Sequence[Answer]],
    plan: Plan,
) -> dict[str, list[Answer]]:
    """Why each answer rather than the other one; both are whole answers.

    Explained is the sum of the logits of the answer's tokens less that of the other's. Tokens that both begin
    with have the difference of their scores; from where they part on, each has its own tokens, with their own
    scores, those of the other answer with their sign turned round.
    """
    goals = [[Target(span=other.whole)] for other in others]
    found = run_goals(model, [other.row for other in others], goals, plan)
    places = [shared_tokens(text.made, other) for text, other in zip(texts, others, strict=True)]
    return {
        name: [
            minus(*each)
            for each in zip(several, others, (own[0][name] for own in found), places, strict=True)
        ]
        for name, several in answers.items()
    }


def shared_tokens(made: Written, other: Written) -> int:
    """With how many tokens, those of the prompt included, two answers begin alike."""
    pairs = zip(made.row.ids, other.row.ids, strict=False)
    length = min(len(made.row), len(other.row))
    return next((number for number, (a, b) in enumerate(pairs) if a != b), length)


def minus(answer: Answer, made: Written, found: Attribution, shared: int) -> Answer:
    """Why this answer rather than the other: the difference of the scores of what both were written after."""
    scores = answer.scores.astype(np.float64)
    scores[0, :shared] -= found.scores[:shared]
    own = tuple(-float(score) for score in found.scores[shared:])
    (part,), name, chance = answer.parts, found.target.label, found.target.log_probability
    assert chance is not None, "a span of a language model has a probability"
    ratio = np.exp(np.clip(part.log_probability - chance, -700, 700))
    said = f"rather than {name!r}: the answer is {ratio:.3g} times as probable"
    if any(own):
        said += (
            f"; tokens of the other answer, which are not shown, have {sum(own):+.3g} of the scores"
        )
    return replace(
        answer,
        scores=scores,
        parts=(replace(part, value=part.value - found.target.logit),),
        signed=True,
        other=Other(made.answer, made.row.tokens[shared:], own),
        notes=(*answer.notes, said),
        options={**answer.options, "rather_than": name},
    )
