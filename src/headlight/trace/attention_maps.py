"""Attention maps that are made when they are read, one layer at a time.

Fused attention never holds its weights A [batch, head, query, key]. They are computed again from its queries
and keys when a method reads them, and their gradient ∂y/∂A = ∂y/∂o Vᵀ from that of its result o = A V. So a
pass needs memory for one map, not for those of all layers and what autograd would keep of them.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar, overload

import torch
from torch import Tensor

from headlight.running.precision import max_precision
from headlight.shapes import Attention

T_co = TypeVar("T_co", covariant=True)


@dataclass(frozen=True, eq=False)
class OnDemand(Sequence[T_co], Generic[T_co]):
    """A sequence whose items are made each time they are read, and kept by nobody."""

    makers: tuple[Callable[[], T_co], ...]

    def __len__(self) -> int:
        return len(self.makers)

    @overload
    def __getitem__(self, place: int) -> T_co: ...
    @overload
    def __getitem__(self, place: slice) -> "OnDemand[T_co]": ...
    def __getitem__(self, place: int | slice) -> "T_co | OnDemand[T_co]":
        if isinstance(place, slice):
            return OnDemand(self.makers[place])
        return self.makers[place]()

    def __iter__(self) -> Iterator[T_co]:
        return (make() for make in self.makers)


@dataclass(frozen=True, eq=False)
class Attended:
    """What the attention of one layer was given, and its result [batch, head, query, width] with its graph.

    Several heads may share keys and values. mask: what is added to the scores. softcap: the bound of the
    scores, in families that have one.
    """

    query: Tensor
    key: Tensor
    value: Tensor
    mask: Tensor | None
    scaling: float
    softcap: float | None
    result: Tensor

    @property
    def size(self) -> tuple[int, int]:
        """How many queries and keys there are."""
        return self.query.shape[2], self.key.shape[2]

    @torch.no_grad()
    def weights(self) -> Attention:
        """A, as it was in the pass."""
        key = shared_out(self.key.detach(), self.query)
        return written_weights(self.query.detach(), key, self.mask, self.scaling, self.softcap)

    @property
    def values(self) -> Tensor:
        """V of every head."""
        return shared_out(self.value, self.query)

    @torch.no_grad()
    def gradient(self, upstream: Tensor) -> Attention:
        """∂y/∂A from ∂y/∂o."""
        return upstream @ self.values.detach().transpose(2, 3)


def shared_out(keys_or_values: Tensor, query: Tensor) -> Tensor:
    """Keys or values of every head, if several heads share them."""
    shared = query.shape[1] // keys_or_values.shape[1]
    return keys_or_values if shared == 1 else keys_or_values.repeat_interleave(shared, 1)


def written_weights(
    query: Tensor, key: Tensor, mask: Tensor | None, scaling: float, softcap: float | None
) -> Attention:
    """softmax(q·k·scaling + mask), computed in at least 32 bits."""
    scores = query @ key.transpose(2, 3) * scaling
    if softcap is not None:
        scores = torch.tanh(scores / softcap) * softcap
    if mask is not None:
        scores = scores + mask[..., : key.shape[-2]]
    return torch.softmax(scores, -1, dtype=max_precision(scores.dtype)).to(query.dtype)
