"""How much relevance is left at every block boundary; 1 everywhere if a preset conserves it."""

from headlight.batch import Text, encode
from headlight.errors import InvalidInput
from headlight.models.model import Model
from headlight.target import Target, TargetLike
from headlight.trace.relevance import Flow
from headlight.trace.trace import trace


def conservation(
    model: Model, text: Text, target: TargetLike = None, *, preset: str = "chefer"
) -> list[float]:
    """Σ R at the output of the last block, of the one before it, … and at the embeddings.

    Shares of what the explained logits started with.
    """
    if model.tokenizer is None:
        raise InvalidInput(f"{model.name} was wrapped without a tokenizer, so it cannot read text.")
    rows = encode([text], model.tokenizer)
    captured = trace(model, rows, [Target.of(target)], {"relevance"})
    start = float(captured.goal.signs.abs().sum())
    states = captured.relevance(Flow(preset)).hidden
    return [float(relevance.sum()) / start for relevance in reversed(states)]
