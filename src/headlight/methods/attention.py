"""Methods that read attention maps, alone or with their gradients.

A_l [head, query, key] is the attention of layer l, ∇A_l the gradient of the target with respect to
it, E_h the mean over heads. "Read" means: the row of the position at which the task's prediction is
made; for an answer span the sum of the rows of its start and its end.
"""

from collections.abc import Iterable, Sequence

import torch

from headlight.methods.registry import METHODS
from headlight.shapes import Attention, Mixing, Scores
from headlight.trace.trace import Trace


def with_residual(mixing: Mixing) -> Mixing:
    """The identity added for the residual connection, and every row divided by its sum."""
    total = mixing + torch.eye(mixing.shape[-1], dtype=mixing.dtype, device=mixing.device)
    return total / total.sum(-1, keepdim=True)


def running_products(mixing: Sequence[Mixing]) -> list[Mixing]:
    """The products of the layers' matrices up to each layer, later layers from the left."""
    products = [mixing[0]]
    for matrix in mixing[1:]:
        products.append(matrix @ products[-1])
    return products


def accumulated(mixing: Sequence[Mixing]) -> Mixing:
    """The product of the matrices of all layers."""
    return running_products(mixing)[-1]


def read_released(trace: Trace, mixing: Mixing) -> Scores:
    """The read-out of the released code.

    For a single position: its row, with the position's own entry set to 0. For answers, where the code
    reads no position: the mean over all rows after setting entry [0, 0] to 0, once for the start and once
    for the end.
    """
    if trace.goal.kind == "span":
        mixing = mixing.clone()
        mixing[:, 0, 0] = 0
        present = trace.inputs.present.to(mixing)
        terms = (trace.goal.signs != 0).sum(1, keepdim=True)
        return (mixing * present[..., None]).sum(1) / present.sum(1, keepdim=True) * terms
    return trace.read(mixing) * (trace.weights == 0)


@METHODS.register(
    "raw_attention",
    group="attention",
    needs={"attention"},
    aliases=("RawAtt", "attention", "raw"),
    paper="Abnar and Zuidema (2020)",
)
def raw_attention(trace: Trace) -> Scores:
    """Attention of the last layer, averaged over heads, from where the prediction is read.

    E_h(A_L), read.
    """
    return trace.read(trace.attention[-1].mean(1))


@METHODS.released("raw_attention")
def raw_attention_released(trace: Trace) -> Scores:
    """The released code (AttCAT, Mask-LRP) sets the reading position's own score to 0; for answers it
    averages over all queries instead of reading start and end.
    """
    return read_released(trace, trace.attention[-1].mean(1))


def rollout_layers(trace: Trace) -> list[Mixing]:
    """Attention averaged over heads, where half of every row is the token itself."""
    return [with_residual(a.mean(1)) for a in trace.attention]


@METHODS.register(
    "rollout",
    group="attention",
    needs={"attention"},
    aliases=("attention_rollout",),
    paper="Abnar and Zuidema (2020)",
    mixing=rollout_layers,
)
def rollout(trace: Trace) -> Scores:
    """Attention multiplied through all layers, with the residual connection as half of each.

    Product over l of rownorm(E_h(A_l) + I), later layers from the left, read.
    """
    return trace.read(accumulated(rollout_layers(trace)))


@METHODS.released("rollout")
def rollout_released(trace: Trace) -> Scores:
    """The released code (AttCAT, Mask-LRP) sets the reading position's own score to 0; for answers it
    averages over all rows instead of reading start and end.
    """
    return read_released(trace, accumulated(rollout_layers(trace)))


@METHODS.register(
    "grads",
    group="attention",
    needs={"attention_gradient"},
    signed=True,
    aliases=("CAM", "attention_gradient"),
    paper="Qiang et al. (2022), Figure 2; 'CAM' in Song et al. (2024)",
)
def grads(trace: Trace) -> Scores:
    """Gradient of the target with respect to the last layer's attention.

    E_h(∇A_L), read.
    """
    return trace.read(trace.gradients().attention[-1].mean(1))


@METHODS.released("grads")
def grads_released(trace: Trace) -> Scores:
    """The released code (Mask-LRP, 'CAM') averages over all queries as well as heads, drops negative
    values, and sets the first token's score to 0.
    """
    gradient = trace.gradients().attention[-1].mean(1)
    scores = (gradient.sum(1) / trace.inputs.lengths[:, None]).clamp(min=0)
    scores[:, 0] = 0
    return scores


def weighted_last_layer(trace: Trace) -> Mixing:
    """ReLU(E_h(w_h A_L)), where w_h is the mean of the gradient over the last layer's map of head h."""
    gradient = trace.gradients().attention[-1]
    size = trace.inputs.lengths.to(gradient)[:, None] ** 2
    weights = gradient.sum((2, 3)) / size
    return (weights[..., None, None] * trace.attention[-1]).mean(1).clamp(min=0)


