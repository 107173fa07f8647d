"""Proves on the live network that headlight watches it correctly; run when a network is wrapped."""

from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from inspect import signature

import torch
from torch import Tensor

from headlight.batch import Inputs, Row
from headlight.errors import UnsupportedModel
from headlight.models.model import Model, Task
from headlight.models.quantised import quantised_advice
from headlight.models.readout import Readout
from headlight.proof.causality import looks_back_only
from headlight.proof.escape import escaping
from headlight.proof.gradients import probe_gradients
from headlight.proof.graph import steps_of
from headlight.proof.kept import kept_per_token
from headlight.proof.modified import unmodifiable
from headlight.proof.parts import found_architecture
from headlight.proof.probes import first_run, inputs_of, probe_rows, shift, size_of_error
from headlight.proof.readout import EARLIER, ProbePass, derived, reads_more
from headlight.proof.slope import check_gradients
from headlight.trace.attention_block import put_together
from headlight.trace.capture import misshapen
from headlight.trace.forward import Pass, forward
from headlight.trace.recorder import Wants

TWO_STACKS = (
    "is an encoder-decoder: the attention maps of its encoder, of its decoder and between the two do not form "
    "one stack of layers"
)
TWO_BODIES = "it is an encoder-decoder, and relevance is followed through one stack of blocks only"
DECODED = "reads states of a decoder, which are not those of the tokens in the same places"


def proved(model: Model) -> Model:
    """The model with all that is derived from short probes; refused if a proof fails.

    The parts of an unknown family are found on the live network, if they stand the same proofs as a row of the
    table; otherwise it is explained without them.
    """
    if model.architecture is None and not model.is_encoder_decoder:
        with suppress(UnsupportedModel):
            row = found_architecture(model, inputs_of(model, probe_rows(model)[:1]))
            if row is not None:
                return derived_from_probes(replace(model, architecture=row))
    return derived_from_probes(model)


def derived_from_probes(model: Model) -> Model:
    """The model with all that is derived from short probes; refused if a proof fails.

    The proofs: a watched pass has the logits and gradients of a plain one. Token ids are read through the
    captured embeddings only. The gradients are the slope of the
    logits. Every block shows one attention map whose rows sum to 1. The logits depend on every map, every block
    and the embeddings. The parts of every attention block add up to its output. In an unknown family, attention
    of another form is not used. If the attention interface shows nothing, softmax is watched instead.
    Also derived: where the head reads, whether rows of different lengths may share a pass, whether tokens look
    back only, whether relevance follows everything that is computed, and whether gradients can be modified.
    """
    rows = probe_rows(model)
    inputs = inputs_of(model, rows[:1])
    expected, stage = first_run(model, inputs)
    model = replace(model, readout=Readout(stage=stage))
    model = replace(model, gives_few_logits=gives_few_logits(model, inputs, expected))
    model, watched = watch_attention(model, inputs, expected)
    check_double(model, inputs_of(model, rows[2:3]), watched)
    check_way_in(model, inputs)
    model = replace(model, is_causal=looks_back_only(model, watched))
    model, passes = probe_together(model, rows, expected)
    check_gradients(model, watched)
    model = replace(model, kept_per_token=kept_per_token(model, inputs))
    model = replace(model, readout=derived(model, passes))
    if model.is_encoder_decoder:
        model = replace(model, readout=replace(model.readout, refusal=DECODED))
    if reads_more(watched):
        model = replace(model, readout=replace(model.readout, refusal=EARLIER))
    if model.architecture is not None:
        check_row(model, watched)
        model = replace(model, relevance_refusal=unfollowed(model, inputs, expected))
    return replace(model, modified_refusal=unmodifiable(model, inputs, watched))


def unfollowed(model: Model, inputs: Inputs, expected: Tensor) -> str:
    """Why relevance does not follow everything, or cannot be sent at all; '' if it does."""
    try:
        return escaping(model, inputs, expected)
    except (UnsupportedModel, RuntimeError) as error:  # torch itself refuses some changes in place
        return str(error.__cause__ or error).strip().split("\n")[0].rstrip(".")


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


def check_way_in(model: Model, inputs: Inputs) -> None:
    """Refuse a network whose logits depend on token ids by another way than through the captured embeddings."""
    ids = inputs.ids.clone()
    ids[:, 1] = ids[:, 2]  # no special token comes or goes
    other = forward(model, replace(inputs, ids=ids), Wants())
    given = forward(model, inputs, Wants(), other.captured.embeddings)
    if moved(model, given.logits, other.logits):
        raise UnsupportedModel(
            f"{model.family} reads its token ids in a second place, such as embeddings for every layer or a "
            "router that knows tokens by their ids, so scores of its embeddings would miss a part. Use a "
            "network into which tokens come by one table of embeddings."
        )


