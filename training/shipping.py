"""Write the table of the files of headlight-models and their checksums: `src/headlight/loading/shipped.json`.

    python training/shipping.py

The scripts that write weights call this themselves; run it by hand after deleting a file.
"""

import json
import os
import tomllib
from pathlib import Path

from headlight.loading.digests import digest
from headlight.loading.shipped import VARIABLE, shipment

HOME = Path(__file__).parent.parent
PROJECT = HOME / "headlight-models"
FOLDER = PROJECT / "src" / "headlight_models"
TABLE = HOME / "src" / "headlight" / "loading" / "shipped.json"
RIVALS = HOME / "benchmarks" / "faithfulness" / "rivals"
"""Where adapters of other seeds are, which only a benchmark reads."""


def adapter_place(name: str, seed: int) -> Path:
    """Where the adapter of a recipe belongs: in the package, or among the rivals if it has another seed."""
    if seed:
        return RIVALS / f"{name}-{seed}.safetensors"
    return FOLDER / "adapters" / f"{name}.safetensors"


def mask_place(source: str) -> Path:
    """Where the mask of an embedded model belongs, or that of an adapter file."""
    if source.endswith(".safetensors"):
        return Path(source).with_suffix(".mask.safetensors")
    return FOLDER / "masks" / f"{source}.safetensors"


def table() -> dict[str, object]:
    """The release of headlight-models and the sha256 of its files, as they are now in this repository."""
    project = tomllib.loads((PROJECT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    files = (each for each in FOLDER.glob("*/**/*") if each.is_file() and each.suffix != ".pyc")
    return {
        "release": f"{project['name']}=={project['version']}",
        "files": {each.relative_to(FOLDER).as_posix(): digest(each) for each in sorted(files)},
    }


def renew_table() -> None:
    """Write the table of what is in this repository now."""
    TABLE.write_text(json.dumps(table(), indent=1) + "\n", encoding="utf-8")
    shipment.cache_clear()


def use_repository() -> None:
    """Let this process read the files of this repository, which may be newer than what is installed."""
    os.environ[VARIABLE] = str(FOLDER)


if __name__ == "__main__":
    renew_table()
