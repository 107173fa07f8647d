"""Every data set from a local copy and from the hub; any file by its columns; drawing a part."""

import json
import sys
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace

import pytest

from headlight import InvalidInput, MissingExtra
from headlight.data import DATASETS, Example, describe_source, gold_class, read_examples
from tests.data import Row, write


@dataclass(frozen=True)
class Case:
    """Rows as the hub has them, and what they are read as."""

    labels: tuple[str, ...]
    rows: list[Row]
    examples: list[Example]


SENTIMENT = ("negative", "positive")
INFERENCE = ("entailment", "neutral", "contradiction")
ANSWERED: Row = {
    "id": "1",
    "title": "Ann",
    "context": "Ann Lee wrote it.",
    "question": "Who wrote it?",
    "answers": {"text": ["Ann Lee", "Ann", "Ann Lee"], "answer_start": [0, 0, 0]},
}
UNANSWERABLE: Row = {**ANSWERED, "id": "2", "answers": {"text": [], "answer_start": []}}
ANSWER = Example(("Who wrote it?", "Ann Lee wrote it."), answers=("Ann Lee", "Ann"))
EVIDENCE: Row = {
    "doc_id": "1",
    "hypothesis": ["A", "man", "sleeps"],
    "premise": ["A", "man", "runs"],
    "hypothesis_evidence_span": [[2, 3]],
    "premise_evidence_span": [[1, 3]],
    "classification": "contradiction",
}

CASES = {
    "sst2": Case(
        SENTIMENT,
        [
            {"idx": 0, "sentence": "a charming journey ", "label": 1},
            {"idx": 1, "sentence": "so dull ", "label": 0},
            {"idx": 2, "sentence": "hidden ", "label": -1},
        ],
        [Example("a charming journey ", 1), Example("so dull ", 0)],
    ),
    "imdb": Case(
        SENTIMENT,
        [{"text": 'So dull.<br /><br />Avoid, "really".', "label": 0}],
        [Example('So dull.<br /><br />Avoid, "really".', 0)],
    ),
    "yelp_polarity": Case(
        SENTIMENT,
        [{"text": "Great food\\nand staff", "label": 1}],
        [Example("Great food\\nand staff", 1)],
    ),
    "amazon_polarity": Case(
        SENTIMENT,
        [{"label": 1, "title": "Great CD", "content": "My lovely Pat has it."}],
        [Example("My lovely Pat has it.", 1)],
    ),
    "ag_news": Case(
        ("World", "Sports", "Business", "Sci/Tech"),
        [{"text": "Fears for T N pension after talks", "label": 2}, {"text": "A chip", "label": 3}],
        [Example("Fears for T N pension after talks", 2), Example("A chip", 3)],
    ),
    "qqp": Case(
        ("different", "duplicate"),
        [{"question1": "Why is it?", "question2": "Why, then?", "label": 1, "idx": 0}],
        [Example(("Why is it?", "Why, then?"), 1)],
    ),
    "mnli": Case(
        INFERENCE,
        [
            {"premise": "It rains.", "hypothesis": "It is wet.", "label": 0, "idx": 0},
            {"premise": "It rains.", "hypothesis": "It is late.", "label": 1, "idx": 1},
            {"premise": "It rains.", "hypothesis": "It is dry.", "label": 2, "idx": 2},
        ],
        [
            Example(("It rains.", "It is wet."), 0),
            Example(("It rains.", "It is late."), 1),
            Example(("It rains.", "It is dry."), 2),
        ],
    ),
    "snli": Case(
        INFERENCE,
        [
            {"premise": "A man runs.", "hypothesis": "A man moves.", "label": 0},
            {"premise": "A man runs.", "hypothesis": "Nobody agreed.", "label": -1},
        ],
        [Example(("A man runs.", "A man moves."), 0)],
    ),
    "squad": Case((), [ANSWERED], [ANSWER]),
    "squad_v2": Case((), [UNANSWERABLE, ANSWERED, UNANSWERABLE], [ANSWER]),
    "eraser_movies": Case(
        SENTIMENT,
        [
            {
                "review": "a bright , funny film .\n",
                "label": 1,
                "evidences": ["funny film", "bright"],
            }
        ],
        [Example("a bright , funny film .", 1, marks=((0, 2, 8), (0, 11, 21)))],
    ),
    "esnli": Case(
        INFERENCE,
        [EVIDENCE],
        [Example(("A man runs", "A man sleeps"), "contradiction", marks=((0, 2, 10), (1, 6, 12)))],
    ),
}
ONLY_FILES = {"agreement", "agreement_choice", "squad_sources", "sst_trees"}
FLAT = ["sst2", "imdb", "yelp_polarity", "amazon_polarity", "ag_news", "qqp", "mnli"]
HUB = {
    "sst2": ("stanfordnlp/sst2", None, "validation", None),
    "imdb": ("stanfordnlp/imdb", None, "test", None),
    "yelp_polarity": ("fancyzhx/yelp_polarity", None, "test", None),
    "amazon_polarity": ("fancyzhx/amazon_polarity", None, "test", None),
    "ag_news": ("fancyzhx/ag_news", None, "test", None),
    "qqp": ("nyu-mll/glue", "qqp", "validation", None),
    "mnli": ("nyu-mll/glue", "mnli", "validation_matched", None),
    "snli": ("stanfordnlp/snli", None, "test", None),
    "squad": ("rajpurkar/squad", None, "validation", None),
    "squad_v2": ("rajpurkar/squad_v2", None, "validation", None),
    "eraser_movies": ("eraser-benchmark/movie_rationales", None, "test", "refs/convert/parquet"),
    "esnli": ("niurl/eraser_esnli", None, "test", None),
}


