"""Parses kept in the cache, since parsing takes longer than the pass that uses them."""

import hashlib
import json
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import Any

from headlight.files.conllu import Parse
from headlight.heads.parsers import Parser
from headlight.models.converted import cache_folder


def remembered(parser: Parser, texts: Sequence[str]) -> Iterator[Parse]:
    """The parses of these texts by this parser, from the cache if it was asked for them before.

    They are kept once all were made; a run that is stopped keeps nothing.
    """
    path = place(parser, texts)
    if path.exists():
        with path.open(encoding="utf-8") as file:
            yield from (restored(json.loads(line)) for line in file)
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    with NamedTemporaryFile("w", dir=path.parent, encoding="utf-8", delete=False) as file:
        unfinished = Path(file.name)
        try:
            for parse in parser.parse(texts):
                file.write(json.dumps(asdict(parse)) + "\n")
                yield parse
        except BaseException:
            unfinished.unlink()
            raise
    unfinished.replace(path)


def place(parser: Parser, texts: Sequence[str]) -> Path:
    """Where the parses of these texts are kept."""
    digest = hashlib.sha256(parser.version.encode())
    for text in texts:
        digest.update(f"{len(text)}:{text}".encode())
    return cache_folder() / "parses" / f"{digest.hexdigest()[:24]}.jsonl"


def restored(record: dict[str, Any]) -> Parse:
    """A parse from what was written."""
    fields = {name: tuple(value) for name, value in record.items() if name != "text"}
    places = tuple((start, end) for start, end in record["places"])
    return Parse(text=record["text"], **{**fields, "places": places})
