"""Running a network: inputs to logits, and what is refused before and after."""

from collections.abc import Mapping, Sequence
from inspect import signature

import torch
from torch import Tensor

from headlight.batch import Inputs, Row
from headlight.errors import InvalidInput, UnstableModel
from headlight.models.model import POOLED, Model, Task


def logits_of(model: Model, inputs: Inputs, embeddings: Tensor | None = None) -> Tensor:
    """The network's logits as [batch, position, class]; pooled heads have one position.

    The network is given ids. `embeddings` are given to it in their place only to reproduce released
    code that does so.
    """
    given: dict[str, object] = {"attention_mask": inputs.attended.long()}
    given["input_ids" if embeddings is None else "inputs_embeds"] = (
        inputs.ids if embeddings is None else embeddings
    )
    if inputs.types is not None and model.takes_types:
        given["token_type_ids"] = inputs.types
    if "use_cache" in signature(model.network.forward).parameters:
        given["use_cache"] = False
    answer: Mapping[str, Tensor] = model.network(**given, return_dict=True)
    if model.task is Task.QUESTION:
        return torch.stack([answer["start_logits"], answer["end_logits"]], dim=-1)
    return answer["logits"][:, None] if model.task in POOLED else answer["logits"]


def check_ids(model: Model, rows: Sequence[Row]) -> None:
    """Refuse ids outside the vocabulary."""
    size = model.vocabulary_size
    for number, row in enumerate(rows):
        if max(row.ids) >= size:
            raise InvalidInput(
                f"row {number} has the token id {max(row.ids)}, but the vocabulary of {model.name} "
                f"ends at {size - 1}. Were the ids made with the tokenizer of another model?"
            )


def check_finite(logits: Tensor, model: Model) -> None:
    """Refuse to explain NaN or infinity, and say where it comes from."""
    if bool(torch.isfinite(logits).all()):
        return
    names = [n for n, p in model.network.named_parameters() if not bool(torch.isfinite(p).all())]
    cause = (
        f"these parameters are not finite: {', '.join(names[:3])}{' …' if len(names) > 3 else ''}. "
        "Load the checkpoint again."
        if names
        else "its parameters are finite, so the computation overflows. Load it with dtype=torch.float32."
    )
    raise UnstableModel(f"{model.name} computes NaN or infinite logits; {cause}")
