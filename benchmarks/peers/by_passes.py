"""Plain passes over all texts in a padded batch, with no library around them; scores are not made.

A library that computes a method by such passes cannot be faster than they are.
"""

from functools import partial
from pathlib import Path
from typing import Any

import torch
from benchmarks.peers.settings import LABEL
from torch import Tensor
from transformers import (
    AutoModelForCausalLM,
    AutoModelForSequenceClassification,
    AutoTokenizer,
)

VERSION = torch.__version__


def calls(folder: Path) -> dict[str, Any]:
    """The passes, by name."""
    networks = {
        name: kind.from_pretrained(folder / name).eval().requires_grad_(False)
        for name, kind in (
            ("bert", AutoModelForSequenceClassification),
            ("llama", AutoModelForCausalLM),
            ("gpt2", AutoModelForCausalLM),
        )
    }
    tokenizers = {name: AutoTokenizer.from_pretrained(folder / name) for name in networks}

    def batch(texts: list[str], name: str) -> tuple[Tensor, Tensor]:
        encoded = tokenizers[name](texts, padding=True, return_tensors="pt")
        return encoded["input_ids"], encoded["attention_mask"]

    def value(name: str, given: Any, present: Tensor) -> Tensor:
        network = networks[name]
        if name == "bert":
            return network(**given, attention_mask=present).logits[:, LABEL].sum()
        hidden = network.base_model(**given, attention_mask=present, use_cache=False)[0]
        ends = hidden[torch.arange(len(present)), present.sum(1) - 1]
        return network.lm_head(ends).max(-1).values.sum()

    @torch.no_grad()
    def forward(texts: list[str], name: str) -> list[list[float]]:
        ids, present = batch(texts, name)
        value(name, {"input_ids": ids}, present)
        return []

    def there_and_back(texts: list[str], name: str) -> list[list[float]]:
        ids, present = batch(texts, name)
        embeddings = networks[name].get_input_embeddings()(ids).requires_grad_()
        torch.autograd.grad(value(name, {"inputs_embeds": embeddings}, present), embeddings)
        return []

    return {
        f"{name} {kind}": partial(passed, name=name)
        for name in networks
        for kind, passed in (("forward", forward), ("forward and back", there_and_back))
    }
