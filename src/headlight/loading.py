"""From a name, a folder or a live network to a `Model` that has been checked."""

from pathlib import Path
from typing import Any

import torch
from huggingface_hub import CacheNotFound, scan_cache_dir
from safetensors import SafetensorError
from transformers import (
    AutoConfig,
    AutoModelForCausalLM,
    AutoModelForMaskedLM,
    AutoModelForQuestionAnswering,
    AutoModelForSequenceClassification,
    AutoModelForTokenClassification,
    AutoTokenizer,
    Pipeline,
    PreTrainedModel,
    PreTrainedTokenizerBase,
)

from headlight.errors import InvalidInput, UnsupportedModel, unknown_name
from headlight.models.architectures import ARCHITECTURES
from headlight.models.catalogue import CATALOGUE, load_embedded
from headlight.models.model import HEADS, Model, Task, task_of
from headlight.models.quiet import quiet
from headlight.trace.check import proved

AUTO_CLASSES = {
    Task.SEQUENCE: AutoModelForSequenceClassification,
    Task.TOKEN: AutoModelForTokenClassification,
    Task.QUESTION: AutoModelForQuestionAnswering,
    Task.MASKED: AutoModelForMaskedLM,
    Task.CAUSAL: AutoModelForCausalLM,
}


def wrap(
    network: PreTrainedModel | Pipeline,
    tokenizer: PreTrainedTokenizerBase | None = None,
    *,
    name: str | None = None,
) -> Model:
    """A model from a live Hugging Face network, or from a pipeline.

    Without a tokenizer only `Batch` inputs can be explained. The network is used as it is and left as
    it was; a PEFT model is explained with its adapters.
    """
    if isinstance(network, Pipeline):
        pipeline_tokenizer: Any = network.tokenizer
        network, tokenizer = network.model, tokenizer or pipeline_tokenizer
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
    model = Model(
        network=network,
        tokenizer=tokenizer,
        name=name or network.config.name_or_path or type(network).__name__,
        task=task_of(network),
        architecture=ARCHITECTURES.get(network.config.model_type),
    )
    return proved(model)


def load(name: str | Path, *, task: str | None = None, dtype: torch.dtype = torch.float32) -> Model:
    """A model by catalogue name, folder or hub name, in full precision unless `dtype` says otherwise.

    The task is read from the checkpoint's own class; `task` overrides it.
    """
    source = str(name)
    if source in CATALOGUE:
        network, tokenizer = load_embedded(source, dtype)
        return wrap(network, tokenizer, name=source)
    try:
        config = AutoConfig.from_pretrained(source)
        head = AUTO_CLASSES[chosen_task(config, task, source)]
        tokenizer = AutoTokenizer.from_pretrained(source)
        with quiet():
            network = head.from_pretrained(source, dtype=dtype)
    except (OSError, ValueError, SafetensorError) as error:
        raise InvalidInput(
            f"no model could be loaded from '{source}': {str(error).strip().splitlines()[0]} "
            f"Give the name of an embedded model ({', '.join(CATALOGUE)}), a folder with config.json "
            "and weights, or the name of a model on the hub (which must be reachable or cached)."
        ) from error
    return wrap(network.eval(), tokenizer, name=source)


def chosen_task(config: Any, task: str | None, source: str) -> Task:
    """The task asked for, or that of the class the checkpoint was saved from."""
    if task is not None:
        known = {t.value: t for t in AUTO_CLASSES}
        if task not in known:
            raise unknown_name("task", task, known)
        return known[task]
    for saved in config.architectures or []:
        for suffix, found in HEADS.items():
            if saved.endswith(suffix):
                return found
    raise UnsupportedModel(
        f"the checkpoint '{source}' says it is {config.architectures or 'of no class'}, which has no "
        f"head to explain. Say which to use: task= one of {', '.join(map(repr, AUTO_CLASSES))}."
    )


def cached_models() -> list[str]:
    """Names of the models in the local hub cache."""
    try:
        repositories = scan_cache_dir().repos
    except CacheNotFound:
        return []
    return sorted(r.repo_id for r in repositories if r.repo_type == "model")
