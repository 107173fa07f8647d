"""Parts carry a checksum of themselves and of the job that they belong to."""

import io

import pyarrow
import pyarrow.parquet as parquet
import pytest

from headlight.evaluation.parts import BLANK, DIGITS, MARK, is_intact, is_sealed, sealed, to_part
from headlight.evaluation.records import MeasureRecord, table, to_bytes

TABLE = table("measure", [MeasureRecord(n, "gae", "aopc", n / 7) for n in range(20)])
OWNER = "0123456789abcdef measure-00000-01234567"


def test_a_sealed_part_is_intact_for_its_owner_only() -> None:
    part = sealed(to_part(TABLE), OWNER)
    assert is_intact(part, OWNER)
    assert not is_intact(part, OWNER.replace("00000", "00001"))
    assert not is_intact(part, OWNER.replace("0123456789abcdef", "f" * 16))


def test_a_seal_changes_the_checksum_and_nothing_else() -> None:
    blank = to_part(TABLE)
    part = sealed(blank, OWNER)
    place = blank.rindex(MARK + BLANK) + len(MARK)
    assert len(part) == len(blank)
    assert part[:place] == blank[:place]
    assert part[place + DIGITS :] == blank[place + DIGITS :]
    assert sealed(blank, OWNER) == part


@pytest.mark.parametrize("cut", [1, 100, 2000])
def test_a_part_that_was_cut_or_has_more_is_not_intact(cut: int) -> None:
    part = sealed(to_part(TABLE), OWNER)
    assert not is_intact(part[:-cut], OWNER)
    assert not is_intact(part[cut:], OWNER)
    assert not is_intact(part + b"x" * cut, OWNER)


def test_what_has_no_checksum_is_not_sealed() -> None:
    for content in (b"", b"PAR1", to_bytes(TABLE)):
        assert not is_sealed(content)
        assert not is_intact(content, OWNER)
    assert is_sealed(to_part(TABLE))
    assert not is_intact(to_part(TABLE), OWNER)


def test_any_program_reads_a_part() -> None:
    part = sealed(to_part(TABLE), OWNER)
    found = parquet.read_table(io.BytesIO(part))
    assert found.equals(TABLE)
    kept = parquet.ParquetFile(pyarrow.BufferReader(part)).metadata.metadata[b"headlight"]
    assert kept.startswith(MARK)
    assert len(kept) == len(MARK) + DIGITS
