"""Data that is nearly right: read as it was meant, or refused in a sentence."""

from pathlib import Path

import pytest

from headlight import InvalidInput
from headlight.data import Example, gold_class, read_examples
from headlight.files import read_records
from tests.data import write

LABELS = {0: "LABEL_0", 1: "LABEL_1"}


@pytest.mark.parametrize(
    ("name", "content", "expected"),
    [
        (
            "squad={}/a.csv",
            "question,context,answers\nwho,Ann did,Ann\n",
            Example(("who", "Ann did"), answers=("Ann",)),
        ),
        (
            "{}/a.jsonl",
            '{"question": "who", "context": "Ann", "answers": ["Ann"]}',
            Example(("who", "Ann"), answers=("Ann",)),
        ),
        ("sst2={}/a.jsonl", '{"text": "a\u2028b\x85c", "label": 1}', Example("a\u2028b\x85c", 1)),
        ("sst2={}/a.tsv", 'text\tlabel\n"Good" film\t1\n', Example('"Good" film', "1")),
        ("snli={}/a.csv", "premise,hypothesis,label\na,b,-1\nc,d,0\n", Example(("c", "d"), "0")),
        (
            "snli={}/a.csv",
            "premise,hypothesis,gold_label\nc,d,neutral\n",
            Example(("c", "d"), "neutral"),
        ),
        (
            "sst_trees={}/a.txt",
            "\ufeff(4 (2 and\\/or) (3 fine))",
            Example("and/or fine", 1, marks=((0, 7, 11),)),
        ),
    ],
)
def test_data_is_read_as_it_was_meant(
    name: str, content: str, expected: Example, tmp_path: Path
) -> None:
    source = name.format(tmp_path)
    write(Path(source.partition("=")[2] or source), content)
    assert read_examples(source)[0] == [expected]


@pytest.mark.parametrize(
    ("label", "names", "labels", "expected"),
    [
        ("LABEL_1", (), LABELS, 1),
        (1.0, ("negative", "positive"), LABELS, 1),
        ("2", (), {0: "1", 1: "2"}, 1),
    ],
)
def test_labels_are_found(
    label: object, names: tuple[str, ...], labels: dict[int, str], expected: int
) -> None:
    assert gold_class(label, names, labels, "x") == expected  # type: ignore[arg-type]


@pytest.mark.parametrize("label", ["contradiction", "²", "--1", 1.5, ["a"], 2])
def test_labels_that_the_model_has_not_are_refused(label: object) -> None:
    with pytest.raises(InvalidInput, match="is not known"):
        gold_class(label, ("entailment", "neutral", "contradiction"), LABELS, "x")  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("squad={}/a.jsonl", '{"question": "a", "context": "b", "answers": 3}'),
        ("sst2={}/a.jsonl", '{"text": "a", "label": 1, "marks": [null]}'),
        ("eraser_movies={}/a.jsonl", '{"annotation_id": "x"}'),
        ("esnli={}/a.jsonl", '{"premise": ["a"], "hypothesis": ["b"]}'),
        ("esnli={}/a.jsonl", '{"premise": "a", "hypothesis": "b"}'),
        ("sst_trees={}/a.txt", "(x (2 a))"),
        ("sst_trees={}/a.txt", "("),
        ("{}/a.csv", "label\n1\n"),
        ("{}/a.csv", 'text,label\n"never closed,1\n'),
        ("{}/" + "long" * 100, ""),
    ],
)
def test_what_cannot_be_read_is_refused_in_a_sentence(
    name: str, content: str, tmp_path: Path
) -> None:
    source = name.format(tmp_path)
    if "long" not in name:
        write(Path(source.partition("=")[2] or source), content)
    with pytest.raises(InvalidInput):
        read_examples(source)


@pytest.mark.parametrize(
    ("gold", "message"),
    [
        ("two\tis\tare", "line 1 of .* does not have the expected form: ValueError"),
        ("2", "line 1 of .* does not have the expected form: ValueError"),
        ("9\tis\tare", "line 1 of .*: the verb 'is' is not word 9 of its sentence"),
        ("-2\tis\tare", "line 1 of .*: the verb 'is' is not word -2 of its sentence"),
        ("1\tis\tare", "line 1 of .*: the verb 'is' is not word 1 of its sentence"),
        ("2\tis\tare\n2\tis\tare", "line 2 of .* do not have the same number of lines"),
    ],
)
def test_wrong_places_of_verbs_are_refused(gold: str, message: str, tmp_path: Path) -> None:
    write(tmp_path / "a.text", "the key is here")
    write(tmp_path / "a.gold", gold)
    with pytest.raises(InvalidInput, match=message):
        read_examples(f"agreement={tmp_path}/a.text")


def test_line_ends_inside_quotes_stay(tmp_path: Path) -> None:
    path = write(tmp_path / "a.csv", b'text\r\n"a\r\nb"\r\n')
    assert read_records(str(path)) == [{"text": "a\r\nb"}]
