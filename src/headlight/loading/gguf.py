"""GGUF weights as half-precision safetensors, converted once and cached: reading GGUF takes a minute."""

import json
import tempfile
from contextlib import redirect_stderr
from importlib.util import find_spec
from io import StringIO
from pathlib import Path

import torch
from safetensors import SafetensorError
from torch import nn
from transformers import AutoModelForCausalLM, AutoTokenizer

from headlight.errors import InvalidInput, MissingExtra
from headlight.files.cache import CACHE_VARIABLE, cache_folder
from headlight.loading.bases import Base, base_folder
from headlight.loading.digests import digest
from headlight.loading.quiet import quiet

LEDGER = "headlight.json"
"""The file of a converted folder that names the base it was made from, and the sha256 of all its files."""


def converted(base: Base) -> Path:
    """A folder that `from_pretrained` reads in seconds; a damaged or unfinished one is made again."""
    folder = cache_folder() / f"{base.module}-{base.sha256[:12]}"
    if is_whole(folder, base):
        return folder
    source = base_folder(base)
    if find_spec("gguf") is None:
        raise MissingExtra(
            f"'{base.name}' is a GGUF file, and the package that reads it is not installed. "
            "Run: pip install 'headlight[llm]'."
        )
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=folder.parent, prefix="unfinished-") as unfinished:
            made = Path(unfinished) / "made"
            convert(source, base, made)
            put_in_place(made, folder, Path(unfinished) / "damaged", base)
    except (OSError, SafetensorError) as error:
        raise InvalidInput(
            f"'{base.name}' cannot be unpacked into '{folder.parent}': {error}. Set {CACHE_VARIABLE} "
            "to a folder with 300 MB of free space."
        ) from error
    return folder


def is_whole(folder: Path, base: Base) -> bool:
    """Whether a folder holds exactly the files that were made from this base, byte for byte."""
    try:
        ledger = json.loads((folder / LEDGER).read_text(encoding="utf-8"))
        return bool(ledger == record(folder, base))
    except (OSError, ValueError):
        return False


def record(folder: Path, base: Base) -> dict[str, object]:
    """What the ledger of a folder must hold: the base, and the sha256 of every other file."""
    files = {file.name: digest(file) for file in sorted(folder.iterdir()) if file.name != LEDGER}
    return {"base": base.sha256, "files": files}


def convert(source: Path, base: Base, made: Path) -> None:
    """Write the network and tokenizer of a GGUF file into a folder, the ledger last."""
    # Reading GGUF draws its own progress bar, which no setting of transformers turns off.
    with quiet(), redirect_stderr(StringIO()):
        packed = AutoModelForCausalLM.from_pretrained(
            source, gguf_file=base.weights, dtype=torch.float16
        )
        # A network without the GGUF's quantisation, because a quantised one cannot be saved as it is.
        del packed.config.quantization_config
        plain = type(packed)(packed.config)
        # Not plain.to: transformers wraps it in a way that hides its types from mypy.
        nn.Module.to(plain, torch.float16)
        plain.load_state_dict(packed.state_dict())
        plain.save_pretrained(made)
        AutoTokenizer.from_pretrained(source, gguf_file=base.weights).save_pretrained(made)
    (made / LEDGER).write_text(json.dumps(record(made, base), indent=1), encoding="utf-8")


def put_in_place(made: Path, folder: Path, damaged: Path, base: Base) -> None:
    """Rename a finished folder to its final name, replacing a damaged one.

    If another process was faster, its folder stays and this one is deleted.
    """
    if folder.is_symlink() or folder.is_file():
        folder.unlink()
    elif folder.is_dir() and not is_whole(folder, base):
        folder.rename(damaged)
    try:
        made.rename(folder)
    except OSError:
        if not is_whole(folder, base):
            raise
