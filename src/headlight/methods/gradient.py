"""Methods that multiply hidden states by their gradients.

h^0 is the input of the first block (the embedding output), h^l the output of block l, y the target.
"""

from collections.abc import Sequence
from typing import Literal

import torch

from headlight.methods.registry import METHODS
from headlight.shapes import Attention, Hidden, Scores
from headlight.trace.trace import Trace

Hiddens = Literal["inputs", "outputs"]
"""Which hidden states of a block are used."""


def gradient_products(trace: Trace) -> list[Scores]:
    """∇h^l · h^l, the dot product over features, for l = 0 … L."""
    pairs = zip(trace.hidden, trace.gradients().hidden, strict=True)
    return [(hidden * gradient).sum(-1) for hidden, gradient in pairs]


def attended(trace: Trace, attention: Attention) -> Scores:
    """How much each token is attended to: the mean over heads and queries."""
    return attention.mean(1).sum(1) / trace.inputs.lengths[:, None]


def norm(values: Hidden) -> Scores:
    """The ℓ2 norm over features."""
    return values.square().sum(-1).sqrt()


def total(layers: Sequence[Scores]) -> Scores:
    """The sum over layers."""
    return torch.stack(list(layers)).sum(0)


def cat_layers(trace: Trace, *, hidden: Hiddens = "outputs") -> list[Scores]:
    """∇h · h of every block's input, or of its output."""
    products = gradient_products(trace)
    return products[:-1] if hidden == "inputs" else products[1:]


@METHODS.register(
    "cat",
    group="gradients",
    needs={"hidden", "hidden_gradient"},
    signed=True,
    layered=cat_layers,
    aliases=("class_activation_tokens",),
    paper="Qiang et al. (2022), Eq. 10",
)
def cat(trace: Trace, *, hidden: Hiddens = "outputs") -> Scores:
    """Class activation tokens: hidden states times their gradients, summed over blocks.

    Σ_{l=1..L} ∇h^l · h^l, of the blocks' outputs, as the paper writes it. Positive scores support the
    target, negative scores oppose it. With hidden="inputs", Σ_{l=0..L-1}. Neither is better everywhere: with
    inputs the AOPC was higher than with outputs by 0.013 on SST-2, and on AG News, SNLI and QQP (400 texts
    each) it differed by -0.002, -0.002 and -0.006, with intervals that include 0
    (benchmarks/faithfulness/attcat).
    """
    return total(cat_layers(trace, hidden=hidden))


@METHODS.released("cat")
def cat_released(trace: Trace, *, hidden: Hiddens = "inputs") -> Scores:
    """The released code has no CAT; as in its AttCAT, the block inputs h^0 … h^{L-1} are used."""
    return total(cat_layers(trace, hidden=hidden))


def attcat_layers(trace: Trace, *, hidden: Hiddens = "inputs") -> list[Scores]:
    """E_h(α_l) (∇h · h) of every block: the effect of a token in every layer."""
    pairs = zip(trace.attention, cat_layers(trace, hidden=hidden), strict=True)
    return [attended(trace, a) * product for a, product in pairs]


@METHODS.register(
    "attcat",
    group="gradients",
    needs={"attention", "hidden", "hidden_gradient"},
    signed=True,
    layered=attcat_layers,
    aliases=("att_cat", "attentive_class_activation_tokens"),
    paper="Qiang et al. (2022), Eq. 11-12",
)
def attcat(trace: Trace, *, hidden: Hiddens = "inputs") -> Scores:
    """Class activation tokens weighted by how much each token is attended to, summed over layers.

    Σ_{l=1..L} E_h(α_l) (∇h · h), α_l(t) the mean over queries of A_l[:, t]. The sign is kept: positive
    scores support the target, negative scores oppose it. The paper's h^l can be read in two ways. By default
    h is the input of block l, which its attention reads, as in the released code. With hidden="outputs" it is
    the output of block l; its last term is zero except at [CLS] in a classifier that reads [CLS]. With inputs
    the AOPC was higher than with outputs by 0.023 on SST-2, 0.026 on AG News, 0.016 on SNLI and 0.012 on QQP
    (400 texts each; no 95 % interval includes 0; benchmarks/faithfulness/attcat).
    """
    return total(attcat_layers(trace, hidden=hidden))


