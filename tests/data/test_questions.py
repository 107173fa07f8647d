"""Questions with sources: one passage holds the answer, and the others come from other articles."""

import json
import random
from pathlib import Path
from typing import Any

import pytest

from headlight import InvalidInput
from headlight.data import read_examples
from headlight.data.questions import answer_place, around, passages_of, sourced

FILLING = "It is the oldest of its kind in the whole valley and far beyond."


def article(number: int) -> dict[str, Any]:
    """An article with one question."""
    context = f"House {number} stands alone. The owner is called Person{number} Grey. {FILLING}"
    answer = f"Person{number} Grey"
    asked = {
        "question": f"Who owns house {number}?",
        "answers": [{"text": answer, "answer_start": context.index(answer)}],
    }
    return {"title": f"House {number}", "paragraphs": [{"context": context, "qas": [asked]}]}


def write(path: Path, articles: list[dict[str, Any]]) -> str:
    path.write_text(json.dumps({"data": articles}), encoding="utf-8")
    return f"squad_sources={path}"


def test_one_of_five_sources_holds_the_answer(tmp_path: Path) -> None:
    source = write(tmp_path / "own.json", [article(number) for number in range(12)])
    examples, labels = read_examples(source)
    assert len(examples) == 12
    assert labels == ()
    for example in examples:
        assert len(example.sources) == len(set(example.sources)) == 5
        assert example.right_source is not None
        assert example.answers[0] in example.sources[example.right_source]
    assert len({example.right_source for example in examples}) > 1
    assert read_examples(source)[0] == examples


def test_rows_of_the_same_columns_are_read_alike(tmp_path: Path) -> None:
    rows = []
    for number in range(6):
        (paragraph,) = article(number)["paragraphs"]
        (asked,) = paragraph["qas"]
        rows.append({"context": paragraph["context"], "title": f"House {number}", **asked})
    path = tmp_path / "rows.jsonl"
    path.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    nested = read_examples(write(tmp_path / "own.json", [article(number) for number in range(6)]))
    assert read_examples(f"squad_sources={path}")[0] == nested[0]


def test_our_own_questions_have_sources() -> None:
    examples, _ = read_examples("samples/sources")
    assert len(examples) > 20
    assert all(example.right_source is not None for example in examples)


def test_too_few_articles_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="needs passages of 5 articles, and this data has fewer"):
        read_examples(write(tmp_path / "own.json", [article(number) for number in range(4)]))


def test_a_passage_is_the_sentences_around_a_place() -> None:
    context = f"First one here. {FILLING} Last of all."
    assert around(context, context.index("oldest")) == context
    assert around(f"{FILLING} {context}", 0) == f"{FILLING} First one here."
    assert around("Too short.", 0) is None
    assert around(" ".join(["word"] * 60) + ".", 0) is None
    assert around(context, len(context)) is None


def test_a_passage_that_says_the_answer_too_is_not_drawn() -> None:
    records = [
        {**article(n)["paragraphs"][0]["qas"][0], **article(n)["paragraphs"][0], "title": str(n)}
        for n in range(6)
    ]
    twin = {**records[0], "title": "twin"}
    passages = passages_of([*records, twin])
    assert len(passages) == 7
    found = sourced(records[0], passages, random.Random(0))
    assert found is not None
    assert sum("person0 grey" in text.lower() for text in found.sources) == 1


def test_questions_without_a_usable_answer_are_left_out() -> None:
    record = {"question": "Who?", "context": f"Ann. {FILLING}", "answers": []}
    passages = passages_of([record])
    assert sourced(record, passages, random.Random(0)) is None
    elsewhere = {**record, "answers": [{"text": "Bob", "answer_start": 0}]}
    assert sourced(elsewhere, passages, random.Random(0)) is None


def test_an_answer_is_where_the_data_say_or_where_it_is_found() -> None:
    text = "Ann saw Ann."
    assert answer_place([{"text": "Ann", "answer_start": 8}], text, "Ann") == 8
    assert answer_place({"text": ["Ann"], "answer_start": [8]}, text, "Ann") == 8
    assert answer_place([{"text": "Ann", "answer_start": 3}], text, "Ann") == 0
    assert answer_place(["Ann"], text, "Ann") == 0
    assert answer_place(["Bob"], text, "Bob") == -1
