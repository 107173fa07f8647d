"""Records as they are stored: rows of files, SQuAD's nested JSON, trees, rationales, and the hub."""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from importlib import import_module
from itertools import zip_longest
from pathlib import Path
from typing import Any, TypeVar

from headlight.data.example import Example, Mark
from headlight.errors import InvalidInput, missing_extra
from headlight.files import (
    Record,
    is_file,
    lines_of,
    open_table,
    parse_json,
    read_text,
    text_in,
)

Given = TypeVar("Given")
Made = TypeVar("Made")


def converted(convert: Callable[[Given], Made], given: Given, place: str, source: object) -> Made:
    """What a stored record is converted to; the error names the row and the source."""
    try:
        return convert(given)
    except InvalidInput as error:
        raise InvalidInput(f"{place} of '{source}': {error}") from error
    except (KeyError, IndexError, TypeError, ValueError, AttributeError) as error:
        raise InvalidInput(
            f"{place} of '{source}' does not have the expected form: {type(error).__name__}: {error}."
        ) from error


def hub_records(
    name: str, configuration: str | None, split: str, revision: str | None
) -> Iterable[Record]:
    """Rows of a data set on the hub."""
    try:
        datasets = import_module("datasets")
    except ImportError as error:
        raise missing_extra("datasets", "data", f"reading '{name}' from the hub") from error
    try:
        return list(datasets.load_dataset(name, configuration, split=split, revision=revision))
    except Exception as error:  # `datasets`, its clients and its scripts each raise their own kinds
        first = (str(error).splitlines() or [type(error).__name__])[0].rstrip(".")
        raise InvalidInput(
            f"the data set '{name}' cannot be read from the hub: {first}. "
            "With a local copy: --data NAME=FILE."
        ) from error


# ------------------------------------------------------------------------------- questions


def squad_rows(path: Path) -> Iterator[tuple[str, Record]]:
    """The questions of a file in SQuAD's nested form, each with its place."""
    articles, number = parse_json(read_text(path), f"'{path}'"), 0
    try:
        for article in articles["data"]:
            for paragraph in article["paragraphs"]:
                for entry in paragraph["qas"]:
                    record = {
                        "question": entry["question"],
                        "context": paragraph["context"],
                        "answers": entry["answers"],
                        "title": article.get("title"),
                    }
                    number += 1
                    yield f"question {number}", record
    except (KeyError, TypeError) as error:
        raise InvalidInput(
            f"'{path}' is not in the form of SQuAD after question {number}: {type(error).__name__}: {error}. "
            "SQuAD has 'data', with 'paragraphs' of a 'context' and 'qas'. Keep other rows in a .jsonl file."
        ) from error


def answer_texts(answers: Any) -> tuple[str, ...]:
    """The texts of answers in any of the forms of SQuAD, each text once."""
    if isinstance(answers, dict):
        answers = answers.get("text", ())
    if isinstance(answers, str):
        answers = [answers]
    texts = [answer["text"] if isinstance(answer, dict) else answer for answer in answers or ()]
    for text in texts:
        if isinstance(text, bool) or not isinstance(text, str | int | float):
            raise InvalidInput(f"an answer is {type(text).__name__} {str(text)[:40]}, not a text.")
    return tuple(dict.fromkeys(map(str, texts)))


# -------------------------------------------------------------------------------- rationales

LEAF = re.compile(r"\(([0-4]) ([^() ]+)\)")
BRANCH = re.compile(r"\([0-4] |\)| ")


def tree_rows(path: Path) -> Iterator[tuple[str, Example]]:
    """Sentences of the Stanford Sentiment Treebank; words with the same sentiment as the sentence are marked.

    Labels run from 0 to 4; a neutral sentence (2) has the label None.
    """
    for number, line in enumerate(lines_of(path), 1):
        if line.strip():
            try:
                yield f"line {number}", tree_example(line.strip())
            except InvalidInput as error:
                raise InvalidInput(f"line {number} of '{path}' {error}") from error


def tree_example(tree: str) -> Example:
    """The sentence of a tree such as (3 (2 A) (4 treat))."""
    leaves = LEAF.findall(tree)
    branches = LEAF.sub("", tree)
    if not leaves or BRANCH.sub("", branches) or not is_nested(tree):
        raise InvalidInput(f"is not a tree of the form (3 (2 A) (4 treat)): {tree[:60]!r}.")
    words = [w.replace("-LRB-", "(").replace("-RRB-", ")").replace("\\/", "/") for _, w in leaves]
    lean = int(tree[1]) - 2
    text, places = joined(words)
    marks = [
        (0, *place)
        for place, (label, _) in zip(places, leaves, strict=True)
        if (int(label) - 2) * lean > 0
    ]
    return Example(text, int(lean > 0) if lean else None, marks=tuple(marks))


def is_nested(tree: str) -> bool:
    """Whether the brackets of a tree are balanced and form one tree."""
    depth = 0
    for place, sign in enumerate(tree):
        depth += (sign == "(") - (sign == ")")
        if depth < 1 and place < len(tree) - 1:
            return False
    return depth == 0


