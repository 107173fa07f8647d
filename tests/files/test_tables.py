"""Tables and texts that are nearly right: read with every row in its place, or refused in a sentence."""

import csv
import gzip
import io
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import Any

import pyarrow
import pyarrow.parquet
import pytest

from headlight import InvalidInput
from headlight.data import Example, read_examples
from headlight.files import read_records, read_texts
from headlight.files.parsing import unique
from headlight.files.tables import unique_names
from tests.data import write


def notes_of(path: Path, **options: Any) -> tuple[list[object], list[str]]:
    """The texts of a file and what is said about it."""
    notes: list[str] = []
    return list(read_texts(str(path), tell=notes.append, **options)), notes


@pytest.mark.parametrize(
    ("name", "content", "texts", "places"),
    [
        ("a.csv", 'text,label\na,1\n"",0\nb,1\n', ["a", "b"], "line 3"),
        ("a.csv", "text,label\na,1\n\nb,1\n\n\n", ["a", "b"], "line 3"),
        ("a.csv", 'text,label\n"a\nb\nc",1\n  ,0\nd,1\n', ["a\nb\nc", "d"], "line 5"),
        ("a.csv", 'text,label\r\n"a\r\nb",1\r\n,0\r\n,1\r\n', ["a\r\nb"], "line 4, line 5"),
        ("a.tsv", "text\tlabel\na\t1\n\t0\nb\t1\n", ["a", "b"], "line 3"),
        ("a.jsonl", '{"text": "a"}\n\n{"text": null}\n{"text": NaN}\n', ["a"], "line 2, line 3, line 4"),
        ("a.txt", "a\n\u200b\u200d\n\u0301\ufe0f\n\ufffd\n☺\n", ["a", "☺"], "line 2, line 3, line 4"),
        ("a.txt", "a\n\n \nb\n\n", ["a", "b"], "line 2, line 3"),
    ],
)  # fmt: skip
def test_rows_without_a_text_are_skipped_and_named_by_line(
    tmp_path: Path, name: str, content: str, texts: list[str], places: str
) -> None:
    path = write(tmp_path / name, content.encode())
    found, notes = notes_of(path)
    count = places.count(",") + 1
    assert found == texts
    assert notes == [
        f"skipped {count} of {count + len(texts)} rows of '{path}' with no text: {places}."
    ]
    first = places.split(",")[0]
    with pytest.raises(InvalidInput, match=f"{first} of '.*' has no text. Mend or remove it"):
        read_texts(str(path), strict=True)


def test_many_skipped_rows_are_counted_and_the_first_named(tmp_path: Path) -> None:
    path = write(tmp_path / "a.csv", "text,label\n" + ",1\n" * 1000 + "a,1\n")
    _, notes = notes_of(path)
    assert notes[0].startswith("skipped 1000 of 1001 rows")
    assert notes[0].endswith("line 10, line 11 ….")


def test_examples_skip_the_same_rows(tmp_path: Path) -> None:
    path = write(tmp_path / "a.csv", 'text,label\n"a\nb",x\n,y\nc,x\n')
    notes: list[str] = []
    found, _ = read_examples(str(path), tell=notes.append)
    assert found == [Example("a\nb", "x"), Example("c", "x")]
    assert notes == [f"skipped 1 of 3 rows of '{path}' with no text: line 4."]
    with pytest.raises(InvalidInput, match=r"line 4 of .* has no text"):
        read_examples(str(path), strict=True)


def test_empty_cells_of_parquet_are_named_by_row(tmp_path: Path) -> None:
    path = write(tmp_path / "a.parquet", [{"text": "a"}, {"text": None}, {"text": "b"}])
    found, notes = notes_of(path)
    assert found == ["a", "b"]
    assert notes == [f"skipped 1 of 3 rows of '{path}' with no text: row 2."]


