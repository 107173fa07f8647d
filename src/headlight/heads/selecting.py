"""Searching for the heads whose mask makes mask_lrp most faithful: what it marks, the decision needs."""

import random
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from headlight.batch import Row, Text
from headlight.errors import InvalidInput, InvalidOption
from headlight.headmask import HeadMask
from headlight.heads.important import (
    PART,
    PRESET,
    important_mask,
    learned_from,
    read_rows,
    read_trace,
)
from headlight.methods.relevance import mask_lrp
from headlight.metrics.case import Case
from headlight.metrics.measuring import measure
from headlight.metrics.statistics import compare
from headlight.models.model import Model, Task
from headlight.probing.probe import subject_of
from headlight.progress import Advance, progress_of
from headlight.running.buckets import buckets
from headlight.running.double import double
from headlight.running.precision import needed_type, widened
from headlight.shapes import Heads, HeadValues
from headlight.target import Target, TargetLike
from headlight.trace.trace import Trace

Values = NDArray[np.float64]
"""AOPC [mask, text]; NaN for a text of which nothing may be removed."""

NEEDS = frozenset({"relevance"})
FLIPPED = 0.25
"""The chance of each head to be changed in a random mask."""
SIZES = (1 / 16, 1 / 8, 1 / 4)
"""Shares of the heads that a step may change at once."""
FEWEST = 8
"""Texts that a search needs at least: half of them to learn, a quarter to choose, a quarter to judge."""


@dataclass(frozen=True)
class Search:
    """How long to search: steps, and random masks tried around the mask of each step. seed: of chance."""

    steps: int = 4
    draws: int = 16
    seed: int = 0

    def __post_init__(self) -> None:
        for name in ("steps", "draws"):
            value = getattr(self, name)
            if not isinstance(value, int) or isinstance(value, bool) or value < 1:
                raise InvalidOption(
                    f"{name}={value!r} is not possible. Use a whole number of 1 or more."
                )

    def explanations(self, texts: int) -> int:
        """How many explanations a search on this many texts computes at most.

        Each is measured by reading up to ten shortened texts; together this takes about four times as long as
        one explanation by mask_lrp.
        """
        learned, chosen, judged = map(len, parted(list(range(texts)), self.seed))
        tried = self.steps * (self.draws + len(SIZES) + 2)
        return learned * tried + chosen * (self.steps + 1) + judged * 2


def select(
    model: Model,
    texts: Iterable[Text],
    *,
    search: Search | None = None,
    target: TargetLike = None,
    batch_size: int = 32,
    name: str | None = None,
    progress: bool = False,
) -> HeadMask:
    """The heads whose mask makes mask_lrp most faithful (AOPC) on texts without labels, found step by step.

    It begins with all heads. Each step measures random masks around the present one on half of the texts; the
    effect of a head is the mean AOPC of the masks that change it minus that of the others. The heads with the
    best effects change, as many of them as help most. A quarter of the texts then chooses among the masks of
    all steps and no mask, and the last quarter, on which nothing has depended, says what the choice is worth:
    `facts["held_out"]` has the gain over no mask with its 95 % interval. Every layer keeps at least one head.

    search: how many steps and masks; `Search.explanations(texts)` is what it costs.
    target: what is explained; by default what the model predicts.
    """
    plan = search or Search()
    if model.task is Task.REGRESSION:
        raise InvalidInput(
            f"{model.name} gives a value without a probability, and AOPC is the fall of a probability. Use "
            "headlight.heads.importance, which needs none."
        )
    rows = read_rows(model, texts)
    if len(rows) < FEWEST:
        raise InvalidInput(
            f"{len(rows)} texts are too few to search for heads on some and judge on others. Give {FEWEST} or "
            "more, better a few hundred."
        )
    learned, chosen, judged = parted(rows, plan.seed)
    own = double(model)
    total = plan.explanations(len(rows))
    with progress_of("searching for heads", total, is_shown=progress, unit="explanations") as step:
        wide, _ = widened(own, needed_type(own, NEEDS, PRESET))
        judge = Judge(own, wide, Target.of(target), batch_size, step)
        path = judge.searched(learned, plan)
        values = judge.faithfulness(chosen, path)
        best = path[int(nanmeans(values).argmax())]
        none, found = judge.faithfulness(judged, [path[0], best])
    facts = {
        **learned_from(model, "faithful", name, len(rows)),
        "selection": {**asdict(plan), "steps_taken": len(path) - 1},
        "held_out": held_out(found, none),
    }
    return important_mask(best, facts)


def parted(items: Sequence[Any], seed: int) -> tuple[list[Any], list[Any], list[Any]]:
    """Items in a random order: a half to learn from, a quarter to choose by, a quarter to judge on."""
    mixed = random.Random(seed).sample(list(items), len(items))
    half, quarter = len(mixed) // 2, len(mixed) // 4
    return mixed[:half], mixed[half : len(mixed) - quarter], mixed[len(mixed) - quarter :]


def held_out(found: Values, none: Values) -> dict[str, float | int]:
    """What a mask is worth on texts that it was not chosen on: the AOPC with and without it, and its gain."""
    paired = compare(found, none)
    return {
        "aopc": float(np.nanmean(found)),
        "no_mask": float(np.nanmean(none)),
        "gain": paired.difference,
        "low": paired.low,
        "high": paired.high,
        "p_value": paired.p_value,
        "texts": paired.count,
    }


def nanmeans(values: Values) -> Values:
    """The mean of each mask over the texts that could be measured; refused if none could."""
    known = ~np.isnan(values).all(0)
    if not known.any():
        raise InvalidInput(
            "no token of these texts may be removed, so no mask can be measured on them. Give longer texts."
        )
    means: Values = values[:, known].mean(1)
    return means


