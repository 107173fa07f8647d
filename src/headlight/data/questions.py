"""Questions with sources: a question and several passages, of which exactly one holds the answer.

They are made from files in the form of SQuAD; the other passages come from other articles.
"""

import random
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from headlight.data.example import Example, holds
from headlight.data.sources import answer_texts, squad_rows
from headlight.errors import InvalidInput
from headlight.files import Record, open_table
from headlight.units import sentences

SOURCE_COUNT = 5
LEAST_WORDS, MOST_WORDS = 14, 26
"""Passages are cut to sentences of so many words together, so that prompts stay short."""


@dataclass(frozen=True)
class Passage:
    """A stretch of an article that is long enough to be a source, and short enough."""

    article: str
    text: str


def squad_source_rows(path: Path) -> Iterator[tuple[str, Example]]:
    """Questions of a file in the form of SQuAD (.json, or rows of the same columns), each with five sources."""
    is_nested = path.suffix.lower() == ".json"
    rows = list(squad_rows(path) if is_nested else open_table(path).rows(None))
    passages = passages_of(record for _, record in rows)
    for number, (place, record) in enumerate(rows):
        example = sourced(record, passages, random.Random(f"0:{number}"))
        if example is not None:
            yield place, example


def article_of(record: Record) -> str:
    """The article of a question; without a title, its paragraph stands for it."""
    return str(record.get("title") or record["context"])


def passages_of(records: Iterable[Record]) -> list[Passage]:
    """Every paragraph once, cut to its first sentences that make a source."""
    contexts = dict.fromkeys((article_of(record), str(record["context"])) for record in records)
    cut = ((article, around(context, 0)) for article, context in contexts)
    return [Passage(article, text) for article, text in cut if text is not None]


def around(context: str, place: int) -> str | None:
    """The sentence at a place of a paragraph, with those after it and then before it as long as it stays short.

    None if that is too short or too long for a source.
    """
    spans = list(sentences(context))
    own = next((n for n, (start, end) in enumerate(spans) if start <= place < end), None)
    if own is None:
        return None
    first = last = own

    def size(start: int, end: int) -> int:
        return len(context[spans[start][0] : spans[end][1]].split())

    while last + 1 < len(spans) and size(first, last + 1) <= MOST_WORDS:
        last += 1
    while first > 0 and size(first - 1, last) <= MOST_WORDS:
        first -= 1
    if not LEAST_WORDS <= size(first, last) <= MOST_WORDS:
        return None
    return " ".join(context[spans[first][0] : spans[last][1]].split())


def sourced(
    record: Record, passages: Sequence[Passage], draw: random.Random, count: int = SOURCE_COUNT
) -> Example | None:
    """A question with sources in a drawn order; None if it has no answer or its passage cannot be cut."""
    answers = answer_texts(record.get("answers"))
    if not answers or not str(record["question"]).strip():
        return None
    answer, context = answers[0], str(record["context"])
    place = answer_place(record["answers"], context, answer)
    right = around(context, place) if place >= 0 else None
    if right is None or not holds(right, answer):
        return None
    article = article_of(record)
    others: dict[str, Passage] = {}
    for passage in draw.sample(passages, len(passages)):
        is_free = passage.article not in (article, *others)
        if is_free and not holds(passage.text, answer) and len(others) < count - 1:
            others[passage.article] = passage
    if len(others) < count - 1:
        raise InvalidInput(
            f"a question with {count} sources needs passages of {count} articles, and this data has fewer."
        )
    texts = [right, *(passage.text for passage in others.values())]
    draw.shuffle(texts)
    return Example(str(record["question"]).strip(), answers=(answer,), sources=tuple(texts))


def answer_place(answers: Any, context: str, answer: str) -> int:
    """Where the first answer begins in its paragraph, as the data say or as it is found; -1 if nowhere."""
    starts: Any = answers.get("answer_start") if isinstance(answers, Mapping) else None
    if isinstance(answers, list) and answers and isinstance(answers[0], Mapping):
        starts = [answers[0].get("answer_start")]
    start = starts[0] if isinstance(starts, list) and starts else None
    if isinstance(start, int) and context[start : start + len(answer)] == answer:
        return start
    return context.find(answer)
