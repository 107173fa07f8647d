"""Captured values, prepared for methods to read."""

from torch import Tensor

from headlight.batch import Inputs
from headlight.running.precision import max_precision


def zero_padding(values: Tensor, inputs: Inputs) -> Tensor:
    """Captured values [batch, token, feature] or [batch, head, query, key] for methods to read.

    Detached, on the device of the inputs, in at least 32 bits, and zero at padding.
    """
    values = values.detach().to(inputs.ids.device, max_precision(values.dtype))
    if bool(inputs.present.all()):
        return values
    present = inputs.present.to(values)
    if values.dim() == 4:
        return values * present[:, None, :, None] * present[:, None, None, :]
    return values * present[:, :, None]
