"""From a name, folder or adapter file to a `Model`: embedded, on this machine, or from the hub."""

import struct
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from pickle import UnpicklingError
from typing import Any

import torch
from safetensors import SafetensorError
from transformers import (
    AutoConfig,
    AutoModelForCausalLM,
    AutoModelForMaskedLM,
    AutoModelForQuestionAnswering,
    AutoModelForSequenceClassification,
    AutoModelForTokenClassification,
    AutoTokenizer,
    PreTrainedModel,
)

from headlight.errors import UnsupportedModel, unknown_name
from headlight.loading.embedded import load_embedded
from headlight.loading.names import check_name, entry_of, is_only_cached, refused
from headlight.loading.quiet import quiet
from headlight.loading.wrap import wrap
from headlight.models.model import HEADS, Model, Task

AUTO_CLASSES = {
    Task.SEQUENCE: AutoModelForSequenceClassification,
    Task.TOKEN: AutoModelForTokenClassification,
    Task.QUESTION: AutoModelForQuestionAnswering,
    Task.MASKED: AutoModelForMaskedLM,
    Task.CAUSAL: AutoModelForCausalLM,
}

UNREADABLE = (
    AssertionError,
    AttributeError,
    EOFError,
    ImportError,
    LookupError,
    OSError,
    RuntimeError,
    SafetensorError,
    TypeError,
    UnpicklingError,
    ValueError,
    struct.error,
)
"""What transformers and torch raise for files that are damaged, or are not what their name says."""


def load(name: str | Path, *, task: str | None = None, dtype: torch.dtype = torch.float32) -> Model:
    """A model by catalogue name, folder, adapter file or hub name, by default in 32 bits.

    The task is read from the class that the checkpoint was saved from; `task` overrides it.
    """
    source = str(name)
    entry = entry_of(source)
    if entry is not None:
        network, tokenizer = load_embedded(entry, dtype)
        return replace(wrap(network, tokenizer, name=source), reads=entry.reads)
    check_name(source)
    place = found_at(source)
    try:
        config = AutoConfig.from_pretrained(**place)
        head = AUTO_CLASSES[chosen_task(config, task, source)]
        tokenizer = AutoTokenizer.from_pretrained(**place)
        with quiet():
            # weights_only: a pickled checkpoint is read without running code from it.
            network, report = head.from_pretrained(
                **place, dtype=dtype, weights_only=True, output_loading_info=True
            )
    except UNREADABLE as error:
        said = (str(error).strip().splitlines() or [type(error).__name__])[0]
        raise refused(source, said) from error
    check_complete(network, report["missing_keys"], source)
    return wrap(network.eval(), tokenizer, name=source)


def check_complete(network: PreTrainedModel, missing: Iterable[str], source: str) -> None:
    """Refuse a network with parameters that its checkpoint does not have: they would be random."""
    random = sorted(set(missing) & {name for name, _ in network.named_parameters()})
    if random:
        raise UnsupportedModel(
            f"the checkpoint '{source}' has no weights for {', '.join(random[:4])}"
            f"{' …' if len(random) > 4 else ''} of {type(network).__name__}: they would be random, and so "
            "would its decisions. Give a checkpoint that was trained for this task."
        )


def found_at(source: str) -> dict[str, Any]:
    """Arguments of `from_pretrained` for a folder or a hub model, so that code in it is never run."""
    folder = Path(source).expanduser()
    if folder.is_dir():
        return {"pretrained_model_name_or_path": str(folder), "trust_remote_code": False}
    return {
        "pretrained_model_name_or_path": source,
        "trust_remote_code": False,
        "local_files_only": is_only_cached(source),
    }


def chosen_task(config: Any, task: str | None, source: str) -> Task:
    """The task asked for, or that of the class the checkpoint was saved from."""
    if task is not None:
        known = {t.value: t for t in AUTO_CLASSES}
        if task not in known:
            raise unknown_name("task", task, known)
        return known[task]
    for saved in config.architectures or []:
        for suffix, saved_task in HEADS.items():
            if saved.endswith(suffix):
                return saved_task
    raise UnsupportedModel(
        f"the checkpoint '{source}' says it is {config.architectures or 'of no class'}, which has no "
        f"head to explain. Say which task to use, task= one of {', '.join(map(repr, AUTO_CLASSES))}."
    )
