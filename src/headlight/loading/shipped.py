"""The files of the package headlight-models: where they are, and a check of their bytes.

`shipped.json` names the release of that package and the sha256 of each of its files; `training/shipping.py`
writes it.
"""

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec
from pathlib import Path

from headlight.errors import InvalidInput, MissingExtra
from headlight.loading.digests import check_bytes

MODULE = "headlight_models"
VARIABLE = "HEADLIGHT_MODELS"
INSTALL = (
    "pip install 'headlight[models]', or in a clone of headlight: pip install ./headlight-models"
)


@dataclass(frozen=True)
class Shipment:
    """A release of headlight-models, as in 'headlight-models==1.0', and the sha256 of its files by path."""

    release: str
    files: Mapping[str, str]


@cache
def shipment() -> Shipment:
    """The release that this version of headlight reads."""
    table = Path(__file__).with_name("shipped.json")
    return Shipment(**json.loads(table.read_text(encoding="utf-8")))


def shipped_names(folder: str) -> list[str]:
    """The models that have a file in a folder of the package, whether or not it is installed."""
    paths = map(Path, shipment().files)
    return sorted(path.stem for path in paths if path.parent == Path(folder))


def models_folder() -> Path | None:
    """The folder with the shipped files: named by the variable, or of the package; None without either."""
    if named := os.environ.get(VARIABLE):
        if not Path(named).is_dir():
            raise InvalidInput(
                f"{VARIABLE} is '{named}', which is not a folder. Give the folder that holds adapters, masks "
                "and pipeline, or unset it."
            )
        return Path(named)
    spec = find_spec(MODULE)
    return Path(spec.origin).parent if spec and spec.origin else None


def required_folder() -> Path:
    """The folder with the shipped files; refused if there is none."""
    folder = models_folder()
    if folder is None:
        raise MissingExtra(
            "the embedded models are in a separate package, which is not installed. "
            f"Run: {INSTALL}."
        )
    return folder


def shipped(path: str) -> Path:
    """A file of the package, or a folder with everything in it, after a check of its bytes."""
    folder, known = required_folder(), shipment()
    # A file that is not in the table is refused too: whoever reads a whole folder might read it.
    for name in sorted(expected(path) | present(folder, path)):
        if name not in known.files:
            raise InvalidInput(f"'{folder / name}' is not a file of {known.release}. Remove it.")
        repair = f"pip install --no-deps --force-reinstall {known.release}"
        check_bytes(folder / name, known.files[name], known.release, repair)
    return folder / path


def expected(path: str) -> set[str]:
    """The names in the table of a file, or of all files in a folder."""
    inside = {name for name in shipment().files if name.startswith(f"{path}/")}
    return inside or {path}


def present(folder: Path, path: str) -> set[str]:
    """The names of the files that exist in a folder of the package; empty for a single file."""
    files = (file for file in (folder / path).rglob("*") if not file.is_dir())
    return {file.relative_to(folder).as_posix() for file in files}


def shipped_place() -> str:
    """Where the shipped files are, or how to get them, for people."""
    if named := os.environ.get(VARIABLE):
        return f"in {named} ({VARIABLE})"
    return "installed" if models_folder() else f"not here; {INSTALL}"
