"""The sha256 of a file, and the refusal of one that is not the file it should be."""

import hashlib
from pathlib import Path

from headlight.errors import InvalidInput


def digest(path: Path) -> str:
    """The sha256 of a file."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def check_bytes(path: Path, sha256: str, owner: str, repair: str) -> None:
    """Refuse a file that is not, byte for byte, the one that was published; `repair` is a command."""
    try:
        found = digest(path)
    except OSError as error:
        raise InvalidInput(
            f"'{path}' cannot be read: {error.strerror}. Repair it with: {repair}."
        ) from error
    if found != sha256:
        raise InvalidInput(
            f"'{path}' is damaged or of another version: its sha256 begins {found[:12]}, that of "
            f"'{owner}' {sha256[:12]}. Repair it with: {repair}."
        )
