"""Tiny seeded networks, one a family and task, built from configs; nothing is downloaded."""

from collections.abc import Iterable
from functools import cache
from typing import Any

import pytest
import torch
from transformers import (
    AlbertConfig,
    AutoModelForCausalLM,
    AutoModelForMaskedLM,
    AutoModelForQuestionAnswering,
    AutoModelForSequenceClassification,
    AutoModelForTokenClassification,
    BertConfig,
    DebertaV2Config,
    DistilBertConfig,
    ElectraConfig,
    GPT2Config,
    LlamaConfig,
    MistralConfig,
    ModernBertConfig,
    MPNetConfig,
    PreTrainedModel,
    Qwen2Config,
    Qwen3Config,
    RobertaConfig,
    XLMRobertaConfig,
)

import headlight
from headlight import METHODS, Model, Target
from headlight.models.model import Task
from headlight.trace.decoder import Decoder

VOCABULARY = 120
ENCODER: dict[str, Any] = {
    "vocab_size": VOCABULARY,
    "hidden_size": 32,
    "num_hidden_layers": 3,
    "num_attention_heads": 4,
    "intermediate_size": 48,
    "max_position_embeddings": 80,
    "initializer_range": 0.3,
}
IDS = {"pad_token_id": 0, "bos_token_id": 1, "eos_token_id": 2}
SHARED: dict[str, Any] = {"num_key_value_heads": 2, **ENCODER, **IDS}

CONFIGS: dict[str, tuple[type, dict[str, Any]]] = {
    "bert": (BertConfig, ENCODER),
    "roberta": (RobertaConfig, ENCODER),
    "xlm-roberta": (XLMRobertaConfig, ENCODER),
    "distilbert": (
        DistilBertConfig,
        {
            "vocab_size": VOCABULARY,
            "dim": 32,
            "n_layers": 3,
            "n_heads": 4,
            "hidden_dim": 48,
            "max_position_embeddings": 80,
            "initializer_range": 0.3,
        },
    ),
    "electra": (ElectraConfig, {**ENCODER, "embedding_size": 16}),
    "albert": (AlbertConfig, {**ENCODER, "embedding_size": 16}),
    "mpnet": (MPNetConfig, ENCODER),
    "deberta-v2": (
        DebertaV2Config,
        {
            **ENCODER,
            "relative_attention": True,
            "pos_att_type": ["p2c", "c2p"],
            "position_buckets": 8,
            "norm_rel_ebd": "layer_norm",
            "share_att_key": True,
            "position_biased_input": False,
            "conv_kernel_size": 3,
            "conv_act": "gelu",
        },
    ),
    "modernbert": (
        ModernBertConfig,
        {
            **ENCODER,
            **IDS,
            "cls_token_id": 1,
            "sep_token_id": 2,
            "local_attention": 8,
            "global_attn_every_n_layers": 2,
        },
    ),
    "gpt2": (
        GPT2Config,
        {
            "vocab_size": VOCABULARY,
            "n_embd": 32,
            "n_layer": 3,
            "n_head": 4,
            "n_positions": 80,
            "initializer_range": 0.3,
            **IDS,
        },
    ),
    "llama": (LlamaConfig, SHARED),
    "mistral": (MistralConfig, {**SHARED, "sliding_window": 6}),
    "qwen2": (Qwen2Config, SHARED),
    "qwen3": (Qwen3Config, {**SHARED, "head_dim": 8}),
}

HEADS = {
    Task.SEQUENCE: AutoModelForSequenceClassification,
    Task.REGRESSION: AutoModelForSequenceClassification,
    Task.TOKEN: AutoModelForTokenClassification,
    Task.QUESTION: AutoModelForQuestionAnswering,
    Task.MASKED: AutoModelForMaskedLM,
    Task.CAUSAL: AutoModelForCausalLM,
}
DECODERS = {"gpt2", "llama", "mistral", "qwen2", "qwen3"}

FAMILIES_AND_TASKS = [
    (family, task)
    for family in CONFIGS
    for task in Task
    if not (task is Task.MASKED and family in DECODERS)
    and not (task is Task.CAUSAL and family not in DECODERS)
]
OWN_TASKS = {family: Task.CAUSAL if family in DECODERS else Task.SEQUENCE for family in CONFIGS}
QUICK_PAIRS = {*OWN_TASKS.items(), *(pair for pair in FAMILIES_AND_TASKS if pair[0] == "bert")}
QUICK_PAIRS |= {("llama", Task.SEQUENCE), ("llama", Task.TOKEN), ("modernbert", Task.MASKED)}
"""Every family once, and every task on an encoder; the whole product runs with the slow tests."""


def families(*quick: str) -> pytest.MarkDecorator:
    """Runs a test on every family; on those not named here with the slow tests."""
    cases = [
        pytest.param(family, marks=[] if family in quick else [pytest.mark.slow])
        for family in CONFIGS
    ]
    return pytest.mark.parametrize("family", cases)


def in_pairs(chosen: Iterable[tuple[str, Task]] = FAMILIES_AND_TASKS) -> pytest.MarkDecorator:
    """Runs a test on these families and tasks, each in one process, which keeps its networks."""
    cases = [
        pytest.param(
            family,
            task,
            id=f"{family}-{task.name.lower()}",
            marks=[
                pytest.mark.xdist_group(f"{family} {task}"),
                *([] if (family, task) in QUICK_PAIRS else [pytest.mark.slow]),
            ],
        )
        for family, task in chosen
    ]
    return pytest.mark.parametrize(("family", "task"), cases)


TARGETS = {Task.TOKEN: Target(position=2, label=1), Task.MASKED: Target(position=2)}
"""Targets for tasks that must be told where to look when there is no tokenizer."""


MASK = ((1, 0, 0, 1), (0, 0, 0, 0), (0, 1, 1, 0))
"""A head mask for these networks, with a layer that is closed."""


FEW: dict[str, Any] = {"steps": 3, "samples": 3, "permutations": 1}
"""Work enough for tests."""


def options(
    *names: str, family: str = "bert", dtype: torch.dtype = torch.float32
) -> dict[str, Any]:
    """What these methods are told: few steps, and what the networks come without."""
    task = Task.CAUSAL if family in DECODERS else Task.MASKED
    known = {"mask": MASK, "decoder": Decoder(model(family, task, dtype)), **FEW}
    asked = {option for name in names for option in METHODS[name].options}
    return {option: value for option, value in known.items() if option in asked}


def network(family: str, task: Task, *, seed: int = 0, **changes: Any) -> PreTrainedModel:
    """A fresh network in evaluation mode."""
    torch.manual_seed(seed)
    kind, settings = CONFIGS[family]
    labels = {} if task in (Task.QUESTION, Task.MASKED, Task.CAUSAL) else {"num_labels": 3}
    labels = {"num_labels": 1} if task is Task.REGRESSION else labels
    return HEADS[task].from_config(kind(**{**settings, **labels, **changes})).eval()


@cache
def model(family: str, task: Task, dtype: torch.dtype = torch.float32) -> Model:
    """A wrapped network without a tokenizer, made once."""
    return headlight.wrap(network(family, task).to(dtype))  # type: ignore[arg-type]


def rows(count: int = 3, shortest: int = 5) -> list[list[int]]:
    """Seeded token ids of different lengths."""
    generator = torch.Generator().manual_seed(1)
    lengths = [shortest + 4 * (n % 3) for n in range(count)]
    return [torch.randint(5, VOCABULARY, (k,), generator=generator).tolist() for k in lengths]
