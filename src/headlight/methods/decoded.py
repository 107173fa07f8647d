"""Saliency at any layer, decoded back to the tokens of the input by a language-model head.

a_j = Σ_k (∇h^l ⊙ h^l)_jk at layer l (0: the embedding output). P = softmax(head(h^l)), and D[u, j] = P[j, u]
for the types u of tokens in the input. The score of a type goes to every place where the type occurs.
"""

from collections.abc import Callable
from typing import Literal

import torch
from torch import Tensor

from headlight.errors import InvalidOption
from headlight.methods.gradient import gradient_products
from headlight.methods.registry import METHODS
from headlight.registry.options import BY_MODEL, Count, LayerNumber
from headlight.shapes import Scores
from headlight.trace.decoder import Decoder
from headlight.trace.trace import Trace

Form = Literal["equation", "algorithm"]


@METHODS.register(
    "grad_cam",
    group="decoded layers",
    needs={"hidden", "hidden_gradient"},
    aliases=("grad_cam_l0",),
    paper="Selvaraju et al. (2017); Hou and Castanon (2023), Eq. 2 at layer 0",
)
def grad_cam(trace: Trace) -> Scores:
    """Positive part of embedding times gradient.

    ReLU(a) at l = 0, where every place still belongs to its own token, so nothing is decoded.
    """
    return gradient_products(trace)[0].clamp(min=0)


@METHODS.register(
    "decoded_grad_cam",
    group="decoded layers",
    needs={"hidden", "hidden_gradient"},
    aliases=("decoded_layer_saliency",),
    paper="Hou and Castanon (2023), Eq. 6 and Algorithm 1",
)
def decoded_grad_cam(
    trace: Trace,
    *,
    layer: LayerNumber = BY_MODEL,
    decoder: Decoder = BY_MODEL,
    top: Count | None = None,
    form: Form = "equation",
) -> Scores:
    """Grad-CAM at a hidden layer, assigned to the input tokens that its states decode to.

    form='equation': ReLU(Σ_j D[u, j] a_j), Eq. 6, where places that oppose the target cancel those that
    support it. form='algorithm': Σ_j D[u, j] ReLU(a_j), Algorithm 1, where opposing places are left out.
    `top` (τ) keeps at every place only this many types, those decoded with the highest probability.
    """
    return decoded(trace, gradient_products(trace), torch.relu, layer, decoder, top, form)


@METHODS.register(
    "decoded_simple",
    group="decoded layers",
    needs={"hidden", "hidden_gradient"},
    paper="Hou and Castanon (2023), Appendix A; Wallace et al. (2019)",
)
def decoded_simple(
    trace: Trace,
    *,
    layer: LayerNumber = BY_MODEL,
    decoder: Decoder = BY_MODEL,
    top: Count | None = None,
    form: Form = "equation",
) -> Scores:
    """AllenNLP's simple gradient at a hidden layer, assigned to the input tokens that its states decode to.

    Like `decoded_grad_cam`, with the gradient of −log p and magnitudes instead of positive parts. The scores
    sum to 1.
    """
    gradients = trace.gradients("log_probability").hidden
    layers = [(h * g).sum(-1) for h, g in zip(trace.hidden, gradients, strict=True)]
    scores = decoded(trace, layers, torch.abs, layer, decoder, top, form)
    return scores / scores.sum(-1, keepdim=True).clamp(min=torch.finfo(scores.dtype).tiny)


def decoded(
    trace: Trace,
    layers: list[Scores],
    aggregate: Callable[[Tensor], Tensor],
    number: int,
    decoder: Decoder,
    top: int | None,
    form: Form,
) -> Scores:
    """The scores of a layer's places, assigned to the tokens of the input."""
    if number >= len(layers):
        raise InvalidOption(
            f"layer={number} does not exist: 0 is the embedding output, {len(layers) - 1} the output of "
            "the last block."
        )
    scores = torch.zeros_like(layers[number])
    for row, length in enumerate(trace.inputs.lengths.tolist()):
        types, places = torch.unique(trace.inputs.ids[row, :length], return_inverse=True)
        probabilities = decoder.probabilities(trace.hidden[number][row : row + 1, :length])[0]
        weights = probabilities[:, types]
        if top is not None and top < len(types):
            least = weights.topk(top, dim=1).values[:, -1:]
            weights = weights * (weights >= least)
        layer = layers[number][row, :length]
        by_type = aggregate(layer @ weights) if form == "equation" else aggregate(layer) @ weights
        scores[row, :length] = by_type[places]
    return scores
