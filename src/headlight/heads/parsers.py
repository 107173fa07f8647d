"""Dependency parses by spaCy pipelines, one of them ours; gold parses are read by `files.conllu`."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from importlib import import_module
from typing import Any, Protocol

from headlight.errors import InvalidInput, MissingExtra
from headlight.files.conllu import Parse
from headlight.loading.shipped import shipped

OWN = "headlight"
"""The name of the pipeline that comes with the package headlight-models."""


class Parser(Protocol):
    """Parses texts, in their order; a text of several sentences has several roots.

    version: must change whenever parses may change; cached parses of another version are not used.
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
    """The parse in a spaCy document, without blank tokens."""
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
            "or give your own parses in a CoNLL-U file."
        ) from error
    try:
        pipeline = spacy.load(shipped("pipeline") if name == OWN else name)
    except OSError as error:
        raise InvalidInput(
            f"there is no spaCy pipeline '{name}' here: neither a package nor a folder. Use "
            f"'{OWN}', which comes with headlight-models, or install that one."
        ) from error
    if not pipeline.has_pipe("parser"):
        raise InvalidInput(
            f"the spaCy pipeline '{name}' has no parser, only {', '.join(pipeline.pipe_names)}."
        )
    return SpacyParser(name, pipeline)
