"""`Example`: one labelled input, and how its label is found among those of a model."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from headlight.batch import Text
from headlight.errors import InvalidInput

Mark = tuple[int, int, int]
"""Which text of the input (0 or 1), first character, character after the last."""


@dataclass(frozen=True)
class Example:
    """One input with what people know of it.

    label: a name, or an index into the data set's own names. answers: right answers to a question, as they
    stand in the context. marks: what a person marked as the reason; None where nobody looked.
    """

    text: Text
    label: str | int | None = None
    answers: tuple[str, ...] = ()
    marks: tuple[Mark, ...] | None = None


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
"""Other words for labels, without case and marks."""

ORDERS = {
    "textattack/bert-base-uncased-MNLI": ("contradiction", "entailment", "neutral"),
    "textattack/roberta-base-MNLI": ("contradiction", "entailment", "neutral"),
    "textattack/distilbert-base-uncased-MNLI": ("contradiction", "entailment", "neutral"),
}
"""What the numbered labels of a checkpoint mean, where it is not the order of the data set."""


def plain(name: str) -> str:
    """A label without case, marks and synonyms."""
    bare = "".join(c for c in name.lower() if c.isalnum())
    return SYNONYMS.get(bare, bare)


def gold_class(
    label: str | int | None, names: Sequence[str], model_labels: Mapping[int, str], model_name: str
) -> int | None:
    """The model's class for a label of a data set whose labels have these names (none: the model's own)."""
    if label is None:
        return None
    if isinstance(label, str) and label.lstrip("-").isdigit():
        label = int(label)
    if isinstance(label, int):
        if not 0 <= label < (len(names) or len(model_labels)):
            raise unknown_label(label, names or tuple(model_labels.values()))
        if not names:
            return label
        label = names[label]
    if all(name.upper().startswith("LABEL_") for name in model_labels.values()):
        order = ORDERS.get(model_name, names)
        known = {plain(name): index for index, name in enumerate(order)}
    else:
        known = {plain(name): index for index, name in model_labels.items()}
    if plain(label) not in known:
        raise unknown_label(label, tuple(model_labels.values()))
    return known[plain(label)]


def unknown_label(label: str | int, known: Sequence[str]) -> InvalidInput:
    """The error for a label that the model does not have."""
    return InvalidInput(
        f"the label {label!r} is none of those that are known: {', '.join(known)}. "
        "Say what the labels of the data are called with --labels, in their order."
    )
