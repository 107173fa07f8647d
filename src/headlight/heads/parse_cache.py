"""Parses kept in the cache, because parsing takes longer than the pass that uses them."""

import hashlib
import json
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import Any

from headlight.files.cache import cache_folder
from headlight.files.conllu import Parse
from headlight.heads.parsers import Parser


def remembered(parser: Parser, texts: Sequence[str]) -> Iterator[Parse]:
    """The parses of these texts by this parser, from the cache if they are there.

    They are written with a checksum once all are made. A run that is stopped writes nothing, and a damaged file
    is made again.
    """
    path = place(parser, texts)
    if is_whole(path):
        with path.open("rb") as file:
            yield from (restored(json.loads(line)) for line in file if line.startswith(b"{"))
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    checksum = hashlib.sha256()
    with NamedTemporaryFile("wb", dir=path.parent, delete=False) as file:
        unfinished = Path(file.name)
        try:
            for parse in parser.parse(texts):
                line = json.dumps(asdict(parse)).encode() + b"\n"
                checksum.update(line)
                file.write(line)
                yield parse
            file.write(checksum.hexdigest().encode())
        except BaseException:
            unfinished.unlink()
            raise
    unfinished.replace(path)


def is_whole(path: Path) -> bool:
    """Whether a file holds all parses unchanged: its last line is the checksum of the others."""
    checksum, last = hashlib.sha256(), b""
    try:
        with path.open("rb") as file:
            for line in file:
                checksum.update(last)
                last = line
    except OSError:
        return False
    return last == checksum.hexdigest().encode()


def place(parser: Parser, texts: Sequence[str]) -> Path:
    """Where the parses of these texts are kept."""
    digest = hashlib.sha256(parser.version.encode())
    for text in texts:
        digest.update(f"{len(text)}:{text}".encode())
    return cache_folder() / "parses" / f"{digest.hexdigest()[:24]}.jsonl"


def restored(record: dict[str, Any]) -> Parse:
    """A parse from its JSON record."""
    fields = {name: tuple(value) for name, value in record.items() if name != "text"}
    places = tuple((start, end) for start, end in record["places"])
    return Parse(text=record["text"], **{**fields, "places": places})
