"""Explains an answer: a score of every token that was read, for each sentence or some words of the answer."""

from collections.abc import Iterable, Sequence
from itertools import groupby

import numpy as np

from headlight.answer import Answer
from headlight.explaining.answers import explain_answer
from headlight.explaining.plan import default_method
from headlight.explaining.written import Written, ranges_of
from headlight.methods import METHODS
from headlight.models.model import Model
from headlight.renderers.characters import harmless
from headlight.units import Span, Unit, sentences, unit_numbers, words
from headlight.web.answers.asking import prompt_of, with_answer
from headlight.web.answers.opening import choices
from headlight.web.answers.reading import check_methods
from headlight.web.limits import Limits, Refusal
from headlight.web.questions import ExplainAnswer
from headlight.web.replies import (
    ExplainedAnswer,
    Grid,
    ReadBlock,
    ReadSource,
    ReadToken,
    ReadWord,
    SaidPart,
    SaidWord,
    WordChoice,
)

DIGITS = 6
"""Significant digits of the largest score; the others keep as many places."""


def answer(model: Model, question: ExplainAnswer, limits: Limits) -> ExplainedAnswer:
    """Why the model would write this answer."""
    prompt = prompt_of(model, question, limits)
    whole = with_answer(model, prompt, question.answer, limits)
    method = question.method or default_method(model)[0]
    check_methods([method], whole.row, limits)
    of = "sentences" if question.of == "sentences" else asked_words(whole, question)
    if question.of == "words":
        check_words(len(of), method, limits)
    made = explain_answer(
        model,
        question.asked,
        question.answer,
        method,
        sources=question.passages(),
        units="words",
        of=of,
    )
    assert isinstance(made, Answer)
    return reply_of(made, question.of, choices(model, whole, limits))


def asked_words(made: Written, question: ExplainAnswer) -> list[Span]:
    """The asked words of an answer as the library parts it: white space belongs to the word before it."""
    spans = [made.span_of(tokens) for tokens in ranges_of(made, "words")]
    own = [(start - made.prompt_end, end - made.prompt_end) for start, end in spans]
    numbers = unit_numbers(stretches(words(question.answer)), made.answer, own)
    last = len(question.answer) if question.count is None else question.first + question.count
    chosen = range(question.first, last)
    return [span for span, number in zip(own, numbers, strict=True) if number in chosen]


def check_words(count: int, method: str, limits: Limits) -> None:
    """Refuse to explain too many words at once, or with a method that needs many passes for each."""
    if METHODS[method].cost == "slow":
        raise Refusal(
            413,
            f"{method} needs many passes for each part of an answer, so this server explains only sentences "
            "with it. Ask for sentences, or choose another method.",
        )
    if count > limits.answer_words:
        raise Refusal(
            413,
            f"{count} words of the answer were asked for; this server explains up to {limits.answer_words} "
            "at once. Ask for fewer with 'first' and 'count', or for sentences.",
        )


def reply_of(made: Answer, of: str, chosen: Sequence[WordChoice | None]) -> ExplainedAnswer:
    """An explained answer, by words, with everything that is needed to add its scores up otherwise."""
    blocks = blocks_of(made)
    return {
        "text": made.text,
        "method": made.method,
        "signed": made.signed,
        "notes": list(made.notes),
        "blocks": [block for block, _ in blocks],
        "words": read_words(made, [count for _, count in blocks]),
        "sources": sources_of(made) if "sources" in made.known else [],
        "tokens": read_tokens(made),
        "said": said_words(made, chosen),
        "parts": said_parts(made, of),
        "scores": rounded(made),
    }


def rounded(made: Answer) -> Grid:
    """The scores with a few digits."""
    largest = float(np.abs(made.scores).max(initial=0)) or 1.0
    places = DIGITS - int(np.floor(np.log10(largest)))
    values: Grid = np.round(made.scores.astype(np.float64), places).tolist()
    return values


# ------------------------------------------------------------------------------------ the prompt


