"""Methods that decompose attention blocks into what every token contributes.

T_i(x_j) = (Σ_h A^h_ij W_O^h v^h_j + δ_ij x_i), centred, times γ and divided by σ_i if the block normalises
the sum (post-norm): Σ_j T_i(x_j) + biases = y_i, the output of the block, exactly. v_j = W_V x_j + b_V.
Pre-norm blocks normalise what W_V reads, which belongs to token j alone, and do not change the sum.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import prod
from typing import Literal

import torch
from torch import Tensor

from headlight.methods.attention import accumulated
from headlight.methods.registry import METHODS
from headlight.registry.options import Count
from headlight.shapes import Mixing, Scores
from headlight.trace.attention_block import AttentionBlock, Norm
from headlight.trace.trace import Trace

Power = Literal[1, 2]
"""The norm ‖·‖_p that measures how near a contribution is to the output."""
WORKSPACE = 256
"""Megabytes that the contributions of a block of tokens may take."""
CACHED = 4
"""Megabytes that a processor works on at once: more is slower, because it does not fit into the cache."""


@dataclass(frozen=True, eq=False)
class Summands:
    """The terms that one row's block adds up, all linear parts folded in; divided by `scale` they are T.

    vectors [token, head, feature] and residual [token, feature]: of every token.
    attention [token, head, query]: the attention to it. output: y times scale.
    """

    attention: Tensor
    vectors: Tensor
    residual: Tensor
    scale: Tensor
    output: Tensor

    @cached_property
    def is_mixed(self) -> Tensor:
        """Whether token j contributes to token i: it is attended to, or it is the token itself."""
        itself = torch.eye(len(self.residual), dtype=torch.bool, device=self.residual.device)
        return (self.attention.amax(1) > 0).T | itself


def summands(
    block: AttentionBlock, sizes: Tensor, norms: Sequence[Norm], eps: bool
) -> Iterator[Summands]:
    """The summands of each row, at its own length, through these normalisations.

    Centring and γ are linear, so they are folded into W_O, which is smaller than its output.
    """
    projection, residuals = block.projection, block.residual
    scales = torch.ones_like(residuals[..., 0])
    for norm in norms:
        projection, residuals = (
            norm.weight * (part - part.mean(-1, keepdim=True)) for part in (projection, residuals)
        )
        scales = scales * (norm.variance + norm.epsilon if eps else norm.variance).sqrt()
    outputs = (norms[-1].output if norms else block.output) * scales[..., None]
    for row, size in enumerate(sizes.tolist()):
        vectors = block.values[row, :, :size] @ projection
        yield Summands(
            attention=block.attention[row, :, :size, :size].permute(2, 0, 1).contiguous(),
            vectors=vectors.transpose(0, 1).contiguous(),
            residual=residuals[row, :size],
            scale=scales[row, :size],
            output=outputs[row, :size],
        )


def distances(parts: Summands, points: Tensor, p: int, workspace: int) -> Tensor:
    """‖T_i(x_j) σ_i − points_i‖_p for all i and j, in blocks of tokens j; pairs that do not mix may be 0.

    Every step works in place, because new memory and torch's own 1-norm are several times slower.
    """
    count, _, features = parts.vectors.shape
    step = tokens_at_once(parts, count * features * parts.vectors.element_size(), workspace)
    space = parts.vectors.new_empty(step * count * features)
    found = parts.residual.new_zeros(count, count)
    firsts = parts.is_mixed.int().argmax(0).tolist()
    for start in range(0, count, step):
        block = slice(start, start + step)
        first = min(firsts[block])  # in a causal network, no token before this block attends to it
        tokens = torch.arange(start, min(count, start + step), device=space.device)
        shape = (len(tokens), count - first, features)
        contributions = space[: prod(shape)].view(shape)
        attention = parts.attention[block, :, first:].transpose(1, 2)
        torch.bmm(attention, parts.vectors[block], out=contributions)
        contributions[tokens - start, tokens - first] += parts.residual[block]
        contributions -= points[first:]
        found[first:, block] = length(contributions, p).T
    return found


def lengths(parts: Summands, workspace: int) -> Tensor:
    """‖T_i(x_j) σ_i‖₂ for all i and j, in blocks of tokens j, without making T.

    ‖Σ_h a_h v_h‖² = Σ_hg a_h a_g ⟨v_h, v_g⟩, in 64 bits, because the products may nearly cancel; where i = j,
    with the residual and from T itself.
    """
    count, heads, _ = parts.vectors.shape
    found = parts.residual.new_empty(count, count)
    step = tokens_at_once(parts, 2 * 8 * count * heads, workspace)
    for start in range(0, count, step):
        block = slice(start, start + step)
        vectors, attention = parts.vectors[block].double(), parts.attention[block].double()
        products = vectors @ vectors.transpose(1, 2)
        found[:, block] = (products @ attention).mul_(attention).sum(1).clamp(min=0).sqrt().T
    to_itself = parts.attention.diagonal(dim1=0, dim2=2).T
    own = (to_itself[:, None] @ parts.vectors)[:, 0] + parts.residual
    found.diagonal().copy_(length(own, 2))
    return found


def tokens_at_once(parts: Summands, size: int, workspace: int) -> int:
    """How many tokens, of this many bytes each, fit into so many megabytes, and into the processor's cache."""
    room = min(workspace, CACHED) if parts.vectors.device.type == "cpu" else workspace
    return min(len(parts.vectors), max(1, int(room * 2**20 // size)))


def length(vectors: Tensor, p: int) -> Tensor:
    """‖v‖_p of vectors, which are overwritten."""
    return vectors.abs_().sum(-1) if p == 1 else torch.linalg.vector_norm(vectors, p, -1)


def norms_of(block: AttentionBlock, second: bool) -> list[Norm]:
    """The normalisations that T goes through; [] in pre-norm blocks."""
    return [n for n in (block.norm, block.second_norm if second else None) if n is not None]


def alti_layers(
    trace: Trace,
    *,
    p: Power = 1,
    workspace: int = WORKSPACE,
    second: bool = False,
    released: bool = False,
) -> list[Mixing]:
    """C of every layer: how much closer T_i(x_j) comes to y_i, as shares of each row."""
    layers = []
    for block in trace.blocks:
        matrix = torch.zeros_like(block.attention[:, 0])
        rows = summands(block, trace.inputs.lengths, norms_of(block, second), not released)
        for row, parts in enumerate(rows):
            shift = 1e-6 * parts.scale[:, None] if released else 0
            far = distances(parts, parts.output - shift, p, workspace)
            nearer = length(parts.output.clone(), p)[:, None] - far
            closeness = nearer.clamp(min=0) * parts.is_mixed
            total = closeness.sum(-1, keepdim=True)
            itself = torch.eye(len(total), dtype=total.dtype, device=total.device)
            shares = torch.where(total > 0, closeness / total.where(total > 0, 1), itself)
            matrix[row, : len(shares), : len(shares)] = shares
        layers.append(matrix)
    return layers


def norm_layers(trace: Trace, *, workspace: Count = WORKSPACE) -> list[Mixing]:
    """‖T_i(x_j)‖₂ of every layer, as shares of each row."""
    return [matrix / row_sums(matrix) for matrix in lengths_of(trace, workspace, second=False)]


def globenc_layers(
    trace: Trace, *, workspace: Count = WORKSPACE, released: bool = False
) -> list[Mixing]:
    """‖T_i(x_j)‖₂ of every layer after both normalisations; in pre-norm blocks, as shares of each row."""
    return [
        matrix if block.second_norm is not None else matrix / row_sums(matrix)
        for block, matrix in zip(
            trace.blocks, lengths_of(trace, workspace, second=True, released=released), strict=True
        )
    ]


def lengths_of(
    trace: Trace, workspace: int, *, second: bool, released: bool = False
) -> Iterator[Mixing]:
    """‖T_i(x_j)‖₂ of every layer."""
    for block in trace.blocks:
        matrix = torch.zeros_like(block.attention[:, 0])
        rows = summands(block, trace.inputs.lengths, norms_of(block, second), not released)
        for row, parts in enumerate(rows):
            scaled = lengths(parts, workspace) * parts.is_mixed / parts.scale[:, None]
            matrix[row, : len(scaled), : len(scaled)] = scaled
        yield matrix


def row_sums(matrix: Mixing) -> Tensor:
    """The sums of the rows, 1 in rows of padding."""
    total = matrix.sum(-1, keepdim=True)
    return total.where(total > 0, torch.ones_like(total))


@METHODS.register(
    "alti",
    group="token mixing",
    needs={"attention_blocks"},
    aliases=("ALTI_l1", "aggregation_of_layer_wise_token_to_token_interactions"),
    paper="Ferrando, Gállego and Costa-jussà (2022)",
    mixing=alti_layers,
)
def alti(trace: Trace, *, p: Power = 1, workspace: Count = WORKSPACE) -> Scores:
    """Token mixing by exact decomposition: how close each contribution comes to the block's output.

    C_ij = max(0, ‖y_i‖_p − ‖y_i − T_i(x_j)‖_p), rows as shares; the product over layers, read. A row in
    which no contribution comes closer keeps its own token. `workspace` limits the work space in megabytes;
    time grows with the square of the length.
    """
    return trace.read(accumulated(alti_layers(trace, p=p, workspace=workspace)))


@METHODS.released("alti")
def alti_released(trace: Trace, *, p: Power = 1, workspace: Count = WORKSPACE) -> Scores:
    """The released code leaves ε out of σ and adds 10⁻⁶ to every component of the difference. A row in
    which no contribution comes closer is NaN there.
    """
    return trace.read(accumulated(alti_layers(trace, p=p, workspace=workspace, released=True)))


def alti_ln2_layers(trace: Trace, *, p: Power = 1, workspace: Count = WORKSPACE) -> list[Mixing]:
    """C of every layer, with T and y after the second normalisation."""
    return alti_layers(trace, p=p, workspace=workspace, second=True)


@METHODS.register(
    "alti_ln2",
    group="token mixing",
    needs={"attention_blocks"},
    aliases=("ALTI+LN2",),
    paper="Ferrando et al. (2022), released code only",
    mixing=alti_ln2_layers,
)
def alti_ln2(trace: Trace, *, p: Power = 1, workspace: Count = WORKSPACE) -> Scores:
    """ALTI with contributions and output after the block's second normalisation.

    In pre-norm blocks, which have none, this is the same as `alti`.
    """
    return trace.read(accumulated(alti_ln2_layers(trace, p=p, workspace=workspace)))


@METHODS.released("alti_ln2")
def alti_ln2_released(trace: Trace, *, p: Power = 1, workspace: Count = WORKSPACE) -> Scores:
    """The released code leaves ε out of σ and adds 10⁻⁶ to every component of the difference."""
    layers = alti_layers(trace, p=p, workspace=workspace, second=True, released=True)
    return trace.read(accumulated(layers))


@METHODS.register(
    "norms",
    group="token mixing",
    needs={"attention_blocks"},
    aliases=("norm_rollout", "kobayashi"),
    paper="Kobayashi et al. (2021), with rollout as in Ferrando et al. (2022)",
    mixing=norm_layers,
)
def norms(trace: Trace, *, workspace: Count = WORKSPACE) -> Scores:
    """Lengths of what tokens contribute to each other, including residual and normalisation.

    ‖T_i(x_j)‖₂, rows as shares; the product over layers, read.
    """
    return trace.read(accumulated(norm_layers(trace, workspace=workspace)))


@METHODS.register(
    "globenc",
    group="token mixing",
    needs={"attention_blocks"},
    aliases=("global_encoder_attribution",),
    paper="Modarressi et al. (2022)",
    mixing=globenc_layers,
)
def globenc(trace: Trace, *, workspace: Count = WORKSPACE) -> Scores:
    """Lengths of what tokens contribute after both normalisations of a block, through all layers.

    ‖N_2(T_i(x_j))‖₂, N_2 the second normalisation of the whole block's output; the product over layers,
    read. Rows are not shares, so scores grow with depth and only their order counts. In pre-norm blocks,
    whose outputs have no fixed scale, rows are shares.
    """
    return trace.read(accumulated(globenc_layers(trace, workspace=workspace)))


@METHODS.released("globenc")
def globenc_released(trace: Trace, *, workspace: Count = WORKSPACE) -> Scores:
    """The re-implementation in the released code of ALTI leaves ε out of σ."""
    return trace.read(accumulated(globenc_layers(trace, workspace=workspace, released=True)))
