"""Encoded rows, batches of similar length, padded tensors."""

import random
from collections.abc import Iterator
from dataclasses import dataclass

import torch
from torch import Tensor


@dataclass(frozen=True)
class Row:
    """Token ids and types of one example, and what the network should predict.

    goal: see `classify.goal`; the first and last token of an answer; or nothing.
    """

    ids: list[int]
    types: list[int]
    goal: tuple[float, ...] = ()


def batches(rows: list[Row], size: int, shuffle: random.Random | None) -> Iterator[list[Row]]:
    """Batches of rows of similar length: sorted within shuffled pools of a hundred batches."""
    order = list(rows)
    pool = max(1, len(order))
    if shuffle:
        shuffle.shuffle(order)
        pool = 100 * size
    found = []
    for start in range(0, len(order), pool):
        part = sorted(order[start : start + pool], key=lambda row: len(row.ids))
        found += [part[k : k + size] for k in range(0, len(part), size)]
    if shuffle:
        shuffle.shuffle(found)
    yield from found


def tensors(rows: list[Row]) -> tuple[dict[str, Tensor], Tensor]:
    """A padded batch and its goals."""
    width = max(len(row.ids) for row in rows)

    def padded(values: list[int]) -> list[int]:
        return values + [0] * (width - len(values))

    inputs = {
        "input_ids": torch.tensor([padded(row.ids) for row in rows]),
        "attention_mask": torch.tensor([padded([1] * len(row.ids)) for row in rows]),
    }
    if any(map(any, (row.types for row in rows))):
        inputs["token_type_ids"] = torch.tensor([padded(row.types) for row in rows])
    return inputs, torch.tensor([row.goal for row in rows])