def leaves(result: Tensor) -> Iterator[Tensor]:
    """The tensors at which the gradient of a result ends."""
    for step in steps_of(result):
        if (leaf := getattr(step, "variable", None)) is not None:
            yield leaf


# ------------------------------------------------------------------------------------ attention


def watch_attention(model: Model, inputs: Inputs, expected: Tensor) -> tuple[Model, Pass]:
    """The model with the way to watch its attention, or the reason why there is none, and the watched pass."""
    if model.is_encoder_decoder:
        model = replace(model, attention_refusal=TWO_STACKS, relevance_refusal=TWO_BODIES)
        return model, watch(model, inputs, attention=False)
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
        refusal = moved(model, watched.logits, expected) or unusual(model, watched, inputs)
        if attention and not refusal:
            return model, watched
    model = replace(model, attention_refusal=refusal)
    return model, watch(model, inputs, attention=False)


def moved(model: Model, seen: Tensor, expected: Tensor) -> str:
    """Why logits are not those of the plain network; '' if they are."""
    difference = shift(model, seen, expected)
    return (
        f"moves its logits by {difference:.2g} when its attention is watched" if difference else ""
    )


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


def unusual(model: Model, watched: Pass, inputs: Inputs) -> str:
    """Why attention maps are not what methods assume; '' if they are."""
    attention, error = watched.captured.attention, size_of_error(model)
    if not attention:
        return (
            "computes no attention that can be seen: neither through the attention interface of "
            "transformers nor as a softmax over [batch, head, query, key]"
        )
    if refusal := misshapen(model, watched.captured.sizes, inputs):
        return refusal
    if any(float((a.detach().sum(-1) - 1).abs().max()) > error for a in attention):
        return "has attention whose rows do not sum to 1"
    for each in watched.captured.attended:
        made, result = each.weights() @ each.values.detach(), each.result.detach()
        if float((made - result).abs().max()) > error * (1 + float(result.abs().max())):
            return "has attention weights that do not give the result of its attention"
    if not all(a.requires_grad for a in watched.captured.mixed):
        return "computes some of its attention without gradients"
    return ""


# --------------------------------------------------------------------------------- where it reads


def gives_few_logits(model: Model, inputs: Inputs, expected: Tensor) -> bool:
    """Whether the network can compute the logits of some positions only, and they are those of a plain pass."""
    if model.task is not Task.CAUSAL:
        return False
    if "logits_to_keep" not in signature(model.network.forward).parameters:
        return False
    few = replace(inputs, read=(1, inputs.ids.shape[1] - 1))
    try:
        seen = forward(model, few, Wants()).logits
    except UnsupportedModel:
        return False
    wanted = expected[:, list(few.read or ())]
    return seen.shape == wanted.shape and not moved(model, seen, wanted)


def probe_together(
    model: Model, rows: Sequence[Row], expected: Tensor
) -> tuple[Model, list[ProbePass]]:
    """All probes in one pass; or one by one, if the network refuses that or answers differently."""
    try:
        together = probe_pass(model, rows)
    except UnsupportedModel:
        together = None
    if together is not None:
        alone = together.forward.logits[:1, : expected.shape[1]]
        if not shift(model, alone, expected):
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
    found = probe_gradients(watched)
    known = 1 if model.readout.refusal == EARLIER else watched.captured.depth
    parts = {"its embeddings": found.embeddings}
    parts |= {f"the input of block {n}": h for n, h in enumerate(found.hidden[:known], 1)}
    parts |= {f"the attention of layer {n}": a for n, a in enumerate(found.attention[:known], 1)}
    for name, gradient in parts.items():
        if gradient is None:
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
    if advice := quantised_advice(model.network):
        return UnsupportedModel(
            f"{model.family} does not compute what {model.network.config.model_type} networks compute: "
            f"{finding}.{advice}"
        )
    return UnsupportedModel(
        f"{model.family} does not behave as its row in the architecture table says: {finding}. A network "
        "with changed parts must be explained without them; if transformers changed the family, correct "
        "its row in models/architectures.py (docs/how-to/add-an-architecture.md)."
    )
