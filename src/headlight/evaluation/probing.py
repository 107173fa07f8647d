"""The one loop that puts perturbed inputs to a model: each once, packed with others of like length."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import torch
from torch import Tensor

from headlight.batch import Inputs
from headlight.metrics.case import Case, Measures, Measuring, metric_of
from headlight.metrics.probe import Answer, Probe
from headlight.models.model import Model
from headlight.trace.double import double
from headlight.trace.goal import Goal, kind_of
from headlight.trace.halving import in_halves
from headlight.trace.network import logits_of
from headlight.trace.undisturbed import plain_state, undisturbed

TOKENS_AT_ONCE = 4_096
"""Tokens, padding included, that share a pass."""


def ask(
    model: Model, probes: Sequence[Probe], tokens_at_once: int = TOKENS_AT_ONCE
) -> list[Answer]:
    """The answers to probes, in their order; equal probes are put to the model once."""
    unique = sorted(dict.fromkeys(probes), key=lambda probe: (len(probe.positions), len(probe)))
    found: dict[Probe, Answer] = {}
    own = double(model)

    def run(part: Sequence[Probe]) -> list[Answer]:
        return undisturbed(lambda: answered(own, part), plain_state(), torch.inference_mode())

    for batch in packed(model, unique, tokens_at_once):
        found.update(zip(batch, in_halves(run, batch, len), strict=True))
    return [found[probe] for probe in probes]


def packed(model: Model, probes: Sequence[Probe], tokens_at_once: int) -> Iterator[list[Probe]]:
    """Sorted probes in groups of at most so many tokens that are read at as many places."""
    batch: list[Probe] = []
    for probe in probes:
        is_full = model.takes_one_row or len(probe) * (len(batch) + 1) > tokens_at_once
        if batch and (is_full or len(probe.positions) != len(batch[0].positions)):
            yield batch
            batch = []
        batch.append(probe)
    if batch:
        yield batch


def answered(model: Model, batch: Sequence[Probe]) -> list[Answer]:
    """One pass, read in 64 bits."""
    inputs = collated(batch, model.pad_id or 0, model.network.device)
    logits = logits_of(model, inputs).double()

    def column(values: Sequence[tuple[int, ...]]) -> Tensor:
        return torch.tensor(values, device=logits.device)

    positions = column([probe.positions for probe in batch])
    goal = Goal(
        decisions=(),
        positions=positions,
        classes=column([probe.classes for probe in batch]),
        signs=torch.ones_like(positions, dtype=logits.dtype),
        weights=None,
        kind=kind_of(model),
        outputs=("logit",) * len(batch),
    )
    values = goal.value(logits, inputs.present, "logit").tolist()
    logs = goal.value(logits, inputs.present, "log_probability").tolist()
    rows = torch.arange(len(batch), device=logits.device)
    predicted = logits[rows, positions[:, 0]].argmax(-1).tolist()
    return [Answer(*each) for each in zip(values, logs, predicted, strict=True)]


def collated(batch: Sequence[Probe], pad_id: int, device: torch.device) -> Inputs:
    """Probes as tensors, padded on the right."""
    width = max(map(len, batch))
    fill = [(width - len(probe)) for probe in batch]
    ids = torch.tensor([[*p.ids, *[pad_id] * n] for p, n in zip(batch, fill, strict=True)])
    attended = torch.tensor([[*p.attended, *[False] * n] for p, n in zip(batch, fill, strict=True)])
    present = torch.tensor(
        [[True] * len(p) + [False] * n for p, n in zip(batch, fill, strict=True)]
    )
    types = None
    if any(probe.types is not None for probe in batch):
        own = [probe.types or [0] * len(probe) for probe in batch]
        types = torch.tensor(
            [[*t, *[0] * n] for t, n in zip(own, fill, strict=True)], device=device
        )
    return Inputs(ids.to(device), attended.to(device), present.to(device), types)


Waiting = tuple[int, str, Measuring, Sequence[Probe]]
"""A metric that has asked: the number of its case, its name in the run, itself, and its probes."""


def begun(
    cases: Sequence[Case], metrics: Mapping[str, Mapping[str, Any]]
) -> tuple[list[dict[str, Measures]], list[Waiting]]:
    """What metrics find without the model, and those that wait for answers."""
    found: list[dict[str, Measures]] = [{} for _ in cases]
    waiting: list[Waiting] = []
    for number, case in enumerate(cases):
        for name, options in metrics.items():
            result: Any = metric_of(name).function(case, **options)
            if isinstance(result, dict):
                found[number][name] = result
                continue
            try:
                waiting.append((number, name, result, next(result)))
            except StopIteration as ended:
                found[number][name] = ended.value
    return found, waiting


def measure(
    model: Model, cases: Sequence[Case], metrics: Mapping[str, Mapping[str, Any]]
) -> list[dict[str, Measures]]:
    """Every metric (by its name in the run, with its options) on every case; all probes in one go."""
    found, waiting = begun(cases, metrics)
    answers = iter(ask(model, [probe for *_, probes in waiting for probe in probes]))
    for number, name, metric, probes in waiting:
        try:
            metric.send([next(answers) for _ in probes])
        except StopIteration as ended:
            found[number][name] = ended.value
        else:
            raise AssertionError(f"{name} asks twice")
    return [{name: own[name] for name in metrics} for own in found]
