"""Texts from files of every kind, and what a wrong file gets."""

import io
from pathlib import Path

import pyarrow
import pyarrow.parquet
import pytest

from headlight import InvalidInput
from headlight.files import read_texts

ROWS = [{"text": "a good film", "other": "x"}, {"text": "a dull, bad one", "other": "y"}]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "a.csv").write_text('text,other\na good film,x\n"a dull, bad one",y\n')
    (tmp_path / "a.tsv").write_text("text\tother\na good film\tx\na dull, bad one\ty\n")
    (tmp_path / "a.jsonl").write_text(
        '{"text": "a good film", "other": "x"}\n\n{"text": "a dull, bad one", "other": "y"}\n'
    )
    (tmp_path / "a.txt").write_text("a good film\n\na dull, bad one\n")
    pyarrow.parquet.write_table(pyarrow.Table.from_pylist(ROWS), tmp_path / "a.parquet")
    return tmp_path


@pytest.mark.parametrize("kind", ["csv", "tsv", "jsonl", "txt", "parquet"])
def test_every_kind_is_read(folder: Path, kind: str) -> None:
    assert read_texts(str(folder / f"a.{kind}")) == ["a good film", "a dull, bad one"]


@pytest.mark.parametrize("kind", ["csv", "tsv", "jsonl", "parquet"])
def test_columns_are_chosen_and_paired(folder: Path, kind: str) -> None:
    path = str(folder / f"a.{kind}")
    assert read_texts(path, "other") == ["x", "y"]
    assert read_texts(path, pair_column="other")[0] == ("a good film", "x")


def test_standard_input(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO("one\ntwo\n"))
    assert read_texts("-") == ["one", "two"]


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("none.csv", None, "there is no file"),
        ("a.txt", b"", "has no text in it"),
        ("a.csv", b"", "has no rows"),
        ("a.csv", b"label\n1\n", "no column named like a text. Say which with --column: label"),
        ("a.jsonl", b'{"text": "x"}\n{bad\n', "line 2 of .* is not JSON"),
        ("a.jsonl", b"[1]\n", "line 1 of .* is not a JSON object"),
        ("a.jsonl", b'{"text": "x"}\n{"txt": "y"}\n', "line 2 of .* has no column 'text'"),
        ("a.txt", b"\xff\xfe\x00", "begins like UTF-16 and is not"),
        ("a.parquet", b"nonsense", "is not a Parquet file"),
    ],
)
def test_wrong_files_get_a_sentence(
    tmp_path: Path, name: str, content: bytes | None, message: str
) -> None:
    if content is not None:
        (tmp_path / name).write_bytes(content)
    with pytest.raises(InvalidInput, match=message):
        read_texts(str(tmp_path / name))
