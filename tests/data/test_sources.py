"""Records in the forms they are kept in: files, questions, trees, rationales, agreement, the hub."""

import json
import sys
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headlight import InvalidInput, MissingExtra
from headlight.data import Example, read_examples
from headlight.data.sources import (
    agreement_rows,
    answer_texts,
    hub_records,
    inference_example,
    marked,
    movie_rows,
    squad_rows,
    tree_rows,
)
from headlight.files import read_records, read_text
from headlight.text import is_blank
from tests.data import Row, few, write

ROWS: list[Row] = [{"text": "a good, short film", "label": "1"}, {"text": 'so "bad"', "label": "0"}]


# ------------------------------------------------------------------------------------ files


@pytest.mark.parametrize("kind", ["csv", "tsv", "jsonl", "ndjson", "parquet"])
def test_rows_come_by_column(tmp_path: Path, kind: str) -> None:
    assert read_records(str(write(tmp_path / f"a.{kind}", ROWS))) == ROWS


@pytest.mark.parametrize("name", ["a.csv", "a.tsv", "a.jsonl"])
def test_an_empty_file_has_no_rows(tmp_path: Path, name: str) -> None:
    assert read_records(str(write(tmp_path / name, ""))) == []


def test_a_byte_order_mark_is_no_part_of_the_first_column(tmp_path: Path) -> None:
    path = write(tmp_path / "a.csv", b"\xef\xbb\xbftext\na good film\n")
    assert read_text(path) == "text\na good film\n"
    assert read_records(str(path)) == [{"text": "a good film"}]


def test_upper_case_suffixes_are_read(tmp_path: Path) -> None:
    assert read_records(str(write(tmp_path / "a.CSV", ROWS))) == ROWS


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("a.xyz", b"", r"'.*a\.xyz' has no columns\. Use one of \.csv, \.tsv, \.jsonl"),
        ("a.xlsx", b"", r"'.*a\.xlsx' is an Excel file\. Save it as 'CSV UTF-8'"),
        ("a.csv", None, r"there is no file '.*a\.csv'"),
        ("a.parquet", None, r"there is no file '.*a\.parquet'"),
        ("a.csv", b"text\ncaf\xe9\n", "is not UTF-8 text: invalid .* at byte 8"),
        (
            "a.csv",
            b"text\n" + b"a" * 140_000,
            "line 2 of .* has a field of more than 131,072 characters",
        ),
        ("a.parquet", b"nonsense", "is not a Parquet file"),
        ("a.jsonl", b'{"text": "x"}\n{', "line 2 of .* is not JSON"),
        ("a.jsonl", b"3\n", "line 1 of .* is not a JSON object with named fields"),
    ],
)
def test_what_is_no_table_is_refused(
    tmp_path: Path, name: str, content: bytes | None, message: str
) -> None:
    if content is not None:
        write(tmp_path / name, content)
    with pytest.raises(InvalidInput, match=message):
        read_records(str(tmp_path / name))


