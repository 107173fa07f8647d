"""Methods that send relevance backwards through the network, layer by layer.

R_l is the relevance of the attention of layer l, R(h) that of a hidden state. The rules are those of a
preset (`trace/relevance/presets.py`); relevance starts as 1 at the explained logit.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import torch
from torch import Tensor

from headlight.errors import InvalidOption
from headlight.headmask import HeadMask
from headlight.methods.attention import accumulated, with_residual
from headlight.methods.registry import METHODS
from headlight.registry.options import BY_MODEL, BlockNumber, Count, Seed, Share
from headlight.shapes import Attention, Mixing, Scores
from headlight.trace.relevance.intercept import Gate
from headlight.trace.relevance.presets import Preset
from headlight.trace.relevance.rules import balanced
from headlight.trace.relevance.sweep import Flow
from headlight.trace.trace import Trace

RELEASED = "chefer_released"
PAPER_TA = "Chefer, Gur and Wolf (CVPR 2021)"
PAPER_MASK = "Song et al. (2024)"

Rows = Literal["plain", "normalised"]
Diagonal = Literal["kept", "zero"]
Separators = Literal["seen", "hidden"]
Parts = Literal["sum", "union"]
Empty = Literal["open", "residual"]


def released_flow(trace: Trace, preset: str, floor: int | None = None) -> Flow:
    """The flow of the released code, which spreads the relevance of an answer over all tokens."""
    return Flow(preset, is_smeared=trace.goal.kind == "span", floor=floor)


def term_by_term(trace: Trace, score: Callable[[Trace], Scores]) -> Scores:
    """The scores of each logit of the target separately, added with their signs, as released code does."""
    return sum((sign * score(alone) for sign, alone in trace.terms()), torch.zeros(()))


def without_own(trace: Trace, scores: Scores) -> Scores:
    """Scores with 0 at the read-out position; for answers only if that is the first token, as released."""
    is_read = trace.weights > 0
    if trace.goal.kind == "span":
        is_read[:, 1:] = False
    return scores.masked_fill(is_read, 0.0)


# ------------------------------------------------------------------------------------ plain


@METHODS.register(
    "lrp",
    group="relevance",
    needs={"relevance"},
    signed=True,
    aliases=("full_lrp", "layerwise_relevance_propagation"),
    paper="Bach et al. (2015); Chefer et al. (CVPR 2021)",
)
def lrp(trace: Trace, *, preset: Preset = "chefer") -> Scores:
    """Relevance sent down to the embeddings.

    Σ_k R(h^0)_{t,k}.
    """
    return trace.relevance(Flow(preset)).embeddings.sum(-1)


@METHODS.released("lrp")
def lrp_released(trace: Trace, *, preset: Preset = RELEASED) -> Scores:
    """The released code sets the score of the reading position to 0, and halves relevance in GPT-2's maps."""
    flow = released_flow(trace, preset)
    return term_by_term(trace, lambda t: without_own(t, t.relevance(flow).embeddings.sum(-1)))


@METHODS.register(
    "partial_lrp",
    group="relevance",
    needs={"relevance"},
    aliases=("PartialLRP",),
    paper="Voita et al. (2019); Chefer et al. (CVPR 2021)",
)
def partial_lrp(trace: Trace, *, preset: Preset = "chefer") -> Scores:
    """Relevance of the last layer's attention.

    E_h(R_L⁺), read.
    """
    (relevance,) = trace.relevance(Flow(preset, floor=-1)).attention
    return trace.read(relevance.clamp(min=0).mean(1))


@METHODS.released("partial_lrp")
def partial_lrp_released(trace: Trace, *, preset: Preset = RELEASED) -> Scores:
    """The released code sets the score of the reading position to 0."""
    flow = released_flow(trace, preset, floor=-1)

    def score(t: Trace) -> Scores:
        return without_own(t, t.read(t.relevance(flow).attention[-1].clamp(min=0).mean(1)))

    return term_by_term(trace, score)


# ------------------------------------------------------------- gradient-weighted relevance


