"""Proves on the live network that headlight sees it right; run when a network is wrapped."""

from dataclasses import replace

import torch
from torch import Tensor

from headlight.batch import Batch, Inputs, collate
from headlight.errors import UnsupportedModel
from headlight.models.model import Model, is_half_precision
from headlight.trace.capture import Recorder, watching
from headlight.trace.mixer import mixers_of, put_together
from headlight.trace.network import check_finite, logits_of

PROBE_LENGTH = 6


def proved(model: Model) -> Model:
    """The model, once its architecture row and the capture of its attention hold on a short probe.

    The logits of a watched pass are those of a plain one; every block shows one attention map whose
    rows sum to 1; the logits depend on each of them, on every block and on the embeddings; and the parts
    of every attention block add up to its output. For an unknown family only the logits are compared.
    Where the attention interface shows nothing, softmax is watched instead.
    """
    inputs = probe_inputs(model)
    expected = probe(model, inputs, Recorder())
    check_finite(expected, model)
    seen, watched = watch(model, inputs)
    if not watched.attention:
        model = replace(model, sees_attention_by="softmax")
        seen, watched = watch(model, inputs)
    tolerance = 0.05 if is_half_precision(model.network) else 1e-4
    difference = float((seen.detach() - expected).abs().max())
    if difference > tolerance * (1 + float(expected.abs().max())):
        raise failed(model, f"its logits move by {difference:.2g} when its attention is watched")
    if model.architecture is None:
        return model
    layers = len(watched.block_inputs)
    if len(watched.attention) != layers:
        raise failed(
            model, f"{layers} blocks ran, but {len(watched.attention)} attention maps were seen"
        )
    for number, weights in enumerate(watched.attention):
        if float((weights.detach().sum(-1) - 1).abs().max()) > tolerance:
            raise failed(model, f"rows of the attention of layer {number} do not sum to 1")
    check_causes(model, watched, seen)
    check_mixers(model, watched, inputs, tolerance)
    return model


def watch(model: Model, inputs: Inputs) -> tuple[Tensor, Recorder]:
    """The logits of a watched probe, and what was seen."""
    recorder = Recorder(
        wants_attention=True,
        wants_blocks=model.architecture is not None,
        wants_mixers=model.architecture is not None and model.architecture.mixer is not None,
        wants_gradient=True,
    )
    return probe(model, inputs, recorder), recorder


def probe_inputs(model: Model) -> Inputs:
    """A short made-up input."""
    ids = [i for i in range(5, 6 + PROBE_LENGTH) if i != model.pad_id][:PROBE_LENGTH]
    rows = Batch.from_ids([min(i, model.vocabulary_size - 1) for i in ids]).rows
    return collate(rows, model.pad_id or 0, model.network.device)


def probe(model: Model, inputs: Inputs, recorder: Recorder) -> Tensor:
    """The logits of an input, watched."""
    with watching(model, recorder):
        return logits_of(model, inputs)


def check_causes(model: Model, watched: Recorder, logits: Tensor) -> None:
    """What was captured must be what the logits are computed from."""
    assert watched.embeddings is not None
    parts = {"its embeddings": watched.embeddings}
    parts |= {f"the input of block {n}": h for n, h in enumerate(watched.block_inputs)}
    parts |= {f"the attention of layer {n}": a for n, a in enumerate(watched.attention)}
    used = {name: part for name, part in parts.items() if part.requires_grad}
    found = torch.autograd.grad(logits.float().sum(), list(used.values()), allow_unused=True)
    moving = {name for name, gradient in zip(used, found, strict=True) if gradient is not None}
    for name in parts:
        if name not in moving:
            raise failed(model, f"its logits do not depend on what was captured as {name}")


def check_mixers(model: Model, watched: Recorder, inputs: Inputs, tolerance: float) -> None:
    """The parts of every attention block must add up to what it gives."""
    for number, mixer in enumerate(mixers_of(watched, inputs) if watched.mixers else ()):
        difference = float((put_together(mixer) - mixer.output).abs().max())
        if difference > tolerance * (1 + float(mixer.output.abs().max())):
            raise failed(
                model,
                f"the parts of its attention block {number} miss its output by {difference:.2g}",
            )


def failed(model: Model, finding: str) -> UnsupportedModel:
    """The error for a network that is not what the table says."""
    return UnsupportedModel(
        f"{model.family} does not behave as its row in the architecture table says: {finding}. "
        "Correct the row in models/architectures.py (docs/how-to/add-an-architecture.md)."
    )
