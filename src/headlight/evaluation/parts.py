"""Parts of a run: Parquet files that carry a checksum of their content and of the job they belong to.

The checksum is stored in the footer, and computed with zeros in its place. So a part and its checksum are one
file, and other programs read it like any Parquet file.
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
    """A part with its checksum filled in. owner: a line that names the run and the job."""
    place = content.rindex(MARK + BLANK) + len(MARK)
    return content[:place] + digest(content, place, owner) + content[place + DIGITS :]


def is_sealed(content: bytes) -> bool:
    """Whether a part has a checksum; format 1 had none."""
    return MARK in content


def is_intact(content: bytes, owner: str) -> bool:
    """Whether a part is unchanged since it was sealed for this run and job."""
    place = content.rfind(MARK) + len(MARK)
    return is_sealed(content) and content[place : place + DIGITS] == digest(content, place, owner)


def digest(content: bytes, place: int, owner: str) -> bytes:
    """The checksum of a part, computed with zeros where its checksum is stored (at `place`)."""
    state = hashlib.sha256(f"{owner}\n".encode())
    state.update(memoryview(content)[:place])
    state.update(BLANK)
    state.update(memoryview(content)[place + DIGITS :])
    return state.hexdigest().encode()
