"""Memory that is kept between calls for the copy of a network in more bits, and never what was in it.

New memory costs five times as much as writing the weights to it, because the system clears it page by page.
"""

from itertools import accumulate
from sys import getrefcount
from threading import Lock

import torch
from torch import Tensor

MOST_KEPT = 2**28
"""The largest piece of memory that is kept, in bytes: enough for 33 million weights in 64 bits."""
ALIGNED = 64
"""Tensors begin at multiples of this many bytes, as torch's own do."""


class KeptMemory:
    """One piece of memory, given out again only when no tensor uses any of it."""

    def __init__(self) -> None:
        self.lock = Lock()
        self.kept: Tensor | None = None

    def take(self, size: int) -> Tensor:
        """As many bytes, which nobody else uses."""
        if size > MOST_KEPT:
            return new_memory(size)
        with self.lock:
            if self.kept is None or len(self.kept) < size or is_used(self.kept):
                self.kept = new_memory(size)  # those who use the former piece hold it
            return self.kept[:size]


def new_memory(size: int) -> Tensor:
    """Bytes from torch."""
    return torch.empty(size, dtype=torch.uint8, device="cpu")


def is_used(memory: Tensor) -> bool:
    """Whether another tensor, array or graph uses a part of this memory."""
    return users(memory) != users(new_memory(1))


def users(memory: Tensor) -> int:
    """How many references there are to the memory of a tensor, by torch's count and by Python's."""
    storage = memory.untyped_storage()
    return torch._C._storage_Use_Count(storage._cdata) + getrefcount(storage)


KEPT = KeptMemory()
"""The memory for copies of networks."""


def converted(tensors: list[Tensor], dtype: torch.dtype) -> list[Tensor]:
    """Copies of tensors in another type, those of ordinary memory side by side in the kept piece."""
    sizes = [tensor.numel() * dtype.itemsize if is_ordinary(tensor) else 0 for tensor in tensors]
    *starts, total = accumulate((-(-size // ALIGNED) * ALIGNED for size in sizes), initial=0)
    memory = KEPT.take(total)
    return [
        memory[start : start + size].view(dtype).view(tensor.shape).copy_(tensor.detach())
        if size
        else tensor.detach().to(dtype, copy=True)
        for tensor, size, start in zip(tensors, sizes, starts, strict=True)
    ]


def is_ordinary(tensor: Tensor) -> bool:
    """Whether a tensor is a plain one, in order in the memory of the processor."""
    is_plain = type(tensor) in (Tensor, torch.nn.Parameter) and tensor.layout is torch.strided
    return is_plain and tensor.device.type == "cpu" and tensor.is_contiguous()
