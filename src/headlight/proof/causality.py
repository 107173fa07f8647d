"""Whether the tokens of a network look back only, as in decoders, derived when it is wrapped."""

from headlight.models.model import POOLED, Model
from headlight.proof.gradients import mixture
from headlight.trace.forward import Pass
from headlight.trace.readout import gradient_of

EARLY = 2
"""The token that is looked at: with tokens before it, and after it."""


def looks_back_only(model: Model, watched: Pass, most: float = 1e-6) -> bool:
    """Whether the state of an early token depends on tokens before it, and on none after it.

    The state is the last hidden state, or the logits if that is not known and there is one for every token.
    """
    embeddings = watched.captured.embeddings
    states = watched.captured.last
    if states is None and model.task not in POOLED:
        states = watched.logits
    if states is None or states.shape[:2] != embeddings.shape[:2] or not states.requires_grad:
        return False
    early = states[:, EARLY]
    gradient = gradient_of((early * mixture(early.shape, early)).sum(), embeddings)
    before, after = gradient[:, :EARLY].norm(), gradient[:, EARLY + 1 :].norm()
    return bool(before > 0 and after <= most * gradient.norm())
