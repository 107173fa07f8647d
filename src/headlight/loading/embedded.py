"""The networks of the catalogue and of adapter files: an adapter merged into its base, or the small LLM."""

from dataclasses import replace

import torch
from torch import nn
from transformers import (
    AutoModelForCausalLM,
    AutoTokenizer,
    BertConfig,
    BertForMaskedLM,
    BertForQuestionAnswering,
    BertForSequenceClassification,
    BertForTokenClassification,
    PreTrainedModel,
    PreTrainedTokenizerBase,
)

from headlight.loading.adapters import merge_adapter
from headlight.loading.bases import SMOLLM
from headlight.loading.catalogue import Embedded
from headlight.loading.conversion import network_folder
from headlight.loading.devices import Placement
from headlight.loading.quiet import quiet
from headlight.models.task import Task

CLASSES: dict[Task, type[PreTrainedModel]] = {
    Task.SEQUENCE: BertForSequenceClassification,
    Task.TOKEN: BertForTokenClassification,
    Task.QUESTION: BertForQuestionAnswering,
    Task.MASKED: BertForMaskedLM,
}


def load_embedded(
    entry: Embedded, placement: Placement
) -> tuple[PreTrainedModel, PreTrainedTokenizerBase]:
    """The network of an entry, as a plain Hugging Face model, and its tokenizer."""
    if entry.base is SMOLLM:
        folder = network_folder(SMOLLM)
        with quiet():
            llm = AutoModelForCausalLM.from_pretrained(folder, **placement.arguments)
        placement.put(llm)
        return llm, AutoTokenizer.from_pretrained(folder)
    adapter, folder = entry.adapter(), network_folder(entry.base)
    config = BertConfig.from_pretrained(folder)
    if entry.labels:
        config.id2label = dict(enumerate(entry.labels))
        config.label2id = {label: index for index, label in enumerate(entry.labels)}
    with quiet():
        # In 32 bits, as the base was saved, because the adapter is added to it.
        whole = replace(placement, dtype=torch.float32)
        network = CLASSES[entry.task].from_pretrained(folder, config=config, **whole.arguments)
    merge_adapter(network, adapter, entry.base.sha256)
    placement.put(network)
    if placement.dtype != "auto":
        # Not network.to: transformers wraps it in a way that hides its types from mypy.
        nn.Module.to(network, placement.dtype)
    return network, AutoTokenizer.from_pretrained(folder)