@METHODS.register(
    "attention_gradcam",
    group="attention",
    needs={"attention", "attention_gradient"},
    aliases=("attn_gradcam",),
    paper="Selvaraju et al. (2017) on the last attention map; 'GradCAM' in Song et al. (2024)",
)
def attention_gradcam(trace: Trace) -> Scores:
    """Grad-CAM on the last attention map: heads weighted by their mean gradient.

    ReLU(E_h(w_h A_L)), w_h the mean of ∇A_L over the map of head h, read.
    """
    return trace.read(weighted_last_layer(trace))


@METHODS.released("attention_gradcam")
def attention_gradcam_released(trace: Trace) -> Scores:
    """The released code (Mask-LRP) rescales the whole map to [0, 1] before reading it and sets the
    reading position's own score to 0. Where the map is constant it divides 0 by 0; here the score is 0.
    """
    heat = weighted_last_layer(trace)
    present = trace.inputs.present
    outside = ~(present[:, :, None] & present[:, None, :])
    low = heat.masked_fill(outside, torch.inf).amin((1, 2), keepdim=True)
    high = heat.masked_fill(outside, -torch.inf).amax((1, 2), keepdim=True)
    spread = high - low
    scaled = torch.where(
        spread > 0, (heat - low) / spread.where(spread > 0, torch.ones_like(spread)), 0
    )
    return read_released(trace, scaled.masked_fill(outside, 0))


def attended_gradient(attention: Attention, gradient: Attention) -> Mixing:
    """E_h(A ⊙ ∇A)."""
    return (attention * gradient).mean(1)


@METHODS.register(
    "att_grads",
    group="attention",
    needs={"attention", "attention_gradient"},
    signed=True,
    aliases=("AttGrads",),
    paper="Qiang et al. (2022), Figure 2",
)
def att_grads(trace: Trace) -> Scores:
    """Attention times its gradient, summed over layers.

    Σ_l E_h(A_l ⊙ ∇A_l), read. The sign is kept. The authors released no code for it.
    """
    pairs = zip(trace.attention, trace.gradients().attention, strict=True)
    return trace.read(sum((attended_gradient(a, g) for a, g in pairs), torch.zeros(())))


@METHODS.register(
    "grad_sam",
    group="attention",
    needs={"attention", "attention_gradient"},
    aliases=("Grad-SAM",),
    paper="Barkan et al. (2021)",
)
def grad_sam(trace: Trace) -> Scores:
    """Attention times its positive gradient, averaged over layers, heads and queries.

    r_j = 1/(L H T) Σ_{l,h,i} (A_l ⊙ ReLU(∇A_l))_{hij}: how much token j is attended to where that
    helps the target. The sum runs over queries i; published re-implementations disagree on it.
    """
    pairs = zip(trace.attention, trace.gradients().attention, strict=True)
    layers = [(a * g.clamp(min=0)).mean(1).sum(1) for a, g in pairs]
    return torch.stack(layers).mean(0) / trace.inputs.lengths[:, None]


def chained(layers: Iterable[Mixing]) -> Mixing:
    """(I + M_L) … (I + M_1), without normalising rows; layers are read one at a time."""
    given = iter(layers)
    first = next(given)
    joint = torch.eye(first.shape[-1], dtype=first.dtype, device=first.device) + first
    for layer in given:
        joint = joint + layer @ joint
    return joint


def relevance_map(trace: Trace) -> Mixing:
    """R, from R = I by R ← R + E_h((A_l ⊙ ∇A_l)⁺) R through the layers."""
    pairs = zip(trace.attention, trace.gradients().attention, strict=True)
    return chained((a * g).clamp(min=0).mean(1) for a, g in pairs)


@METHODS.register(
    "gae",
    group="attention",
    needs={"attention", "attention_gradient"},
    aliases=("generic_attention_explainability", "chefer2021b"),
    paper="Chefer, Gur and Wolf (ICCV 2021)",
)
def gae(trace: Trace) -> Scores:
    """Attention times its positive gradient, accumulated through the layers.

    R = I, then R ← R + E_h((A_l ⊙ ∇A_l)⁺) R for every layer, read. Rows are not normalised. This is
    not the row called GAE in the Mask-LRP paper, which is transformer attribution.
    """
    return trace.read(relevance_map(trace))


@METHODS.released("gae")
def gae_released(trace: Trace) -> Scores:
    """The released code sets the reading position's own score, dominated by the identity, to 0."""
    return trace.read(relevance_map(trace)) * (trace.weights == 0)