# ---------------------------------------------------------------------------------- searching


@dataclass(frozen=True, eq=False)
class Judge:
    """Measures masks on texts. wide: the model in the bits that relevance needs."""

    model: Model
    wide: Model
    target: Target
    batch_size: int
    advance: Advance
    metrics: dict[str, dict[str, Any]] = field(default_factory=lambda: {"aopc": {}})

    def searched(self, rows: Sequence[Row], search: Search) -> list[Heads]:
        """The masks of all steps, the first of which keeps every head."""
        chance = torch.Generator().manual_seed(search.seed)
        layers, heads = self.shape(rows[0])
        path = [torch.ones(layers, heads, dtype=torch.bool)]
        for _ in range(search.steps):
            effects = self.effects(rows, path[-1], search.draws, chance)
            candidates = changed(path[-1], effects)
            means = nanmeans(self.faithfulness(rows, [path[-1], *candidates]))
            best = int(means.argmax())
            if best == 0:
                break
            path.append(candidates[best - 1])
        return path

    def shape(self, row: Row) -> tuple[int, int]:
        """Layers and heads of the network."""

        def read(captured: Trace) -> list[tuple[int, int]]:
            return [(len(captured.attention), captured.attention[0].shape[1])]

        return read_trace(self.wide, [row], [self.target], NEEDS, read)[0]

    def effects(
        self, rows: Sequence[Row], mask: Heads, draws: int, chance: torch.Generator
    ) -> HeadValues:
        """How AOPC changes with a head: the mean over random masks that change it, minus that of the others."""
        flips, gains, weights = [], [], []
        for bucket in buckets(self.wide, rows, self.batch_size, NEEDS):
            masks = [shaken(mask, chance) for _ in range(draws)]
            part = [rows[number] for number in bucket]
            own, *values = self.faithfulness(part, [mask, *masks])
            known = ~np.isnan(own)
            flips += [each ^ mask for each in masks]
            gains += [float((each - own)[known].sum()) for each in values]
            weights += [int(known.sum())] * draws
        changes = torch.stack(flips).double()
        return contrast(changes, torch.tensor(gains).double(), torch.tensor(weights).double())

    def faithfulness(self, rows: Sequence[Row], masks: Sequence[Heads]) -> Values:
        """The AOPC of mask_lrp with each mask on each text."""
        values = np.full((len(masks), len(rows)), np.nan)
        for bucket in buckets(self.wide, rows, self.batch_size, NEEDS):
            part = [rows[number] for number in bucket]
            values[:, bucket] = self.measured(part, masks)
            self.advance(len(part) * len(masks))
        return values

    def measured(self, rows: Sequence[Row], masks: Sequence[Heads]) -> Values:
        """The same on texts that share a pass."""
        kept = [HeadMask({PART: heads}) for heads in masks]

        def read(captured: Trace) -> list[tuple[Values, list[tuple[int, int]]]]:
            scores = torch.stack([mask_lrp(captured, mask=mask) for mask in kept], 1)
            terms = [[(t.position, t.index) for t in r.terms] for r in captured.goal.resolved]
            return list(zip(scores.double().cpu().numpy(), terms, strict=True))

        explained = read_trace(self.wide, rows, [self.target] * len(rows), NEEDS, read)
        cases = []
        for row, (scores, terms) in zip(rows, explained, strict=True):
            subject = subject_of(self.model, row, *zip(*terms, strict=True))
            cases += [Case(subject, each[: len(row)], "mask_lrp", signed=False) for each in scores]
        found = measure(self.model, cases, self.metrics)
        values = np.array([each["aopc"][""].value for each in found])
        return values.reshape(len(rows), len(masks)).T


def shaken(mask: Heads, chance: torch.Generator) -> Heads:
    """The mask with each head changed by chance, but for layers that would lose their last head."""
    drawn = mask ^ (torch.rand(mask.shape, generator=chance) < FLIPPED)
    return torch.where(drawn.any(1, keepdim=True), drawn, mask)


def contrast(changes: torch.Tensor, sums: torch.Tensor, weights: torch.Tensor) -> HeadValues:
    """The mean gain per text of the masks that change a head, minus that of the others, [layer, head].

    changes: which heads each mask changes. sums: the gain of each mask, summed over its texts. weights: how
    many texts these are. 0 for a head that all masks change, or none.
    """
    total = weights.sum()
    texts = torch.einsum("mlh,m->lh", changes, weights)
    gained = torch.einsum("mlh,m->lh", changes, sums)
    is_both = (texts > 0) & (texts < total)
    with_change = gained / texts.clamp(min=1)
    without = (sums.sum() - gained) / (total - texts).clamp(min=1)
    return torch.where(is_both, with_change - without, 0.0)


def changed(mask: Heads, effects: HeadValues) -> list[Heads]:
    """The mask with its most promising heads changed: a sixteenth, an eighth and a quarter of all heads.

    Only heads whose effect is positive change, and no layer loses its last head.
    """
    order = effects.flatten().argsort(descending=True, stable=True)
    order = order[: int((effects > 0).sum())]
    found = []
    for size in sorted({max(1, round(share * mask.numel())) for share in SIZES}):
        flips = torch.zeros(mask.numel(), dtype=torch.bool).index_fill(0, order[:size], True)
        drawn = mask ^ flips.view_as(mask)
        drawn = torch.where(drawn.any(1, keepdim=True), drawn, mask)
        if not torch.equal(drawn, mask):
            found.append(drawn)
    return found