def blocks_of(made: Answer) -> list[tuple[ReadBlock, int]]:
    """The blocks of a prompt, each with its number of words."""
    spans = [(unit.start, unit.end) for unit in made.units]
    sources = [labelled(unit, made.prompt) for unit in made.known.get("sources", ())]
    turns = made.known.get("turns", ())
    in_source, in_turn = (unit_numbers(units, made.prompt, spans) for units in (sources, turns))
    # A turn after a source is another block than the turn before it, although both are the same turn.
    keys = zip(in_source, in_turn, strict=True)
    found = []
    for (source, turn), members in groupby(keys):
        role = turns[turn].name.rpartition(" ")[0] if turn is not None and len(turns) > 1 else ""
        name = role if source is None else sources[source].name
        block: ReadBlock = {"name": harmless(name), "source": source}
        found.append((block, len(list(members))))
    return found


def labelled(source: Unit, prompt: str) -> Unit:
    """A source with the label before it, if it has one."""
    label = f"[{source.name}] "
    start = source.start - len(label)
    has_label = start >= 0 and prompt[start : source.start] == label
    return Unit(source.name, start, source.end) if has_label else source


def read_words(made: Answer, counts: Sequence[int]) -> list[ReadWord]:
    """The words of a prompt; the first of a block has nothing before it."""
    places = [(block, n) for block, count in enumerate(counts) for n in range(count)]
    ends = [0, *(unit.end for unit in made.units)]
    return [
        {
            "text": harmless(unit.name),
            "before": harmless(made.prompt[end : unit.start]) if number else "",
            "block": block,
            "in_scale": bool(counts_in),
        }
        for unit, end, (block, number), counts_in in zip(
            made.units, ends[:-1], places, made.in_scale, strict=True
        )
    ]


def sources_of(made: Answer) -> list[ReadSource]:
    """The sources of a prompt."""
    by_source = made.by("sources")
    return [
        {"name": harmless(unit.name), "in_scale": bool(counts_in)}
        for unit, counts_in in zip(by_source.units, by_source.in_scale, strict=True)
    ]


def read_tokens(made: Answer) -> list[ReadToken]:
    """To what each token belongs."""
    has_sources = "sources" in made.known
    in_source = made.by("sources").groups if has_sources else [None] * len(made.tokens)
    return [
        {"word": word, "source": source, "is_own": start >= made.prompt_end}
        for word, source, (start, _) in zip(made.groups, in_source, made.offsets, strict=True)
    ]


# ------------------------------------------------------------------------------------ the answer


def said_words(made: Answer, chosen: Sequence[WordChoice | None]) -> list[SaidWord]:
    """The words of an answer."""
    spans = list(words(made.answer))
    numbers = unit_numbers(stretches(sentences(made.answer)), made.answer, spans)
    ends = [0, *(end for _, end in spans)]
    return [
        {
            "text": harmless(made.answer[start:end]),
            "before": harmless(made.answer[last:start]),
            "sentence": number,
            "choice": choice,
        }
        for (start, end), last, number, choice in zip(
            spans, ends[:-1], numbers, chosen, strict=True
        )
    ]


def said_parts(made: Answer, of: str) -> list[SaidPart]:
    """The explained parts of an answer; a whole sentence belongs to no word."""
    spans = [(part.start - made.prompt_end, part.end - made.prompt_end) for part in made.parts]
    in_sentence = unit_numbers(stretches(sentences(made.answer)), made.answer, spans)
    in_word = unit_numbers(stretches(words(made.answer)), made.answer, spans)
    return [
        {
            "word": word if of == "words" else None,
            "sentence": sentence,
            "log_probability": part.log_probability,
        }
        for part, word, sentence in zip(made.parts, in_word, in_sentence, strict=True)
    ]


def stretches(spans: Iterable[Span]) -> list[Unit]:
    """Spans as units without a name."""
    return [Unit("", start, end) for start, end in spans]
