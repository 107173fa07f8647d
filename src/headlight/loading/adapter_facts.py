"""What an adapter file says about itself, read without torch."""

import json
from pathlib import Path

from safetensors import SafetensorError, safe_open

from headlight.errors import InvalidInput
from headlight.loading.bases import BASES, MINILM
from headlight.loading.catalogue import Embedded
from headlight.models.task import Task

TASKS = {
    "classify": Task.SEQUENCE,
    "tag": Task.TOKEN,
    "answer": Task.QUESTION,
    "fill": Task.MASKED,
}
"""The names of tasks in the recipes of `training`."""


def adapter_facts(path: Path) -> dict[str, str]:
    """The facts that `training/train.py` writes into an adapter; {} for a file that is not an adapter."""
    try:
        if not path.is_file():
            return {}
        with safe_open(path, "numpy") as file:
            facts = file.metadata() or {}
    except (OSError, SafetensorError):
        return {}
    return facts if "base_sha256" in facts else {}


def adapter_entry(source: str) -> Embedded | None:
    """An entry like those of the catalogue for an adapter file; None for anything else."""
    if not source.endswith(".safetensors"):
        return None
    path = Path(source).expanduser()
    facts = adapter_facts(path)
    if not facts:
        return None
    try:
        recipe, labels = json.loads(facts["recipe"]), json.loads(facts["labels"])
        return Embedded(
            name=source,
            decides=" or ".join(labels) or f"what {recipe['task']} decides",
            data=", ".join(" ".join(part) for part in recipe["train"]),
            shown=" ".join(recipe["shown"]),
            labels=tuple(labels),
            task=TASKS[recipe["task"]],
            # An unknown base is refused when the adapter is merged, where its sha256 is compared.
            base=next((b for b in BASES if b.sha256 == facts["base_sha256"]), MINILM),
            file=path,
        )
    except (LookupError, TypeError, ValueError) as error:
        raise InvalidInput(
            f"the adapter '{source}' does not say what it decides ({type(error).__name__}: {error}): its "
            "metadata needs labels and recipe, as training/train.py writes them. Write it again."
        ) from error