@given(texts=st.lists(st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"))))
@few
def test_texts_come_back_from_csv_as_they_were(
    tmp_path_factory: pytest.TempPathFactory, texts: list[str]
) -> None:
    rows: list[Row] = [{"label": "positive", "words": text} for text in ["first", *texts]]
    path = write(tmp_path_factory.mktemp("round") / "a.csv", rows)
    examples, _ = read_examples(f"{path}:words,label")
    kept = ["first", *(text for text in texts if not is_blank(text))]
    assert examples == [Example(text, "positive") for text in kept]


# -------------------------------------------------------------------------------- questions


@pytest.mark.parametrize(
    ("answers", "expected"),
    [
        ({"text": ["Ann", "Ann Lee", "Ann"], "answer_start": [0, 0, 9]}, ("Ann", "Ann Lee")),
        ([{"text": "Ann", "answer_start": 0}, {"text": "Ann", "answer_start": 9}], ("Ann",)),
        (["Ann", "Lee"], ("Ann", "Lee")),
        ([1984], ("1984",)),
        ({"text": [], "answer_start": []}, ()),
        ({}, ()),
        ([], ()),
        (None, ()),
    ],
)
def test_answers_are_read_in_every_form_and_once_each(
    answers: object, expected: tuple[str, ...]
) -> None:
    assert answer_texts(answers) == expected


def test_nested_questions_are_taken_out_of_their_articles(tmp_path: Path) -> None:
    answers = [{"text": "Ann", "answer_start": 0}]
    questions = [{"id": str(n), "question": f"Who {n}?", "answers": answers} for n in range(3)]
    article = {
        "title": "Ann",
        "paragraphs": [
            {"context": "Ann did.", "qas": questions[:2]},
            {"context": "Ann was.", "qas": questions[2:]},
        ],
    }
    path = write(tmp_path / "a.json", json.dumps({"version": "1.1", "data": [article]}))
    titled = {"answers": answers, "title": "Ann"}
    assert list(squad_rows(path)) == [
        ("question 1", {"question": "Who 0?", "context": "Ann did.", **titled}),
        ("question 2", {"question": "Who 1?", "context": "Ann did.", **titled}),
        ("question 3", {"question": "Who 2?", "context": "Ann was.", **titled}),
    ]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"{", "is not JSON"),
        (b"[" * 100_000, "is nested too deeply"),
        (b"[1]", "is not in the form of SQuAD after question 0: TypeError"),
        (b"{}", "is not in the form of SQuAD after question 0: KeyError: 'data'"),
        (b'{"data": [{}]}', "is not in the form of SQuAD after question 0: KeyError: 'paragraphs'"),
        (
            b'{"data": [{"paragraphs": [{"qas": [{"question": "Who?"}]}]}]}',
            "is not in the form of SQuAD after question 0: KeyError: 'context'",
        ),
    ],
)
def test_json_in_another_form_than_squad_is_refused(
    tmp_path: Path, content: bytes, message: str
) -> None:
    path = write(tmp_path / "a.json", content)
    with pytest.raises(InvalidInput, match=rf"'.*a\.json' {message}"):
        list(squad_rows(path))


# -------------------------------------------------------------------------------- rationales


@pytest.mark.parametrize(
    ("tree", "text", "label", "marks"),
    [
        ("(3 (2 A) (3 (4 charming) (2 film)))", "A charming film", 1, [(2, 10)]),
        ("(1 (3 Bright) (1 (1 but) (0 dull)))", "Bright but dull", 0, [(7, 10), (11, 15)]),
        ("(4 (2 -LRB-) (4 (4 great) (2 -RRB-)))", "( great )", 1, [(2, 7)]),
        ("(0 (2 Never) (0 (2 ,) (2 ever)))", "Never , ever", 0, []),
        ("(4 Wow)", "Wow", 1, [(0, 3)]),
        ("(3 (2 8\u00a01\\/2) (4 great))", "8\u00a01/2 great", 1, [(6, 11)]),
    ],
)
def test_words_that_lean_to_the_label_of_their_tree_are_marked(
    tmp_path: Path, tree: str, text: str, label: int, marks: list[tuple[int, int]]
) -> None:
    path = write(tmp_path / "dev.txt", f"{tree}\n")
    expected = Example(text, label, marks=tuple((0, start, end) for start, end in marks))
    assert list(tree_rows(path)) == [("line 1", expected)]


def test_neutral_trees_have_no_label_and_blank_lines_are_passed_over(tmp_path: Path) -> None:
    path = write(tmp_path / "dev.txt", "(2 (2 A) (3 film))\n\n(3 (2 A) (3 treat))\n")
    assert [(place, each.text, each.label) for place, each in tree_rows(path)] == [
        ("line 1", "A film", None),
        ("line 3", "A treat", 1),
    ]


@pytest.mark.parametrize(
    "tree",
    [
        "(3 (2 A) (x good))",
        "(3 (2 A) (3 good)",
        "(3 (2 A) (3 good)))",
        "(3 (2 A)) (3 good)",
        "(3 (2 A) (3 )",
        "(7 (2 A) (3 good))",
        "(\u0663 (2 A) (3 good))",
        "(3 (2 A) good)",
        "3 good",
    ],
)
def test_damaged_trees_lose_no_word_in_silence(tmp_path: Path, tree: str) -> None:
    path = write(tmp_path / "dev.txt", f"(3 (2 A) (3 treat))\n{tree}\n")
    with pytest.raises(InvalidInput, match=r"line 2 of '.*dev\.txt' is not a tree of the form"):
        list(tree_rows(path))


