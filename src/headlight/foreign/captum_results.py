"""What captum returns: scores of tokens, of the numbers of their embeddings, or of a prompt."""

from collections.abc import Sequence
from typing import Any, Literal

import numpy as np
import torch
from numpy.typing import NDArray

from headlight.attribution import Attribution
from headlight.batch import plain
from headlight.errors import InvalidInput, InvalidOption
from headlight.foreign.scores import from_scores
from headlight.models.model import Model
from headlight.target import TargetLike
from headlight.text import Text

Merge = Literal["sum", "norm"]
"""How the scores of the numbers of an embedding become one: their sum, or their Euclidean norm."""


def from_captum(
    model: Model,
    text: Text,
    attributions: Any,
    *,
    tokens: Sequence[str] | None = None,
    target: TargetLike = None,
    method: str = "captum",
    merge: Merge = "sum",
) -> Attribution:
    """The attribution of one text by captum.

    attributions: what `attribute` returned for one text: [token], [token, embedding], either with a first axis
        of 1, or an LLMAttributionResult. tokens: by default those of the model.
    target: the class that was given to `attribute`; by default what the model predicts. An LLMAttributionResult
        names it itself: the first token that was written.
    merge: 'sum' keeps signs and completeness, 'norm' the magnitude of the whole embedding.
    """
    if hasattr(attributions, "seq_attr") and hasattr(attributions, "input_tokens"):
        return from_written(model, text, attributions, method)
    scores = merged(one_text(attributions), merge, "captum")
    return from_scores(
        model, text, scores, tokens=tokens, target=target, method=method, signed=merge == "sum"
    )


def one_text(attributions: Any) -> NDArray[np.float64]:
    """The scores of one text, without the axis of texts."""
    if isinstance(attributions, tuple):
        raise InvalidInput(
            f"captum returned {len(attributions)} tensors, one per input of the network. Give the one of the "
            "tokens."
        )
    if isinstance(attributions, torch.Tensor):
        attributions = attributions.detach()
    try:
        found = np.asarray(plain(attributions), np.float64)
    except (TypeError, ValueError) as error:
        raise InvalidInput("the attributions must be a tensor of numbers.") from error
    if found.ndim > 1 and len(found) == 1:
        found = found[0]
    if found.ndim not in (1, 2):
        raise InvalidInput(
            f"the attributions have the shape {found.shape}. Give those of one text: attributions[number]."
        )
    return found


def merged(scores: NDArray[np.float64], merge: Merge, source: str) -> NDArray[np.float64]:
    """One score per token, from [token] or [token, embedding]."""
    if merge not in ("sum", "norm"):
        raise InvalidOption(f"merge='{merge}' does not exist. Use 'sum' or 'norm'.")
    if scores.ndim == 1:
        return scores
    if scores.ndim != 2:
        raise InvalidInput(
            f"the scores of {source} have {scores.ndim} axes for each explained token, such as layers and "
            "heads. Aggregate them there to one score per token first."
        )
    return np.asarray(scores.sum(-1) if merge == "sum" else np.linalg.norm(scores, axis=-1))


def from_written(model: Model, text: Text, result: Any, method: str) -> Attribution:
    """The scores of a prompt for the first token that was written after it."""
    output = list(result.output_tokens)
    by_token = getattr(result, "token_attr", None)
    if len(output) > 1 and by_token is None:
        raise InvalidInput(
            f"the result explains {len(output)} tokens together, and an attribution explains one decision. Use "
            "a method of captum that gives token_attr, or let the model write one token."
        )
    scores = result.seq_attr if by_token is None else by_token[0]
    return from_scores(
        model,
        text,
        scores,
        tokens=list(result.input_tokens),
        target=token_of(model, output[0]),
        method=method,
    )


def token_of(model: Model, token: str) -> str | int:
    """The id of a token that is written as in the vocabulary; a text of one token may be several there."""
    if model.tokenizer is None:
        return token
    number = model.tokenizer.convert_tokens_to_ids(token)
    if isinstance(number, int) and number != model.tokenizer.unk_token_id:
        return number
    return token
