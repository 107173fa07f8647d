"""Training data: local files in one folder, or the hub's data sets by name. Nothing is kept here."""

import gzip
import json
import random
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any, Protocol

import agreement
from examples import Example


@dataclass(frozen=True)
class Source:
    """A data set: its folder below --data (SPLIT.jsonl or sample.jsonl), its hub name, its columns.

    `names` maps label words to classes; rows with other labels are skipped.
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
        return from_hub(*self.hub, split)


def from_hub(name: str, configuration: str | None, split: str) -> Iterable[dict[str, Any]]:
    """Rows of a data set on the hub."""
    load_dataset = import_module("datasets").load_dataset
    rows: Iterable[dict[str, Any]] = load_dataset(
        name, configuration, split={"dev": "validation"}.get(split, split)
    )
    return rows


class Reader(Protocol):
    """Anything that gives the examples of a split."""

    def read(self, split: str, folder: Path | None) -> Iterator[Example]: ...


INFERENCE = ("entailment", "neutral", "contradiction")
SOURCES: dict[str, Reader] = {
    "sst2": Source("sst2", ("nyu-mll/glue", "sst2"), ("text",)),
    "imdb": Source("imdb", ("stanfordnlp/imdb", None), ("text",)),
    "ag_news": Source("ag_news", ("fancyzhx/ag_news", None), ("text",)),
    "snli": Source("snli", ("stanfordnlp/snli", None), ("premise", "hypothesis"), INFERENCE),
    "mnli": Source("mnli", ("nyu-mll/multi_nli", None), ("premise", "hypothesis"), INFERENCE),
    "qqp": Source("qqp", ("nyu-mll/glue", "qqp"), ("question1", "question2")),
    "agreement": agreement.Sentences(),
    "agreement_text": agreement.Text(),
    "agreement_parsed": agreement.Parsed(),
}


def key(example: Example) -> str:
    """An example without case and punctuation, to find repeats."""
    return re.sub(r"\W+", "", f"{example.text} {example.pair or ''}".lower())


def without_repeats(examples: Iterable[Example], held_out: Iterable[Example]) -> list[Example]:
    """Examples without repeats, contradictory labels, and held-out texts."""
    banned = {key(example) for example in held_out}
    found: dict[str, set[int]] = {}
    first: dict[str, Example] = {}
    for example in examples:
        found.setdefault(key(example), set()).add(example.label)
        first.setdefault(key(example), example)
    return [first[k] for k, labels in found.items() if len(labels) == 1 and k not in banned]


def read_unlabelled(source: tuple[str, str], folder: Path | None, count: int) -> list[Example]:
    """Sentences of six to forty words of a source, in a fixed random order."""
    name, split = source
    found = set()
    for example in SOURCES[name].read(split, folder):
        text = re.sub(r"<br */?>|\s+", " ", example.text)
        found |= {s.strip() for s in re.split(r"(?<=[.!?]) +", text) if 6 <= len(s.split()) <= 40}
    chosen = sorted(found)
    random.Random(0).shuffle(chosen)
    return [Example(sentence, None, -1) for sentence in chosen[:count]]


@dataclass(frozen=True)
class Question:
    """A question, the text that answers it, and the answers with their places."""

    question: str
    context: str
    answers: tuple[tuple[str, int], ...]


def read_questions(name: str, split: str, folder: Path | None) -> list[Question]:
    """SQuAD questions: nested JSON, one record per line, or from the hub."""
    paths = sorted((folder / name).glob(f"v1_{split}*.json*")) if folder else []
    records: Iterable[dict[str, Any]]
    if not paths:
        records = [
            {
                **record,
                "answers": [
                    dict(zip(answers, pair, strict=True))
                    for pair in zip(*answers.values(), strict=True)
                ],
            }
            for record in from_hub(f"rajpurkar/{name}", None, split)
            for answers in [record["answers"]]
        ]
    elif paths[0].suffix == ".jsonl":
        records = map(json.loads, paths[0].read_text(encoding="utf-8").splitlines())
    else:
        records = [
            {**asked, "context": paragraph["context"]}
            for article in json.loads(paths[0].read_text(encoding="utf-8"))["data"]
            for paragraph in article["paragraphs"]
            for asked in paragraph["qas"]
        ]
    return [
        Question(
            record["question"].strip(),
            record["context"],
            tuple((answer["text"], answer["answer_start"]) for answer in record["answers"]),
        )
        for record in records
    ]


def read_paragraphs(name: str, split: str, folder: Path | None) -> list[str]:
    """Paragraphs of WikiText-2 without headings and without marks of the tokenizer."""
    path = folder / f"{name}2" / f"{split}.raw.gz" if folder else None
    if path and path.exists():
        lines = gzip.decompress(path.read_bytes()).decode("utf-8").splitlines()
    else:
        lines = [r["text"] for r in from_hub(f"Salesforce/{name}", f"{name}-2-raw-v1", split)]
    marks = re.compile(r" @(\W)@ ")
    return [marks.sub(r"\1", line.strip()) for line in lines if line.strip() and line[:2] != " ="]
