"""Files that are written whole or not at all, and tensors in them that say what they are."""

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from safetensors import SafetensorError, safe_open
from safetensors.torch import save
from torch import Tensor

from headlight.errors import InvalidInput


def write_whole(path: str | Path, content: str | bytes, *, flush: bool = False) -> None:
    """Write a file under a temporary name and rename it, so that a half-written one is never seen.

    flush: wait until the disk has it, so that not even a power cut leaves a part.
    """
    path = Path(path)
    temporary = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        with temporary.open("wb") as file:
            file.write(content.encode() if isinstance(content, str) else content)
            if flush:
                file.flush()
                os.fsync(file.fileno())
        temporary.replace(path)
    except OSError as error:
        temporary.unlink(missing_ok=True)
        raise InvalidInput(f"'{path}' cannot be written: {error.strerror}.") from error


def write_tensors(
    path: str | Path, tensors: Mapping[str, Tensor], kind: str, about: Mapping[str, Any]
) -> None:
    """Tensors as safetensors, with their kind and what is to be said about them."""
    stored = {name: tensor.contiguous() for name, tensor in tensors.items()}
    facts = {"format": f"headlight {kind} 1", "about": json.dumps(dict(about), sort_keys=True)}
    write_whole(path, save(stored, facts))


def read_tensors(path: str | Path, kind: str) -> tuple[dict[str, Tensor], dict[str, Any]]:
    """Tensors of that kind, and what was said about them."""
    try:
        with safe_open(path, "pt") as file:
            facts = file.metadata() or {}
            tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
    except (OSError, SafetensorError) as error:
        raise InvalidInput(f"no {kind} can be read from '{path}': {error}.") from error
    if facts.get("format") != f"headlight {kind} 1":
        raise InvalidInput(f"'{path}' holds no {kind}: it does not say 'headlight {kind} 1'.")
    return tensors, json.loads(facts["about"])
