"""A small model in a folder and examples for it."""

from pathlib import Path

import pytest

import headlight
from headlight import Example
from tests.conftest import WORDS
from tests.known import known

LABELS = ("negative", "neutral", "positive")


@pytest.fixture(scope="session")
def folder_model(classifier: headlight.Model, tmp_path_factory: pytest.TempPathFactory) -> str:
    """The tiny classifier where any process can load it."""
    path = tmp_path_factory.mktemp("models") / "tiny"
    classifier.network.save_pretrained(path)
    known(classifier.tokenizer).save_pretrained(path)
    return str(path)


@pytest.fixture(scope="session")
def examples() -> list[Example]:
    """Texts of different lengths, labelled and marked."""
    found = []
    for number in range(11):
        words = [WORDS[(number * 7 + k * 5) % len(WORDS)] for k in range(4 + number % 5)]
        text = " ".join(words)
        found.append(Example(text, LABELS[number % 3], marks=((0, 0, len(words[0])),)))
    return found


@pytest.fixture(scope="session")
def table_file(examples: list[Example], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The same texts and labels in a file."""
    path = tmp_path_factory.mktemp("tables") / "texts.tsv"
    rows = [f"{example.text}\t{example.label}" for example in examples]
    path.write_text("\n".join(["text\tlabel", *rows]) + "\n", encoding="utf-8")
    return path
