"""What the folder of a PEFT adapter says about itself, read without torch or peft."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from headlight.models.task import Task

CONFIG = "adapter_config.json"
WEIGHTS = ("adapter_model.safetensors", "adapter_model.bin")
TASKS = {
    "SEQ_CLS": Task.SEQUENCE,
    "TOKEN_CLS": Task.TOKEN,
    "QUESTION_ANS": Task.QUESTION,
    "CAUSAL_LM": Task.CAUSAL,
}
"""PEFT's names of the tasks that headlight explains."""


@dataclass(frozen=True)
class PeftFolder:
    """The folder of an adapter: its base, which is a folder or a hub name, and its task if it says so."""

    folder: Path
    base: str
    task: Task | None

    @property
    def described_at(self) -> str:
        """Where the network's config is: beside the adapter, which knows its labels, or with the base."""
        return str(self.folder) if (self.folder / "config.json").is_file() else self.base

    @property
    def spelled_at(self) -> str:
        """Where the tokenizer is: beside the adapter, or with the base."""
        has_own = any((self.folder / name).is_file() for name in ("tokenizer.json", "vocab.txt"))
        return str(self.folder) if has_own else self.base


def peft_folder(folder: Path) -> PeftFolder | None:
    """The adapter in a folder; None if there is none. A ValueError says what is wrong with it."""
    path = folder / CONFIG
    if not path.is_file():
        return None
    try:
        config: Any = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise ValueError(f"its {CONFIG} cannot be read: {error}") from error
    base = config.get("base_model_name_or_path") if isinstance(config, dict) else None
    if not isinstance(base, str) or not base:
        raise ValueError(f"its {CONFIG} does not name a base (base_model_name_or_path)")
    if not any((folder / name).is_file() for name in WEIGHTS):
        raise ValueError(f"it has an {CONFIG} but no weights ({WEIGHTS[0]})")
    return PeftFolder(folder, place_of(base, folder), TASKS.get(str(config.get("task_type"))))


def place_of(base: str, folder: Path) -> str:
    """The folder of a base, which may be named relative to the adapter; else the name as it is."""
    near = folder / base
    is_here = Path(base).expanduser().is_dir()
    return str(near.resolve()) if not is_here and near.is_dir() else base
