"""Encoded rows, batches of similar length, padded tensors."""

import random
from collections.abc import Iterator
from dataclasses import dataclass

import torch
from torch import Tensor

from headlight.batch import collate


@dataclass(frozen=True)
class Row:
    """Token ids and types of one example, and what the network should predict.

    goal: see `classify.goal`; the first and last token of an answer; or nothing.
    """

    ids: list[int]
    types: list[int]
    goal: tuple[float, ...] = ()

    @property
    def attended(self) -> list[bool]:
        """Every token is seen."""
        return [True] * len(self.ids)

    def __len__(self) -> int:
        return len(self.ids)


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
    padded = collate(rows, 0)
    inputs = {"input_ids": padded.ids, "attention_mask": padded.attended.long()}
    if padded.types is not None and bool(padded.types.any()):
        inputs["token_type_ids"] = padded.types
    return inputs, torch.tensor([row.goal for row in rows])
