"""`AttentionBlock`: an attention block, decomposed exactly into the terms that it adds up.

y_i = norm(x_i + Σ_j Σ_h A^h_ij W_O^h v^h_j + b_O), where v_j = W_V x_j + b_V; pre-norm blocks normalise
before W_V and have no norm around the sum.
"""

from dataclasses import dataclass
from functools import cached_property

import torch
from torch import Tensor, nn
from transformers.pytorch_utils import Conv1D

from headlight.batch import Inputs
from headlight.models.quantised import is_plain
from headlight.shapes import Attention, Features, Hidden, Projection, Scores, Values
from headlight.trace.padding import zero_padding
from headlight.trace.recorder import Captured


@dataclass(frozen=True, eq=False)
class Norm:
    """A layer normalisation with the input s and output of one pass: γ ⊙ (s − mean s) / √(variance + ε) + β."""

    weight: Features
    bias: Features
    epsilon: float
    given: Hidden
    output: Hidden

    @cached_property
    def variance(self) -> Scores:
        """The variance of the input at every token."""
        return self.given.var(-1, correction=0)


@dataclass(frozen=True, eq=False)
class AttentionBlock:
    """One attention block. norm and second_norm follow the two sums; None in pre-norm blocks."""

    attention: Attention
    values: Values
    projection: Projection
    bias: Features
    residual: Hidden
    norm: Norm | None
    second_norm: Norm | None
    output: Hidden


def block_of(captured: Captured, inputs: Inputs, layer: int) -> AttentionBlock:
    """The attention block of a layer, counted from 0 at the input."""
    record, residual = captured.blocks[layer], captured.hidden[layer]
    attention = zero_padding(captured.attention[layer], inputs)
    values = record.values.detach().to(attention)
    projection, bias = projected(record.parts.projection, values)
    first = second = None
    output = record.second_norm[0]  # pre-norm: the sum is the input of the second norm
    if record.parts.norm is not None and record.norm is not None:
        first = acted(record.parts.norm, *record.norm, inputs)
        second = acted(record.parts.second_norm, *record.second_norm, inputs)
        output = first.output
    return AttentionBlock(
        attention=attention,
        values=values,
        projection=projection,
        bias=bias,
        residual=zero_padding(residual, inputs),
        norm=first,
        second_norm=second,
        output=zero_padding(output, inputs),
    )


def put_together(block: AttentionBlock) -> Hidden:
    """The output of the block computed from its parts, to check that they add up."""
    mixed = torch.einsum("bhqk,bhkw,hwd->bqd", block.attention, block.values, block.projection)
    total = block.residual + mixed + block.bias
    if block.norm is None:
        return total
    centred = total - total.mean(-1, keepdim=True)
    deviation = (block.norm.variance + block.norm.epsilon).sqrt()
    return block.norm.weight * centred / deviation[..., None] + block.norm.bias


@torch.no_grad()
def projected(module: nn.Module, values: Values) -> tuple[Projection, Features]:
    """W_O as [head, width, feature], and b_O; for an unknown module, from what it does to unit vectors."""
    _, heads, _, width = values.shape
    if type(module) is nn.Linear and is_plain(module.weight):
        matrix, bias = module.weight.T, module.bias
    elif type(module) is Conv1D:
        matrix, bias = module.weight, module.bias
    else:
        own = [*module.parameters(), values]
        dtype = next(tensor.dtype for tensor in own if tensor.is_floating_point())
        units = torch.eye(heads * width, dtype=dtype, device=own[0].device)
        bias = module(torch.zeros_like(units[:1]))[0]
        matrix = module(units) - bias
    if bias is None:
        bias = matrix.new_zeros(matrix.shape[-1])
    return torch.unflatten(matrix.detach().to(values), 0, (heads, width)), bias.detach().to(values)


def acted(module: nn.Module, given: Tensor, output: Tensor, inputs: Inputs) -> Norm:
    """A layer norm with its input and output."""
    assert isinstance(module, nn.LayerNorm)
    given, output = (zero_padding(states, inputs) for states in (given, output))
    weight, bias = (part.detach().to(given) for part in (module.weight, module.bias))
    return Norm(weight, bias, module.eps, given, output)
