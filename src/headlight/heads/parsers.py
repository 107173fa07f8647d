"""Dependency parses: gold ones from CoNLL-U files, others from spaCy pipelines, one of them ours."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any, Protocol

from headlight.errors import InvalidInput, MissingExtra

OWN = "headlight"
"""The name of the pipeline that comes with us."""
PIPELINE = Path(__file__).parent / "pipeline"


@dataclass(frozen=True)
class Parse:
    """The words of a text and the tree over them.

    places: where each word stands in the text, in characters. heads: the number of the word that
    governs each word; a root governs itself.
    """

    text: str
    words: tuple[str, ...]
    places: tuple[tuple[int, int], ...]
    heads: tuple[int, ...]
    relations: tuple[str, ...]
    tags: tuple[str, ...]


class Parser(Protocol):
    """Parses texts, in their order; a text of several sentences has several roots.

    version: changes whenever the parses may; what was parsed by another version is not used again.
    """

    @property
    def name(self) -> str: ...

    @property
    def version(self) -> str: ...

    def parse(self, texts: Iterable[str]) -> Iterator[Parse]: ...


@dataclass(frozen=True)
class SpacyParser:
    """A spaCy pipeline with a parser: one that is installed, a folder, or ours."""

    name: str
    pipeline: Any

    @property
    def version(self) -> str:
        """Name and version of the pipeline and of spaCy."""
        about = self.pipeline.meta
        return f"{self.name} {about['name']} {about['version']} {about['spacy_version']}"

    def parse(self, texts: Iterable[str]) -> Iterator[Parse]:
        """The parses of texts, in batches."""
        for document in self.pipeline.pipe(texts, batch_size=64):
            yield parse_of(document)


def parse_of(document: Any) -> Parse:
    """What spaCy found, without tokens that are blank."""
    words = [token for token in document if not token.is_space]
    number = {token.i: k for k, token in enumerate(words)}
    return Parse(
        text=document.text,
        words=tuple(token.text for token in words),
        places=tuple((token.idx, token.idx + len(token.text)) for token in words),
        heads=tuple(number.get(token.head.i, k) for k, token in enumerate(words)),
        relations=tuple(token.dep_ for token in words),
        tags=tuple(token.tag_ for token in words),
    )


def load_parser(name: str = OWN) -> SpacyParser:
    """A spaCy pipeline by name or folder; ours by default."""
    try:
        spacy = import_module("spacy")
    except ImportError as error:
        raise MissingExtra(
            "dependency parses need spaCy, which is not installed. Run: pip install 'headlight[heads]', "
            "or give parses of your own in a CoNLL-U file."
        ) from error
    try:
        pipeline = spacy.load(PIPELINE if name == OWN else name)
    except OSError as error:
        raise InvalidInput(
            f"there is no spaCy pipeline '{name}' here: neither a package nor a folder. Use "
            f"'{OWN}', which comes with headlight, or install that one."
        ) from error
    if not pipeline.has_pipe("parser"):
        raise InvalidInput(
            f"the spaCy pipeline '{name}' has no parser, only {', '.join(pipeline.pipe_names)}."
        )
    return SpacyParser(name, pipeline)


def read_conllu(path: Path) -> Iterator[Parse]:
    """The parses of a CoNLL-U file, a sentence each.

    Words inside a contraction (2-3 do n't) follow each other without a space; empty nodes are left out.
    """
    try:
        text = path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise InvalidInput(f"the parses in '{path}' cannot be read: {error}.") from error
    for block in text.replace("\r\n", "\n").split("\n\n"):
        lines = [line.split("\t") for line in block.splitlines() if line and line[0] != "#"]
        if lines:
            yield sentence(lines, path)


def sentence(lines: list[list[str]], path: Path) -> Parse:
    """One sentence from its lines."""
    glued, words, places, spot = contracted(lines), [], [], 0
    rows = [line for line in lines if line[0].isdigit()]
    for line in rows:
        if len(line) != 10 or not line[6].isdigit() or int(line[6]) > len(rows):
            raise InvalidInput(
                f"'{path}' is not a CoNLL-U file with parses: the line '{' '.join(line)}' does not "
                "have ten columns with the number of a word in the seventh."
            )
        words.append(line[1])
        places.append((spot, spot + len(line[1])))
        has_space = "SpaceAfter=No" not in line[9] and int(line[0]) not in glued
        spot += len(line[1]) + has_space
    text = list(" " * max(0, spot))
    for word, (start, end) in zip(words, places, strict=True):
        text[start:end] = word
    return Parse(
        text="".join(text).rstrip(),
        words=tuple(words),
        places=tuple(places),
        heads=tuple(int(line[6]) - 1 if line[6] != "0" else k for k, line in enumerate(rows)),
        relations=tuple(line[7] for line in rows),
        tags=tuple(line[4] for line in rows),
    )


def contracted(lines: list[list[str]]) -> set[int]:
    """Numbers of the words that no space follows because a contraction goes on or says so."""
    found: set[int] = set()
    for line in lines:
        if "-" in line[0]:
            first, last = map(int, line[0].split("-"))
            found |= set(range(first, last + int("SpaceAfter=No" in line[-1])))
    return found
