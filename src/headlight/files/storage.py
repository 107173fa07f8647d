"""Files that are written whole or not at all, and files of tensors that say what they hold."""

import errno
import json
import os
import secrets
import stat
from collections.abc import Mapping
from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save
from torch import Tensor

from headlight.errors import InvalidInput

LONGEST = 50
"""Characters of a file's name that its temporary name repeats; names may have at most 255 bytes."""
EXCLUSIVE = os.O_WRONLY | os.O_CREAT | os.O_EXCL
EXCLUSIVE |= getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)


def write_whole(path: str | Path, content: str | bytes, *, flush: bool = False) -> None:
    """Write a file under a temporary name and rename it, so that a half-written one is never seen.

    A link is followed, and an existing file keeps its mode. Pipes, devices and this process's own standard
    output are written directly, because a rename would replace them.
    flush: wait until the file is on the disk, so that not even a power cut leaves only a part of it.
    """
    try:
        data = content.encode() if isinstance(content, str) else content
        known = status(path)
        if known is not None and is_written_directly(known):
            write_directly(path, data)
        else:
            replace_whole(Path(os.path.realpath(path)), data, known, flush)
    except UnicodeEncodeError as error:
        raise InvalidInput(
            f"'{path}' cannot be written: the text has half a character (a lone surrogate) at {error.start}."
        ) from error
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise InvalidInput(f"'{path}' cannot be written: {reason}.") from error


def save_json(path: str | Path, plain: Any, *, overwrite: bool) -> None:
    """Write plain values to a JSON file, whole or not at all; one that exists only if that is asked for."""
    if Path(path).exists() and not overwrite:
        raise InvalidInput(f"'{path}' exists. Choose another name, or pass overwrite=True.")
    write_whole(path, json.dumps(plain, ensure_ascii=False))


def status(path: str | Path) -> os.stat_result | None:
    """The status of what a path leads to, links followed; None if there is nothing."""
    try:
        return Path(path).stat()
    except FileNotFoundError:
        return None


def is_written_directly(known: os.stat_result) -> bool:
    """Whether a rename would replace a pipe or device, or the file that our own output goes to."""
    if not stat.S_ISREG(known.st_mode):
        return True
    for descriptor in (1, 2):
        with suppress(OSError):
            if os.path.samestat(known, os.fstat(descriptor)):
                return True
    return False


def write_directly(path: str | Path, data: bytes) -> None:
    """Append to what is there."""
    with os.fdopen(os.open(path, os.O_WRONLY | os.O_APPEND), "wb") as file:
        file.write(data)


def replace_whole(path: Path, data: bytes, known: os.stat_result | None, flush: bool) -> None:
    """Replace a regular file, or make a new one."""
    if known is not None and not os.access(path, os.W_OK):
        raise PermissionError(errno.EACCES, "it exists and may not be written")
    temporary = path.with_name(temporary_name(path.name))
    try:
        # A new file gets its mode from the umask. One that replaces another is private until it has that one's.
        descriptor = os.open(temporary, EXCLUSIVE, 0o666 if known is None else 0o600)
        with os.fdopen(descriptor, "wb") as file:
            file.write(data)
            if known is not None:
                keep_owner_and_mode(descriptor, known)
            if flush:
                file.flush()
                os.fsync(descriptor)
        temporary.replace(path)
    finally:
        with suppress(OSError):
            temporary.unlink(missing_ok=True)
    if flush:
        flush_folder(path.parent)


def temporary_name(name: str) -> str:
    """A temporary name for a file, which nobody can guess."""
    return f".{name[:LONGEST]}.{secrets.token_hex(8)}.tmp"


def keep_owner_and_mode(descriptor: int, known: os.stat_result) -> None:
    """Give an open file the owner and mode of the one it replaces, as far as we are allowed to."""
    if hasattr(os, "fchown"):
        with suppress(PermissionError):
            os.fchown(descriptor, known.st_uid, known.st_gid)
        os.fchmod(descriptor, stat.S_IMODE(known.st_mode))


def flush_folder(folder: Path) -> None:
    """Wait until the names in a folder are on the disk, if the system can flush folders."""
    with suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def write_tensors(
    path: str | Path,
    tensors: Mapping[str, Tensor],
    kind: str,
    about: Mapping[str, Any],
    version: int = 1,
) -> None:
    """Write tensors as safetensors, with their kind, its version, and facts about them."""
    stored = {name: tensor.contiguous() for name, tensor in tensors.items()}
    facts = {
        "format": f"headlight {kind} {version}",
        "about": json.dumps(dict(about), sort_keys=True),
    }
    facts["sha256"] = digest(stored, facts["about"])
    write_whole(path, save(stored, facts))


def read_tensors(
    path: str | Path, kind: str, newest: int = 1
) -> tuple[dict[str, Tensor], dict[str, Any], int]:
    """The tensors of a file of that kind, the facts about them, and the version; a damaged file is refused.

    Files of earlier versions have no checksum.
    """
    try:
        with safe_open(path, "pt") as file:
            facts = file.metadata() or {}
            tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
    except (OSError, SafetensorError, TypeError, ValueError) as error:
        raise InvalidInput(f"no {kind} can be read from '{path}': {error}.") from error
    versions = {f"headlight {kind} {number}": number for number in range(1, newest + 1)}
    version = versions.get(facts.get("format", ""))
    if version is None:
        raise InvalidInput(f"'{path}' holds no {kind}: it does not say '{max(versions)}'.")
    about = facts.get("about", "")
    if facts.get("sha256") not in (None, digest(tensors, about)):
        raise InvalidInput(
            f"'{path}' was changed or damaged: its checksum does not match. Make it again."
        )
    return tensors, facts_in(path, kind, about), version


def kind_in(path: str | Path) -> str:
    """What a file of tensors says that it holds, without the version; '' if it does not say."""
    try:
        with safe_open(path, "pt") as file:
            said = (file.metadata() or {}).get("format", "")
    except (OSError, SafetensorError):
        return ""
    return str(said).removeprefix("headlight ").rpartition(" ")[0]


def facts_in(path: str | Path, kind: str, about: str | None) -> dict[str, Any]:
    """The facts that a file states about its tensors."""
    try:
        facts = json.loads(about or "")
    except (ValueError, RecursionError) as error:
        raise InvalidInput(
            f"'{path}' does not say what its {kind} is about: {error}. Make it again."
        ) from error
    if not isinstance(facts, dict):
        raise InvalidInput(
            f"'{path}' does not say what its {kind} is about: 'about' is not an object. Make it again."
        )
    return facts


def digest(tensors: Mapping[str, Tensor], about: str) -> str:
    """A checksum of tensors with their names, types and shapes, and of the facts about them."""
    checksum = sha256(about.encode())
    for name in sorted(tensors):
        tensor = tensors[name].contiguous()
        checksum.update(f"{name} {tensor.dtype} {tuple(tensor.shape)}".encode())
        checksum.update(tensor.reshape(-1).view(torch.uint8).numpy().tobytes())
    return checksum.hexdigest()


def read_json(path: str | Path, kind: str) -> Any:
    """The value in a JSON file; the error says why it cannot be read."""
    try:
        return json.loads(Path(path).read_text(encoding="utf-8"))
    except RecursionError:
        reason = "it is nested too deeply"
    except (OSError, ValueError, TypeError) as error:
        reason = str(error)
    raise InvalidInput(f"no {kind} can be read from '{path}': {reason}.")
