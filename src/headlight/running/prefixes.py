"""Rows that begin alike: the keys and values of what they share are computed once and used for all of them."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from transformers import DynamicCache
from transformers.cache_utils import DynamicLayer

from headlight.models.arguments import arguments_of
from headlight.models.model import Model
from headlight.progress import Advance
from headlight.running.logits import check_finite, foreign_code
from headlight.running.memory import TOKENS_AT_ONCE, in_halves

SIMILAR = 0.8
"""Rows share a pass if the shortest has this share of the longest's tokens; padding costs as much as tokens."""


@dataclass(frozen=True, eq=False)
class Prefix:
    """Tokens that a network has read, and the keys and values [1, head, token, size] of every layer."""

    ids: tuple[int, ...]
    layers: tuple[tuple[Tensor, Tensor], ...]

    def cache(self, length: int, count: int) -> DynamicCache:
        """The first tokens for this many rows, as transformers' networks take and extend them."""
        cache = DynamicCache()
        for number, states in enumerate(self.layers):
            keys, values = (state[:, :, :length].expand(count, -1, -1, -1) for state in states)
            cache.update(keys, values, number)
        return cache


@dataclass(frozen=True)
class Read:
    """A row and the first of its tokens whose log-probabilities are wanted; at least one comes before it."""

    ids: tuple[int, ...]
    first: int


def prefix_of(model: Model, ids: Sequence[int]) -> Prefix | None:
    """The prefix of these tokens; None for families that do not keep all keys and values of every layer."""
    if not {"use_cache", "past_key_values"} <= arguments_of(model.network):
        return None
    tokens = torch.tensor([list(ids)], device=model.device)
    arguments: dict[str, object] = {"input_ids": tokens, "attention_mask": torch.ones_like(tokens)}
    if model.gives_few_logits:
        arguments["logits_to_keep"] = 1
    with foreign_code(model):
        cache = model.network(**arguments, use_cache=True, return_dict=True).get("past_key_values")
    layers = layers_of(cache, len(ids)) if type(cache) is DynamicCache else None
    return Prefix(tuple(ids), layers) if layers else None


def layers_of(cache: DynamicCache, length: int) -> tuple[tuple[Tensor, Tensor], ...] | None:
    """The keys and values of all layers; None if one of them does not keep those of all tokens.

    Such layers forget what has left their window, or mix tokens into a state that cannot be cut.
    """
    found = []
    for layer in cache.layers:
        if type(layer) is not DynamicLayer or layer.keys is None or layer.values is None:
            return None
        if layer.keys.shape[0] != 1 or layer.keys.shape[2] != length:
            return None
        found.append((layer.keys, layer.values))
    return tuple(found)


def token_log_probabilities(
    model: Model,
    rows: Sequence[Read],
    prefix: Prefix | None = None,
    batch_size: int = 32,
    *,
    advance: Advance = lambda _count, _doing="": None,
) -> list[NDArray[np.float64]]:
    """The log-probability of each token of a row, from the first wanted one on, after all before it.

    Rows are read from where they leave the prefix, those that leave it at the same place together. advance: is
    called with the number of tokens of rows that were read.
    """
    found: dict[int, NDArray[np.float64]] = {}
    for length, numbers in by_shared_length(rows, prefix).items():

        def run(part: Sequence[int], length: int = length) -> list[NDArray[np.float64]]:
            return one_pass(model, [rows[n] for n in part], prefix, length)

        for part in packed(model, rows, numbers, length, batch_size):
            found |= zip(part, in_halves(run, part, lambda n: len(rows[n].ids)), strict=True)
            advance(sum(len(rows[n].ids) for n in part))
    return [found[number] for number in range(len(rows))]


def by_shared_length(rows: Sequence[Read], prefix: Prefix | None) -> dict[int, list[int]]:
    """The numbers of rows by how many of their first tokens are those of the prefix.

    The token before the first wanted one is always read anew, because its logits are needed.
    """
    groups: dict[int, list[int]] = {}
    for number, row in enumerate(rows):
        known = () if prefix is None else prefix.ids[: row.first - 1]
        pairs = enumerate(zip(known, row.ids, strict=False))
        length = next((place for place, (a, b) in pairs if a != b), min(len(known), len(row.ids)))
        groups.setdefault(length, []).append(number)
    return groups


def packed(
    model: Model, rows: Sequence[Read], numbers: Sequence[int], length: int, batch_size: int
) -> Iterator[list[int]]:
    """Rows in groups of similar length after the prefix that fit into a pass."""
    batch: list[int] = []
    most = 1 if model.takes_one_row else batch_size
    for number in sorted(numbers, key=lambda n: -len(rows[n].ids)):
        longest = len(rows[batch[0] if batch else number].ids)
        is_shorter = len(rows[number].ids) - length < SIMILAR * (longest - length)
        # The prefix counts too: every row of a pass has its own copy of the keys and values.
        is_full = len(batch) == most or longest * (len(batch) + 1) > TOKENS_AT_ONCE
        if batch and (is_full or is_shorter):
            yield batch
            batch = []
        batch.append(number)
    yield batch


def one_pass(
    model: Model, rows: Sequence[Read], prefix: Prefix | None, length: int
) -> list[NDArray[np.float64]]:
    """The log-probabilities of wanted tokens of rows that share their first `length` tokens with the prefix."""
    width = max(len(row.ids) for row in rows)
    fill = model.pad_id or 0
    ids = torch.tensor(
        [[*r.ids, *[fill] * (width - len(r.ids))] for r in rows], device=model.device
    )
    attended = torch.tensor([[1] * len(r.ids) + [0] * (width - len(r.ids)) for r in rows])
    arguments: dict[str, object] = {
        "input_ids": ids[:, length:],
        "attention_mask": attended.to(model.device),
    }
    if length and prefix is not None:
        arguments |= {"past_key_values": prefix.cache(length, len(rows)), "use_cache": True}
    elif "use_cache" in arguments_of(model.network):
        arguments["use_cache"] = False
    places = sorted({place for row in rows for place in range(row.first - 1, len(row.ids) - 1)})
    if model.gives_few_logits:
        arguments["logits_to_keep"] = torch.tensor(places, device=model.device) - length
    else:
        places = list(range(length, width))
    with foreign_code(model):
        logits: Tensor = model.network(**arguments, return_dict=True)["logits"].double()
    check_finite(logits, model)
    column = {place: number for number, place in enumerate(places)}
    found = []
    for row, own in zip(rows, logits, strict=True):
        wanted = range(row.first, len(row.ids))
        logs = own[[column[place - 1] for place in wanted]].log_softmax(-1)
        chosen = torch.tensor([row.ids[place] for place in wanted], device=logs.device)
        found.append(logs.gather(1, chosen[:, None])[:, 0].cpu().numpy())
    return found