def movie(name: str, label: str, *groups: list[tuple[int, int]]) -> Row:
    evidences = [
        [{"docid": name, "start_token": start, "end_token": end} for start, end in group]
        for group in groups
    ]
    return {"annotation_id": name, "classification": label, "evidences": evidences, "query": "?"}


def test_movie_evidence_is_marked_in_its_document(tmp_path: Path) -> None:
    write(tmp_path / "docs" / "pos.txt", "a bright , funny film .\nit never drags .\n")
    write(tmp_path / "docs" / "neg.txt", "so dull .")
    rows = [movie("pos.txt", "POS", [(6, 9)], [(1, 2), (3, 4)]), movie("neg.txt", "NEG")]
    path = write(tmp_path / "val.jsonl", rows)
    assert list(movie_rows(path)) == [
        (
            "line 1",
            Example(
                "a bright , funny film . it never drags .",
                "pos",
                marks=((0, 2, 8), (0, 11, 16), (0, 24, 38)),
            ),
        ),
        ("line 2", Example("so dull .", "neg", marks=())),
    ]


@pytest.mark.parametrize("span", [(-2, -1), (0, 10), (3, 2), (True, 2), ("0", "1"), (0.0, 1.0)])
def test_evidence_outside_its_review_is_refused(tmp_path: Path, span: tuple[int, int]) -> None:
    write(tmp_path / "docs" / "pos.txt", "a bright film")
    path = write(tmp_path / "val.jsonl", [movie("pos.txt", "POS", [span])])
    with pytest.raises(InvalidInput, match=r"line 1 of .*: the evidence from word .* of 3 words"):
        list(movie_rows(path))


@pytest.mark.parametrize("name", ["../secret.txt", "/etc/passwd", "", "."])
def test_reviews_are_read_from_their_folder_only(tmp_path: Path, name: str) -> None:
    write(tmp_path / "secret.txt", "not for you")
    write(tmp_path / "docs" / "pos.txt", "a bright film")
    path = write(tmp_path / "val.jsonl", [movie(name, "POS")])
    with pytest.raises(InvalidInput, match="is missing: ERASER keeps its reviews in docs/"):
        list(movie_rows(path))


def test_a_missing_review_is_named(tmp_path: Path) -> None:
    path = write(tmp_path / "val.jsonl", [movie("pos.txt", "POS")])
    with pytest.raises(
        InvalidInput, match=r"pos\.txt' is missing: ERASER keeps its reviews in docs/"
    ):
        list(movie_rows(path))


@pytest.mark.parametrize(
    ("premise", "hypothesis", "marks"),
    [
        ([[0, 2], [4, 5]], [[1, 3]], ((0, 0, 5), (0, 12, 18), (1, 2, 12))),
        ([], [[0, 1]], ((1, 0, 1),)),
        (None, [[2, 3]], ((1, 6, 12),)),
        ([[1, 1]], None, ()),
    ],
)
def test_evidence_of_both_sentences_is_marked(
    premise: list[list[int]] | None,
    hypothesis: list[list[int]] | None,
    marks: tuple[tuple[int, int, int], ...],
) -> None:
    record = {
        "doc_id": "1",
        "premise": ["A", "man", "is", "on", "stilts"],
        "hypothesis": ["A", "man", "sleeps"],
        "premise_evidence_span": premise,
        "hypothesis_evidence_span": hypothesis,
        "classification": "contradiction",
    }
    texts = ("A man is on stilts", "A man sleeps")
    assert inference_example(record) == Example(texts, "contradiction", marks=marks)


@pytest.mark.parametrize("span", [[-1, 1], [0, 4], [2, 1], [0, 1.5], [True, 2]])
def test_evidence_outside_its_sentence_is_refused(span: list[int]) -> None:
    record = {
        "premise": ["A", "man", "runs"],
        "hypothesis": ["A", "man"],
        "premise_evidence_span": [span],
        "hypothesis_evidence_span": [],
        "classification": "neutral",
    }
    with pytest.raises(InvalidInput, match="is not in its text of 3 words"):
        inference_example(record)


