"""GGUF weights as half-precision safetensors, made once and kept in the cache: reading GGUF takes a minute."""

import os
import shutil
import tempfile
from importlib.util import find_spec
from pathlib import Path

import torch
from torch import nn
from transformers import AutoModelForCausalLM, AutoTokenizer

from headlight.errors import MissingExtra
from headlight.models.bases import Base, base_folder, check_bytes
from headlight.models.quiet import quiet

CACHE_VARIABLE = "HEADLIGHT_CACHE"


def cache_folder() -> Path:
    """Where headlight keeps what it has worked out; HEADLIGHT_CACHE moves it."""
    if given := os.environ.get(CACHE_VARIABLE):
        return Path(given)
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "headlight"


def converted(base: Base) -> Path:
    """A folder that `from_pretrained` reads in seconds; written whole or not at all."""
    folder = cache_folder() / f"{base.module}-{base.sha256[:12]}"
    if folder.is_dir():
        return folder
    source = base_folder(base)
    check_bytes(source / base.weights, base)
    if find_spec("gguf") is None:
        raise MissingExtra(
            f"'{base.name}' is a GGUF file, and the package that reads it is not installed. "
            "Run: pip install 'headlight[llm]'."
        )
    folder.parent.mkdir(parents=True, exist_ok=True)
    unfinished = Path(tempfile.mkdtemp(dir=folder.parent, prefix="unfinished-"))
    try:
        with quiet():
            packed = AutoModelForCausalLM.from_pretrained(
                source, gguf_file=base.weights, dtype=torch.float16
            )
            del packed.config.quantization_config
            plain = type(packed)(packed.config)
            nn.Module.to(plain, torch.float16)
            plain.load_state_dict(packed.state_dict())
            plain.save_pretrained(unfinished)
            AutoTokenizer.from_pretrained(source, gguf_file=base.weights).save_pretrained(
                unfinished
            )
        if not folder.is_dir():
            unfinished.rename(folder)
    finally:
        shutil.rmtree(unfinished, ignore_errors=True)
    return folder
