"""From a name, folder or adapter file to a `Model`: embedded, on this machine, or from the hub."""

import struct
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from pickle import UnpicklingError
from typing import Any

import torch
from safetensors import SafetensorError
from torch import nn
from transformers import (
    AutoConfig,
    AutoModelForCausalLM,
    AutoModelForMaskedLM,
    AutoModelForQuestionAnswering,
    AutoModelForSequenceClassification,
    AutoModelForTokenClassification,
    AutoTokenizer,
    PreTrainedModel,
    PreTrainedTokenizerBase,
)

from headlight.errors import UnsupportedModel
from headlight.loading.devices import DeviceMap, Placement, placement
from headlight.loading.embedded import load_embedded
from headlight.loading.names import adapter_in, check_name, entry_of, is_only_cached, refused
from headlight.loading.peft_adapters import adapted, label_count, still_missing, stored_weights
from headlight.loading.peft_folders import PeftFolder
from headlight.loading.quiet import quiet
from headlight.loading.wrap import task_named, wrap
from headlight.models.model import HEADS, Model, Task

AUTO_CLASSES = {
    Task.SEQUENCE: AutoModelForSequenceClassification,
    Task.REGRESSION: AutoModelForSequenceClassification,
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


def load(
    name: str | Path,
    *,
    task: str | None = None,
    dtype: torch.dtype | str = torch.float32,
    device: str | torch.device | None = None,
    device_map: DeviceMap | None = None,
) -> Model:
    """A model by catalogue name, folder, adapter file or folder, or hub name; by default in 32 bits.

    task: what its head decides; by default read from the class that the checkpoint was saved from.
    dtype: a torch type or its name; 'auto' keeps the type in which the checkpoint was saved.
    device: where to put it, such as 'cuda' or 'cuda:1'; by default where transformers puts it.
    device_map: spreads it over several devices, as in `from_pretrained`; needs the package accelerate.
    """
    source = str(name)
    place = placement(dtype, device, device_map)
    entry = entry_of(source)
    if entry is not None:
        network, tokenizer = load_embedded(entry, place)
        return replace(wrap(network, tokenizer, name=source), reads=entry.reads)
    check_name(source)
    said = None if task is None else task_named(task)
    folder = Path(source).expanduser()
    adapter = adapter_in(folder, source) if folder.is_dir() else None
    found: nn.Module
    try:
        if adapter is None:
            found, tokenizer = loaded(source, said, place)
        else:
            found, tokenizer = loaded_with_adapter(adapter, source, said, place)
    except UNREADABLE as error:
        told = (str(error).strip().splitlines() or [type(error).__name__])[0]
        raise refused(source, told) from error
    # A classifier may be a regression; its own class and config tell which.
    return wrap(found, tokenizer, name=source, task=None if said is Task.SEQUENCE else said)


def loaded(
    source: str, task: Task | None, place: Placement
) -> tuple[PreTrainedModel, PreTrainedTokenizerBase]:
    """The network and tokenizer of a checkpoint."""
    where = found_at(source)
    config = AutoConfig.from_pretrained(**where)
    head = AUTO_CLASSES[task or saved_task(config, source)]
    tokenizer = AutoTokenizer.from_pretrained(**where)
    network, missing = built(head, where, place)
    check_complete(network, missing, source)
    return network, tokenizer


def loaded_with_adapter(
    adapter: PeftFolder, source: str, task: Task | None, place: Placement
) -> tuple[nn.Module, PreTrainedTokenizerBase]:
    """The base network of a PEFT adapter with the adapter on it, and its tokenizer."""
    weights = stored_weights(adapter)
    config = AutoConfig.from_pretrained(**found_at(adapter.described_at))
    labels = label_count(weights)
    if labels is not None and labels != config.num_labels:
        config.num_labels = labels
    head = AUTO_CLASSES[task or adapter.task or saved_task(config, source)]
    tokenizer = AutoTokenizer.from_pretrained(**found_at(adapter.spelled_at))
    network, missing = built(head, found_at(adapter.base), place, config=config)
    check_complete(network, still_missing(missing, weights), source)
    with quiet():
        return adapted(network, adapter), tokenizer


def built(
    head: Any, where: dict[str, Any], place: Placement, **settings: Any
) -> tuple[PreTrainedModel, Iterable[str]]:
    """A network in its place, and the names of the parameters that its checkpoint does not have."""
    with quiet():
        # weights_only: a pickled checkpoint is read without running code from it.
        network, report = head.from_pretrained(
            **where, **place.arguments, **settings, weights_only=True, output_loading_info=True
        )
    place.put(network)
    return network.eval(), report["missing_keys"]


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


def saved_task(config: Any, source: str) -> Task:
    """The task of the class that a checkpoint was saved from."""
    for saved in config.architectures or []:
        for suffix, task in HEADS.items():
            if saved.endswith(suffix):
                return task
    raise UnsupportedModel(
        f"the checkpoint '{source}' says it is {config.architectures or 'of no class'}, which has no "
        f"head to explain. Say which task to use, task= one of {', '.join(map(repr, AUTO_CLASSES))}."
    )