def floor_of(trace: Trace, first_layer: int) -> int:
    """The place of the first layer that is read; refused if the network has no such layer."""
    count = len(trace.attention)
    if first_layer > count:
        raise InvalidOption(
            f"first_layer {first_layer} does not exist: the network has layers 1 to {count}."
        )
    return first_layer - 1


def weighted(trace: Trace, relevance: Sequence[Attention]) -> list[Mixing]:
    """E_h((∇A_l ⊙ R_l)⁺) of the layers whose relevance is given, up to the last."""
    gradients = trace.gradients().attention[-len(relevance) :]
    pairs = zip(gradients, relevance, strict=True)
    return [(gradient * r).clamp(min=0).mean(1) for gradient, r in pairs]


def chained(layers: Sequence[Mixing]) -> Mixing:
    """(I + M_L) … (I + M_s), without normalising rows."""
    size = layers[0].shape[-1]
    identity = torch.eye(size, dtype=layers[0].dtype, device=layers[0].device)
    joint = identity.expand_as(layers[0])
    for layer in layers:
        joint = joint + layer @ joint
    return joint


def rolled(layers: Sequence[Mixing]) -> Mixing:
    """The same with every row divided by its sum, as in rollout."""
    return accumulated([with_residual(layer) for layer in layers])


def seen_by(trace: Trace, separators: Separators) -> Trace:
    """The trace, or one of a further pass whose tokens do not see separators."""
    return trace if separators == "seen" else trace.without_separators()


def read_out(
    trace: Trace, relevance: Sequence[Attention], rows: Rows, diagonal: Diagonal
) -> Scores:
    """Relevance of attention times its gradient, accumulated through the layers and read."""
    layers = weighted(trace, relevance)
    joint = chained(layers) if rows == "plain" else rolled(layers)
    if diagonal == "zero":
        joint = joint - torch.diag_embed(joint.diagonal(dim1=-2, dim2=-1))
    return trace.read(joint)


@METHODS.register(
    "transformer_attribution",
    group="relevance",
    needs={"relevance"},
    aliases=("TransAtt", "transatt", "chefer2021a"),
    paper=PAPER_TA,
)
def transformer_attribution(
    trace: Trace,
    *,
    preset: Preset = "chefer",
    first_layer: BlockNumber = 1,
    rows: Rows = "plain",
    diagonal: Diagonal = "kept",
    separators: Separators = "seen",
) -> Scores:
    """Relevance of the attention times its gradient, accumulated through the layers.

    Π_l (I + E_h((∇A_l ⊙ R_l)⁺)), later layers on the left, read. This is the row called GAE in the Mask-LRP
    paper.

    rows: "plain" as the paper writes the product; "normalised" divides every row of I + M by its sum, as in
    rollout and in the released code, so that a layer of large relevance does not outweigh the others.

    diagonal: "kept", or "zero" as in the released code: what a token says about itself, mostly the identity, is
    left out.

    separators: "seen", or "hidden": a further pass is explained in which no token attends to [SEP], as the
    Mask-LRP code does for classification, so that attention that rests there is spread over the text.
    """
    trace = seen_by(trace, separators)
    flow = Flow(preset, floor=floor_of(trace, first_layer), bits="stored")
    return read_out(trace, trace.relevance(flow).attention, rows, diagonal)


@METHODS.released("transformer_attribution")
def transformer_attribution_released(
    trace: Trace,
    *,
    preset: Preset = RELEASED,
    first_layer: BlockNumber = 1,
    separators: Separators = "seen",
) -> Scores:
    """The released code divides every row of I + M by its sum and sets the score of the reading position to 0.

    For answers it spreads the relevance of the answer's position over all tokens at the start, and
    adds the scores of start and end.
    """
    return attributed_released(seen_by(trace, separators), preset, first_layer)


def attributed_released(trace: Trace, preset: str, first_layer: int) -> Scores:
    """Transformer attribution as the released code computes it."""
    flow = released_flow(trace, preset, floor_of(trace, first_layer))

    def score(t: Trace) -> Scores:
        return without_own(t, t.read(rolled(weighted(t, t.relevance(flow).attention))))

    return term_by_term(trace, score)


