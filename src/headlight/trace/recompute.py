"""Blocks that are computed again on the way back, so that a pass keeps only their inputs.

This costs one more forward pass and is done only if a text would not fit into memory otherwise. A double is in
evaluation mode, so that no dropout differs between the two times.
"""

from collections.abc import Callable, Collection, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext
from functools import partial

from torch.utils.checkpoint import checkpoint

from headlight.models.model import Model


def can_recompute(model: Model, needs: Collection[str]) -> bool:
    """Whether a pass with these needs can compute its blocks again, so that nothing watched in them is lost."""
    names = set(needs)
    if "relevance" in names or not model.has_blocks:
        return False
    has_gradient = any("gradient" in need for need in names)
    watches = any("attention" in need for need in names) and model.sees_attention_by == "softmax"
    return has_gradient and not watches


@contextmanager
def recomputed(
    model: Model, computing: Callable[[], AbstractContextManager[None]]
) -> Iterator[None]:
    """Keep only the inputs of blocks inside this context; `computing` is entered when they run again."""
    with ExitStack() as undo:
        for block in model.blocks:
            own = vars(block)
            former = own.get("forward")
            own["forward"] = partial(
                checkpoint,
                block.forward,
                use_reentrant=False,
                context_fn=lambda: (nullcontext(), computing()),
            )
            if former is None:
                undo.callback(own.pop, "forward")
            else:
                undo.callback(own.__setitem__, "forward", former)
        yield