def test_every_set_has_a_case() -> None:
    assert {*CASES, *ONLY_FILES} == set(DATASETS)


# -------------------------------------------------------------------------------- local copies


@pytest.mark.parametrize("kind", ["jsonl", "parquet"])
@pytest.mark.parametrize("name", sorted(set(CASES) - {"eraser_movies"}))
def test_a_local_copy_of_the_hub_is_read(tmp_path: Path, name: str, kind: str) -> None:
    path = write(tmp_path / f"copy.{kind}", CASES[name].rows)
    assert read_examples(f"{name}={path}") == (CASES[name].examples, CASES[name].labels)


@pytest.mark.parametrize("kind", ["csv", "tsv"])
@pytest.mark.parametrize("name", FLAT)
def test_a_local_table_has_the_same_texts_and_classes(tmp_path: Path, name: str, kind: str) -> None:
    kept = [row for row in CASES[name].rows if row["label"] != -1]
    found, names = read_examples(f"{name}={write(tmp_path / f'copy.{kind}', kept)}")
    model_labels = dict(enumerate(names))
    assert [each.text for each in found] == [each.text for each in CASES[name].examples]
    assert [gold_class(each.label, names, model_labels, "any") for each in found] == [
        each.label for each in CASES[name].examples
    ]


@pytest.mark.parametrize("name", ["squad", "squad_v2"])
def test_questions_are_read_from_the_published_form(tmp_path: Path, name: str) -> None:
    given = {"text": "Ann Lee", "answer_start": 0}
    questions = [
        {
            "id": "1",
            "question": "Who wrote it?",
            "answers": [given, {**given, "text": "Ann"}, given],
        },
        {"id": "2", "question": "Why?", "answers": [], "is_impossible": True},
    ]
    paragraph = {"context": "Ann Lee wrote it.", "qas": questions}
    path = write(tmp_path / "dev.json", json.dumps({"data": [{"paragraphs": [paragraph]}]}))
    assert read_examples(f"{name}={path}") == ([ANSWER], ())
    assert read_examples(str(path)) == ([ANSWER], ())


def test_agreement_is_read_from_its_two_files(tmp_path: Path) -> None:
    path = write(tmp_path / "a.text", "the keys are here <eos>\nthe key opens it <eos>\n")
    write(tmp_path / "a.gold", "2\tare\tis\t0\n2\topens\topen\t0\n")
    assert read_examples(f"agreement={path}") == (
        [Example("the keys [MASK] here", "plural"), Example("the key [MASK] it", "singular")],
        ("singular", "plural"),
    )