# --------------------------------------------------------------------------------- Mask-LRP


@dataclass(frozen=True)
class Reading:
    """How corners are read that the Mask-LRP paper leaves open; `mask_lrp` documents them."""

    parts: Parts = "sum"
    empty: Empty = "open"
    rows: Rows = "plain"
    diagonal: Diagonal = "kept"
    separators: Separators = "seen"


def conserving_gate(mask: HeadMask, reading: Reading) -> Gate:
    """Lets relevance into the heads of the mask, scaled so that the block keeps its sum.

    Part p (syntactic, positional) becomes p · |Σp| / Σ_q|Σq| · ΣR / Σp: the formulas after Eq. 9, but with
    magnitudes in the denominator, because otherwise parts of opposite signs would not keep the sum. A block
    whose heads are all in the mask is left as it is.
    """
    scaled = list(mask.parts.values()) if reading.parts == "sum" else [mask.heads]

    def let_in(relevance: Tensor, layer: int) -> Tensor:
        chosen = [part[layer] for part in scaled if bool(part[layer].any())]
        if bool(mask.heads[layer].all()) or (not chosen and reading.empty == "open"):
            return relevance
        if not chosen:
            return torch.zeros_like(relevance)
        shape = (1, -1, 1, 1)
        parts = tuple(relevance * heads.to(relevance).view(shape) for heads in chosen)
        return torch.stack(balanced(parts, relevance, len(relevance))).sum(0)

    return let_in


def plain_gate(mask: HeadMask) -> Gate:
    """Lets relevance into the heads of the mask unscaled; that of the other heads is lost."""

    def let_in(relevance: Tensor, layer: int) -> Tensor:
        return relevance * mask.heads[layer].to(relevance).view(1, -1, 1, 1)

    return let_in


def sized_mask(mask: HeadMask, trace: Trace) -> HeadMask:
    """The mask; refused unless it has the layers and heads of the network."""
    wanted = [len(trace.attention), trace.attention[0].shape[1]]
    if list(mask.heads.shape) != wanted:
        raise InvalidOption(
            f"the head mask is for {mask.heads.shape[0]} layers of {mask.heads.shape[1]} heads, but the "
            f"network has {wanted[0]} of {wanted[1]}."
        )
    return mask


def masked(trace: Trace, mask: HeadMask, reading: Reading, preset: str, first_layer: int) -> Scores:
    """Mask-LRP with one mask."""
    trace = seen_by(trace, reading.separators)
    empty = (n for n, heads in enumerate(mask.heads) if not bool(heads.any()))
    flow = Flow(
        preset,
        gate=conserving_gate(mask, reading),
        closed=frozenset(empty if reading.empty == "residual" else ()),
        floor=floor_of(trace, first_layer),
        bits="stored",
    )
    return read_out(trace, trace.relevance(flow).attention, reading.rows, reading.diagonal)


def masked_released(trace: Trace, mask: HeadMask, preset: str, first_layer: int) -> Scores:
    """Mask-LRP with one mask, as the released code computes it."""
    if trace.goal.kind == "span":
        return attributed_released(trace, preset, first_layer)
    plain = released_flow(trace, preset, floor_of(trace, first_layer))
    flow = replace(plain, gate=plain_gate(mask), keeps_ungated=True)

    def score(t: Trace) -> Scores:
        # Our rule halves R between attention and values; the released code reads it before it is halved.
        relevance = [2 * r for r in t.relevance(flow).ungated]
        return without_own(t, t.read(rolled(weighted(t, relevance))))

    return term_by_term(trace, score)


