"""`Example`: one labelled input, and how its label is matched with those of a model."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from re import fullmatch

from headlight.errors import InvalidInput
from headlight.text import Text

Mark = tuple[int, int, int]
"""Which text of the input (0 or 1), first character, character after the last."""


@dataclass(frozen=True)
class Example:
    """One input with what people know about it.

    label: a name, or an index into the data set's own names. answers: right answers to a question, exactly as
    in the context. marks: what a person marked as the reason; None if nobody marked anything. sources: passages
    from which a language model is to answer the question that is the text. rather_than: what a language model
    could write after the text instead of the first answer; marks then say which word decides.
    """

    text: Text
    label: str | int | None = None
    answers: tuple[str, ...] = ()
    marks: tuple[Mark, ...] | None = None
    sources: tuple[str, ...] = ()
    rather_than: str | None = None

    def __post_init__(self) -> None:
        if self.rather_than is not None and (not self.answers or self.sources):
            raise InvalidInput("an example with rather_than= needs an answer and has no sources.")

    @property
    def right_source(self) -> int | None:
        """The number of the source that holds the first answer; None if that is not exactly one."""
        if not self.answers:
            return None
        holders = [n for n, source in enumerate(self.sources) if holds(source, self.answers[0])]
        return holders[0] if len(holders) == 1 else None


def holds(source: str, answer: str) -> bool:
    """Whether a passage says an answer, in whatever case."""
    return answer.casefold() in source.casefold()


SYNONYMS = {
    "neg": "negative",
    "pos": "positive",
    "notduplicate": "different",
    "notparaphrase": "different",
    "paraphrase": "duplicate",
    "contradictory": "contradiction",
    "technology": "scitech",
    "sciencetechnology": "scitech",
}
"""Synonyms of labels, in lower case without punctuation."""

ORDERS = {
    "textattack/bert-base-uncased-MNLI": ("contradiction", "entailment", "neutral"),
    "textattack/roberta-base-MNLI": ("contradiction", "entailment", "neutral"),
    "textattack/distilbert-base-uncased-MNLI": ("contradiction", "entailment", "neutral"),
}
"""The names of a checkpoint's numbered labels, if their order is not that of the data set."""


def plain(name: str) -> str:
    """A label in lower case, without punctuation, its synonyms made equal."""
    bare = "".join(c for c in name.lower() if c.isalnum())
    return SYNONYMS.get(bare, bare)


def gold_class(
    label: str | int | None, names: Sequence[str], model_labels: Mapping[int, str], model_name: str
) -> int | None:
    """The index of the model's class for a label of a data set.

    names: the data set's labels in order; empty if it uses the model's own.
    """
    if label is None:
        return None
    known = {plain(name): index for index, name in model_labels.items()}
    if all(name.upper().startswith("LABEL_") for name in model_labels.values()):
        order = ORDERS.get(model_name, names)
        known |= {plain(name): n for n, name in enumerate(order) if n in model_labels}
    if not names and plain(str(label)) in known:
        return known[plain(str(label))]
    number = index_of(label)
    if number is None:
        name = str(label)
    elif 0 <= number < len(names):
        name = names[number]
    elif not names and number in model_labels:
        return number
    else:
        raise unknown_label(label, names or tuple(model_labels.values()))
    if plain(name) not in known:
        raise unknown_label(name, tuple(model_labels.values()))
    return known[plain(name)]


def is_matched(label: str | int, names: Sequence[str], found: str) -> bool:
    """Whether a label was matched with a differently named class, which the user should be told.

    Numbers that the data set itself names are not reported.
    """
    number = index_of(label)
    name = names[number] if number is not None and 0 <= number < len(names) else str(label)
    is_numbered = found.upper().startswith("LABEL_")
    return name.strip().lower() != found.strip().lower() and not (names and is_numbered)


def index_of(label: object) -> int | None:
    """The number of a label that is a number or is written as one; booleans are not numbers."""
    if isinstance(label, bool):
        return None
    if isinstance(label, int) or (isinstance(label, float) and label.is_integer()):
        return int(label)
    written = fullmatch(r"(-?[0-9]{1,9})(\.0)?", label.strip()) if isinstance(label, str) else None
    return int(written[1]) if written else None


def unknown_label(label: object, known: Sequence[str]) -> InvalidInput:
    """The error for a label that the model does not have."""
    return InvalidInput(
        f"the label '{label}' is not known. Known labels: {', '.join(known)}. "
        "Name the labels of the data in their order with --labels."
    )
