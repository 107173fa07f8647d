"""Where a head reads, derived from the network when it is wrapped (see `trace/readout.py`)."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import combinations

import torch
from torch import Tensor

from headlight.batch import Inputs, Row
from headlight.models.model import POOLED, Model
from headlight.models.readout import Readout, Stretch
from headlight.proof.gradients import in_64_bits, mixture, probe_gradients
from headlight.trace.forward import Pass
from headlight.trace.readout import UNREAD, beside, gradient_of, shares_of, tolerance

TOKENS = [(k, k + 1) for k in range(4)] + [(-1, None), (-2, -1), (-3, -2)]
MEANS = [(0, None), (1, -1), (1, None), (0, -1)]
STRETCHES = [
    Stretch(start, stop, counts)
    for counts in ("attended", "all", "not pad")
    for start, stop in (*TOKENS, *MEANS)
]
"""What a head may read: one token near an end of the row, or the mean with or without the ends."""

BY_CHOICE = "chooses the tokens that it reads by more than their place"
EARLIER = "reads hidden states earlier than its last ones"
UNKNOWN = "reads states that could not be found in its body"
NOT_BY_TOKEN = "reads states that are not one per token"


@dataclass(frozen=True, eq=False)
class ProbePass:
    """A pass of some probes."""

    rows: Sequence[Row]
    forward: Pass

    @property
    def inputs(self) -> Inputs:
        """The inputs of the pass."""
        return self.forward.inputs

    @property
    def last(self) -> Tensor | None:
        """The last hidden states, if they were seen."""
        return self.forward.captured.last

    @property
    def logits(self) -> Tensor:
        """The logits of the pass."""
        return self.forward.logits


def derived(model: Model, passes: Sequence[ProbePass]) -> Readout:
    """Where a head reads, from its logits and last hidden states on several probes."""
    known = model.readout
    for probe in passes:
        if probe.last is None:
            return replace(known, refusal=UNKNOWN)
        if probe.last.shape[:2] != probe.inputs.ids.shape:
            return replace(known, refusal=NOT_BY_TOKEN)
        if not probe.logits.requires_grad:
            return replace(known, refusal=UNREAD)
    if model.task in POOLED:
        return pooled(model, passes)
    refusals = [read_elsewhere(model, places, p) for p in passes for places in probed(p.inputs)]
    return replace(known, refusal=next(filter(None, refusals), ""))


def pooled(model: Model, passes: Sequence[ProbePass]) -> Readout:
    """The read-out of a head that decides once per row."""
    rows: list[Row] = []
    weights: list[Tensor] = []
    for probe in passes:
        for gradients in mixed_gradients(probe):
            for row, gradient in zip(probe.rows, gradients, strict=True):
                read = shares_of(gradient[: len(row)], tolerance(model))
                if isinstance(read, str):
                    return replace(model.readout, refusal=read)
                rows.append(row)
                weights.append(read.cpu())
    shares = matching_stretches(model, rows, torch.cat(weights))
    return replace(model.readout, shares=shares, refusal="" if shares else BY_CHOICE)


def mixed_gradients(probe: ProbePass) -> Iterator[Tensor]:
    """∂logit/∂h of two random mixtures of the classes, so that the result is not about one class."""
    for seed in range(2):
        yield gradient_of(
            (probe.logits * mixture(probe.logits.shape[-1:], probe.logits, seed)).sum(), probe.last
        )


def matching_stretches(
    model: Model, rows: Sequence[Row], weights: Tensor
) -> tuple[tuple[float, Stretch], ...]:
    """The stretch, or the two stretches, that give these weights in all rows; () if none do."""
    pad = model.own_pad_id

    def column(stretch: Stretch) -> Tensor:
        rule = Readout(shares=((1.0, stretch),))
        shares = [w for row in rows for w in rule.weights(row, pad)]
        return torch.tensor(shares, dtype=weights.dtype)

    columns = {stretch: column(stretch) for stretch in STRETCHES}
    for stretch, only in columns.items():
        if float((only - weights).abs().max()) <= tolerance(model):
            return ((1.0, stretch),)
    for pair in combinations(STRETCHES, 2):
        if pair[0].counts != pair[1].counts:
            continue
        both = torch.stack([columns[stretch] for stretch in pair], 1)
        shares = torch.linalg.lstsq(both, weights[:, None], driver="gelsd").solution[:, 0]
        missed = float((both @ shares - weights).abs().max())
        if missed <= tolerance(model) and float(shares.min()) > tolerance(model):
            return tuple(zip((shares / shares.sum()).tolist(), pair, strict=True))
    return ()


def probed(inputs: Inputs) -> tuple[Tensor, Tensor]:
    """Two tokens of every row: one in the middle, and the last."""
    return inputs.lengths // 2, inputs.lengths - 1


def read_elsewhere(model: Model, places: Tensor, probe: ProbePass) -> str:
    """Why the logits at these tokens, one per row, are not read there; '' if they are."""
    logits = probe.logits[torch.arange(len(places), device=places.device), places]
    value = (logits * mixture(logits.shape[-1:], logits)).sum()
    return beside(gradient_of(value, probe.last), places, tolerance(model))


def reads_more(watched: Pass, most: float = 1e-2) -> bool:
    """Whether the embeddings reach the logits by other ways than through the last hidden states."""
    embeddings, last = watched.captured.embeddings, watched.captured.last
    if last is None:
        return False
    gradients = probe_gradients(watched)
    total = in_64_bits(gradients.embeddings, embeddings)
    upper = in_64_bits(gradients.last, last)
    through = gradient_of((last * upper.to(last)).sum(), embeddings).to(total.device)
    return float((total - through).norm()) > most * float(total.norm())
