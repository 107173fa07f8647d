"""Parts of a run: Parquet files that carry a checksum of themselves and of the job that they belong to.

The checksum is a value in the footer, computed with zeros in its place, so a part and its checksum are one file
that is there or not. Other programs read it like any Parquet file.
"""

import hashlib
from importlib import import_module
from typing import TYPE_CHECKING

from headlight.evaluation.records import arrow

if TYPE_CHECKING:
    import pyarrow

MARK = b"sha256:"
DIGITS = 64
BLANK = b"0" * DIGITS


def to_part(found: "pyarrow.Table") -> bytes:
    """A table as a Parquet file with room for a checksum; equal tables give equal bytes."""
    sink = arrow().BufferOutputStream()
    with import_module("pyarrow.parquet").ParquetWriter(
        sink, found.schema, compression="zstd"
    ) as writer:
        writer.write_table(found)
        writer.add_key_value_metadata({"headlight": MARK + BLANK})
    return bytes(sink.getvalue().to_pybytes())


def sealed(content: bytes, owner: str) -> bytes:
    """A part with its checksum. owner: what names its run and job."""
    place = content.rindex(MARK + BLANK) + len(MARK)
    return content[:place] + digest(content, place, owner) + content[place + DIGITS :]


def is_sealed(content: bytes) -> bool:
    """Whether a part has a checksum at all; the first version of the format had none."""
    return MARK in content


def is_intact(content: bytes, owner: str) -> bool:
    """Whether a part is what was sealed, for this run and job."""
    place = content.rfind(MARK) + len(MARK)
    return is_sealed(content) and content[place : place + DIGITS] == digest(content, place, owner)


def digest(content: bytes, place: int, owner: str) -> bytes:
    """The checksum of a part whose own one begins at that place."""
    found = hashlib.sha256(f"{owner}\n".encode())
    found.update(memoryview(content)[:place])
    found.update(BLANK)
    found.update(memoryview(content)[place + DIGITS :])
    return found.hexdigest().encode()
