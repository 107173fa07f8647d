"""The right form of a verb rather than the other: from several kinds of files, with the word that decides."""

import json
from pathlib import Path
from typing import Any

import pytest

from headlight import Example, InvalidInput
from headlight.data import read_examples


def written(path: Path, rows: list[dict[str, Any]]) -> str:
    """Rows as a file, tab-separated or one JSON object per line."""
    if path.suffix == ".tsv":
        lines = ["\t".join(rows[0]), *("\t".join(row.values()) for row in rows)]
    else:
        lines = [json.dumps(row) for row in rows]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return f"agreement_choice={path}"


def marked(example: Example) -> str | None:
    """The word that decides."""
    if example.marks is None:
        return None
    ((_, start, end),) = example.marks
    return str(example.text)[start:end]


def test_our_sentences_have_a_subject_before_is_or_are() -> None:
    examples, labels = read_examples("samples/agreement_choice")
    assert len(examples) == 70
    assert labels == ()
    for example in examples:
        assert sorted((*example.answers, str(example.rather_than))) == ["are", "is"]
        assert marked(example) is not None
    bees = examples[0]
    assert bees.text == "The bees near the hive under the oak"
    assert (bees.answers, bees.rather_than, marked(bees)) == (("are",), "is", "bees")


PAIRS = [
    ("the author near the guard laughs", "the author near the guard laugh"),
    ("the authors near the guard laugh", "the authors near the guard laughs"),
    ("the author near the guards laughs", "the author near the guards laugh"),
    ("the pilot near the guard smiles", "the pilot near the guard smile"),
]


@pytest.mark.parametrize("suffix", ["tsv", "jsonl"])
def test_a_word_decides_if_another_row_shows_it(tmp_path: Path, suffix: str) -> None:
    names = {
        "tsv": ("grammatical", "ungrammatical"),
        "jsonl": ("sentence_good", "sentence_bad"),
    }[suffix]
    rows = [dict(zip(names, pair, strict=True)) for pair in PAIRS]
    examples, _ = read_examples(written(tmp_path / f"pairs.{suffix}", rows))
    assert [each.text for each in examples[:2]] == [
        "the author near the guard",
        "the authors near the guard",
    ]
    assert [(each.answers[0], each.rather_than) for each in examples[1:3]] == [
        ("laugh", "laughs"),
        ("laughs", "laugh"),
    ]
    # The third differs from the first in another word, but has the same verb; the fourth stands alone.
    assert [marked(each) for each in examples] == ["author", "authors", None, None]


def test_stops_are_no_part_of_a_verb(tmp_path: Path) -> None:
    row = {"sentence_good": "Boys suffer.", "sentence_bad": "Boys suffers."}
    ((example,), _) = read_examples(written(tmp_path / "a.jsonl", [row]))
    assert (example.text, example.answers, example.rather_than) == ("Boys", ("suffer",), "suffers")


def test_verbs_can_be_given(tmp_path: Path) -> None:
    row = {"text": "Now, the dog, [MASK] here", "right": "was", "wrong": "were", "subject": "dog"}
    ((example,), _) = read_examples(written(tmp_path / "a.jsonl", [row]))
    assert (example.answers, example.rather_than) == (("was",), "were")
    assert marked(example) == "dog,"


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ({"sentence_good": "Boys run.", "sentence_bad": "Boys run."}, "do not differ in a word"),
        ({"sentence_good": "Boys run.", "sentence_bad": "Boy run."}, "do not differ in a word"),
        (
            {"sentence_good": "The boys run", "sentence_bad": "The boy run"}
            | {"two_prefix_prefix_good": "The boys"},
            "differ in their subject, not in their verb",
        ),
        ({"text": "The dog is here", "label": "singular"}, r"has no \[MASK\] after other words"),
        ({"text": "[MASK] he here?", "label": "singular"}, r"has no \[MASK\] after other words"),
        ({"text": "The dog [MASK] here", "label": "3"}, "neither 'singular' nor 'plural'"),
        (
            {"text": "The dog by the dog [MASK]", "label": "singular", "subject": "dog"},
            "the subject 'dog' is not once before the verb",
        ),
    ],
)
def test_rows_without_a_choice_are_refused_with_their_line(
    tmp_path: Path, row: dict[str, str], message: str
) -> None:
    with pytest.raises(InvalidInput, match=f"line 1 of .*{message}"):
        read_examples(written(tmp_path / "bad.jsonl", [row]))
