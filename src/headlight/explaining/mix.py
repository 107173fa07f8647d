"""`mix`: how much of every token is in every other, layer by layer."""

from typing import Any, overload

import torch

from headlight.batch import Text
from headlight.errors import InvalidOption
from headlight.explaining.batches import sinks_of
from headlight.explaining.inputs import Given, read
from headlight.explaining.plan import ANYWHERE, Method, check_paper, one_name, planned
from headlight.methods import METHODS
from headlight.models.model import Model
from headlight.models.reading import cut_to_limit
from headlight.running.buckets import buckets
from headlight.target import Target
from headlight.tokenmixing import TokenMixing
from headlight.trace.trace import trace


@overload
def mix(
    model: Model,
    inputs: str | tuple[str, str],
    method: Method = ...,
    *,
    batch_size: int = ...,
    **options: Any,
) -> TokenMixing: ...
@overload
def mix(
    model: Model,
    inputs: list[Text] | list[str] | list[tuple[str, str]],
    method: Method = ...,
    *,
    batch_size: int = ...,
    **options: Any,
) -> list[TokenMixing]: ...
@overload
def mix(
    model: Model,
    inputs: Given,
    method: Method = ...,
    *,
    batch_size: int = ...,
    **options: Any,
) -> Any: ...


def mix(
    model: Model,
    inputs: Given,
    method: Method = "alti",
    *,
    batch_size: int = 8,
    **options: Any,
) -> TokenMixing | list[TokenMixing]:
    """How much of every token is in every other, layer by layer: one `TokenMixing` per input.

    method: one that is computed from such matrices: `rollout`, `alti`, `alti_ln2`, `norms`, `globenc`.
    """
    plan = planned(model, one_name(method, "mix"), "paper", options, batch_size, False)
    (entry,) = plan.entries
    check_paper(entry, "mix")
    if entry.mixing is None:
        known = ", ".join(name for name in METHODS if METHODS[name].mixing)
        raise InvalidOption(f"method '{entry.name}' has no token-to-token matrices. Use {known}.")
    asked = read(model, inputs)
    rows = [cut_to_limit(model, row) for row in asked.rows]
    by_row: dict[int, TokenMixing] = {}
    for bucket in buckets(model, rows, batch_size, entry.needs, plan.memory):
        captured = trace(
            model,
            [rows[n] for n in bucket],
            [ANYWHERE.get(model.task, Target())] * len(bucket),
            entry.needs,
        )
        layers = torch.stack(entry.mixing(captured, **entry.settled), 1).cpu().numpy()
        for number, matrices in zip(bucket, layers, strict=True):
            size = len(rows[number])
            by_row[number] = TokenMixing(
                rows[number].tokens,
                matrices[:, :size, :size],
                entry.name,
                model.name,
                entry.settled,
                is_special=rows[number].is_special,
                is_sink=sinks_of(model, rows[number]),
            )
    answers = [by_row[n] for n in range(len(rows))]
    return answers[0] if asked.is_one else answers
