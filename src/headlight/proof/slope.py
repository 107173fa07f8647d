"""Whether the gradients of a network are the slope of its logits, as they should be."""

from collections.abc import Sequence
from contextlib import suppress
from math import isnan, nan

import torch
from torch import Tensor

from headlight.batch import Inputs
from headlight.errors import UnsupportedModel
from headlight.models.model import Model, is_half_precision
from headlight.models.quantised import quantised_advice
from headlight.proof.escape import is_small
from headlight.proof.gradients import in_64_bits, mixture, probe_gradients
from headlight.proof.probes import size_of_error
from headlight.running.logits import foreign_code
from headlight.running.precision import widened
from headlight.trace.forward import Pass, forward
from headlight.trace.recorder import Wants

SLOPE_STEPS = {torch.float32: (1e-2, 3e-3), torch.float64: (1e-5, 3e-6)}
"""Two step sizes, relative to the size of the embeddings: if they disagree, the slope is not known."""
SLOPE_ERROR = 0.1


def check_gradients(model: Model, watched: Pass) -> None:
    """Refuse gradients that are not those of the plain network, or not the slope of its logits."""
    plain = forward(model, watched.inputs, Wants(gradient=True))
    logits, embeddings = plain.logits, plain.captured.embeddings
    weights = mixture(logits.shape, logits)
    gradient = None
    if logits.requires_grad:
        with foreign_code(model):
            (gradient,) = torch.autograd.grad(
                (logits * weights).sum(), embeddings, allow_unused=True
            )
    if gradient is None:
        advice = quantised_advice(model.network) or (
            " Some part of it detaches values, or is quantised in a way that is not known. Load it in full "
            "precision (dtype=torch.float32), without that part."
        )
        raise UnsupportedModel(f"{model.family} computes its logits without gradients.{advice}")
    expected = gradient.double()
    seen = in_64_bits(probe_gradients(watched).embeddings, watched.captured.embeddings)
    most = 100 * size_of_error(model)
    if float((expected - seen).norm()) > most * float(expected.norm()):
        raise UnsupportedModel(
            f"the gradients of {model.family} change when its attention is watched. A hook or a part of "
            "the network treats them differently; without it the network can be explained."
        )
    if not is_half_precision(model.network):
        check_slope(model, watched.inputs, embeddings, expected, weights)


def check_slope(
    model: Model, inputs: Inputs, embeddings: Tensor, gradient: Tensor, weights: Tensor
) -> None:
    """Refuse a gradient if the logits do not rise as it says, along it and across it.

    Only this finds values that are detached or computed outside torch, and hooks that change the backward
    pass. In 32 bits, steps are long enough to cross kinks such as ReLU's. So 64 bits decide before a network
    is refused, and if the slope of a small one is not known.
    """
    start = embeddings.detach()
    missed = missed_slope(model, inputs, start, gradient, weights)
    is_narrow = start.dtype != torch.float64
    if missed is not None and is_narrow and (is_small(model) or not isnan(missed[1])):
        wide, note = widened(model, torch.float64)
        with suppress(UnsupportedModel):  # some operations do not run in 64 bits
            if not note:
                missed = missed_slope(wide, inputs, start.double(), gradient, weights)
    if missed is not None and not isnan(missed[1]):
        raise UnsupportedModel(
            f"the gradients of {model.family} are not the slope of its logits: {missed[0]:.3g} where they "
            f"rise by {missed[1]:.3g}. Some part of it detaches values, leaves torch, or changes gradients "
            f"by hooks; without that the network can be explained.{quantised_advice(model.network)}"
        )


def missed_slope(
    model: Model, inputs: Inputs, start: Tensor, gradient: Tensor, weights: Tensor
) -> tuple[float, float] | None:
    """The slope by the gradient and the true one (NaN if it is not known); None if they agree."""
    across = mixture(start.shape, start, seed=1).double()
    units = [d / d.norm().clamp(min=1e-30) for d in (gradient, across)]
    scales = (float(gradient.norm()), float(gradient.norm()) / start.numel() ** 0.5)
    missed = None
    for unit, least, (coarse, fine) in zip(
        units, scales, slopes(model, inputs, start, units, weights), strict=True
    ):
        wanted, scale = float((gradient * unit).sum()), max(least, abs(fine))
        if abs(coarse - fine) > SLOPE_ERROR / 2 * scale:
            missed = missed or (wanted, nan)
        elif abs(fine - wanted) > SLOPE_ERROR * scale:
            return wanted, fine
    return missed


def slopes(
    model: Model, inputs: Inputs, start: Tensor, units: Sequence[Tensor], weights: Tensor
) -> list[list[float]]:
    """Difference quotients of the weighted logits in each direction, by each step size; all in one pass."""
    size = float(start.double().norm())
    sizes = [step * size for step in SLOPE_STEPS[start.dtype]]
    steps = [sign * step for step in sizes for sign in (1, -1)]
    moved = torch.cat([start.double() + step * unit for unit in units for step in steps]).to(start)
    at_once = 1 if model.takes_one_row else len(moved)
    logits = torch.cat(
        [
            forward(model, inputs.repeated(len(part)), Wants(), part).logits
            for part in torch.split(moved, at_once)
        ]
    )
    values = (logits.double() * weights.double()).sum((1, 2)).reshape(len(units), -1, 2)
    widths = 2 * torch.tensor(sizes, dtype=values.dtype, device=values.device)
    quotients: list[list[float]] = ((values[..., 0] - values[..., 1]) / widths).tolist()
    return quotients
