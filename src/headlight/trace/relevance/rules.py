"""Rules of relevance propagation: how the relevance of an operation's output is shared among its inputs.

A rule takes the operation, its inputs, its output z and the relevance R of the output, and returns the
relevance of each input. s(a, b) is a / b, and 0 where b is 0.
"""

from collections.abc import Callable
from dataclasses import dataclass, field, replace

import torch
from torch import Tensor
from torch.nn.functional import linear

from headlight.models.quantised import dequantised
from headlight.running.precision import max_precision

STABILISER = 1e-9
EPSILON = 1e-6


def multiply_rows(s: Tensor, weight: Tensor) -> Tensor:
    """s·weight without the rows of s that are 0: a head reads few tokens of the last block, and no padding."""
    rows = s.abs().amax(-1) > 0
    if bool(rows.all()):
        # As one matrix: torch multiplies a batch of transposed ones one by one.
        return (s.reshape(-1, s.shape[-1]) @ weight).view(*rows.shape, weight.shape[-1])
    product = s.new_zeros(*rows.shape, weight.shape[-1])
    product[rows] = s[rows] @ weight
    return product


@dataclass(frozen=True, eq=False)
class LinearMap:
    """z = forward(x, weight) + bias, and its transpose, s ↦ back(s, weight).

    held: the weight as the network has it, perhaps quantised. stored: the weight that it is a copy of, if that
    has fewer bits than the pass. kept: what does not depend on relevance, for the next sweep through the same
    pass.
    """

    held: Tensor
    bias: Tensor | None = None
    forward: Callable[[Tensor, Tensor], Tensor] = linear
    back: Callable[[Tensor, Tensor], Tensor] = multiply_rows
    stored: Tensor | None = None
    kept: dict[str, Tensor] = field(default_factory=dict)

    @property
    def weight(self) -> Tensor:
        """The weight in ordinary numbers, made when it is needed: only one such weight is held at a time."""
        return dequantised(self.held)

    def without_bias(self, z: Tensor) -> Tensor:
        """The output without the bias."""
        return z if self.bias is None else z - self.bias

    @property
    def brief(self) -> Tensor:
        """The weight in the bits in which it is stored, at least 32: for products that need no more."""
        return (
            self.weight if self.stored is None else self.stored.to(max_precision(self.stored.dtype))
        )

    def once(self, name: str, make: Callable[[], Tensor]) -> Tensor:
        """The result of `make`, computed once and kept under this name."""
        if name not in self.kept:
            self.kept[name] = make()
        return self.kept[name]


@dataclass(frozen=True, eq=False)
class Normalisation:
    """The constants of a normalisation: γ, ε, and whether it subtracts the mean first."""

    weight: Tensor
    epsilon: float
    is_centred: bool


@dataclass(frozen=True, eq=False)
class Operation:
    """One operation of a forward pass, with everything besides its inputs.

    rows: the number of examples in the batch. takes: which inputs relevance can go to; the others are
    constants. map: the linear map, if it is one. signs: those of the summands. dims: the axes of a sum.
    layer: of a product of attention and values. place: the module that runs it.
    """

    kind: str
    rows: int
    takes: tuple[bool, ...] = (True,)
    map: "LinearMap | None" = None
    norm: "Normalisation | None" = None
    signs: tuple[int, ...] = ()
    dims: tuple[int, ...] = ()
    layer: int = -1
    place: str = ""

    def in_full(self) -> "Operation":
        """The operation with the weight of the pass, in whatever bits it is stored."""
        if self.map is None or self.map.stored is None:
            return self
        return replace(self, map=replace(self.map, stored=None, kept={}))


Shares = tuple[Tensor | None, ...]
Rule = Callable[[Operation, tuple[Tensor, ...], Tensor, Tensor], Shares]


