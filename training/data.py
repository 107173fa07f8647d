"""Training data: local files in one folder, or the hub's data sets by name. Nothing is kept here."""

import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any


@dataclass(frozen=True)
class Example:
    """One labelled text or pair."""

    text: str
    pair: str | None
    label: int


@dataclass(frozen=True)
class Source:
    """A data set: its folder below --data (SPLIT.jsonl or sample.jsonl), its hub name, its columns.

    `names` translates label words; a label outside it is passed over.
    """

    folder: str
    hub: tuple[str, str | None]
    columns: tuple[str, ...]
    names: tuple[str, ...] = ()

    def read(self, split: str, folder: Path | None) -> Iterator[Example]:
        """The examples of a split, from local files if there are any, else from the hub."""
        for record in self.records(split, folder):
            texts = [str(record[column]).strip() for column in self.columns]
            label = record["label"]
            if isinstance(label, str) and not label.isdigit():
                if label not in self.names:
                    continue
                label = self.names.index(label)
            if int(label) >= 0 and all(texts):
                yield Example(texts[0], texts[1] if len(texts) > 1 else None, int(label))

    def records(self, split: str, folder: Path | None) -> Iterable[dict[str, Any]]:
        """Rows as they are stored."""
        for path in (
            (folder / self.folder / f for f in (f"{split}.jsonl", "sample.jsonl")) if folder else ()
        ):
            if path.exists():
                with path.open(encoding="utf-8") as file:
                    return [json.loads(line) for line in file]
        load_dataset = import_module("datasets").load_dataset
        name, configuration = self.hub
        return load_dataset(name, configuration, split={"dev": "validation"}.get(split, split))


INFERENCE = ("entailment", "neutral", "contradiction")
SOURCES = {
    "sst2": Source("sst2", ("nyu-mll/glue", "sst2"), ("text",)),
    "ag_news": Source("ag_news", ("fancyzhx/ag_news", None), ("text",)),
    "snli": Source("snli", ("stanfordnlp/snli", None), ("premise", "hypothesis"), INFERENCE),
    "mnli": Source("mnli", ("nyu-mll/multi_nli", None), ("premise", "hypothesis"), INFERENCE),
    "qqp": Source("qqp", ("nyu-mll/glue", "qqp"), ("question1", "question2")),
}


def key(example: Example) -> str:
    """An example without case and punctuation, to find repeats."""
    return re.sub(r"\W+", "", f"{example.text} {example.pair or ''}".lower())


def without_repeats(examples: Iterable[Example], held_out: Iterable[Example]) -> list[Example]:
    """Examples that stand once, are labelled one way, and are not among those held out."""
    banned = {key(example) for example in held_out}
    found: dict[str, set[int]] = {}
    first: dict[str, Example] = {}
    for example in examples:
        found.setdefault(key(example), set()).add(example.label)
        first.setdefault(key(example), example)
    return [first[k] for k, labels in found.items() if len(labels) == 1 and k not in banned]