# ------------------------------------------------------------------------- at the embeddings


@METHODS.register(
    "gradient_l2",
    group="gradients",
    needs={"embedding_gradient"},
    aliases=("Grad_l2", "saliency", "gradient"),
    paper="Li et al. (2016); Ferrando et al. (2022), Eq. 14",
)
def gradient_l2(trace: Trace) -> Scores:
    """Length of the gradient at the embedding.

    ‖∇h^0‖₂.
    """
    return norm(trace.gradients().embeddings)


@METHODS.released("gradient_l2")
def gradient_l2_released(trace: Trace) -> Scores:
    """The released code (ALTI) embeds twice, differentiates the probability, and divides by the sum."""
    _, gradient = trace.embed_twice()
    norms = norm(gradient)
    return norms / norms.sum(-1, keepdim=True).clamp(min=torch.finfo(norms.dtype).tiny)


@METHODS.register(
    "input_x_gradient",
    group="gradients",
    needs={"embedding_gradient"},
    signed=True,
    aliases=("GxI", "gradient_x_input", "grad_x_input", "lgxa"),
    paper="Shrikumar et al. (2016)",
)
def input_x_gradient(trace: Trace) -> Scores:
    """Embedding times its gradient, summed with sign.

    ∇h^0 · h^0.
    """
    return (trace.gradients().embeddings * trace.embeddings).sum(-1)


@METHODS.register(
    "input_x_gradient_l2",
    group="gradients",
    needs={"embedding_gradient"},
    aliases=("GxI_l2",),
    paper="Ferrando et al. (2022), Eq. 14",
)
def input_x_gradient_l2(trace: Trace) -> Scores:
    """Length of embedding times gradient.

    ‖∇h^0 ⊙ h^0‖₂.
    """
    return norm(trace.gradients().embeddings * trace.embeddings)


@METHODS.released("input_x_gradient_l2")
def input_x_gradient_l2_released(trace: Trace) -> Scores:
    """The released code (ALTI) embeds twice and differentiates the probability."""
    embeddings, gradient = trace.embed_twice()
    return norm(gradient * embeddings)


@METHODS.register(
    "input_x_gradient_mean",
    group="gradients",
    needs={"embedding_gradient"},
    aliases=("GxI_mu", "input_x_gradient_mu"),
    paper="Ferrando et al. (2022), Eq. 15",
)
def input_x_gradient_mean(trace: Trace) -> Scores:
    """Mean magnitude of embedding times gradient.

    1/d Σ_k |∇h^0_k h^0_k|.
    """
    return (trace.gradients().embeddings * trace.embeddings).abs().mean(-1)


@METHODS.released("input_x_gradient_mean")
def input_x_gradient_mean_released(trace: Trace) -> Scores:
    """The released code (ALTI) embeds twice and differentiates the probability."""
    embeddings, gradient = trace.embed_twice()
    return (gradient * embeddings).abs().mean(-1)


@METHODS.register(
    "simple",
    group="gradients",
    needs={"embedding_gradient"},
    aliases=("simple_gradient", "allennlp_simple"),
    paper="Wallace et al. (2019), after Simonyan et al. (2014)",
)
def simple(trace: Trace) -> Scores:
    """AllenNLP's simple gradient: embedding times gradient of the loss, scaled to sum to 1.

    |∇h^0 · h^0| / Σ_t |∇h^0_t · h^0_t|, with the gradient of −log p; in regression, of the value itself.
    """
    gradient = trace.gradients("log_probability").embeddings
    magnitude = (gradient * trace.embeddings).sum(-1).abs()
    return magnitude / magnitude.sum(-1, keepdim=True).clamp(min=torch.finfo(magnitude.dtype).tiny)