def divide(part: Tensor, whole: Tensor, stabiliser: float = STABILISER) -> Tensor:
    """s(part, whole); a stabiliser with the sign of the denominator keeps it away from 0."""
    quotient = part / torch.add(whole, whole.sign(), alpha=stabiliser)
    return torch.where(whole == 0, 0.0, quotient)


def narrowed(values: Tensor, like: Tensor) -> Tensor:
    """Values summed over the axes along which `like` was broadcast."""
    return values.sum_to_size(like.shape) if values.shape != like.shape else values


# ---------------------------------------------------------------------------------- identity


def pass_on(_op: Operation, inputs: tuple[Tensor, ...], _z: Tensor, relevance: Tensor) -> Shares:
    """R, unchanged: activations, normalisations, scaling and shifting by constants."""
    return (narrowed(relevance, inputs[0]),)


def halve(op: Operation, inputs: tuple[Tensor, ...], _z: Tensor, relevance: Tensor) -> Shares:
    """R / n to each of the n factors of an element-by-element product (gates)."""
    share = relevance / sum(op.takes)
    return tuple(
        narrowed(share, x) if takes else None for x, takes in zip(inputs, op.takes, strict=True)
    )


# ------------------------------------------------------------------------------------ linear


def z_plus(op: Operation, inputs: tuple[Tensor, ...], z: Tensor, relevance: Tensor) -> Shares:
    """Only products x_j W_ij > 0 count: R_j = Σ_i (x_j W_ij)⁺ R_i / Σ_k (x_k W_ik)⁺; the bias is left out.

    The positive part is ½(xW + |x||W|), so besides z one product forward and two back are enough; the ½ is
    above and below the fraction line. All is in the bits of the weight: more would not repair its products.
    """
    linear_map = op.map
    assert linear_map is not None
    weight, size_of_weight = linear_map.brief, linear_map.brief.abs()
    x = inputs[0].to(weight)
    size_of_x = x.abs()
    below = linear_map.once(
        "below", lambda: positive_sums(linear_map, size_of_x, z, size_of_weight)
    )
    share = relevance.to(weight) / below
    signed, unsigned = linear_map.back(share, weight), linear_map.back(share, size_of_weight)
    return (signed.mul_(x).add_(unsigned.mul_(size_of_x)).to(relevance),)


def positive_sums(
    linear_map: LinearMap, size_of_x: Tensor, z: Tensor, size_of_weight: Tensor
) -> Tensor:
    """2 Σ_k (x_k W_ik)⁺, by which z⁺ divides; infinite where no product is positive: nothing is shared then."""
    size = linear_map.forward(size_of_x, size_of_weight)
    # If no product is positive, the sum of z and size is only rounding error: some eps of the size.
    # Dividing by it would make relevance out of noise.
    noise = 32 * torch.finfo(size.dtype).eps * size
    # z and size may nearly cancel, so z is not rounded before.
    doubled = (linear_map.without_bias(z) + size).to(size)
    return torch.where(doubled > noise, doubled + 2 * STABILISER, torch.inf)


def gradient_linear(
    op: Operation, _inputs: tuple[Tensor, ...], _z: Tensor, gradient: Tensor
) -> Shares:
    """The gradient itself, from a product in the type of the stored weight."""
    assert op.map is not None
    return (op.map.back(gradient.to(op.map.brief), op.map.brief).to(gradient),)


def epsilon_linear(
    op: Operation, inputs: tuple[Tensor, ...], z: Tensor, relevance: Tensor
) -> Shares:
    """R_j = x_j Σ_i W_ij R_i / (z_i + ε); the bias keeps its share."""
    assert op.map is not None
    return (inputs[0] * op.map.back(divide(relevance, z, EPSILON), op.map.weight),)


