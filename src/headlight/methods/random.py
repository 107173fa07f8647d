"""Random scores, which do not depend on the model: the floor of every comparison."""

import torch

from headlight.methods.registry import METHODS
from headlight.registry.options import Seed
from headlight.shapes import Scores
from headlight.trace.trace import Trace


@METHODS.register("random", group="floor", paper="the floor of every comparison")
def random(trace: Trace, *, seed: Seed = 0) -> Scores:
    """Uniform random scores.

    They depend only on the seed and the row's own tokens, not on the batch.
    """
    scores = torch.zeros(trace.inputs.ids.shape, dtype=trace.embeddings.dtype)
    for number, length in enumerate(trace.inputs.lengths.tolist()):
        ids = trace.inputs.ids[number, :length].tolist()
        generator = torch.Generator().manual_seed(row_seed(ids, seed))
        scores[number, :length] = torch.rand(length, generator=generator, dtype=scores.dtype)
    return scores.to(trace.inputs.ids.device)


def row_seed(ids: list[int], seed: int) -> int:
    """A number that depends on every token and on the seed."""
    state = seed % 2**31
    for token in ids:
        state = (state * 1_000_003 + token + 1) % (2**61 - 1)
    return state
