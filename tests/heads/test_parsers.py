"""Parses by spaCy pipelines, and by the one that comes with us."""

import importlib
from pathlib import Path

import pytest
import spacy

from headlight import InvalidInput, MissingExtra
from headlight.heads import load_parser, parsers
from headlight.loading.shipped import shipped


def test_our_parser_finds_the_core_relations() -> None:
    (parse,) = load_parser().parse(["The young doctor quickly sold an old clock."])
    found = {
        word: (parse.relations[k], parse.words[parse.heads[k]])
        for k, word in enumerate(parse.words)
    }
    assert found["doctor"] == ("nsubj", "sold")
    assert found["clock"] == ("obj", "sold")
    assert found["old"] == ("amod", "clock")
    assert found["quickly"] == ("advmod", "sold")


def test_our_parser_is_small_and_says_how_good_it_is() -> None:
    pipeline = shipped("pipeline")
    files = [path for path in pipeline.rglob("*") if path.is_file()]
    assert sum(path.stat().st_size for path in files) < 8_000_000
    performance = spacy.load(pipeline).meta["performance"]
    assert performance["dep_las"] > 0.78


def test_blank_tokens_are_left_out() -> None:
    (parse,) = load_parser().parse(["one  two\n three"])
    assert parse.words == ("one", "two", "three")
    assert all(0 <= head < 3 for head in parse.heads)


def test_missing_pipelines_and_packages_say_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(InvalidInput, match="no spaCy pipeline 'nothing_here'"):
        load_parser("nothing_here")

    def missing(name: str) -> object:
        raise ImportError(name)

    monkeypatch.setattr(parsers, "import_module", missing)
    with pytest.raises(MissingExtra, match=r"headlight\[heads\]"):
        load_parser()
    assert importlib.import_module("spacy")


def test_a_pipeline_without_a_parser_is_refused(tmp_path: Path) -> None:
    spacy.blank("en").to_disk(tmp_path / "blank")
    with pytest.raises(InvalidInput, match="has no parser"):
        load_parser(str(tmp_path / "blank"))