def test_trees_are_read_from_a_file(tmp_path: Path) -> None:
    path = write(
        tmp_path / "dev.txt", "(3 (2 A) (4 treat))\n(2 (2 A) (2 film))\n(0 (0 Dull) (2 .))\n"
    )
    assert read_examples(f"sst_trees={path}") == (
        [Example("A treat", 1, marks=((0, 2, 7),)), Example("Dull .", 0, marks=((0, 0, 4),))],
        SENTIMENT,
    )


def test_movies_are_read_from_the_folder_of_eraser(tmp_path: Path) -> None:
    write(tmp_path / "docs" / "posR_000.txt", "a bright ,\nfunny film .")
    evidence = {"docid": "posR_000.txt", "start_token": 3, "end_token": 5, "text": "funny film"}
    row: Row = {
        "annotation_id": "posR_000.txt",
        "classification": "POS",
        "docids": None,
        "evidences": [[evidence]],
    }
    (found,), names = read_examples(f"eraser_movies={write(tmp_path / 'test.jsonl', [row])}")
    assert found == Example("a bright , funny film .", "pos", marks=((0, 11, 21),))
    assert gold_class(found.label, names, dict(enumerate(SENTIMENT)), "any") == 1


def test_marks_of_a_local_copy_are_found_in_its_texts(tmp_path: Path) -> None:
    row: Row = {"text": "a bright film", "label": "positive", "marks": ["bright"]}
    (found,), _ = read_examples(f"sst2={write(tmp_path / 'a.jsonl', [row])}")
    assert found.marks == ((0, 2, 8),)


@pytest.mark.parametrize(
    ("source", "content", "message"),
    [
        ("sst2={}/none.csv", None, r"there is no file '.*none\.csv'"),
        ("sst2={}", None, "is a folder. Give one of its files"),
        (
            "sst2={}/a.csv",
            b"text,label\n",
            "'sst2=.*' has no examples: there is nothing to evaluate",
        ),
        ("sst2={}/a.csv", b"", "has no examples"),
        (
            "sst2={}/a.csv",
            b"words,label\na,1\n",
            "no column 'text' or 'sentence'.*Columns: words, label",
        ),
        ("mnli={}/a.csv", b"premise,label\na,1\n", "no column 'hypothesis' or 'sentence2'"),
        ("qqp={}/a.csv", b"question1,label\na,1\n", "no column 'question2'"),
        (
            "squad={}/a.jsonl",
            b'{"question": "Who?", "context": "Ann"}',
            "no column 'answers' or 'answer'",
        ),
        ("squad={}/a.txt", b"Who?\n", r"has no columns\. Use one of \.csv"),
        ("sst2={}/a.txt", b"good\n", r"has no columns\. Use one of \.csv"),
        ("sst2={}/a.csv", b"text,label\n\xff,1\n", "is not UTF-8 text: .* at byte 11"),
        (
            "sst2={}/a.jsonl",
            b'{"text": "a", "label": 1, "marks": ["b"]}',
            "the marked phrase 'b' is not in 'a'",
        ),
        ("sst_trees={}/a.txt", b"(2 (2 A) (2 film))\n", "has no examples"),
        (
            "squad_v2={}/a.jsonl",
            b'{"question": "Who?", "context": "Ann", "answers": []}',
            "has no examples",
        ),
    ],
)
def test_wrong_copies_get_a_sentence(
    tmp_path: Path, source: str, content: bytes | None, message: str
) -> None:
    source = source.format(tmp_path)
    if content is not None:
        write(Path(source.partition("=")[2]), content)
    with pytest.raises(InvalidInput, match=message):
        read_examples(source)


# ----------------------------------------------------------------------------------------- hub


class Hub:
    """Stands for the package `datasets`: keeps what it was asked, gives the rows it has."""

    def __init__(self, rows: list[Row]) -> None:
        self.rows = rows
        self.asked: list[tuple[str, str | None, str, str | None]] = []

    def load_dataset(
        self, path: str, name: str | None = None, *, split: str, revision: str | None = None
    ) -> list[Row]:
        self.asked.append((path, name, split, revision))
        return self.rows


