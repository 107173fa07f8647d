"""From a fine-tuned network to an adapter of a given size (see headlight/models/adapter.py)."""

import torch
from torch import Tensor

HEADS = ("bert.pooler.", "classifier.", "qa_outputs.", "cls.")
OVERHEAD = 40_000
"""Bytes kept free for the names of the tensors."""


def adapter_of(tuned: dict[str, Tensor], base: dict[str, Tensor], size: int) -> dict[str, Tensor]:
    """The changes: heads complete, vectors as differences in half precision, matrices as 8-bit factors.

    Each matrix difference is cut to a rank. Ranks go where they keep most of the change per byte, until `size`
    is reached.
    """
    found: dict[str, Tensor] = {}
    factors: dict[str, tuple[Tensor, Tensor, Tensor]] = {}
    for name, value in tuned.items():
        if name.startswith(HEADS):
            found[name] = value.half()
        elif torch.equal(value, base[name]):
            continue
        elif value.ndim == 2:
            factors[name] = torch.linalg.svd((value - base[name]).double(), full_matrices=False)
        else:
            found[f"{name}.delta"] = (value - base[name]).half()
    room = size - OVERHEAD - sum(2 * tensor.numel() for tensor in found.values())
    for name, rank in ranks(factors, room).items():
        left, strengths, right = factors[name]
        found[f"{name}.a"], one = eight_bits(left[:, :rank], 0)
        found[f"{name}.b"], other = eight_bits(right[:rank], 1)
        found[f"{name}.scale"] = (one.flatten() * strengths[:rank] * other.flatten()).float()
    return {name: tensor.contiguous() for name, tensor in sorted(found.items())}


def eight_bits(values: Tensor, dim: int) -> tuple[Tensor, Tensor]:
    """Integers up to 127 along an axis, and the scale that turns them back into numbers."""
    worth = values.abs().amax(dim, keepdim=True) / 127
    return (values / worth).round().to(torch.int8), worth


def ranks(factors: dict[str, tuple[Tensor, Tensor, Tensor]], room: int) -> dict[str, int]:
    """A rank for each matrix: the largest squared singular values for their bytes come first."""
    costs = {n: len(left) + right.shape[1] + 4 for n, (left, _, right) in factors.items()}
    offers = sorted(
        (
            (float(s) ** 2 / costs[n], n)
            for n, (_, strengths, _) in factors.items()
            for s in strengths
        ),
        reverse=True,
    )
    chosen: dict[str, int] = {}
    for _, name in offers:
        if costs[name] <= room:
            room -= costs[name]
            chosen[name] = chosen.get(name, 0) + 1
    return chosen