def movie_rows(path: Path) -> Iterator[tuple[str, Example]]:
    """ERASER's movie reviews: documents in `docs` beside the file, evidence as spans of their words."""
    for place, record in open_table(path).rows(None):
        is_whole = "review" in record
        convert = movie_example if is_whole else partial(document_example, path=path)
        yield place, converted(convert, record, place, path)


def document_example(record: Record, path: Path) -> Example:
    """A review that is in a separate file."""
    name = str(record["annotation_id"])
    document = path.parent / "docs" / name
    if Path(name).name != name or not is_file(document):
        raise InvalidInput(f"'{document}' is missing: ERASER keeps its reviews in docs/.")
    words = read_text(document).split()
    spans = [(e["start_token"], e["end_token"]) for group in record["evidences"] for e in group]
    text, places = joined(words)
    marks = tuple(sorted(set(word_marks(places, spans, 0))))
    return Example(text, record["classification"].lower(), marks=marks)


def movie_example(record: Record) -> Example:
    """A movie review as the hub has it: evidence as phrases, words separated by any white space."""
    review = " ".join(text_in(record, "review").split())
    phrases = (" ".join(phrase.split()) for phrase in record["evidences"])
    return Example(review, record["label"], marks=marked(review, phrases))


def marked(text: str, phrases: Iterable[str], segment: int = 0) -> tuple[Mark, ...]:
    """The marks of phrases in a text."""
    marks = []
    for phrase in phrases:
        start = text.find(phrase)
        if start < 0 or not phrase:
            raise InvalidInput(f"the marked phrase {phrase!r} is not in {text[:60]!r}.")
        marks.append((segment, start, start + len(phrase)))
    return tuple(sorted(marks))


def joined(words: Sequence[str]) -> tuple[str, list[tuple[int, int]]]:
    """Words joined to a text, and the characters of each."""
    places, spot = [], 0
    for word in words:
        places.append((spot, spot + len(word)))
        spot += len(word) + 1
    return " ".join(words), places


def word_marks(
    places: Sequence[tuple[int, int]], spans: Iterable[Sequence[int]], segment: int
) -> list[Mark]:
    """Spans of words as spans of characters; refused if a span leaves the text."""
    marks = []
    for first, after in spans:
        if not (type(first) is type(after) is int and 0 <= first <= after <= len(places)):
            raise InvalidInput(
                f"the evidence from word {first} to {after} is not in its text of {len(places)} words."
            )
        if after > first:
            marks.append((segment, places[first][0], places[after - 1][1]))
    return marks


def inference_example(record: Record) -> Example:
    """A pair of e-SNLI as ERASER stores it: words of both sentences and spans of evidence in them."""
    texts, marks = [], []
    for segment, name in enumerate(("premise", "hypothesis")):
        words = record[name]
        if not isinstance(words, list) or not all(isinstance(word, str) for word in words):
            raise InvalidInput(f"the {name} is not a list of words: this is not ERASER's e-SNLI.")
        text, places = joined(words)
        texts.append(text)
        marks += word_marks(places, record[f"{name}_evidence_span"] or (), segment)
    return Example((texts[0], texts[1]), record["classification"], marks=tuple(marks))


# --------------------------------------------------------------------------------- agreement

PLURAL = {"are", "were", "have", "do"}
SINGULAR = {"is", "was", "has", "does"}


def agreement_rows(path: Path) -> Iterator[tuple[str, Example]]:
    """Sentences of Linzen et al.: a .text file, and a .gold file with verb position and both forms.

    The verb becomes [MASK]; the label is its number.
    """
    gold = path.with_suffix(".gold")
    if not is_file(gold):
        raise InvalidInput(f"'{gold}' is missing: it says where the verbs of '{path.name}' stand.")
    pairs = zip_longest(lines_of(path), lines_of(gold))
    for number, pair in enumerate(pairs, 1):
        place = f"line {number}"
        yield place, converted(agreement_example, pair, place, path)


def agreement_example(lines: tuple[str | None, str | None]) -> Example:
    """A sentence with its verb masked, from its line and the line with the verb's position and two forms."""
    text, about = lines
    if text is None or about is None:
        raise InvalidInput("the .text and the .gold file do not have the same number of lines.")
    words = text.strip().removesuffix("<eos>").split()
    position, right, wrong, *_ = about.rstrip("\r\n").split("\t")
    place = int(position)
    if not 0 <= place < len(words) or words[place].lower() != right.lower():
        raise InvalidInput(f"the verb '{right}' is not word {place} of its sentence.")
    known = right in PLURAL or right in SINGULAR
    # Of regular verbs the singular is longer: it ends in -s.
    is_plural = right in PLURAL if known else len(right) < len(wrong)
    words[place] = "[MASK]"
    return Example(" ".join(words), "plural" if is_plural else "singular")