@pytest.mark.parametrize("name", CASES)
def test_the_hub_is_asked_for_the_right_rows(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    hub = Hub(CASES[name].rows)
    monkeypatch.setitem(sys.modules, "datasets", hub)
    assert read_examples(name) == (CASES[name].examples, CASES[name].labels)
    assert hub.asked == [HUB[name]]


@pytest.mark.parametrize("name", sorted(ONLY_FILES))
def test_sets_without_a_hub_ask_for_a_file(name: str) -> None:
    message = f"'{name}' is not on the hub. Give a local copy: {name}=FILE"
    with pytest.raises(InvalidInput, match=message):
        read_examples(name)


@pytest.mark.parametrize("name", CASES)
def test_without_the_package_every_set_names_the_extra(
    monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.setitem(sys.modules, "datasets", None)
    with pytest.raises(MissingExtra, match=rf"reading '{HUB[name][0]}'.*headlight\[data\]"):
        read_examples(name)


def test_a_hub_out_of_reach_proposes_a_local_copy(monkeypatch: pytest.MonkeyPatch) -> None:
    def load_dataset(*names: object, **options: object) -> None:
        raise ConnectionError("Couldn't reach 'nyu-mll/glue' on the Hub (OfflineModeIsEnabled)")

    monkeypatch.setitem(sys.modules, "datasets", SimpleNamespace(load_dataset=load_dataset))
    message = r"'nyu-mll/glue' cannot be read from the hub: Couldn't reach .*--data NAME=FILE"
    with pytest.raises(InvalidInput, match=message):
        read_examples("mnli")


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([], "'imdb' has no examples"),
        (
            [{"words": "a"}],
            "row 1 of 'stanfordnlp/imdb': there is no column 'text' or .* Columns: words",
        ),
    ],
)
def test_a_hub_with_other_rows_gets_a_sentence(
    monkeypatch: pytest.MonkeyPatch, rows: list[Row], message: str
) -> None:
    monkeypatch.setitem(sys.modules, "datasets", Hub(rows))
    with pytest.raises(InvalidInput, match=message):
        read_examples("imdb")


# --------------------------------------------------------------------------------------- files


@pytest.mark.parametrize("source", ["{}", "{}:text,label", "sst2={}"])
@pytest.mark.parametrize("name", ["a.jsonl", "a.parquet"])
@pytest.mark.parametrize("limit", [None, 1])
def test_true_and_false_are_no_labels(
    tmp_path: Path, source: str, name: str, limit: int | None
) -> None:
    rows: list[Row] = [{"text": "a film", "label": True}, {"text": "a dud", "label": False}]
    path = write(tmp_path / name, rows)
    message = (
        r"(line|row) 1 of '.*': the label in column 'label' is bool True, not a name or a number"
    )
    with pytest.raises(InvalidInput, match=message):
        read_examples(source.format(path), limit=limit)


PAIRS: list[Row] = [
    {"first": "a, b", "second": "c", "mood": "good", "other": "x"},
    {"first": 'd "e"', "second": "f\ng", "mood": "bad", "other": "y"},
]


@pytest.mark.parametrize("kind", ["csv", "tsv", "jsonl", "ndjson", "parquet"])
@pytest.mark.parametrize(
    ("columns", "expected"),
    [
        ("first", [Example("a, b"), Example('d "e"')]),
        ("first,mood", [Example("a, b", "good"), Example('d "e"', "bad")]),
        (" first , mood ", [Example("a, b", "good"), Example('d "e"', "bad")]),
        ("second,first,mood", [Example(("c", "a, b"), "good"), Example(("f\ng", 'd "e"'), "bad")]),
    ],
)
def test_columns_are_the_text_or_texts_and_the_label(
    tmp_path: Path, kind: str, columns: str, expected: list[Example]
) -> None:
    path = write(tmp_path / f"a.{kind}", PAIRS)
    assert read_examples(f"{path}:{columns}") == (expected, ())


