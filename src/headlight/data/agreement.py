"""Agreement as a choice of answers: the right form of a verb rather than the other, and the word that decides.

A file has one row per sentence: a `text` with [MASK] where the verb stands and its `label`, singular or plural
(or both forms as `right` and `wrong`), with the `subject`; or pairs of sentences that differ in their verb, as
BLiMP (`sentence_good`, `sentence_bad`) and Marvin and Linzen (`grammatical`, `ungrammatical`) store them.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from headlight.data.example import Example
from headlight.data.sources import converted, joined
from headlight.errors import InvalidInput
from headlight.files import Record, open_table, text_in

PAIRS = (("sentence_good", "sentence_bad"), ("grammatical", "ungrammatical"))
FORMS = {"singular": ("is", "are"), "plural": ("are", "is")}
"""The right and the wrong verb after a subject of this number."""
MASK = "[MASK]"
STOPS = ".,;:!?"


@dataclass(frozen=True)
class Choice:
    """The words before a verb, its right and its wrong form, and which word decides; None if unknown."""

    words: tuple[str, ...]
    right: str
    wrong: str
    cause: int | None = None

    @property
    def example(self) -> Example:
        """The choice as an example; the word that decides is marked."""
        text, places = joined(self.words)
        marks = None if self.cause is None else ((0, *places[self.cause]),)
        return Example(text, answers=(self.right,), marks=marks, rather_than=self.wrong)


def agreement_choice_rows(path: Path) -> Iterator[tuple[str, Example]]:
    """The choices of a file, each with its place.

    Without a column `subject`, a word is known to decide if another row has another word there, is otherwise
    the same, and has the right and the wrong form the other way round.
    """
    rows = open_table(path).rows(None)
    choices = [(place, converted(choice_of, record, place, path)) for place, record in rows]
    known: dict[Sentence, set[str]] = {}
    for _, choice in choices:
        for number, word in enumerate(choice.words):
            known.setdefault(around(choice, number, choice.right, choice.wrong), set()).add(word)
    for place, choice in choices:
        yield place, with_cause(choice, known).example


def choice_of(record: Record) -> Choice:
    """The choice in a row of a file."""
    names = next((pair for pair in PAIRS if pair[0] in record), None)
    if names is not None:
        return choice_of_pair(record, *names)
    before, mask, _ = text_in(record, "text").partition(MASK)
    if not mask or not before.strip():
        raise InvalidInput(f"the text has no {MASK} after other words.")
    forms = FORMS.get(str(record.get("label")), (None, None))
    right, wrong = record.get("right") or forms[0], record.get("wrong") or forms[1]
    if right is None or wrong is None:
        raise InvalidInput("the label is neither 'singular' nor 'plural', and no verbs are given.")
    words = tuple(before.split())
    subject = record.get("subject")
    places = [n for n, word in enumerate(words) if word.strip(STOPS) == subject]
    if subject and len(places) != 1:
        raise InvalidInput(f"the subject '{subject}' is not once before the verb: {before!r}.")
    return Choice(words, str(right), str(wrong), places[0] if subject else None)


def choice_of_pair(record: Record, good: str, bad: str) -> Choice:
    """The choice between two sentences, which differ in the form of a verb first."""
    if record.get("two_prefix_prefix_good"):
        raise InvalidInput("the two sentences differ in their subject, not in their verb.")
    both = [text_in(record, name).split() for name in (good, bad)]
    pairs = enumerate(zip(*both, strict=False))
    place = next((number for number, (right, wrong) in pairs if right != wrong), 0)
    if not place:
        raise InvalidInput(f"'{good}' and '{bad}' do not differ in a word after the first.")
    right, wrong = (words[place].strip(STOPS) for words in both)
    return Choice(tuple(both[0][:place]), right, wrong)


Sentence = tuple[int, tuple[str, ...], tuple[str, ...], str, str]
"""A place among the words before a verb, the words before and after it, the right form and the wrong one."""


def around(choice: Choice, number: int, right: str, wrong: str) -> Sentence:
    """A sentence without one of its words."""
    return number, choice.words[:number], choice.words[number + 1 :], right, wrong


def with_cause(choice: Choice, known: Mapping[Sentence, set[str]]) -> Choice:
    """The choice with the word that decides, if the data show it and show no other."""
    if choice.cause is not None:
        return choice
    turned = [
        number
        for number, word in enumerate(choice.words)
        if known.get(around(choice, number, choice.wrong, choice.right), set()) - {word}
    ]
    return replace(choice, cause=turned[0] if len(turned) == 1 else None)
