"""Texts or pairs with one label, or with the probabilities that a teacher gives."""

import json
from pathlib import Path

import torch
from torch import Tensor
from torch.nn.functional import cross_entropy
from transformers import (
    AutoConfig,
    AutoModelForSequenceClassification,
    PretrainedConfig,
    PreTrainedModel,
    PreTrainedTokenizerBase,
)

from data import SOURCES, without_repeats
from examples import Example
from headlight.loading.quiet import quiet
from recipes import Recipe
from rows import Row, batches, tensors
from scores import share

Targets = dict[str, list[float]]
"""The probabilities of a teacher, by text."""
WARMTH = 3.0
"""The temperature of the teacher's probabilities."""


def read_targets(path: Path) -> Targets:
    """Read the probabilities of a teacher (see teacher.py)."""
    records = map(json.loads, path.read_text(encoding="utf-8").splitlines())
    return {record["text"]: record["said"] for record in records}


def fresh(recipe: Recipe, folder: Path) -> PreTrainedModel:
    """The base with an untrained head."""
    with quiet():
        network: PreTrainedModel = AutoModelForSequenceClassification.from_pretrained(
            folder, config=named(recipe, folder), dtype=torch.float32
        )
    return network


def named(recipe: Recipe, folder: Path) -> PretrainedConfig:
    """The configuration of the base with the names of the labels."""
    names = dict(enumerate(recipe.labels))
    config: PretrainedConfig = AutoConfig.from_pretrained(
        folder, id2label=names, label2id={name: index for index, name in names.items()}
    )
    return config


def examples(recipe: Recipe, data: Path | None) -> tuple[list[Example], list[Example]]:
    """Examples for training, and held-out ones."""
    held_out = list(SOURCES[recipe.shown[0]].read(recipe.shown[1], data))
    found = [e for name, part in recipe.train for e in SOURCES[name].read(part, data)]
    return without_repeats(found, held_out), held_out


def read(
    recipe: Recipe, data: Path | None, tokenizer: PreTrainedTokenizerBase, targets: Targets
) -> tuple[list[Row], list[Row]]:
    """Rows for training, with the teacher's texts added, and held-out rows."""
    found, held_out = examples(recipe, data)
    known = {e.text for e in (*found, *held_out)}
    found += [Example(text, None, -1) for text in targets if text not in known]
    return (
        encoded(found, recipe, tokenizer, targets),
        encoded(held_out, recipe, tokenizer, {}),
    )


def encoded(
    found: list[Example], recipe: Recipe, tokenizer: PreTrainedTokenizerBase, targets: Targets
) -> list[Row]:
    """Rows whose goal is the label, and the teacher's probabilities if there are any."""
    pairs = [e.pair for e in found] if found[0].pair is not None else None
    tokens = tokenizer([e.text for e in found], pairs, truncation=True, max_length=recipe.longest)
    ids = tokens["input_ids"]
    types = tokens.get("token_type_ids") or [[0] * len(row) for row in ids]
    goals = [goal(example, recipe, targets.get(example.text)) for example in found]
    return [Row(*row) for row in zip(ids, types, goals, strict=True)]


def goal(example: Example, recipe: Recipe, teacher: list[float] | None) -> tuple[float, ...]:
    """The share of the loss of each label, then of each softened probability of the teacher."""
    label = [float(k == example.label) for k in range(len(recipe.labels))]
    if teacher is None:
        return (*label, *(0.0 for _ in label))
    warm = (torch.tensor(teacher).log() / WARMTH).softmax(-1)
    trust = 1.0 if example.label < 0 else recipe.trust
    return (*((1 - trust) * share for share in label), *(trust * warm).tolist())


def loss(network: PreTrainedModel, rows: list[Row]) -> Tensor:
    """Cross entropy to the labels and, at its temperature, to the teacher (Hinton et al. 2015)."""
    inputs, goals = tensors(rows)
    labels, taught = goals.chunk(2, dim=-1)
    logits = network(**inputs).logits
    return cross_entropy(logits, labels) + WARMTH**2 * cross_entropy(logits / WARMTH, taught)


@torch.inference_mode()
def score(network: PreTrainedModel, rows: list[Row]) -> dict[str, object]:
    """Accuracy, with its interval."""
    right = 0
    for chosen in batches(rows, 64, None):
        inputs, goals = tensors(chosen)
        right += int(
            (network(**inputs).logits.argmax(-1) == goals.chunk(2, dim=-1)[0].argmax(-1)).sum()
        )
    return share(right, len(rows))
