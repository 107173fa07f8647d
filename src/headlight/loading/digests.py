"""The sha256 of a file, and a check that a file is the one it should be."""

import hashlib
from pathlib import Path

from headlight.errors import InvalidInput


def digest(path: Path) -> str:
    """The sha256 of a file."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def check_bytes(path: Path, sha256: str, owner: str, repair: str) -> None:
    """Refuse a file that is not, byte for byte, the published one; `repair` is a command."""
    try:
        actual = digest(path)
    except OSError as error:
        raise InvalidInput(
            f"'{path}' cannot be read: {error.strerror}. Repair it with: {repair}."
        ) from error
    if actual != sha256:
        raise InvalidInput(
            f"'{path}' is damaged or of another version: its sha256 begins with {actual[:12]}, that of "
            f"'{owner}' with {sha256[:12]}. Repair it with: {repair}."
        )
