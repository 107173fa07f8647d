"""From a live network, a pipeline or a CrossEncoder to a `Model` that has been proved."""

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
from headlight.models.model import Model, Task, task_of
from headlight.proof.proof import proved
from headlight.running.undisturbed import plain_state, undisturbed

PIPELINES = {
    "text-classification": Task.SEQUENCE,
    "token-classification": Task.TOKEN,
    "question-answering": Task.QUESTION,
    "fill-mask": Task.MASKED,
    "text-generation": Task.CAUSAL,
}
"""Pipelines that say no more than the head of their network."""


def wrap(
    network: nn.Module | Pipeline,
    tokenizer: PreTrainedTokenizerBase | None = None,
    *,
    name: str | None = None,
    task: str | None = None,
) -> Model:
    """A model from a live Hugging Face network, from a pipeline, or from a CrossEncoder.

    Without a tokenizer only `Batch` inputs can be explained. The network is used as it is and left as
    it was; a PEFT model is explained with its adapters. `task` says what the head decides where the name
    of the network's class does not.
    """
    network, own_tokenizer = unpacked(network)
    tokenizer = tokenizer or own_tokenizer
    network = getattr(network, "_orig_mod", network)  # what torch.compile was given
    get_base_model: Any = getattr(network, "get_base_model", None)
    if get_base_model is not None:
        adapted: Any = network
        if adapted.active_peft_config.is_prompt_learning:
            raise UnsupportedModel(
                "a PEFT model with learned prompts adds tokens that no text has, so its scores would "
                "have no place. Adapters inside the layers (LoRA and its kin) are explained."
            )
        network = get_base_model()
    if not isinstance(network, PreTrainedModel):
        raise UnsupportedModel(
            f"a {type(network).__name__} cannot be wrapped. Give a Hugging Face network "
            "(transformers.PreTrainedModel) or a pipeline; a name or folder goes to headlight.load."
        )
    check_one_body(network)
    model = Model(
        network=network,
        tokenizer=tokenizer,
        name=name or network.config.name_or_path or type(network).__name__,
        task=task_of(network) if task is None else task_named(task),
        architecture=architecture_of(network),
    )
    return undisturbed(lambda: proved(model), plain_state(), torch.enable_grad())


def unpacked(given: Any) -> tuple[Any, Any]:
    """The network and tokenizer in a pipeline or a CrossEncoder; anything else as it is."""
    if isinstance(given, Pipeline):
        if given.task not in PIPELINES:
            raise UnsupportedModel(
                f"a pipeline for {given.task} makes its answer of more than one decision of its network. "
                "Explain one of them: wrap(pipeline.model, pipeline.tokenizer), with the texts that the "
                "pipeline gives it. Pipelines that are explained whole: "
                + ", ".join(PIPELINES)
                + "."
            )
        return given.model, given.tokenizer
    parents = {parent.__name__ for parent in type(given).__mro__}
    if "CrossEncoder" in parents:
        return given.model, given.tokenizer
    if "SentenceTransformer" in parents:
        raise UnsupportedModel(
            "a SentenceTransformer gives vectors and decides nothing, so there is nothing to explain. A "
            "CrossEncoder, or a network with a head, decides."
        )
    return given, None


def architecture_of(network: PreTrainedModel) -> Architecture | None:
    """The row of the table for a network; none for a class of the user's own that is built otherwise."""
    row = ARCHITECTURES.get(network.config.model_type)
    is_own = not type(network).__module__.startswith("transformers.")
    first = row.blocks.split(".")[0] if row else ""
    return None if is_own and not hasattr(network.base_model, first) else row


def check_one_body(network: PreTrainedModel) -> None:
    """Refuse networks that read their input twice: with an encoder, and with a decoder beside it."""
    is_double = getattr(network.config, "is_encoder_decoder", False)
    if is_double and getattr(network.base_model, "decoder", None) is not None:
        raise UnsupportedModel(
            f"{type(network).__name__} is an encoder-decoder, which reads its tokens in two places; headlight "
            "explains encoders and decoders alone, such as BERT for classification or Llama for generation."
        )


def task_named(task: str) -> Task:
    """A task by its name."""
    known = {each.value: each for each in Task}
    if task not in known:
        raise unknown_name("task", task, known)
    return known[task]