@pytest.mark.parametrize("second", ["hypothesis", "question2", "sentence2", "context", "pair"])
def test_a_second_column_called_like_a_text_makes_a_pair(tmp_path: Path, second: str) -> None:
    path = write(tmp_path / "a.csv", [{"first": "a", second: "b"}])
    assert read_examples(f"{path}:first,{second}") == ([Example(("a", "b"))], ())


@pytest.mark.parametrize("kind", ["jsonl", "parquet"])
@pytest.mark.parametrize("column", ["answers", "answer"])
@pytest.mark.parametrize("answers", [["Ann Lee", "Ann"], ANSWERED["answers"]])
def test_a_third_column_of_answers_makes_a_question(
    tmp_path: Path, kind: str, column: str, answers: object
) -> None:
    row: Row = {"context": "Ann Lee wrote it.", "question": "Who wrote it?", column: answers}
    path = write(tmp_path / f"a.{kind}", [row])
    assert read_examples(f"{path}:question,context,{column}") == ([ANSWER], ())


@pytest.mark.parametrize(
    ("row", "expected"),
    [
        ({"text": "a"}, Example("a")),
        ({"label": "x", "text": "a", "id": "7"}, Example("a", "x")),
        ({"sentence": "a", "class": "x"}, Example("a", "x")),
        ({"text": "a", "labels": "x"}, Example("a", "x")),
        ({"text": "a", "classification": "x"}, Example("a", "x")),
        ({"premise": "a", "hypothesis": "b", "gold": "x"}, Example(("a", "b"), "x")),
        ({"question1": "a", "question2": "b", "target": "x"}, Example(("a", "b"), "x")),
        ({"sentence1": "a", "sentence2": "b", "label": "x"}, Example(("a", "b"), "x")),
        ({"question": "a", "context": "b"}, Example(("a", "b"))),
        ({"text": "a", "pair": "b", "label": "x"}, Example(("a", "b"), "x")),
    ],
)
def test_columns_are_found_by_name(tmp_path: Path, row: Row, expected: Example) -> None:
    assert read_examples(str(write(tmp_path / "a.csv", [row]))) == ([expected], ())


def test_labels_keep_their_kind(tmp_path: Path) -> None:
    rows: list[Row] = [{"text": "a", "label": 1}, {"text": "b", "label": None}]
    found, _ = read_examples(str(write(tmp_path / "a.jsonl", rows)))
    assert [each.label for each in found] == [1, None]


def test_parsed_sentences_are_texts_without_labels(tmp_path: Path) -> None:
    path = write(
        tmp_path / "a.conllu",
        "1\tIt\tit\tPRON\tPRP\t_\t2\tnsubj\t_\t_\n"
        "2\trains\train\tVERB\tVBZ\t_\t0\troot\t_\tSpaceAfter=No\n"
        "3\t.\t.\tPUNCT\t.\t_\t2\tpunct\t_\t_\n\n"
        "1\tYes\tyes\tINTJ\tUH\t_\t0\troot\t_\t_\n",
    )
    assert read_examples(str(path)) == ([Example("It rains."), Example("Yes")], ())


