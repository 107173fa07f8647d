"""Plain text with hidden tokens: a masked-language-modelling head, tied to the embeddings of the base."""

import math
from pathlib import Path

import torch
from torch import Tensor
from torch.nn.functional import cross_entropy
from transformers import BertForMaskedLM, PreTrainedModel, PreTrainedTokenizerBase

from data import read_paragraphs
from headlight.loading.quiet import quiet
from recipes import Recipe
from rows import Row, batches, tensors
from scores import interval

CLS, SEP, MASK, FIRST_WORD = 101, 102, 103, 999
HIDDEN = 0.15


def fresh(_recipe: Recipe, folder: Path) -> PreTrainedModel:
    """The base with an untrained head over its own embeddings."""
    with quiet():
        return BertForMaskedLM.from_pretrained(folder, dtype=torch.float32)


def read(
    recipe: Recipe, data: Path | None, tokenizer: PreTrainedTokenizerBase, _targets: object
) -> tuple[list[Row], list[Row]]:
    """Pieces of paragraphs, to train on and held out."""
    found = [p for name, split in recipe.train for p in read_paragraphs(name, split, data)]
    held_out = read_paragraphs(*recipe.shown, data)
    return pieces(found, recipe, tokenizer), pieces(held_out, recipe, tokenizer)


def pieces(paragraphs: list[str], recipe: Recipe, tokenizer: PreTrainedTokenizerBase) -> list[Row]:
    """Paragraphs cut to the longest allowed row; short remainders are left out."""
    room, found = recipe.longest - 2, []
    for ids in tokenizer(paragraphs, add_special_tokens=False, verbose=False)["input_ids"]:
        cut = [ids[k : k + room] for k in range(0, len(ids), room)]
        found += [[CLS, *part, SEP] for part in cut if len(part) >= 16]
    return [Row(ids, [0] * len(ids)) for ids in found]


def hidden(inputs: dict[str, Tensor], chance: torch.Generator | None) -> tuple[Tensor, Tensor]:
    """Ids with tokens hidden as BERT's authors did (80 % mask, 10 % another, 10 % seen), and which."""
    ids = inputs["input_ids"].clone()
    draw = torch.rand(ids.shape, generator=chance)
    chosen = (draw < HIDDEN) & (inputs["attention_mask"] == 1) & (ids != CLS) & (ids != SEP)
    others = torch.randint(FIRST_WORD, 30_522, ids.shape, generator=chance)
    kind = torch.rand(ids.shape, generator=chance)
    ids = torch.where(chosen & (kind < 0.8), MASK, ids)
    return torch.where(chosen & (kind >= 0.9), others, ids), chosen


def logits(network: PreTrainedModel, inputs: dict[str, Tensor], ids: Tensor, at: Tensor) -> Tensor:
    """The logits of the head at the chosen positions."""
    states = network.get_submodule("bert")(**{**inputs, "input_ids": ids}).last_hidden_state
    said: Tensor = network.get_submodule("cls")(states[at])
    return said


def loss(network: PreTrainedModel, rows: list[Row]) -> Tensor:
    """Cross entropy at the hidden tokens."""
    inputs, _ = tensors(rows)
    ids, chosen = hidden(inputs, None)
    return cross_entropy(logits(network, inputs, ids, chosen), inputs["input_ids"][chosen])


@torch.inference_mode()
def score(network: PreTrainedModel, rows: list[Row]) -> dict[str, object]:
    """First guesses, first five guesses and perplexity at 15 % of the tokens, all masked."""
    chance = torch.Generator().manual_seed(0)
    first = five = count = 0
    total = 0.0
    for chosen in batches(rows, 32, None):
        inputs, _ = tensors(chosen)
        ids, at = hidden(inputs, chance)
        found = logits(network, inputs, torch.where(at, MASK, ids), at)
        gold = inputs["input_ids"][at]
        total += float(cross_entropy(found, gold, reduction="sum"))
        best = found.topk(5).indices == gold[:, None]
        first, five, count = (
            first + int(best[:, 0].sum()),
            five + int(best.sum()),
            count + len(gold),
        )
    return {
        "right": first,
        "rows": count,
        "accuracy": round(first / count, 4),
        "interval": interval(first, count),
        "top_5": round(five / count, 4),
        "perplexity": round(math.exp(total / count), 2),
    }