@pytest.mark.parametrize(
    ("content", "rows"),
    [
        ('"one\t1\ntwo\t0\nthree"\t1\n', [('"one', "1"), ("two", "0"), ('three"', "1")]),
        ('"f\ng"\tx\n', [("f\ng", "x")]),
        ('"d ""e"""\tx\n', [('d "e"', "x")]),
        ('"Good" film\t1\nbad\t0\n', [('"Good" film', "1"), ("bad", "0")]),
        ('an "odd one\t1\n', [('an "odd one', "1")]),
        ('"never closed\t1\nbad\t0\n', [('"never closed', "1"), ("bad", "0")]),
    ],
)
def test_quotes_in_a_tsv_lose_no_row(
    tmp_path: Path, content: str, rows: list[tuple[str, str]]
) -> None:
    path = write(tmp_path / "a.tsv", "text\tlabel\n" + content)
    assert [(row["text"], row["label"]) for row in read_records(str(path))] == rows


def test_quotes_that_could_be_read_in_two_ways_are_said(tmp_path: Path) -> None:
    path = write(tmp_path / "a.tsv", 'text\tlabel\n"one\t1\ntwo"\t0\n')
    assert notes_of(path)[1] == [
        f"the quotes in '{path}' are read as part of its texts; as marks they would join lines."
    ]


def test_lines_end_only_where_an_editor_ends_them(tmp_path: Path) -> None:
    path = write(tmp_path / "a.txt", "a\u2028b\x85c\x0bd\x0ce\x1cf\r\ng\rh".encode())
    assert read_texts(str(path)) == ["a\u2028b\x85c\x0bd\x0ce\x1cf", "g", "h"]


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "utf-32"])
@pytest.mark.parametrize("name", ["a.csv", "a.txt"])
def test_files_with_a_byte_order_mark_are_read(tmp_path: Path, encoding: str, name: str) -> None:
    path = write(tmp_path / name, "text\ncafé — 好\n".encode(encoding))
    assert read_texts(str(path))[-1] == "café — 好"


def test_semicolons_are_read_and_said(tmp_path: Path) -> None:
    path = write(tmp_path / "a.csv", "text;label\none, two;1\n")
    found, notes = notes_of(path)
    assert found == ["one, two"]
    assert notes == [f"the columns of '{path}' are read as separated by ';'."]


def zipped(name: str) -> bytes:
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w") as archive:
        archive.writestr(name, "x")
    return target.getvalue()


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("a.csv", b"text,text\na,b\n", "has more than one column 'text'"),
        ("a.jsonl", b'{"text": "a", "text": "b"}', "line 1 of .* has 'text' twice"),
        ("a.jsonl", b'{"text": "a"}\n{"text": ["b"]}', r"line 2 of .* has list \['b'\] in its col"),
        ("a.jsonl", b'{"text": 5}', "line 1 of .* has int 5 in its column 'text', not a text"),
        ("a.jsonl", b'{"text": "\\ud800"}', "line 1 of .* half a character"),
        ("a.jsonl", b'{"text": ' + b"[" * 99_999, "line 1 of .* is nested too deeply"),
        ("a.jsonl", b'[\n{"text": "a"}\n]', "line 1 of .* is not JSON by itself. Write one object"),
        ("a.jsonl", b'[{"text": "a"}]', "line 1 of .* is not a JSON object with named fields"),
        ("a.json", b'[{"text": "a"}]', "is JSON. Write one object per line"),
        ("a.csv", b"text,label\na,1\nb,c,0\n", "line 3 of .* has 3 fields, and there are 2 col"),
        ("a.csv", b"text,label\na\n", "line 2 of .* has 1 fields, and there are 2 columns"),
        ("a.tsv", b"text\tlabel\na\t1\t2\n", "line 2 of .* has 3 fields"),
        ("a.csv", b'text\na\n"b', "line 3 of .* a quote that opens there is never closed"),
        ("a.csv", b'text\n"a" b\n', "line 2 of .* a quote inside a quoted field must be written"),
        ("a.csv", b"text\na\0b\n", "line 2 of .* holds a NUL character"),
        ("a.csv", b"text\n" + b"a" * 140_000, "more than 131,072 characters.* .jsonl"),
        ("a.csv", b"good film,1\nbad,0\n", "no column named like a text.*: good film, 1"),
        ("a.tsv", b"text,label\na,1\n", r"no column .* \(that is one column: is its separator"),
        ("a.csv", "text\ncafé".encode("latin-1"), "byte 8, in line 2. Save it as UTF-8, or convert"),
        ("a.csv", "text\nabc".encode("utf-16-le"), "looks like UTF-16 without a byte order mark"),
        ("a.csv", zipped("xl/workbook.xml"), "is an Excel file. Save it as 'CSV UTF-8'"),
        ("a.csv", zipped("a.csv"), "is compressed. Unpack it"),
        ("a.csv", gzip.compress(b"text\na\n", mtime=0), "is compressed. Unpack it"),
        ("a.txt", b"PAR1aaaa", "is a Parquet file. Name it .parquet"),
        ("a.csv", b"text,label\n,\n", "has no text in it"),
        ("a.csv", b"text,label\n", "has no text in it"),
    ],
)  # fmt: skip
def test_what_would_be_read_wrongly_is_refused(
    tmp_path: Path, name: str, content: bytes, message: str
) -> None:
    with pytest.raises(InvalidInput, match=message):
        read_texts(str(write(tmp_path / name, content)))


