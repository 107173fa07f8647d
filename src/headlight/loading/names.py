"""What the name of a model means, before anything is loaded: an embedded model, a folder, or a hub model."""

import json
import re
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from headlight.errors import InvalidInput, UnknownName
from headlight.loading.adapter_facts import adapter_entry
from headlight.loading.bases import local_folder
from headlight.loading.catalogue import CATALOGUE, Embedded
from headlight.loading.hub import YES, cached_file, hub_answers
from headlight.loading.peft_folders import PeftFolder, peft_folder
from headlight.models.task import HEADS, Task

HUB_NAME = re.compile(r"[\w][\w.-]*(/[\w][\w.-]*)?", re.ASCII)
WEIGHTS = ("*.safetensors", "*.bin", "*.index.json", "*.gguf", "*.h5", "*.msgpack")
"""Files that hold weights or say where they are; transformers itself refuses those that it cannot read."""


def entry_of(name: str | Path) -> Embedded | None:
    """The catalogue's entry for a name, or an entry for an adapter file; None for other models."""
    return CATALOGUE.get(str(name)) or adapter_entry(str(name))


def refused(source: str, reason: str) -> InvalidInput:
    """The error for a name from which no model can be loaded."""
    return InvalidInput(
        f"no model could be loaded from '{source}': {reason.rstrip('.')}. "
        f"Give the name of an embedded model ({', '.join(CATALOGUE)}), a folder with config.json "
        "and weights, the file of an adapter on an embedded base, or the name of a model on the hub (which "
        "must be reachable or cached)."
    )


def check_name(name: str | Path) -> None:
    """Refuse a name that cannot be a model, without asking the hub."""
    source = str(name)
    if entry_of(source) is not None:
        return
    path = Path(source).expanduser()
    try:
        if path.is_dir() and source.strip():
            check_folder(path, source)
            return
        is_file = path.exists() and bool(source.strip())
    except OSError as error:
        raise refused(source, f"it cannot be read ({error.strerror})") from error
    if is_file:
        raise refused(source, f"it is a file, and not an adapter. Its folder is '{path.parent}'")
    check_absent(source)


def check_absent(source: str) -> None:
    """Refuse a name without a folder, unless the hub may know it."""
    is_path = source.startswith((".", "/", "~")) or "\\" in source or source.count("/") > 1
    if is_path:
        raise refused(source, "there is no such folder")
    if not HUB_NAME.fullmatch(source):
        raise refused(source, "there is no such folder, and no hub model can have such a name")
    near = get_close_matches(source.lower(), CATALOGUE, n=1, cutoff=0.6)
    if near and "/" not in source and cached_file(source, "config.json") is None:
        raise UnknownName(
            f"no model named '{source}'. Did you mean '{near[0]}'? Embedded models: {', '.join(CATALOGUE)}. "
            "Name a hub model as OWNER/NAME, and a folder by its path."
        )


def is_only_cached(source: str) -> bool:
    """Whether a hub model is only in the cache, because the hub does not answer; refused if in neither."""
    answer = hub_answers(source)
    if answer != YES and cached_file(source, "config.json") is None:
        raise refused(source, answer)
    return answer != YES


def check_folder(path: Path, source: str) -> None:
    """Refuse a folder that holds no model."""
    present = {file.name for file in path.iterdir()}
    if not present:
        raise refused(source, "the folder is empty")
    adapter = adapter_in(path, source)
    if adapter is not None:
        check_base(adapter, source)
        return
    if "config.json" not in present:
        inside = sorted(file.parent.name for file in path.glob("*/config.json"))
        hint = f", but its folders {', '.join(map(repr, inside[:3]))} have one" if inside else ""
        raise refused(source, f"the folder has no config.json{hint}")
    read_config(path / "config.json", source)
    if not any(any(path.glob(pattern)) for pattern in WEIGHTS):
        raise refused(
            source, "the folder has no weights (model.safetensors) beside its config.json"
        )


def adapter_in(path: Path, source: str) -> PeftFolder | None:
    """The PEFT adapter in a folder, if there is one."""
    try:
        return peft_folder(path)
    except ValueError as error:
        raise refused(source, str(error)) from error


def check_base(adapter: PeftFolder, source: str) -> None:
    """Refuse an adapter whose base cannot be a model."""
    base = Path(adapter.base).expanduser()
    if base.is_dir() and peft_folder(base) is None:
        check_folder(base, adapter.base)
    elif base.is_dir() or not HUB_NAME.fullmatch(adapter.base):
        found = "is an adapter itself" if base.is_dir() else "is not here"
        raise refused(
            source,
            f"it holds a PEFT adapter on the base '{adapter.base}', which {found}. Correct "
            "base_model_name_or_path in its adapter_config.json, or load both with peft and give the "
            "result to headlight.wrap",
        )


def read_config(path: Path, source: str) -> dict[str, Any]:
    """The stored settings of a network."""
    try:
        config = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise refused(source, f"its config.json cannot be read: {error}") from error
    if not isinstance(config, dict) or not isinstance(config.get("model_type"), str):
        raise refused(source, "its config.json has no model_type")
    return config


def known_config(name: str | Path) -> dict[str, Any]:
    """The settings of a model if it is on this machine, else {}."""
    source = str(name)
    folder = Path(source).expanduser()
    entry = entry_of(source)
    if entry is not None:
        folder = local_folder(entry.base) or folder
    path = folder / "config.json"
    if not path.is_file():
        path = cached_file(source, "config.json") or path
    return read_config(path, source) if path.is_file() else {}


def known_task(name: str | Path) -> Task | None:
    """What a model decides, if its name or settings say so."""
    entry = entry_of(name)
    if entry is not None:
        return entry.task
    saved = known_config(name).get("architectures") or []
    tasks = (task for name in saved for suffix, task in HEADS.items() if str(name).endswith(suffix))
    return next(tasks, None)


def known_labels(name: str | Path) -> list[str]:
    """The labels of a classifier, where its name or settings tell; nothing where they do not."""
    if known_task(name) not in (Task.SEQUENCE, Task.TOKEN):
        return []
    if str(name) in CATALOGUE:
        return list(CATALOGUE[str(name)].labels)
    labels = known_config(name).get("id2label")
    return [str(label) for label in labels.values()] if isinstance(labels, dict) else []
