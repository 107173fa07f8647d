"""DeepLIFT: how much each difference between input and reference contributes to the difference of the output.

Input and reference run in one pass, the reference in the second half of the batch. The multipliers m of values
satisfy Δf = Σ m Δvalue, and every rule here keeps that sum exactly. Δ is input minus reference, ā the mean of
both. Linear operations treat multipliers like gradients. Nonlinear operations on one value follow the rescale
rule, Δz/Δx (Shrikumar et al. 2017); a product follows Δ(ab) = b̄ Δa + ā Δb; softmax and normalisations are
composed of these.
"""

import torch
from torch import Tensor

from headlight.errors import UnsupportedModel
from headlight.running.precision import max_precision
from headlight.shapes import Hidden
from headlight.trace.forward import Pass
from headlight.trace.forward import forward as run_forward
from headlight.trace.goal import Goal
from headlight.trace.padding import zero_padding
from headlight.trace.recorder import Wants
from headlight.trace.relevance.intercept import Sweep
from headlight.trace.relevance.rules import Operation, Rule, Shares, narrowed


def multipliers(forward: Pass, goal: Goal, reference: Hidden) -> Hidden:
    """The multiplier of every embedding, where f is the sum of the explained logits."""
    model, inputs = forward.model, forward.inputs
    if model.takes_one_row:
        raise UnsupportedModel(
            f"DeepLIFT runs input and reference together, but {model.name} takes one row at a time because it "
            "has no pad token. Set network.config.pad_token_id, or use integrated_gradients."
        )
    both = torch.cat([forward.embeddings, reference]).to(model.network.dtype).requires_grad_()
    wants = Wants(attention=True, gradient=True, relevance=True)
    run = run_forward(model, inputs.repeated(2), wants, both)
    seed = sum(sign * goal.repeated(2).seed(run.logits, sign) for sign in (1.0, -1.0))
    assert isinstance(seed, Tensor)
    seed[len(inputs.ids) :] = 0
    assert run.captured.board is not None
    with run.captured.board.sweeping(Sweep("deeplift", RULES)):
        (swept,) = torch.autograd.grad(run.logits, both, seed)
    return zero_padding(swept[: len(inputs.ids)], inputs)


# ------------------------------------------------------------------------------------- halves


def halves(values: Tensor) -> tuple[Tensor, Tensor]:
    """Input and reference, in 32 bits or more.

    A tensor with an odd first axis is taken to have no batch axis, and so to be the same for both.
    """
    values = values.to(max_precision(values.dtype))
    if values.shape[0] % 2:
        return values, values
    first, second = values.chunk(2)
    return first, second


def mean(values: Tensor) -> Tensor:
    """ā, the mean of input and reference."""
    first, second = halves(values)
    return (first + second) / 2


def whole(multiplier: Tensor, like: Tensor) -> Tensor:
    """The multiplier of the input, with zeros for the reference."""
    if like.shape[0] % 2:
        return narrowed(multiplier, like).to(like)
    first, second = like.chunk(2)
    return torch.cat([narrowed(multiplier, first).to(like), torch.zeros_like(second)])


def quotient(above: Tensor, below: Tensor, slope: Tensor, dtype: torch.dtype) -> Tensor:
    """Δz / Δx; the mean slope where Δx is too small to divide by in this type."""
    is_small = below.abs() < torch.finfo(dtype).eps ** 0.5
    return torch.where(is_small, slope, above / below.where(~is_small, 1.0))


# -------------------------------------------------------------------------------------- rules


def as_gradient(_op: Operation, inputs: tuple[Tensor, ...], z: Tensor, m: Tensor) -> Shares:
    """Linear operations on one value: the gradient."""
    return torch.autograd.grad(z, inputs[0], m, retain_graph=True)


def summand(op: Operation, inputs: tuple[Tensor, ...], _z: Tensor, m: Tensor) -> Shares:
    """Sums: each summand gets m with its sign."""
    return tuple(narrowed(sign * m, x) for x, sign in zip(inputs, op.signs, strict=True))