@pytest.mark.parametrize(
    ("source", "content", "message"),
    [
        (
            "a.csv:text,mood",
            b"text,label\na,1\n",
            r"'.*a\.csv' has no column 'mood'. Columns: text, label",
        ),
        ("a.csv:words", b"text,label\na,1\n", "has no column 'words'"),
        ("a.csv", b"", r"'.*a\.csv' has no rows: there is nothing to evaluate"),
        ("a.csv", b"text,label\n", "has no examples: there is nothing to evaluate"),
        ("a.jsonl", b"\n\n", "has no rows"),
        ("a.conllu", b"", "has no examples"),
        ("a.conllu", b"1\tIt\n", "is not a CoNLL-U file with parses"),
        ("a.conllu", b"\xff", r"'.*a\.conllu' is not UTF-8 text"),
        ("a.xyz", b"text\na\n", r"'.*a\.xyz' has no columns. Use one of \.csv, \.tsv, \.jsonl"),
        ("a.txt", b"a\n", "has no columns"),
        ("a", b"a\n", "has no columns"),
        ("a.csv", b"text,label\ncaf\xe9,1\n", "is not UTF-8 text: .* at byte 14"),
        ("a.json", b"{}", "is not in the form of SQuAD"),
        ("a.json", b'{"data": []}', "has no examples"),
        ("a.parquet", b"nonsense", "is not a Parquet file"),
        ("a.jsonl", b"{nonsense", "line 1 of .* is not JSON"),
        (
            "a.csv:a,b,c,d",
            b"a,b,c,d\n1,2,3,4\n",
            "FILE:TEXT,LABEL or FILE:TEXT,TEXT,LABEL: a, b, c, d",
        ),
        (
            "a.csv",
            b"words,mood\na,1\n",
            "say which columns of .* to read, FILE:TEXT,LABEL .*: words, mood",
        ),
        ("a.jsonl:t,l", b'{"t": "a", "l": 1}\n{"l": 1}\n', "line 2 of .* has no column 't'"),
        ("none.csv", None, r"no data set named '.*none\.csv'.*And there is no file '.*none\.csv'"),
        ("none.csv:text,label", None, r"And there is no file '.*none\.csv'"),
        ("", None, "is a folder. Give one of its files"),
    ],
)
def test_wrong_files_get_a_sentence(
    tmp_path: Path, source: str, content: bytes | None, message: str
) -> None:
    if content is not None:
        write(tmp_path / source.partition(":")[0], content)
    with pytest.raises(InvalidInput, match=message):
        read_examples(f"{tmp_path}/{source}")


@pytest.mark.parametrize(
    ("name", "near"),
    [
        ("sst", "sst2"),
        ("agnews", "ag_news"),
        ("squadv2", "squad_v2"),
        ("samples/sentimnt", "samples/sentiment"),
    ],
)
def test_an_unknown_set_proposes_the_nearest(name: str, near: str) -> None:
    message = f"no data set named '{name}'. Did you mean '{near}'.*And there is no file '{name}'"
    with pytest.raises(InvalidInput, match=message):
        read_examples(name)


@pytest.mark.parametrize("name", ["", "nothing like it", "nothing=a.csv"])
def test_an_unknown_set_lists_the_known(name: str) -> None:
    with pytest.raises(InvalidInput, match=r"no data set named .* Known: ag_news, .*, sst_trees"):
        describe_source(name)


# ------------------------------------------------------------------------------------- drawing


@pytest.fixture
def sorted_set(tmp_path: Path) -> str:
    rows: list[Row] = [{"text": f"text {n}", "label": str(n // 100)} for n in range(200)]
    return str(write(tmp_path / "a.csv", rows))


def drawn(source: str, limit: int, seed: int = 0) -> list[int]:
    found, _ = read_examples(source, limit=limit, seed=seed)
    return [int(str(each.text).split()[1]) for each in found]


def test_a_limit_draws_from_the_whole_set_in_its_order(sorted_set: str) -> None:
    found = drawn(sorted_set, 20)
    assert len(found) == len(set(found)) == 20
    assert found == sorted(found)
    assert found[0] < 100 <= found[-1]


def test_a_seed_decides_what_is_drawn(sorted_set: str) -> None:
    assert drawn(sorted_set, 20, 3) == drawn(sorted_set, 20, 3)
    assert drawn(sorted_set, 20, 3) != drawn(sorted_set, 20, 4)


@pytest.mark.parametrize("limit", [200, 1000])
def test_a_limit_beyond_the_set_leaves_it_whole(sorted_set: str, limit: int) -> None:
    assert drawn(sorted_set, limit) == list(range(200))


@pytest.mark.parametrize("limit", [0, -1])
def test_a_limit_below_one_is_refused(sorted_set: str, limit: int) -> None:
    with pytest.raises(
        InvalidInput, match=rf"limit={limit} leaves nothing to evaluate\. Use 1 or more"
    ):
        read_examples(sorted_set, limit=limit)
