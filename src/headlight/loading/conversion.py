"""Weights in formats that take long to read (GGUF, ONNX), converted to safetensors once and cached."""

import json
import tempfile
from collections.abc import Callable
from contextlib import redirect_stderr
from dataclasses import dataclass
from importlib.util import find_spec
from io import StringIO
from pathlib import Path

import torch
from safetensors import SafetensorError
from torch import nn
from transformers import AutoModelForCausalLM, AutoTokenizer, BertConfig, BertModel

from headlight.errors import InvalidInput, MissingExtra
from headlight.files.cache import CACHE_VARIABLE, cache_folder
from headlight.loading.bases import Base, base_files, base_folder
from headlight.loading.digests import digest
from headlight.loading.onnx_bert import bert_weights
from headlight.loading.quiet import quiet

LEDGER = "headlight.json"
"""The file of a converted folder that names the base it was made from, and the sha256 of all its files."""


def convert_gguf(source: Path, base: Base, made: Path) -> None:
    """Write the network and tokenizer of a GGUF file into a folder, in half precision."""
    # Reading GGUF draws its own progress bar, which no setting of transformers turns off.
    with redirect_stderr(StringIO()):
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


def convert_onnx(source: Path, base: Base, made: Path) -> None:
    """Write the encoder and tokenizer of an ONNX file into a folder, in 32 bits, which lose nothing."""
    network = BertModel(BertConfig.from_pretrained(source), add_pooling_layer=False)
    network.load_state_dict(bert_weights(source / base.weights))
    network.save_pretrained(made)
    AutoTokenizer.from_pretrained(source).save_pretrained(made)


@dataclass(frozen=True)
class Format:
    """A format of weights: the package that reads it, the extra that installs that, and how it is converted."""

    name: str
    package: str
    extra: str
    convert: Callable[[Path, Base, Path], None]


FORMATS = {
    ".gguf": Format("GGUF", "gguf", "llm", convert_gguf),
    ".onnx": Format("ONNX", "onnx", "models", convert_onnx),
}


def network_folder(base: Base) -> Path:
    """The folder of a base from which transformers reads its network."""
    return converted(base) if Path(base.weights).suffix in FORMATS else base_folder(base)


def converted(base: Base) -> Path:
    """A folder that `from_pretrained` reads in seconds; a damaged or unfinished one is made again."""
    folder = cache_folder() / f"{base.module}-{base.sha256[:12]}"
    if is_whole(folder, base):
        return folder
    kind = FORMATS[Path(base.weights).suffix]
    with base_files(base) as source:
        if find_spec(kind.package) is None:
            raise MissingExtra(
                f"'{base.name}' is a file of the format {kind.name}, and the package that reads it is not "
                f"installed. Run: pip install 'headlight[{kind.extra}]'."
            )
        make(source, base, kind, folder)
    return folder


def make(source: Path, base: Base, kind: Format, folder: Path) -> None:
    """Convert the files of a base into a folder of the cache, complete or not at all."""
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=folder.parent, prefix="unfinished-") as unfinished:
            made = Path(unfinished) / "made"
            with quiet():
                kind.convert(source, base, made)
            (made / LEDGER).write_text(json.dumps(record(made, base), indent=1), encoding="utf-8")
            put_in_place(made, folder, Path(unfinished) / "damaged", base)
    except (OSError, SafetensorError) as error:
        raise InvalidInput(
            f"'{base.name}' cannot be unpacked into '{folder.parent}': {error}. Set {CACHE_VARIABLE} "
            "to a folder with 300 MB of free space."
        ) from error


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
