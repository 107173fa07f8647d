"""Files as text: how they are encoded, and what is no text."""

import codecs
import os
from io import BytesIO
from pathlib import Path
from typing import BinaryIO

import pytest

from headlight import InvalidInput
from headlight.files.opening import decoded, existing, is_file, is_folder, lines_of, read_text


def test_lines_keep_their_ends_and_break_nowhere_else(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_bytes("one\r\ntwo\u2028still two\rthree\x0cstill\nfour".encode())
    assert list(lines_of(path)) == ["one\r\n", "two\u2028still two\r", "three\x0cstill\n", "four"]
    assert read_text(path).count("\n") == 2


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-32"])
def test_byte_order_marks_are_followed_and_left_out(tmp_path: Path, encoding: str) -> None:
    path = tmp_path / "a.txt"
    path.write_bytes("é中\n".encode(encoding))
    assert read_text(path) == "é中\n"


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"\xd0\xcf\x11\xe0", "is an Excel file. Save it as 'CSV UTF-8'"),
        (b"PK\x03\x04 xl/workbook", "is an Excel file"),
        (b"PK\x03\x04 other", "is compressed. Unpack it"),
        (b"\x1f\x8b\x08", "is compressed"),
        (b"PAR1", "is a Parquet file. Name it .parquet"),
        (b"%PDF-1.7", "is a PDF"),
        (b"SQLite format 3\x00", "is a database"),
        ("plain text".encode("utf-16-le"), "looks like UTF-16 without a byte order mark"),
        (b"good\nb\x00d\n", r"line 2 of .* holds a NUL character"),
        (codecs.BOM_UTF16_LE + b"a", r"begins like UTF-16 and is not.*cut off"),
        (b"good\nbad \xff\n", r"is not UTF-8 text: .* at byte 9, in line 2.*iconv"),
    ],
)
def test_what_is_no_text_is_refused_with_its_repair(
    tmp_path: Path, content: bytes, said: str
) -> None:
    path = tmp_path / "a.txt"
    path.write_bytes(content)
    with pytest.raises(InvalidInput, match=said):
        read_text(path)


def test_only_files_are_files(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("x")
    os.mkfifo(tmp_path / "pipe")
    assert existing(tmp_path / "a") == tmp_path / "a"
    for path, said in (
        (tmp_path, "is a folder. Give one of its files"),
        (tmp_path / "none", "there is no file"),
        (tmp_path / "a" / "b", "there is no file"),
        (tmp_path / "pipe", "is not an ordinary file"),
        (Path("a\0b"), "there is no file"),
    ):
        with pytest.raises(InvalidInput, match=said):
            existing(path)


def test_a_file_that_may_not_be_reached_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "stat", refuse)
    with pytest.raises(InvalidInput, match="cannot be read: Permission denied"):
        existing(tmp_path / "a")


def test_a_text_that_cannot_be_a_path_is_neither_file_nor_folder(tmp_path: Path) -> None:
    long = Path("x" * 5000)
    assert not is_file(long)
    assert not is_folder(long)
    assert is_folder(tmp_path)


def test_a_source_that_breaks_while_it_is_read_is_a_sentence() -> None:
    class Broken(BytesIO):
        def read(self, *_: object) -> bytes:
            raise OSError(5, "Input/output error")

    with pytest.raises(InvalidInput, match="standard input cannot be read: Input/output error"):
        list(decoded(Broken, "standard input"))


def test_a_source_that_changes_meanwhile_is_refused_without_a_place() -> None:
    given: list[BinaryIO] = [BytesIO(b"bad \xff"), BytesIO(b"good")]
    with pytest.raises(InvalidInput, match=r"is not UTF-8 text: invalid start byte\.$"):
        list(decoded(lambda: given.pop(0), "'a.txt'"))
