"""Files of scores: JSON, JSON lines and Parquet, and what is wrong with a record."""

import json
from pathlib import Path
from typing import Any

import pyarrow
import pyarrow.parquet
import pytest

import headlight
from headlight import HeadlightError, Model
from headlight.foreign import read_attributions
from tests.foreign.test_inseq_files import numbers, saved

RECORDS: list[dict[str, Any]] = [
    {"text": "the film", "words": ["the", "film"], "scores": [1, 2.5], "target": "positive"},
    {"text": "a dull plot", "spans": [[2, 6]], "scores": [3], "target": 0, "method": "marks"},
    {"text": "a", "pair": "film", "scores": [1, 2], "signed": False},
    {"text": ["a", "film"], "tokens": ["a", "film"], "scores": [1, 2]},
]


COLUMNS = ("text", "pair", "tokens", "words", "spans", "scores", "target", "method", "signed")


def write(path: Path, content: Any) -> Path:
    if path.suffix == ".parquet":
        pyarrow.parquet.write_table(
            pyarrow.Table.from_pylist([dict.fromkeys(COLUMNS) | each for each in content]), path
        )
    elif path.suffix == ".jsonl":
        path.write_text("\n".join(map(json.dumps, content)) + "\n", encoding="utf-8")
    else:
        path.write_text(json.dumps(content), encoding="utf-8")
    return path


@pytest.mark.parametrize("suffix", [".json", ".jsonl", ".parquet"])
def test_records_become_attributions(classifier: Model, tmp_path: Path, suffix: str) -> None:
    records = RECORDS[:3] if suffix == ".parquet" else RECORDS
    if suffix == ".parquet":  # a column has one type
        records = [
            {**each, "target": "negative" if each.get("target") == 0 else each.get("target")}
            for each in records
        ]
    found = read_attributions(classifier, write(tmp_path / f"shap{suffix}", records))
    assert [each.method for each in found] == ["shap", "marks", "shap", "shap"][: len(records)]
    assert [each.texts for each in found][:3] == [("the film",), ("a dull plot",), ("a", "film")]
    assert found[0].as_tuples() == [("[CLS]", 0), ("the", 1), ("film", 2.5), ("[SEP]", 0)]
    assert (found[0].target.label, found[1].target.label) == ("positive", "negative")
    assert [each.signed for each in found][:3] == [True, True, False]
    if suffix != ".parquet":
        assert found[3].scores.tolist() == found[2].scores.tolist()


def test_one_object_our_own_attributions_and_inseqs_files_are_read(
    classifier: Model, writer: Model, tmp_path: Path
) -> None:
    assert len(read_attributions(classifier, write(tmp_path / "one.json", RECORDS[0]))) == 1
    own = headlight.explain(classifier, "the film", "attcat")
    assert read_attributions(classifier, write(tmp_path / "own.jsonl", [own.to_dict()])) == [own]
    theirs = write(tmp_path / "inseq.json", saved(writer, numbers))
    assert len(read_attributions(writer, theirs)) == 2


@pytest.mark.parametrize(
    ("record", "sentence"),
    [
        ({"text": "the film"}, "a record of scores needs the fields text, scores; this lacks ['scores']."),
        ({"text": 3, "scores": [1]}, "the field 'text' of a record of scores must hold a text or a pair"),
        (
            {"text": "the film", "scores": [1, 2], "token": ["the", "film"]},
            "the field 'token' is not known. A record has text, scores, pair, tokens, words, spans, target, "
            "method, signed.",
        ),
        (
            {"text": ["a", "b"], "pair": "b", "scores": [1, 2]},
            "the second text is given twice, in 'text' and in 'pair'. Give it once.",
        ),
        ({"text": "the film", "words": ["the"], "scores": [1]}, "the words end before 'film' at character 4"),
    ],
)  # fmt: skip
def test_a_wrong_record_is_refused_with_its_place(
    classifier: Model, tmp_path: Path, record: dict[str, Any], sentence: str
) -> None:
    path = write(tmp_path / "wrong.jsonl", [RECORDS[0], record])
    with pytest.raises(HeadlightError) as raised:
        read_attributions(classifier, path)
    assert str(raised.value).startswith(f"line 2 of '{path}': {sentence}")


def test_other_files_are_refused(classifier: Model, tmp_path: Path) -> None:
    with pytest.raises(
        HeadlightError, match=r"'scores.txt' is not a file of scores. Use one of .json"
    ):
        read_attributions(classifier, "scores.txt")
    with pytest.raises(HeadlightError, match="holds no scores: it is empty"):
        read_attributions(classifier, write(tmp_path / "empty.json", []))
