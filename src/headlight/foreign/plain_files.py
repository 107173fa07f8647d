"""Files of scores that were made elsewhere: JSON, JSON lines or Parquet, as docs/format.md describes."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from headlight.attribution import Attribution
from headlight.errors import HeadlightError, InvalidInput
from headlight.files.fields import (
    check_fields,
    is_count,
    is_number,
    is_text,
    is_truth,
    list_of,
    or_none,
)
from headlight.files.opening import read_text
from headlight.files.parsing import parse_json
from headlight.files.tables import open_table
from headlight.foreign.inseq_files import from_inseq, is_inseq
from headlight.foreign.scores import from_scores
from headlight.models.model import Model

SUFFIXES = (".json", ".jsonl", ".ndjson", ".parquet", ".gz")
TEXTS = (or_none(list_of(is_text)), "a list of texts")
REQUIRED = {
    "text": (
        lambda value: is_text(value) or list_of(is_text, size=2)(value),
        "a text or a pair of texts",
    ),
    "scores": (list_of(is_number), "a list of finite numbers"),
}
OPTIONAL = {
    "pair": (or_none(is_text), "the second text of a pair"),
    "tokens": TEXTS,
    "words": TEXTS,
    "spans": (or_none(list_of(list_of(is_count))), "a list of [start, end]"),
    "target": (
        lambda value: value is None or is_text(value) or is_count(value),
        "a label or its number",
    ),
    "method": (or_none(is_text), "text"),
    "signed": (or_none(is_truth), "true or false"),
}
"""The fields of a record: how each is checked, and what it must hold, in words."""


def read_attributions(model: Model, path: str | Path) -> list[Attribution]:
    """The attributions in a file: scores made elsewhere, our own attributions, or what inseq saved.

    .json holds one object or a list of them, .jsonl one per line, .parquet one per row. Records without
    'method' are named after the file.
    """
    path = Path(path)
    if path.suffix.lower() not in SUFFIXES:
        raise InvalidInput(f"'{path}' is not a file of scores. Use one of {', '.join(SUFFIXES)}.")
    if path.suffix.lower() == ".gz":
        return from_inseq(model, path)
    if path.suffix.lower() == ".json":
        stored = parse_json(read_text(path), f"'{path}'")
        if is_inseq(stored):
            return from_inseq(model, path)
    made = []
    for place, record in records_of(path):
        try:
            made.append(attribution_of(model, record, path.stem))
        except HeadlightError as error:
            raise type(error)(f"{place} of '{path}': {error}") from error
    if not made:
        raise InvalidInput(f"'{path}' holds no scores: it is empty.")
    return made


def records_of(path: Path) -> Iterator[tuple[str, Any]]:
    """The records of a file, each with its place there."""
    if path.suffix.lower() != ".json":
        yield from open_table(path).rows(None)
        return
    stored = parse_json(read_text(path), f"'{path}'")
    for number, record in enumerate(stored if isinstance(stored, list) else [stored]):
        yield f"object {number}", record


def attribution_of(model: Model, record: Any, name: str) -> Attribution:
    """The attribution of one record."""
    if isinstance(record, Mapping) and record.get("format") is not None:
        return Attribution.from_dict(record)
    check_fields(record, REQUIRED, "a record of scores")
    check_fields({**dict.fromkeys(OPTIONAL), **record}, OPTIONAL, "a record of scores")
    strange = sorted(set(record) - {*REQUIRED, *OPTIONAL})
    if strange:
        raise InvalidInput(
            f"the field '{strange[0]}' is not known. A record has {', '.join((*REQUIRED, *OPTIONAL))}."
        )
    text, pair = record["text"], record.get("pair")
    if pair is not None and not isinstance(text, str):
        raise InvalidInput("the second text is given twice, in 'text' and in 'pair'. Give it once.")
    texts = (
        (text, pair) if pair is not None else tuple(text) if not isinstance(text, str) else (text,)
    )
    return from_scores(
        model,
        texts[0] if len(texts) == 1 else (texts[0], texts[1]),
        record["scores"],
        method=record.get("method") or name,
        target=record.get("target"),
        tokens=record.get("tokens"),
        words=record.get("words"),
        spans=record.get("spans"),
        signed=record.get("signed") is not False,
    )
