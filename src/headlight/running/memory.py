"""Passes that do not fit into memory: they are run again on half the rows."""

from collections.abc import Callable, Sequence
from typing import TypeVar

import torch

from headlight.errors import InvalidInput

Item = TypeVar("Item")
Result = TypeVar("Result")

TOKENS_AT_ONCE = 4_096
"""Tokens, padding included, that share a pass if nothing else limits it."""

SIGNS = (
    "out of memory",  # CUDA, MPS and XPU
    "can't allocate memory",  # the allocator of the CPU, which raises a plain RuntimeError
    "not enough memory",  # the same on Windows
    "alloc_failed",  # cuBLAS and its kin
)
"""Parts of torch's messages that say that there is no memory left."""


def is_out_of_memory(error: BaseException) -> bool:
    """Whether an error says that there was not enough memory."""
    if isinstance(error, MemoryError | torch.OutOfMemoryError):
        return True
    return isinstance(error, RuntimeError) and any(sign in str(error).lower() for sign in SIGNS)


def in_halves(
    run: Callable[[Sequence[Item]], Sequence[Result]],
    rows: Sequence[Item],
    length: Callable[[Item], int],
) -> list[Result]:
    """The results of `run` on rows; if they do not fit into memory, on one half and then on the other.

    length: the number of tokens of a row, for the error if even a single row does not fit.
    """
    try:
        return list(run(rows))
    except (MemoryError, RuntimeError) as error:
        if not is_out_of_memory(error):
            raise
        if len(rows) == 1:
            raise InvalidInput(
                f"a row of {length(rows[0])} tokens does not fit into memory, even in a pass of its own. "
                "Give a shorter text, explain it in windows (stride=), or choose a method that needs less, "
                "such as input_x_gradient."
            ) from error
    middle = len(rows) // 2  # outside the handler, which keeps the tensors of the failed pass alive
    return in_halves(run, rows[:middle], length) + in_halves(run, rows[middle:], length)