def test_a_folder_and_a_device_are_no_files(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match=r"is a folder. Give one of its files"):
        read_texts(str(tmp_path))
    with pytest.raises(InvalidInput, match=r"is not an ordinary file"):
        read_texts("/dev/null")


def test_a_long_field_of_a_plain_tsv_is_read_and_no_limit_is_changed(tmp_path: Path) -> None:
    path = write(tmp_path / "a.tsv", "text\tlabel\n" + "a" * 200_000 + "\t1\n")
    before = csv.field_size_limit()
    assert len(read_texts(str(path))[0]) == 200_000
    assert csv.field_size_limit() == before


@pytest.mark.parametrize("value", [["a"], b"a", 3, {"a": "b"}, True])
def test_only_texts_of_parquet_are_texts(tmp_path: Path, value: object) -> None:
    path = write(tmp_path / "a.parquet", [{"text": value}])
    with pytest.raises(InvalidInput, match=r"row 1 of .* in its column 'text', not a text"):
        read_texts(str(path))


def test_only_the_columns_that_are_asked_for_are_read_from_parquet(tmp_path: Path) -> None:
    # The other column holds what Python cannot make a time of, so reading it would fail.
    far = pyarrow.array([2**62], pyarrow.timestamp("us"))
    table = pyarrow.table({"text": ["a"], "when": far})
    pyarrow.parquet.write_table(table, tmp_path / "a.parquet")
    assert read_texts(str(tmp_path / "a.parquet")) == ["a"]


def test_a_cut_parquet_file_is_refused(tmp_path: Path) -> None:
    path = write(tmp_path / "a.parquet", [{"text": "a" * 100}])
    path.write_bytes(path.read_bytes()[:-20])
    with pytest.raises(InvalidInput, match="is not a Parquet file"):
        read_texts(str(path))


def test_reading_needs_no_torch() -> None:
    code = "import headlight.data, headlight.files, sys; print('torch' in sys.modules)"
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert found.stdout == "False\n"


class CountedName(str):
    """A name that counts how often it is compared."""

    __slots__ = ()
    compared = 0

    def __eq__(self, other: object) -> bool:
        CountedName.compared += 1
        return str.__eq__(self, other)

    __hash__ = str.__hash__


def test_many_names_are_not_compared_each_with_each() -> None:
    names = [CountedName(f"column {number}") for number in range(1_000)]
    twice = CountedName("column 999")
    with pytest.raises(InvalidInput, match="more than one column 'column 999'"):
        unique_names([*names, twice], Path("a.csv"))
    with pytest.raises(ValueError, match="it has 'column 999' twice in one object"):
        unique([(name, 1) for name in [*names, twice]])
    assert CountedName.compared < 5_000