def test_long_evidence_is_read_in_linear_time() -> None:
    words = ["word"] * 200_000
    record = {
        "premise": words,
        "hypothesis": ["A"],
        "premise_evidence_span": [[199_999, 200_000]],
        "hypothesis_evidence_span": [],
        "classification": "neutral",
    }
    assert inference_example(record).marks == ((0, 999_995, 999_999),)


def test_phrases_are_marked_in_the_order_of_the_text() -> None:
    text = "a bright and funny film"
    assert marked(text, ["funny", "bright"]) == ((0, 2, 8), (0, 13, 18))
    assert marked(text, ["film"], 1) == ((1, 19, 23),)
    assert marked(text, []) == ()


@pytest.mark.parametrize("phrase", ["dull", "Bright", ""])
def test_phrases_that_do_not_stand_in_the_text_are_refused(phrase: str) -> None:
    with pytest.raises(
        InvalidInput, match=f"the marked phrase '{phrase}' is not in 'a bright film'"
    ):
        marked("a bright film", [phrase])


@given(data=st.data(), text=st.text(min_size=1), segment=st.integers(0, 1))
@few
def test_marked_spans_hold_their_phrases(data: st.DataObject, text: str, segment: int) -> None:
    cuts = st.integers(0, len(text) - 1).flatmap(
        lambda start: st.integers(start + 1, len(text)).map(lambda end: text[start:end])
    )
    phrases = data.draw(st.lists(cuts, max_size=5))
    found = marked(text, phrases, segment)
    assert sorted(text[start:end] for _, start, end in found) == sorted(phrases)
    assert list(found) == sorted(found)
    assert {place for place, _, _ in found} <= {segment}


# --------------------------------------------------------------------------------- agreement


@pytest.mark.parametrize(
    ("right", "wrong", "label"),
    [
        ("are", "is", "plural"),
        ("is", "are", "singular"),
        ("were", "was", "plural"),
        ("was", "were", "singular"),
        ("have", "has", "plural"),
        ("has", "have", "singular"),
        ("do", "does", "plural"),
        ("does", "do", "singular"),
        ("work", "works", "plural"),
        ("flies", "fly", "singular"),
    ],
)
def test_the_verb_is_masked_and_its_number_is_the_label(
    tmp_path: Path, right: str, wrong: str, label: str
) -> None:
    path = write(tmp_path / "a.text", f"the keys to the cabinet {right} here . <eos>\n")
    write(tmp_path / "a.gold", f"5\t{right}\t{wrong}\t1\n")
    expected = Example("the keys to the cabinet [MASK] here .", label)
    assert list(agreement_rows(path)) == [("line 1", expected)]


def test_missing_verbs_are_named(tmp_path: Path) -> None:
    path = write(tmp_path / "a.text", "the key is here . <eos>\n")
    message = r"a\.gold' is missing: it says where the verbs of 'a\.text' stand"
    with pytest.raises(InvalidInput, match=message):
        list(agreement_rows(path))


# --------------------------------------------------------------------------------------- hub


def failing(error: Exception) -> Callable[..., None]:
    def load_dataset(*names: object, **options: object) -> None:
        raise error

    return load_dataset


@pytest.mark.parametrize(
    "kind", [OSError, ConnectionError, FileNotFoundError, ValueError, RuntimeError]
)
def test_a_failing_hub_says_how_to_use_a_local_copy(
    monkeypatch: pytest.MonkeyPatch, kind: type[Exception]
) -> None:
    broken = SimpleNamespace(load_dataset=failing(kind("no way there.\nTraceback")))
    monkeypatch.setitem(sys.modules, "datasets", broken)
    message = (
        r"^the data set 'a/b' cannot be read from the hub: no way there\. .*--data NAME=FILE\.$"
    )
    with pytest.raises(InvalidInput, match=message):
        hub_records("a/b", None, "test", None)


def test_a_missing_package_names_its_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "datasets", None)
    message = r"reading 'a/b' from the hub needs the package 'datasets'.*'headlight\[data\]'"
    with pytest.raises(MissingExtra, match=message):
        hub_records("a/b", None, "test", None)
