"""Running a network from inputs to logits, with checks before and after."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager

import torch
from torch import Tensor

from headlight.batch import Inputs, Row
from headlight.errors import HeadlightError, InvalidInput, UnstableModel, UnsupportedModel
from headlight.models.arguments import arguments_of
from headlight.models.model import POOLED, Model, Task
from headlight.models.quantised import dequantised, quantised_advice
from headlight.running.double import check_mode


def logits_of(model: Model, inputs: Inputs, embeddings: Tensor | None = None) -> Tensor:
    """The network's logits as [batch, position, class]; pooled heads have one position.

    If not all logits are wanted, the positions are those of `inputs.read`. The network receives ids.
    `embeddings` replace them only to reproduce released code that does so.
    """
    arguments: dict[str, object] = {"attention_mask": inputs.attended.long()}
    arguments["input_ids" if embeddings is None else "inputs_embeds"] = (
        inputs.ids if embeddings is None else embeddings
    )
    if inputs.types is not None and model.takes_types:
        arguments["token_type_ids"] = inputs.types
    if "use_cache" in arguments_of(model.network):
        arguments["use_cache"] = False
    if inputs.read is not None:
        arguments["logits_to_keep"] = torch.tensor(inputs.read, device=inputs.ids.device)
    with foreign_code(model):
        answer: Mapping[str, Tensor] = model.network(**arguments, return_dict=True)
        check_mode(model)
        if model.task is Task.QUESTION:
            return torch.stack([answer["start_logits"], answer["end_logits"]], dim=-1)
        return answer["logits"][:, None] if model.task in POOLED else answer["logits"]


@contextmanager
def foreign_code(model: Model) -> Iterator[None]:
    """Turn whatever a network raises into a refusal with its reason; lack of memory is raised unchanged."""
    try:
        yield
    except (HeadlightError, MemoryError, torch.OutOfMemoryError):
        raise
    except Exception as error:  # the network's code may raise anything
        said = " ".join(str(error).split())[:300]
        if "memory" in said:
            raise
        raise UnsupportedModel(
            f"{model.family} cannot be run as headlight runs networks, with input_ids and attention_mask, "
            f"for logits and their gradients. It raises {type(error).__name__}: {said or 'no reason given'}"
            f"{quantised_advice(model.network)}"
        ) from error


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
    """Refuse logits that are NaN or infinite, and say where they come from."""
    if bool(torch.isfinite(logits).all()):
        return
    names = [
        n
        for n, p in model.network.named_parameters()
        if not bool(torch.isfinite(dequantised(p)).all())
    ]
    cause = (
        f"these parameters are not finite: {', '.join(names[:3])}{' …' if len(names) > 3 else ''}. "
        "Load the checkpoint again."
        if names
        else "its parameters are finite, so the computation overflows. Load it with dtype=torch.float32."
    )
    raise UnstableModel(f"{model.name} computes NaN or infinite logits; {cause}")
