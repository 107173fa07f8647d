"""From a live network, a pipeline or a CrossEncoder to a proved `Model`."""

from typing import Any

import torch
from torch import nn
from transformers import (
    Pipeline,
    PreTrainedModel,
    PreTrainedTokenizerBase,
)

from headlight.errors import UnsupportedModel, unknown_name
from headlight.models.architectures import ARCHITECTURES, Architecture
from headlight.models.model import POOLED, Model, Task, has_two_bodies, task_of
from headlight.proof.proof import proved
from headlight.running.undisturbed import plain_state, undisturbed

PIPELINES = {
    "text-classification": Task.SEQUENCE,
    "token-classification": Task.TOKEN,
    "question-answering": Task.QUESTION,
    "fill-mask": Task.MASKED,
    "text-generation": Task.CAUSAL,
}
"""Pipelines whose result is one decision of their network's head."""


def wrap(
    network: nn.Module | Pipeline,
    tokenizer: PreTrainedTokenizerBase | None = None,
    *,
    name: str | None = None,
    task: str | None = None,
) -> Model:
    """A model from a live Hugging Face network, from a pipeline, or from a CrossEncoder.

    Without a tokenizer only `Batch` inputs can be explained. The network is never changed; a PEFT model is
    explained with its adapters. `task` says what the head decides if the name of the network's class does not.
    """
    network, its_tokenizer = unpacked(network)
    tokenizer = tokenizer or its_tokenizer
    network = getattr(network, "_orig_mod", network)  # the network that torch.compile wrapped
    get_base_model: Any = getattr(network, "get_base_model", None)
    if get_base_model is not None:
        adapted: Any = network
        if adapted.active_peft_config.is_prompt_learning:
            raise UnsupportedModel(
                "a PEFT model with learned prompts adds tokens that are in no text, so their scores could "
                "not be shown. Use adapters inside the layers, such as LoRA."
            )
        network = get_base_model()
    if not isinstance(network, PreTrainedModel):
        raise UnsupportedModel(
            f"a {type(network).__name__} cannot be wrapped. Give a Hugging Face network "
            "(transformers.PreTrainedModel) or a pipeline; a name or folder goes to headlight.load."
        )
    check_in_memory(network)
    check_bodies(network, task)
    model = Model(
        network=network,
        tokenizer=tokenizer,
        name=name or network.config.name_or_path or type(network).__name__,
        task=task_of(network) if task is None else task_named(task),
        architecture=architecture_of(network),
    )
    return undisturbed(lambda: proved(model), plain_state(), torch.enable_grad())


def unpacked(network: Any) -> tuple[Any, Any]:
    """The network and tokenizer in a pipeline or a CrossEncoder; anything else unchanged, with None."""
    if isinstance(network, Pipeline):
        if network.task not in PIPELINES:
            raise UnsupportedModel(
                f"a pipeline for {network.task} combines several decisions of its network. Explain one of "
                "them: wrap(pipeline.model, pipeline.tokenizer), with the texts that the pipeline gives to "
                "it. Pipelines that can be wrapped: " + ", ".join(PIPELINES) + "."
            )
        return network.model, network.tokenizer
    # By name, so that sentence-transformers need not be installed.
    parents = {parent.__name__ for parent in type(network).__mro__}
    if "CrossEncoder" in parents:
        return network.model, network.tokenizer
    if "SentenceTransformer" in parents:
        raise UnsupportedModel(
            "a SentenceTransformer gives vectors and decides nothing, so there is nothing to explain. Use "
            "a CrossEncoder, or a network with a head."
        )
    return network, None


def architecture_of(network: PreTrainedModel) -> Architecture | None:
    """The row of the table for a network; None for a custom class that is built differently."""
    row = ARCHITECTURES.get(network.config.model_type)
    is_custom = not type(network).__module__.startswith("transformers.")
    first = row.blocks.split(".")[0] if row else ""
    return None if is_custom and not hasattr(network.base_model, first) else row


def check_bodies(network: PreTrainedModel, task: str | None) -> None:
    """Refuse encoder-decoders whose decoder reads anything but the text itself."""
    parents = [parent.__name__ for parent in type(network).__mro__]
    is_classifier = task in POOLED or any(
        name.endswith("ForSequenceClassification") for name in parents
    )
    if has_two_bodies(network) and not is_classifier:
        raise UnsupportedModel(
            f"{type(network).__name__} is an encoder-decoder whose decoder reads another text than its "
            "encoder, such as what it has written so far, or decides about every token of it. headlight "
            "explains encoder-decoders that classify texts, such as BartForSequenceClassification; for "
            "generation use a causal language model, such as Llama."
        )


def check_in_memory(network: PreTrainedModel) -> None:
    """Refuse a network whose weights are fetched from elsewhere while it runs, or were never loaded."""
    tensors = [*network.named_parameters(), *network.named_buffers()]
    absent = [name for name, tensor in tensors if tensor.is_meta]
    if absent:
        raise UnsupportedModel(
            f"{len(absent)} of {len(tensors)} weights of {type(network).__name__} are not in memory (offloaded "
            f"to disk, or on the device 'meta'), such as {absent[0]}. headlight reads weights beside running "
            "the network, so all must be in memory: load it onto devices that hold it whole (device_map, "
            "device='cpu'), or in a smaller type (dtype='bfloat16')."
        )


def task_named(task: str) -> Task:
    """A task by its name."""
    known = {member.value: member for member in Task}
    if task not in known:
        raise unknown_name("task", task, known)
    return known[task]
