"""Texts with one masked token, and the label of that token."""

from pathlib import Path

import torch
from torch import Tensor
from torch.nn.functional import cross_entropy
from transformers import BertForTokenClassification, PreTrainedModel, PreTrainedTokenizerBase

import classify
from examples import Example
from headlight.loading.quiet import quiet
from recipes import Recipe
from rows import Row, batches, tensors
from scores import share


def fresh(recipe: Recipe, folder: Path) -> PreTrainedModel:
    """The base with an untrained head."""
    with quiet():
        return BertForTokenClassification.from_pretrained(
            folder, config=classify.named(recipe, folder), dtype=torch.float32
        )


def read(
    recipe: Recipe, data: Path | None, tokenizer: PreTrainedTokenizerBase, _targets: object
) -> tuple[list[Row], list[Row]]:
    """Rows for training whose mask was not cut off, and all held-out rows."""
    train, held_out = (encoded(part, recipe, tokenizer) for part in classify.examples(recipe, data))
    return [row for row in train if row.goal[0] > 0], held_out


def encoded(found: list[Example], recipe: Recipe, tokenizer: PreTrainedTokenizerBase) -> list[Row]:
    """Rows whose goal is the place of the mask (0: it was cut off) and the label."""
    tokens = tokenizer([e.text for e in found], truncation=True, max_length=recipe.longest)
    mask = tokenizer.mask_token_id
    return [
        Row(ids, [0] * len(ids), (ids.index(mask) if mask in ids else 0, example.label))
        for ids, example in zip(tokens["input_ids"], found, strict=True)
    ]


def at_mask(network: PreTrainedModel, rows: list[Row]) -> tuple[Tensor, Tensor]:
    """The logits at the masks, and the labels."""
    inputs, goals = tensors(rows)
    places, labels = goals.long().unbind(-1)
    return network(**inputs).logits[torch.arange(len(rows)), places], labels


def loss(network: PreTrainedModel, rows: list[Row]) -> Tensor:
    """Cross entropy at the masks."""
    return cross_entropy(*at_mask(network, rows))


@torch.inference_mode()
def score(network: PreTrainedModel, rows: list[Row]) -> dict[str, object]:
    """Accuracy, with its interval."""
    right = 0
    for chosen in batches(rows, 64, None):
        logits, labels = at_mask(network, chosen)
        right += int((logits.argmax(-1) == labels).sum())
    return share(right, len(rows))
