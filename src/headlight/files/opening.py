"""Files as text: what is at a path, how it is encoded, and its lines, one by one.

Lines end at a line feed, a carriage return or both, as in an editor, and nowhere else.
"""

import codecs
import io
import stat
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import BinaryIO

from headlight.errors import InvalidInput

START = 4096
"""How many bytes are read to recognise what a file is."""
MARKS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
"""Byte order marks. UTF-32 comes before UTF-16, because its mark begins with that of UTF-16."""
EXCEL = "is an Excel file. Save it as 'CSV UTF-8' and give that"
PACKED = "is compressed. Unpack it and give what is inside"
FOREIGN = (
    (b"\xd0\xcf\x11\xe0", EXCEL),
    (b"PK\x03\x04", PACKED),
    (b"\x1f\x8b", PACKED),
    (b"BZh", PACKED),
    (b"\xfd7zXZ", PACKED),
    (b"\x28\xb5\x2f\xfd", PACKED),
    (b"PAR1", "is a Parquet file. Name it .parquet"),
    (b"%PDF", "is a PDF. Save its text as .txt"),
    (b"SQLite format 3", "is a database. Save the table as .csv"),
)
"""How files that are not text begin, and what to do with them."""


def existing(path: Path) -> Path:
    """The path; refused unless it is an ordinary file."""
    try:
        mode = path.stat().st_mode
    except PermissionError as error:
        raise InvalidInput(f"'{path}' cannot be read: {error.strerror}.") from error
    except (OSError, ValueError) as error:
        raise InvalidInput(f"there is no file '{path}'.") from error
    if stat.S_ISDIR(mode):
        raise InvalidInput(f"'{path}' is a folder. Give one of its files.")
    if not stat.S_ISREG(mode):
        raise InvalidInput(
            f"'{path}' is not an ordinary file. Write its texts to one, or give - to read standard input."
        )
    return path


def is_file(path: Path) -> bool:
    """Whether there is such a file; False also for a text that cannot be a path."""
    try:
        return path.is_file()
    except OSError:
        return False


def is_folder(path: Path) -> bool:
    """Whether there is such a folder; False also for a text that cannot be a path."""
    try:
        return path.is_dir()
    except OSError:
        return False


def read_text(path: Path) -> str:
    """The whole text of a file, with its line ends unchanged."""
    return "".join(lines_of(path))


def lines_of(path: Path) -> Iterator[str]:
    """The lines of a file, each with its end."""
    return decoded(lambda: existing(path).open("rb"), f"'{path}'")


def decoded(opened: Callable[[], BinaryIO], source: str) -> Iterator[str]:
    """The lines of an open file, each with its end; refused if they are not text."""
    encoding = "utf-8"
    try:
        with opened() as file:
            encoding = encoding_of(file.read(START), source)
            file.seek(0)
            with io.TextIOWrapper(file, encoding, newline="") as text:
                for number, line in enumerate(text, 1):
                    if "\0" in line:
                        raise InvalidInput(
                            f"line {number} of {source} holds a NUL character: it is damaged, or not text."
                        )
                    yield line
    except OSError as error:
        raise InvalidInput(f"{source} cannot be read: {error.strerror or error}.") from error
    except UnicodeDecodeError as error:
        raise undecodable(opened, encoding, source, error) from error


def encoding_of(start: bytes, source: str) -> str:
    """The encoding of a file from its first bytes; refused if they are not text."""
    for mark, what in FOREIGN:
        if start.startswith(mark):
            is_excel = mark == b"PK\x03\x04" and (b"xl/" in start or source.endswith(".xlsx'"))
            raise InvalidInput(f"{source} {EXCEL if is_excel else what}.")
    for mark, encoding in MARKS:
        if start.startswith(mark):
            return encoding
    # In UTF-16, the letters of most alphabets have a zero in every second byte.
    if abs(start[0::2].count(0) - start[1::2].count(0)) > len(start) // 4:
        raise InvalidInput(
            f"{source} looks like UTF-16 without a byte order mark. Save it as UTF-8, or convert it: "
            "iconv -f UTF-16LE -t UTF-8."
        )
    return "utf-8"


def undecodable(
    opened: Callable[[], BinaryIO], encoding: str, source: str, error: UnicodeDecodeError
) -> InvalidInput:
    """The error for bytes that are not text. Python counts from its buffer, so the place is searched again."""
    if encoding not in ("utf-8", "utf-8-sig"):
        return InvalidInput(
            f"{source} begins like {encoding.upper()} and is not: {error.reason}. It may have been cut off."
        )
    before = 0
    with opened() as file:
        for number, line in enumerate(file, 1):
            try:
                line.decode()
            except UnicodeDecodeError as bad:
                place = f"byte {before + bad.start}, in line {number}"
                return InvalidInput(
                    f"{source} is not UTF-8 text: {bad.reason} at {place}. Save it as UTF-8, or convert it "
                    "from what it is, such as: iconv -f WINDOWS-1252 -t UTF-8."
                )
            before += len(line)
    return InvalidInput(f"{source} is not UTF-8 text: {error.reason}.")