def biased_half(op: Operation, inputs: tuple[Tensor, ...], z: Tensor, relevance: Tensor) -> Shares:
    """GPT-2's Conv1D as released: the bias takes its share as a summand, and half of the rest is lost."""
    linear_map = op.map
    assert linear_map is not None
    assert linear_map.bias is not None
    plain, share = linear_map.without_bias(z), divide(relevance, z)
    rest, _ = balanced((plain * share, linear_map.bias * share), relevance, op.rows)
    return (inputs[0] * linear_map.back(divide(rest, plain), linear_map.weight) / 2,)


# ------------------------------------------------------------------------- products and sums


def share_product(
    op: Operation, inputs: tuple[Tensor, ...], z: Tensor, relevance: Tensor, eps: float = STABILISER
) -> Shares:
    """Z = AB: R_A = A ⊙ (s(R, Z) Bᵀ), R_B = B ⊙ (Aᵀ s(R, Z)), halved if both take relevance."""
    a, b = inputs
    share = divide(relevance, z, eps) / sum(op.takes)
    return (
        narrowed(a * (share @ b.transpose(-1, -2)), a) if op.takes[0] else None,
        narrowed(b * (a.transpose(-1, -2) @ share), b) if op.takes[1] else None,
    )


def epsilon_product(
    op: Operation, inputs: tuple[Tensor, ...], z: Tensor, relevance: Tensor
) -> Shares:
    """As share_product, with the larger stabiliser of the ε rule."""
    return share_product(op, inputs, z, relevance, EPSILON)


def balanced(parts: tuple[Tensor, ...], relevance: Tensor, rows: int) -> tuple[Tensor, ...]:
    """Parts scaled so that they sum to ΣR in every example: part p gets the share |Σp| / Σ_q |Σq|."""
    total = relevance.reshape(rows, -1).sum(1)
    sums = [part.reshape(rows, -1).sum(1) for part in parts]
    size = torch.stack(sums).abs().sum(0)
    factors = [divide(divide(part_sum.abs(), size) * total, part_sum) for part_sum in sums]
    return tuple(
        (part.reshape(rows, -1) * factor[:, None]).reshape(part.shape)
        for part, factor in zip(parts, factors, strict=True)
    )


def share_sum(op: Operation, inputs: tuple[Tensor, ...], z: Tensor, relevance: Tensor) -> Shares:
    """Z = Σ x: each summand gets x s(R, Z), then all are balanced so that ΣR does not change."""
    return balanced(epsilon_sum(op, inputs, z, relevance, STABILISER), relevance, op.rows)


def epsilon_sum(
    op: Operation, inputs: tuple[Tensor, ...], z: Tensor, relevance: Tensor, eps: float = EPSILON
) -> tuple[Tensor, ...]:
    """Z = Σ x: each summand gets x R / (Z + ε)."""
    share = divide(relevance, z, eps)
    shares = {1: share, -1: -share} if -1 in op.signs else {1: share}
    return tuple(narrowed(x * shares[n], x) for x, n in zip(inputs, op.signs, strict=True))


def share_total(op: Operation, inputs: tuple[Tensor, ...], _z: Tensor, relevance: Tensor) -> Shares:
    """A sum or mean along axes: x s(R, Σ x)."""
    x = inputs[0]
    wide = relevance if relevance.dim() == x.dim() else unsqueezed(relevance, op.dims)
    return (x * divide(wide, x.sum(op.dims, keepdim=True)),)


def unsqueezed(values: Tensor, dims: tuple[int, ...]) -> Tensor:
    """Values with the axes restored that a sum has removed."""
    for dim in sorted(dims):
        values = values.unsqueeze(dim)
    return values


# ----------------------------------------------------------------------------------- softmax


def taylor_softmax(
    _op: Operation, inputs: tuple[Tensor, ...], z: Tensor, relevance: Tensor
) -> Shares:
    """R_i = x_i (R_i − z_i Σ_j R_j): softmax expanded at x (Achtibat et al. 2024, Eq. 13)."""
    share = relevance - z * relevance.sum(-1, keepdim=True)
    return (torch.where(z == 0, 0.0, inputs[0] * share),)
