"""Proves on the live network that headlight watches it correctly; run when a network is wrapped."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

import torch
from torch import Tensor

from headlight.batch import Inputs, Row
from headlight.errors import UnsupportedModel
from headlight.models.model import Model
from headlight.models.readout import Readout
from headlight.proof.escape import escaping
from headlight.proof.graph import steps_of
from headlight.proof.probes import first_run, inputs_of, probe_rows, size_of_error
from headlight.proof.readout import EARLIER, ProbePass, derived, reads_more
from headlight.proof.slope import check_gradients
from headlight.trace.attention_block import put_together
from headlight.trace.capture import Wants, misshapen
from headlight.trace.forward import Pass, forward


def proved(model: Model) -> Model:
    """The model with all that is derived from short probes; refused if a proof fails.

    The proofs: a watched pass has the logits and gradients of a plain one. The gradients are the slope of the
    logits. Every block shows one attention map whose rows sum to 1. The logits depend on every map, every block
    and the embeddings. The parts of every attention block add up to its output. In an unknown family, attention
    of another form is not used. If the attention interface shows nothing, softmax is watched instead.
    Also derived: where the head reads, whether rows of different lengths may share a pass, and whether
    relevance follows everything that is computed.
    """
    rows = probe_rows(model)
    inputs = inputs_of(model, rows[:1])
    expected, stage = first_run(model, inputs)
    model = replace(model, readout=Readout(stage=stage))
    model, watched = watch_attention(model, inputs, expected)
    check_double(model, inputs_of(model, rows[2:3]), watched)
    model, passes = probe_together(model, rows, expected)
    check_gradients(model, watched)
    model = replace(model, readout=derived(model, passes))
    if reads_more(watched):
        model = replace(model, readout=replace(model.readout, refusal=EARLIER))
    if model.architecture is not None:
        check_row(model, watched)
        model = replace(model, relevance_refusal=escaping(model, inputs))
    return model


def check_double(model: Model, other: Inputs, watched: Pass) -> None:
    """Refuse a double that uses the user's own modules, or whose result depends on an earlier pass.

    watched: a pass of another probe than `other`.
    """
    first, again = (forward(model, other, Wants()).logits for _ in range(2))
    error = size_of_error(model)
    is_same = torch.allclose(first, again, rtol=error, atol=error)
    ends = leaves(watched.logits)
    if not is_same or any(leaf is not watched.captured.embeddings for leaf in ends):
        raise UnsupportedModel(
            f"{model.family} refers to parts of itself in ways that cannot be followed, such as a hook that "
            "knows the network by a global name. Let hooks and helpers reach it through `self`."
        )


def leaves(result: Tensor) -> Iterator[Tensor]:
    """The tensors at which the gradient of a result ends."""
    for step in steps_of(result):
        if (leaf := getattr(step, "variable", None)) is not None:
            yield leaf


# ------------------------------------------------------------------------------------ attention


def watch_attention(model: Model, inputs: Inputs, expected: Tensor) -> tuple[Model, Pass]:
    """The model with the way to watch its attention, or the reason why there is none, and the watched pass."""
    refusal = ""
    for way in ("interface", "softmax"):
        model = replace(model, sees_attention_by=way)
        try:
            watched = watch(model, inputs, attention=True)
        except UnsupportedModel as error:
            if error.__cause__ is None:
                refusal = str(error)
                break
            refusal = f"fails when its attention is watched ({error.__cause__})"
            continue
        attention = watched.captured.attention
        refusal = moved(model, watched.logits, expected) or unusual(model, attention, inputs)
        if attention and not refusal:
            return model, watched
    model = replace(model, attention_refusal=refusal)
    return model, watch(model, inputs, attention=False)


def moved(model: Model, seen: Tensor, expected: Tensor) -> str:
    """Why logits are not those of the plain network; '' if they are."""
    difference = float((seen.detach() - expected).abs().max())
    is_same = difference <= size_of_error(model) * (1 + float(expected.abs().max()))
    return "" if is_same else f"moves its logits by {difference:.2g} when its attention is watched"


def watch(model: Model, inputs: Inputs, *, attention: bool) -> Pass:
    """A pass of a probe in which everything that is to be proved is captured."""
    row = model.architecture
    wants = Wants(
        attention=attention,
        blocks=row is not None,
        parts=attention and row is not None and row.parts is not None,
        last=True,
        gradient=True,
    )
    return forward(model, inputs, wants)


def unusual(model: Model, attention: Sequence[Tensor], inputs: Inputs) -> str:
    """Why attention maps are not what methods assume; '' if they are."""
    if not attention:
        return (
            "computes no attention that can be seen: neither through the attention interface of "
            "transformers nor as a softmax over [batch, head, query, key]"
        )
    if refusal := misshapen(model, attention, inputs):
        return refusal
    if any(float((a.detach().sum(-1) - 1).abs().max()) > size_of_error(model) for a in attention):
        return "has attention whose rows do not sum to 1"
    if not all(a.requires_grad for a in attention):
        return "computes some of its attention without gradients"
    return ""


# --------------------------------------------------------------------------------- where it reads


def probe_together(
    model: Model, rows: Sequence[Row], expected: Tensor
) -> tuple[Model, list[ProbePass]]:
    """All probes in one pass; or one by one, if the network refuses that or answers differently."""
    try:
        together = probe_pass(model, rows)
    except UnsupportedModel:
        together = None
    if together is not None:
        alone = together.forward.logits[:1, : expected.shape[1]].detach()
        difference = float((alone - expected).abs().max())
        if difference <= size_of_error(model) * (1 + float(expected.abs().max())):
            return model, [together]
    return replace(model, takes_one_row=True), [probe_pass(model, [row]) for row in rows]


def probe_pass(model: Model, rows: Sequence[Row]) -> ProbePass:
    """One pass in which only the head computes with gradients."""
    return ProbePass(rows, forward(model, inputs_of(model, rows), Wants(last=True)))


# ------------------------------------------------------------------------------- the row of the table


def check_row(model: Model, watched: Pass) -> None:
    """Refuse a network that is not as its row of the table says."""
    layers = watched.captured.depth
    maps = len(watched.captured.attention)
    if not model.attention_refusal and maps != layers:
        raise failed(model, f"{layers} blocks ran, but {maps} attention maps were seen")
    check_causes(model, watched)
    check_blocks(model, watched, size_of_error(model))


def check_causes(model: Model, watched: Pass) -> None:
    """Refuse captured parts that the logits do not depend on; a head may read an earlier layer."""
    captured = watched.captured
    known = 1 if model.readout.refusal == EARLIER else captured.depth
    parts = {"its embeddings": captured.embeddings}
    parts |= {f"the input of block {n}": h for n, h in enumerate(captured.hidden[:known], 1)}
    parts |= {f"the attention of layer {n}": a for n, a in enumerate(captured.attention[:known], 1)}
    used = {name: part for name, part in parts.items() if part.requires_grad}
    gradients = torch.autograd.grad(
        watched.logits.float().sum(), list(used.values()), allow_unused=True, retain_graph=True
    )
    moving = {name for name, gradient in zip(used, gradients, strict=True) if gradient is not None}
    for name in parts:
        if name not in moving:
            raise failed(model, f"its logits do not depend on what was captured as {name}")


def check_blocks(model: Model, watched: Pass, tolerance: float) -> None:
    """Refuse attention blocks whose parts do not add up to their output."""
    for number, block in enumerate(watched.blocks if watched.captured.blocks else (), 1):
        difference = float((put_together(block) - block.output).abs().max())
        if difference > tolerance * (1 + float(block.output.abs().max())):
            raise failed(
                model,
                f"the parts of its attention block {number} miss its output by {difference:.2g}",
            )


def failed(model: Model, finding: str) -> UnsupportedModel:
    """The error for a network that is not what the table says."""
    return UnsupportedModel(
        f"{model.family} does not behave as its row in the architecture table says: {finding}. A network "
        "with changed parts must be explained without them; if transformers changed the family, correct "
        "its row in models/architectures.py (docs/how-to/add-an-architecture.md)."
    )