def rescale(_op: Operation, inputs: tuple[Tensor, ...], z: Tensor, m: Tensor) -> Shares:
    """Nonlinear operations on one value: m Δz / Δx."""
    (slope,) = torch.autograd.grad(z, inputs[0], torch.ones_like(z), retain_graph=True)
    (x, x0), (y, y0) = halves(inputs[0]), halves(z)
    share = quotient(y - y0, x - x0, mean(slope), inputs[0].dtype)
    return (whole(halves(m)[0] * share, inputs[0]),)


def product(_op: Operation, inputs: tuple[Tensor, ...], _z: Tensor, m: Tensor) -> Shares:
    """Element-by-element products: m times the mean of the other factor."""
    a, b = inputs
    multiplier = halves(m)[0]
    return whole(multiplier * mean(b), a), whole(multiplier * mean(a), b)


def matrix_product(op: Operation, inputs: tuple[Tensor, ...], _z: Tensor, m: Tensor) -> Shares:
    """Matrix products: m times the mean of the other factor."""
    a, b = inputs
    multiplier = halves(m)[0]
    return (
        whole(multiplier @ mean(b).transpose(-1, -2), a) if op.takes[0] else None,
        whole(mean(a).transpose(-1, -2) @ multiplier, b) if op.takes[1] else None,
    )


def softmax(_op: Operation, inputs: tuple[Tensor, ...], _z: Tensor, m: Tensor) -> Shares:
    """Softmax as p = exp(l), l = x − LSE(x): the rescale rule for exp, and for LSE = ln Σ e with e = exp(x).

    Every quotient is bounded however far apart x and x' are: Δp/Δl by 1, and ΔLSE/ΔΣe · Δe/Δx because e is
    scaled by the largest value of both.
    """
    x, x0 = halves(inputs[0])
    dtype = inputs[0].dtype
    log, log0 = x.log_softmax(-1), x0.log_softmax(-1)
    p, p0 = log.exp(), log0.exp()
    top = torch.maximum(x, x0).amax(-1, keepdim=True)
    e, e0 = (x - top).exp(), (x0 - top).exp()
    total, total0 = e.sum(-1, keepdim=True), e0.sum(-1, keepdim=True)
    grown = x.logsumexp(-1, keepdim=True) - x0.logsumexp(-1, keepdim=True)
    of_total = quotient(grown, total - total0, 2 / (total + total0), dtype)
    weights = of_total * quotient(e - e0, x - x0, (e + e0) / 2, dtype)
    own = halves(m)[0] * quotient(p - p0, log - log0, (p + p0) / 2, dtype)
    return (whole(own - weights * own.sum(-1, keepdim=True), inputs[0]),)


def normalise(op: Operation, inputs: tuple[Tensor, ...], _z: Tensor, m: Tensor) -> Shares:
    """The product of c, the value (centred in a layer norm), and r = 1/√s, s = mean c² + ε.

    Δ(cr) = (w r + (1 − w) r') Δc + (w c' + (1 − w) c) Δr holds for any w. w = ½ is unstable if the reference
    hardly varies and r' is huge; w = r'/(r + r') is stable. Δr/Δs = −(r r')²/(r + r').
    """
    if op.norm is None:
        raise UnsupportedModel(
            f"a norm in {op.place or 'the network'} is of no kind that DeepLIFT knows. Use "
            "integrated_gradients."
        )
    c, c0 = halves(inputs[0])
    if op.norm.is_centred:
        c, c0 = (values - values.mean(-1, keepdim=True) for values in (c, c0))
    r, r0 = (((values**2).mean(-1, keepdim=True) + op.norm.epsilon).rsqrt() for values in (c, c0))
    own = halves(m)[0] * op.norm.weight
    of_r = (own * (c0 * r0 + c * r)).sum(-1, keepdim=True) / (r + r0)
    of_s = of_r * -((r * r0) ** 2) / (r + r0)
    of_c = own * 2 * r * r0 / (r + r0) + of_s * (c + c0) / c.shape[-1]
    return (whole(of_c - of_c.mean(-1, keepdim=True) if op.norm.is_centred else of_c, inputs[0]),)


RULES: dict[str, Rule] = {
    **dict.fromkeys(("linear", "addmm", "convolution", "sum", "scale", "shift"), as_gradient),
    "add": summand,
    "matmul": matrix_product,
    "attend": matrix_product,
    "mul": product,
    "activation": rescale,
    "softmax": softmax,
    "norm": normalise,
    "layer_norm": normalise,
}
