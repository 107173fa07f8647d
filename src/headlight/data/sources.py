"""Records as they are stored: rows of files, SQuAD's nested JSON, trees, rationales, and the hub."""

import json
from collections.abc import Iterable, Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import regex

from headlight.data.example import Example
from headlight.errors import InvalidInput, missing_extra
from headlight.files import read_records, read_text

Record = dict[str, Any]


def hub_records(
    name: str, configuration: str | None, split: str, revision: str | None
) -> Iterable[Record]:
    """Rows of a data set on the hub.

    `datasets`, its clients and scripts raise kinds of their own, so whatever they raise is told as a sentence.
    """
    try:
        datasets = import_module("datasets")
    except ImportError as error:
        raise missing_extra("datasets", "data", f"reading '{name}' from the hub") from error
    try:
        return list(datasets.load_dataset(name, configuration, split=split, revision=revision))
    except Exception as error:
        first = (str(error).splitlines() or [type(error).__name__])[0].rstrip(".")
        raise InvalidInput(
            f"the data set '{name}' cannot be read from the hub: {first}. "
            "With a local copy: --data NAME=FILE."
        ) from error


# ------------------------------------------------------------------------------- questions


def squad_records(path: Path) -> list[Record]:
    """The questions of a file in SQuAD's nested form, or one record a line."""
    if path.suffix.lower() != ".json":
        return read_records(str(path))
    try:
        articles = json.loads(read_text(path))["data"]
        return [
            {
                "question": entry["question"],
                "context": paragraph["context"],
                "answers": entry["answers"],
            }
            for article in articles
            for paragraph in article["paragraphs"]
            for entry in paragraph["qas"]
        ]
    except (ValueError, KeyError, TypeError) as error:
        raise InvalidInput(f"'{path}' is not in the form of SQuAD: {error!r}.") from error


def answer_texts(answers: Any) -> tuple[str, ...]:
    """The texts of answers in any of the forms SQuAD is kept in, each once."""
    if isinstance(answers, dict):
        answers = answers.get("text", ())
    if isinstance(answers, str):
        answers = [answers]
    texts = (each["text"] if isinstance(each, dict) else str(each) for each in answers or ())
    return tuple(dict.fromkeys(texts))


# -------------------------------------------------------------------------------- rationales

LEAF = regex.compile(r"\((\d) ([^()]+)\)")


def tree_examples(path: Path) -> Iterator[Example]:
    """Sentences of the Stanford Sentiment Treebank; words whose own label leans to the sentence's are marked.

    Labels run from 0 to 4; a neutral sentence (2) is passed over.
    """
    for line in read_text(path).splitlines():
        if not line.startswith("("):
            continue
        lean = int(line[1]) - 2
        if lean == 0:
            continue
        text, marks = "", []
        for match in LEAF.finditer(line):
            word = match[2].replace("-LRB-", "(").replace("-RRB-", ")").replace("\\/", "/")
            start = len(text) + (1 if text else 0)
            text = f"{text} {word}" if text else word
            if (int(match[1]) - 2) * lean > 0:
                marks.append((0, start, len(text)))
        yield Example(text, int(lean > 0), marks=tuple(marks))


def movie_examples(path: Path) -> Iterator[Example]:
    """ERASER's movie reviews: documents in `docs` beside the file, evidence as spans of their words."""
    for record in read_records(str(path)):
        if "review" in record:
            yield movie_example(record)
            continue
        document = path.parent / "docs" / record["annotation_id"]
        if not document.is_file():
            raise InvalidInput(f"'{document}' is missing: ERASER keeps its reviews in docs/.")
        words = read_text(document).split()
        starts, length = [], 0
        for word in words:
            starts.append(length)
            length += len(word) + 1
        spans = {
            (
                0,
                starts[e["start_token"]],
                starts[e["end_token"] - 1] + len(words[e["end_token"] - 1]),
            )
            for group in record["evidences"]
            for e in group
            if e["end_token"] > e["start_token"]
        }
        yield Example(" ".join(words), record["classification"].lower(), marks=tuple(sorted(spans)))


def movie_example(record: Record) -> Example:
    """A movie review as the hub has it: evidence as phrases, words apart by any blank."""
    review = " ".join(record["review"].split())
    phrases = (" ".join(phrase.split()) for phrase in record["evidences"])
    return Example(review, record["label"], marks=marked(review, phrases))


def marked(text: str, phrases: Iterable[str], segment: int = 0) -> tuple[tuple[int, int, int], ...]:
    """Where phrases stand in a text."""
    found = []
    for phrase in phrases:
        start = text.find(phrase)
        if start < 0 or not phrase:
            raise InvalidInput(f"the marked phrase {phrase!r} does not stand in {text[:60]!r}.")
        found.append((segment, start, start + len(phrase)))
    return tuple(sorted(found))


def joined(words: list[str], spans: list[list[int]] | None, segment: int) -> tuple[str, list[Any]]:
    """Words as a text, and spans of words as spans of characters."""
    starts = [sum(len(w) + 1 for w in words[:n]) for n in range(len(words))]
    marks = [
        (segment, starts[first], starts[after - 1] + len(words[after - 1]))
        for first, after in spans or []
        if after > first
    ]
    return " ".join(words), marks


def inference_example(record: Record) -> Example:
    """E-SNLI as ERASER keeps it: words of both sentences and spans of evidence in them."""
    if isinstance(record["premise"], str):
        raise InvalidInput("a premise is a text, not a list of words: this is not ERASER's e-SNLI.")
    premise, first = joined(record["premise"], record["premise_evidence_span"], 0)
    hypothesis, second = joined(record["hypothesis"], record["hypothesis_evidence_span"], 1)
    return Example((premise, hypothesis), record["classification"], marks=tuple(first + second))


# --------------------------------------------------------------------------------- agreement

PLURAL = {"are", "were", "have", "do"}
SINGULAR = {"is", "was", "has", "does"}


def agreement_examples(path: Path) -> Iterator[Example]:
    """Sentences of Linzen et al.: a .text file, and a .gold file with verb position and both forms.

    The verb becomes [MASK]; the label is its number.
    """
    gold = path.with_suffix(".gold")
    if not gold.is_file():
        raise InvalidInput(f"'{gold}' is missing: it says where the verbs of '{path.name}' stand.")
    lines = zip(
        read_text(path).rstrip("\n").split("\n"),
        read_text(gold).rstrip("\n").split("\n"),
        strict=True,
    )
    for text, line in lines:
        place, right, wrong, *_ = line.split("\t")
        words = text.removesuffix("<eos>").split()
        words[int(place)] = "[MASK]"
        known = right in PLURAL or right in SINGULAR
        is_plural = right in PLURAL if known else len(right) < len(wrong)
        yield Example(" ".join(words), "plural" if is_plural else "singular")
