"""Files are what they should be, byte for byte."""

import hashlib
from pathlib import Path

import pytest

from headlight import InvalidInput
from headlight.loading.digests import check_bytes, digest

CONTENT = b"weights"
SHA256 = hashlib.sha256(CONTENT).hexdigest()


def test_the_right_file_passes(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(CONTENT)
    assert digest(tmp_path / "a") == SHA256
    check_bytes(tmp_path / "a", SHA256, "base", "pip install base")


def test_another_file_is_refused_with_both_digests_and_the_repair(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"weightz")
    found = hashlib.sha256(b"weightz").hexdigest()[:12]
    with pytest.raises(
        InvalidInput,
        match=rf"begins with {found}, that of 'base' with {SHA256[:12]}\. Repair it with: pip install base\.",
    ):
        check_bytes(tmp_path / "a", SHA256, "base", "pip install base")


def test_a_missing_file_is_refused_with_the_repair(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match=r"cannot be read: No such file.*pip install base"):
        check_bytes(tmp_path / "none", SHA256, "base", "pip install base")
