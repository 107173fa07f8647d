"""The manifest of a run: its settings, and the methods and metrics of every round, with a checksum."""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import MISSING, asdict, dataclass, field, fields
from pathlib import Path
from typing import Any

from headlight.errors import InvalidInput
from headlight.evaluation import MANIFEST
from headlight.evaluation.plan import Round
from headlight.evaluation.settings import Settings
from headlight.files.storage import write_whole

FORMAT = 2
"""The format of new runs. Format 1 had no checksums; its runs can still be read and resumed."""
FORMATS = (1, 2)


@dataclass(frozen=True)
class Manifest:
    """The settings of a run, and its rounds in the order in which they were added.

    given: a hash of the scores that were given to the run, by the names that stand for them in its rounds.
    """

    settings: Settings
    rounds: tuple[Round, ...]
    format: int = FORMAT
    given: Mapping[str, str] = field(default_factory=dict)


def write_manifest(folder: Path, manifest: Manifest) -> None:
    """Write a manifest completely and flush it to disk."""
    settings = manifest.settings.to_dict()
    if (
        settings["dtype"] == "float32"
    ):  # written as before types were stored, so that a run stays the same
        del settings["dtype"]
    kept = {
        "format": manifest.format,
        "settings": settings,
        "rounds": [asdict(each) for each in manifest.rounds],
    }
    if manifest.given:
        kept["given"] = dict(manifest.given)
    if manifest.format > 1:
        kept["checksum"] = checksum(kept)
    write_whole(folder / MANIFEST, json.dumps(kept, indent=1), flush=True)


def read_manifest(folder: Path) -> Manifest:
    """The manifest in a folder; refused with a reason if it is missing or damaged."""
    try:
        kept = json.loads((folder / MANIFEST).read_text(encoding="utf-8"))
    except FileNotFoundError as error:
        raise InvalidInput(
            f"there is no run in '{folder}'. Make one with: headlight evaluate --out {folder}."
        ) from error
    except (OSError, ValueError, RecursionError) as error:
        raise InvalidInput(f"the manifest of '{folder}' cannot be read: {error}.") from error
    if not isinstance(kept, dict) or "format" not in kept:
        raise InvalidInput(
            f"'{folder / MANIFEST}' is not the manifest of a run. Choose another folder."
        )
    if kept["format"] not in FORMATS or isinstance(kept["format"], bool):
        raise InvalidInput(
            f"'{folder}' holds a run of format {kept['format']!r}; this version reads "
            f"{' and '.join(map(str, FORMATS))}."
        )
    try:
        return understood(kept)
    except ValueError as error:
        raise InvalidInput(
            f"the manifest of '{folder}' is damaged: {error}. Restore it from a copy, or "
            "choose another folder."
        ) from error


def understood(kept: Mapping[str, Any]) -> Manifest:
    """A manifest from its JSON; a ValueError says what is wrong with it."""
    settings, rounds = settings_of(kept.get("settings")), rounds_of(kept.get("rounds"))
    if kept["format"] > 1 and kept.get("checksum") != checksum(kept):
        raise ValueError("its checksum does not match")
    given = kept.get("given", {})
    if not isinstance(given, dict) or not all(isinstance(each, str) for each in given.values()):
        raise ValueError("'given' is not an object of texts")
    return Manifest(settings, rounds, kept["format"], given)


def checksum(kept: Mapping[str, Any]) -> str:
    """The SHA-256 of everything else in a manifest."""
    rest = {name: value for name, value in kept.items() if name != "checksum"}
    return hashlib.sha256(json.dumps(rest, sort_keys=True).encode()).hexdigest()


WHOLE = ("count", "sanity", "shard", "threads")
TEXTS = ("model", "fingerprint", "data", "data_hash", "explain", "variant", "dtype")
LISTS = ("labels", "rivals")
OBJECTS = ("options", "versions")


def settings_of(kept: Any) -> Settings:
    """Settings from their JSON; a ValueError says what is wrong with them."""
    if not isinstance(kept, dict):
        raise ValueError("'settings' is not an object")
    known = {each.name: each for each in fields(Settings)}
    needed = [n for n, e in known.items() if e.default is e.default_factory is MISSING]
    for name in needed:
        if name not in kept:
            raise ValueError(f"'{name}' is missing")
    for name, value in kept.items():
        if name not in known:
            raise ValueError(f"'{name}' is not known")
        check_setting(name, value)
    given: dict[str, Any] = {n: tuple(v) if n in LISTS else v for n, v in kept.items()}
    return Settings(**given)


def check_setting(name: str, value: Any) -> None:
    """Refuse a value that a setting cannot have."""
    is_number = isinstance(value, int) and not isinstance(value, bool)
    fits = {
        **dict.fromkeys(WHOLE, is_number and value > 0),
        **dict.fromkeys(TEXTS, isinstance(value, str)),
        **dict.fromkeys(LISTS, is_list_of_texts(value)),
        **dict.fromkeys(OBJECTS, isinstance(value, dict)),
        "seed": is_number,
        "limit": is_number or value is None,
    }
    if not fits[name] or (name == "explain" and value not in ("predicted", "gold")):
        raise ValueError(f"'{name}' cannot be {value!r}")


def is_list_of_texts(value: Any) -> bool:
    """Whether a value from JSON is a list of strings."""
    return isinstance(value, list) and all(isinstance(each, str) for each in value)


def rounds_of(kept: Any) -> tuple[Round, ...]:
    """Rounds from their JSON; a ValueError says what is wrong with them."""
    if not isinstance(kept, list):
        raise ValueError("'rounds' is not a list")
    for number, each in enumerate(kept):
        fits = isinstance(each, dict) and set(each) == {"methods", "roles", "metrics"}
        fits = fits and is_list_of_texts(each["methods"]) and is_list_of_texts(each["roles"])
        fits = fits and isinstance(each["metrics"], dict)
        if not fits or not all(isinstance(options, dict) for options in each["metrics"].values()):
            raise ValueError(f"round {number} does not have methods, roles and metrics")
    return tuple(
        Round(tuple(each["methods"]), tuple(each["roles"]), each["metrics"]) for each in kept
    )