@METHODS.register(
    "mask_lrp",
    group="relevance",
    needs={"relevance"},
    aliases=("Mask-LRP", "MGAE"),
    paper=PAPER_MASK,
)
def mask_lrp(
    trace: Trace,
    *,
    mask: HeadMask = BY_MODEL,
    corruption: Share = 0.0,
    empty: Empty = "open",
    parts: Parts = "sum",
    rows: Rows = "plain",
    diagonal: Diagonal = "kept",
    separators: Separators = "seen",
    preset: Preset = "chefer",
    first_layer: BlockNumber = 1,
    seed: Seed = 0,
) -> Scores:
    """Transformer attribution whose relevance enters only syntactic and positional heads.

    Π_l (I + E_h((∇A_l ⊙ R_l)⁺)), read; before each block's heads the relevance is masked and its
    syntactic and positional parts are scaled so that the block keeps its sum. With a mask of all heads this is
    transformer_attribution with the same options. `corruption` adds this share of the other heads to the mask.

    empty: a block without an important head, for which the formula is 0/0. "open" leaves it as it is, because
    there is nothing to refine; "residual" closes it, and all relevance takes the residual, so that nothing is
    read of such a block.

    parts: "sum" scales the syntactic and the positional part each on its own and adds them (Eq. 5 and 6), so
    that a head that is both counts twice; "union" scales all important heads as one part, as the released
    code joins the two masks, so that every head counts once.

    rows, diagonal, separators: as in transformer_attribution; the released code has "normalised", "zero" and,
    for classification, "hidden".
    """
    reading = Reading(parts, empty, rows, diagonal, separators)
    corrupted = sized_mask(mask, trace).corrupted(corruption, seed)
    return masked(trace, corrupted, reading, preset, first_layer)


@METHODS.released("mask_lrp")
def mask_lrp_released(
    trace: Trace,
    *,
    mask: HeadMask = BY_MODEL,
    corruption: Share = 0.0,
    separators: Separators = "seen",
    preset: Preset = RELEASED,
    first_layer: BlockNumber = 1,
    seed: Seed = 0,
) -> Scores:
    """The released code neither rescales nor masks what it reads.

    R_l is read before the mask of its own layer and is twice as large, masked relevance is lost, rows are
    divided by their sums, and the score of the reading position is 0. For answers the mask is not used. The
    released script hides [SEP] for classification: separators="hidden".
    """
    corrupted = sized_mask(mask, trace).corrupted(corruption, seed)
    return masked_released(seen_by(trace, separators), corrupted, preset, first_layer)


@METHODS.register(
    "random_mask_lrp",
    group="relevance",
    needs={"relevance"},
    aliases=("random_mask",),
    paper=PAPER_MASK,
)
def random_mask_lrp(
    trace: Trace,
    *,
    mask: HeadMask = BY_MODEL,
    empty: Empty = "open",
    rows: Rows = "plain",
    diagonal: Diagonal = "kept",
    separators: Separators = "seen",
    preset: Preset = "chefer",
    first_layer: BlockNumber = 1,
    seed: Seed = 0,
    draws: Count = 1,
) -> Scores:
    """Mask-LRP with the same number of heads chosen at random, averaged over `draws`.

    empty, rows, diagonal, separators: as in mask_lrp. A random mask has one part, so there are none to join.
    """
    masks = random_masks(sized_mask(mask, trace), seed, draws)
    reading = Reading("union", empty, rows, diagonal, separators)
    return torch.stack([masked(trace, m, reading, preset, first_layer) for m in masks]).mean(0)


def random_masks(mask: HeadMask, seed: int, draws: int) -> list[HeadMask]:
    """Random masks with the same number of heads, from consecutive seeds."""
    return [mask.random_like(seed + n) for n in range(draws)]


@METHODS.released("random_mask_lrp")
def random_mask_lrp_released(
    trace: Trace,
    *,
    mask: HeadMask = BY_MODEL,
    separators: Separators = "seen",
    preset: Preset = RELEASED,
    first_layer: BlockNumber = 1,
    seed: Seed = 0,
    draws: Count = 1,
) -> Scores:
    """Like mask_lrp. The released code also draws more heads than the mask has; this is not reproduced."""
    masks = random_masks(sized_mask(mask, trace), seed, draws)
    trace = seen_by(trace, separators)
    return torch.stack([masked_released(trace, m, preset, first_layer) for m in masks]).mean(0)
