"""The only loop that runs a model on perturbed inputs: each once, packed with others of similar length."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import numpy as np
import torch
from torch import Tensor

from headlight.batch import collate
from headlight.errors import UnsupportedModel
from headlight.models.model import Model
from headlight.probing.probe import Outcome, Probe
from headlight.running.double import double
from headlight.running.logits import logits_of
from headlight.running.memory import TOKENS_AT_ONCE, in_halves
from headlight.running.undisturbed import plain_state, undisturbed
from headlight.trace.goal import Goal, kind_of

Ask = Callable[[Model, Sequence[Probe]], list[Outcome]]
"""What puts probes to a model."""


def ask(
    model: Model, probes: Sequence[Probe], tokens_at_once: int = TOKENS_AT_ONCE
) -> list[Outcome]:
    """The answers to probes, in their order; the model runs once on equal probes."""
    unique = sorted(dict.fromkeys(probes), key=lambda probe: (len(probe.positions), len(probe)))
    answers: dict[Probe, Outcome] = {}
    model = double(model)

    def run(part: Sequence[Probe]) -> list[Outcome]:
        return undisturbed(lambda: answered(model, part), plain_state(), torch.inference_mode())

    for batch in packed(model, unique, tokens_at_once):
        answers.update(zip(batch, in_halves(run, batch, len), strict=True))
    return [answers[probe] for probe in probes]


def packed(model: Model, probes: Sequence[Probe], tokens_at_once: int) -> Iterator[list[Probe]]:
    """Sorted probes in groups of at most this many tokens; in a group, all are read at as many places."""
    batch: list[Probe] = []
    for probe in probes:
        is_full = model.takes_one_row or len(probe) * (len(batch) + 1) > tokens_at_once
        if batch and (is_full or len(probe.positions) != len(batch[0].positions)):
            yield batch
            batch = []
        batch.append(probe)
    if batch:
        yield batch


def answered(model: Model, batch: Sequence[Probe]) -> list[Outcome]:
    """The answers to a batch of probes from one pass, computed from its logits in 64 bits."""
    inputs = collate(batch, model.pad_id or 0, model.device)
    if model.gives_few_logits:
        read = sorted({position for probe in batch for position in probe.positions})
        inputs = replace(inputs, read=tuple(read))
    with thinned(model, batch):
        logits = logits_of(model, inputs).double()

    def column(values: Sequence[tuple[int, ...]]) -> Tensor:
        return torch.tensor(values, device=logits.device)

    positions = column([probe.positions for probe in batch])
    goal = Goal(
        resolved=(),
        positions=positions,
        columns=inputs.columns(positions),
        classes=column([probe.classes for probe in batch]),
        signs=torch.ones_like(positions, dtype=logits.dtype),
        weights=None,
        kind=kind_of(model),
        outputs=("logit",) * len(batch),
    )
    values = goal.value(logits, inputs.present, "logit").tolist()
    logs = goal.value(logits, inputs.present, "log_probability").tolist()
    rows = torch.arange(len(batch), device=logits.device)
    predicted = logits[rows, goal.columns[:, 0]].argmax(-1).tolist()
    return [Outcome(*fields) for fields in zip(values, logs, predicted, strict=True)]


@contextmanager
def thinned(model: Model, batch: Sequence[Probe]) -> Iterator[None]:
    """Set elements of word embeddings to 0 where probes keep only a share of them."""
    if all(probe.kept is None for probe in batch):
        yield
        return
    if model.is_encoder_decoder:
        raise UnsupportedModel(
            f"{model.family} is an encoder-decoder, which reads its text twice, so that parts of its "
            "embeddings cannot be left out. Use metrics that remove whole tokens."
        )

    def thin(_module: Any, _args: Any, output: Tensor) -> Tensor:
        return output * kept_elements(batch, output)

    # It runs before hooks that others have set, which then see what the network sees.
    handle = model.word_embeddings.register_forward_hook(thin, prepend=True)
    try:
        yield
    finally:
        handle.remove()


def kept_elements(batch: Sequence[Probe], embeddings: Tensor) -> Tensor:
    """1 for elements that are kept, else 0 [row token element]. Equal seeds draw the same for every text."""
    found = np.ones(embeddings.shape, bool)
    for row, probe in enumerate(batch):
        if probe.kept is not None:
            drawn = np.random.default_rng(probe.draw).random((len(probe), embeddings.shape[-1]))
            found[row, : len(probe)] = drawn < np.array(probe.kept)[:, None]
    return torch.from_numpy(found).to(embeddings)
