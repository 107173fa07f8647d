"""`HeadImportance`: how much every attention head matters for a decision; masks are selected from it.

No labels and no parses are needed: what is explained is what the network predicts.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from importlib.metadata import version
from pathlib import Path
from typing import Any, Literal, Self, TypeVar

import torch
from torch import Tensor

from headlight.batch import Row, Text
from headlight.errors import InvalidInput, InvalidOption, unknown_name
from headlight.files.fields import is_named
from headlight.files.storage import read_tensors, write_tensors
from headlight.frozen import FrozenMapping
from headlight.headmask import HeadMask
from headlight.models.fingerprint import fingerprint
from headlight.models.model import Model
from headlight.models.reading import cut_to_limit, texts_of
from headlight.progress import progress_of
from headlight.running.buckets import buckets
from headlight.running.double import double
from headlight.running.memory import in_halves
from headlight.running.precision import needed_type, widened
from headlight.running.undisturbed import plain_state, undisturbed
from headlight.shapes import Heads, HeadValues, RowHeadValues
from headlight.target import Target, TargetLike
from headlight.trace.relevance.rules import divide
from headlight.trace.relevance.sweep import Flow
from headlight.trace.trace import Trace, trace

KIND = "head importance"
PART = "important"
"""The name of the part of a mask that holds heads chosen by what they do to the decision."""
PRESET = "chefer"
"""The rules by which relevance is sent, those of transformer_attribution and mask_lrp."""
KEEP = 0.25
"""The share of heads that a mask keeps unless it is told otherwise."""

Within = Literal["network", "layer"]
Read = TypeVar("Read")


@dataclass(frozen=True, eq=False)
class HeadImportance:
    """How much each head matters, [layer, head], from 0 on; only order and proportions mean something."""

    values: HeadValues
    facts: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        check_values(self.values)
        object.__setattr__(self, "values", self.values.detach().cpu().double().clone())
        object.__setattr__(self, "facts", FrozenMapping(self.facts))

    def mask(
        self,
        *,
        keep: float | None = None,
        count: int | None = None,
        share: float | None = None,
        within: Within = "network",
    ) -> HeadMask:
        """The heads that matter most, as the part 'important'; of equal ones, those that come first.

        keep: this share of the heads, by default a quarter, rounded. count: this many. share: as few as hold
        this share of all importance. within: compare all heads of the network, or those of each layer apart;
        then every layer keeps at least one.
        """
        selection = checked_selection(keep, count, share, within)
        if within == "layer":
            chosen = torch.stack([most_important(layer, selection) for layer in self.values])
        else:
            chosen = most_important(self.values.flatten(), selection).view_as(self.values)
        return important_mask(chosen, {**self.facts, "selection": selection}, self.values)

    def save(self, path: str | Path) -> None:
        """Write the values and their facts as safetensors, whole or not at all."""
        write_tensors(path, {"values": self.values}, KIND, self.facts)

    @classmethod
    def load(cls, path: str | Path) -> Self:
        """Read values that were saved."""
        tensors, facts, _ = read_tensors(path, KIND)
        if list(tensors) != ["values"] or not is_named(facts):
            raise InvalidInput(
                f"no {KIND} can be read from '{path}': it holds {sorted(tensors)}, not 'values'. "
                "Learn it again."
            )
        return cls(tensors["values"], facts)


def check_values(values: Tensor) -> None:
    """Refuse anything but finite numbers from 0 on, [layer, head]."""
    if values.dim() != 2 or not values.numel():
        raise InvalidInput(
            f"{KIND} must be [layer, head]; this has the shape {list(values.shape)}."
        )
    if values.is_complex() or not (values.isfinite().all() and (values >= 0).all()):
        raise InvalidInput(f"{KIND} is made of finite numbers from 0 on; this holds others.")


# -------------------------------------------------------------------------------- selecting


def checked_selection(
    keep: float | None, count: int | None, share: float | None, within: str
) -> dict[str, Any]:
    """What was asked of a mask, by name; refused if it is not possible."""
    given = {"keep": keep, "count": count, "share": share}
    asked = {name: value for name, value in given.items() if value is not None} or {"keep": KEEP}
    if len(asked) > 1:
        raise InvalidOption(f"{' and '.join(asked)} say the same in two ways. Give one of them.")
    ((name, value),) = asked.items()
    if name == "count" and (not isinstance(value, int) or isinstance(value, bool) or value < 1):
        raise InvalidOption(f"count={value!r} is not possible. Use a whole number of 1 or more.")
    if name != "count" and not 0 < value <= 1:
        raise InvalidOption(f"{name}={value!r} is not a share. Use more than 0, and at most 1.")
    if within not in ("network", "layer"):
        raise unknown_name("value of within=", within, ("network", "layer"))
    return {**asked, "within": within}


def most_important(values: Tensor, selection: Mapping[str, Any]) -> Tensor:
    """Which of these values, without axes, are kept: at least one."""
    falling, order = values.sort(descending=True, stable=True)
    if "share" in selection:
        # As many as it takes: those before the first at which the sum reaches the share, and that one.
        reached = falling.cumsum(0) >= selection["share"] * values.sum() * (1 - 1e-12)
        size = int((~reached).sum()) + 1
    else:
        size = int(selection.get("count") or max(1, round(selection.get("keep", 0) * len(values))))
    if size > len(values):
        raise InvalidOption(f"{size} heads cannot be kept: there are {len(values)}.")
    return torch.zeros_like(values, dtype=torch.bool).index_fill(0, order[:size], True)


def important_mask(
    heads: Heads, facts: Mapping[str, Any], values: HeadValues | None = None
) -> HeadMask:
    """A mask of one part, 'important', whose facts name its heads, the most important first if it is known."""
    places = heads.nonzero()
    if values is not None:
        places = places[values[heads].argsort(descending=True, stable=True)]
    # Layers and heads count from 1 wherever people may read them.
    return HeadMask({PART: heads}, {**facts, "roles": {PART: (places + 1).tolist()}})


# -------------------------------------------------------------------------------- measuring


def gradient_importance(trace: Trace) -> RowHeadValues:
    """|∂y/∂g| of a gate g = 1 on each head's output, in every row.

    The output is A V, so ∂y/∂g = Σ A ⊙ ∂y/∂A. Michel, Levy and Neubig (2019), with the explained logit in
    place of the loss, because there are no labels.
    """
    pairs = zip(trace.attention, trace.gradients().attention, strict=True)
    return torch.stack([(a * gradient).sum((2, 3)).abs().cpu() for a, gradient in pairs], 1)


def relevance_importance(trace: Trace) -> RowHeadValues:
    """Each head's share of the positive relevance of all attention weights, in every row.

    Σ R_l[h]⁺ / Σ_l Σ_h Σ R_l[h]⁺; all 0 in a row where no relevance reaches any attention.
    """
    relevance = trace.relevance(Flow(PRESET, floor=0, bits="stored")).attention
    sums = torch.stack([r.clamp(min=0).sum((2, 3)).cpu() for r in relevance], 1)
    return divide(sums, sums.sum((1, 2), keepdim=True))


@dataclass(frozen=True)
class Measurement:
    """A way to measure importance: its needs of a trace, the rules of its relevance, its function."""

    needs: frozenset[str]
    preset: str
    measure: Callable[[Trace], RowHeadValues]


MEASUREMENTS = {
    "gradient": Measurement(frozenset({"attention_gradient"}), "", gradient_importance),
    "relevance": Measurement(frozenset({"relevance"}), PRESET, relevance_importance),
}


def importance(
    model: Model,
    texts: Iterable[Text],
    *,
    by: str = "gradient",
    target: TargetLike = None,
    batch_size: int = 32,
    name: str | None = None,
    progress: bool = False,
) -> HeadImportance:
    """How much every head of the model matters for its decisions on texts, the mean over them.

    by: 'gradient', how fast the explained logit changes as a head's output fades (Michel et al. 2019), or
        'relevance', the head's share of the positive relevance of the attention.
    target: what is explained; by default what the model predicts, so no labels are needed.
    name: what the texts are called in the facts.
    """
    if by not in MEASUREMENTS:
        raise unknown_name("measure of importance", by, MEASUREMENTS)
    chosen = MEASUREMENTS[by]
    rows = read_rows(model, texts)
    own = double(model)
    wide, _ = widened(own, needed_type(own, chosen.needs, chosen.preset))
    targets = [Target.of(target)] * len(rows)
    sums: list[Tensor] = []
    with progress_of("measuring texts", len(rows), is_shown=progress) as advance:
        for bucket in buckets(wide, rows, batch_size, chosen.needs):
            part = [rows[number] for number in bucket]
            found = read_trace(
                wide, part, targets[: len(part)], chosen.needs, lambda t: list(chosen.measure(t))
            )
            sums.append(torch.stack(found).double().sum(0))
            advance(len(part))
    facts = learned_from(model, by, name, len(rows))
    return HeadImportance(torch.stack(sums).sum(0) / len(rows), facts)


def read_rows(model: Model, texts: Iterable[Text]) -> list[Row]:
    """The rows of texts or pairs, as the model reads them; blank ones are left out."""
    given = [texts] if isinstance(texts, str | tuple) else list(texts)
    parts = [text if isinstance(text, tuple) else (text,) for text in given]
    kept = [t for t, part in zip(given, parts, strict=True) if any(str(p).strip() for p in part)]
    if not kept:
        raise InvalidInput("there is no text to learn from: all are empty, or none was given.")
    return [cut_to_limit(model, row) for row in texts_of(model, kept)]


def read_trace(
    model: Model,
    rows: Sequence[Row],
    targets: Sequence[Target],
    needs: frozenset[str],
    read: Callable[[Trace], Sequence[Read]],
) -> list[Read]:
    """What `read` gives for each row of a trace; in passes of half the size if it does not fit into memory."""

    def run(part: Sequence[tuple[Row, Target]]) -> Sequence[Read]:
        part_rows, part_targets = map(list, zip(*part, strict=True))

        def work() -> Sequence[Read]:
            return read(trace(model, part_rows, part_targets, needs))

        return undisturbed(work, plain_state())

    return in_halves(run, list(zip(rows, targets, strict=True)), lambda pair: len(pair[0]))


def learned_from(model: Model, by: str, name: str | None, texts: int) -> dict[str, Any]:
    """The facts that importance and masks keep: of which model, by what, and on which texts."""
    return {
        "model": model.name,
        "fingerprint": fingerprint(model),
        "corpus": name or "given texts",
        "by": by,
        "texts": texts,
        "headlight": version("headlight"),
    }
