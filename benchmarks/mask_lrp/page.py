"""Writes results.json, results.md and the figures beside this file, from the runs of `benchmarks.mask_lrp.run`.

    python -m benchmarks.mask_lrp.page [--runs FOLDER]

Cells whose runs are not finished are left out. Every difference is between scores of the same examples.
"""

import argparse
import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from benchmarks.mask_lrp.run import (
    CELLS,
    CORRUPTIONS,
    DRAWN,
    FOLDS,
    PARTS,
    READINGS,
    UNMASKED,
    methods,
)
from numpy.typing import NDArray
from scipy.stats import kendalltau

from headlight import METRICS, open_run
from headlight.evaluation.plan import full_name
from headlight.evaluation.results import Results
from headlight.metrics.statistics import compare, summarise
from headlight.plot.canvas import figure, save
from headlight.report.published import PUBLISHED

HOME = Path(__file__).parent
NO_MASK, RELEASED = "no mask", "variant=released"
NAMES = {"empty=open": "open", "empty=residual": "residual", RELEASED: "released"}
CONDITIONS = (NO_MASK, *PARTS, *DRAWN, *map(str, CORRUPTIONS))
SAID = {
    "both": "mask",
    "positional": "only positional heads",
    "syntactic": "only syntactic heads",
    "overall": "random mask",
    "by_layer": "random mask, same size in each layer",
}
Values = NDArray[np.float64]


def chosen(condition: str, reading: str, fold: int) -> list[str]:
    """The methods of a fold that belong to a condition; several if masks were drawn."""
    if condition == NO_MASK:
        return [UNMASKED[reading == RELEASED]]
    key = {**{p: f"mask={p}," for p in PARTS}, **{d: f"drawn={d}," for d in DRAWN}}
    part = key.get(condition, f"corruption={condition},")
    return [m for m in methods(fold) if part in m and m.endswith(reading)]


@dataclass(frozen=True, eq=False)
class Found:
    """The runs of the folds of a cell."""

    name: str
    folds: tuple[Results, ...]

    @property
    def count(self) -> int:
        """How many examples there are."""
        return sum(each.settings.count for each in self.folds)

    def over_folds(
        self, of: Callable[[Results, str], Values], names: Callable[[int], Sequence[str]]
    ) -> Values:
        """What every example gets, averaged over the methods of a condition."""
        parts = [
            np.mean([of(results, full_name(name)) for name in names(fold)], axis=0)
            for fold, results in enumerate(self.folds)
        ]
        return np.concatenate(parts)

    def values(self, metric: str, condition: str, reading: str) -> Values:
        """A metric of every example."""
        return self.over_folds(
            lambda results, name: results.values(metric, name),
            lambda fold: chosen(condition, reading, fold),
        )

    def beside(self, metric: str, method: str) -> Values:
        """A metric of every example for a method that knows no masks."""
        return np.concatenate([each.values(metric, method) for each in self.folds])

    @cached_property
    def scores(self) -> tuple[dict[tuple[int, str], Values], ...]:
        """The scores of ordinary tokens of every fold, by example and method."""
        return tuple(scores_of(each) for each in self.folds)

    def agreement(self, condition: str, reading: str) -> Values:
        """Kendall's τ between the scores with a mask and those without, for every example."""
        found = []
        for fold, known in enumerate(self.scores):
            plain = full_name(chosen(NO_MASK, reading, fold)[0])
            for example in range(self.folds[fold].settings.count):
                names = [full_name(name) for name in chosen(condition, reading, fold)]
                pairs = [(known.get((example, n)), known.get((example, plain))) for n in names]
                taus = [
                    kendalltau(a, b).statistic for a, b in pairs if a is not None and b is not None
                ]
                found.append(np.mean(taus) if taus else np.nan)
        return np.array(found)


def scores_of(results: Results) -> dict[tuple[int, str], Values]:
    """The scores of ordinary tokens, by example and method."""
    table = results.attributions
    names = ("example", "method", "role", "special", "scores")
    found = {}
    for example, method, role, special, scores in zip(
        *(table[name].to_pylist() for name in names), strict=True
    ):
        if role == "own":
            kept = [
                value for value, is_special in zip(scores, special, strict=True) if not is_special
            ]
            found[example, method] = np.array(kept)
    return found


def metrics_of(found: Found) -> list[str]:
    """The metrics of a cell."""
    return [m for m in CELLS[found.name].metrics if m in found.folds[0].metrics]


def finished(runs: Path) -> Iterator[Found]:
    """The cells whose folds are all finished."""
    for name in CELLS:
        places = [runs / f"{name}-{fold}" for fold in range(FOLDS)]
        if all((place / "manifest.json").exists() for place in places):
            folds = tuple(map(open_run, places))
            if not any(each.missing for each in folds):
                yield Found(name, folds)


def record(found: Found) -> dict[str, Any]:
    """Everything that is said of a cell, as numbers."""
    facts: dict[str, Any] = {
        "model": CELLS[found.name].model,
        "data": CELLS[found.name].data,
        "count": found.count,
    }
    facts["attn_lrp"] = {
        m: asdict(summarise(found.beside(m, "attn_lrp"))) for m in metrics_of(found)
    }
    facts["random"] = {m: asdict(summarise(found.beside(m, "random"))) for m in metrics_of(found)}
    for reading in READINGS:
        facts[NAMES[reading]] = {c: condition_record(found, c, reading) for c in CONDITIONS}
    return facts


def condition_record(found: Found, condition: str, reading: str) -> dict[str, Any]:
    """A condition in a reading: its means, and its differences from no mask and from random masks."""
    facts: dict[str, Any] = {}
    for metric in metrics_of(found):
        own = found.values(metric, condition, reading)
        facts[metric] = {"summary": asdict(summarise(own))}
        if condition != NO_MASK:
            plain = found.values(metric, NO_MASK, reading)
            facts[metric]["less no mask"] = asdict(compare(own, plain))
        if condition in PARTS:
            drawn = found.values(metric, "overall", reading)
            facts[metric]["less random mask"] = asdict(compare(own, drawn))
    if condition in (*PARTS, *DRAWN):
        facts["tau to no mask"] = asdict(summarise(found.agreement(condition, reading)))
    return facts


# ----------------------------------------------------------------------------------------- words


def gap(facts: dict[str, float]) -> str:
    """A difference with its interval and p-value."""
    return f"{facts['difference']:+.4f} [{facts['low']:+.4f}, {facts['high']:+.4f}], p {facts['p_value']:.4f}"


def table(facts: dict[str, Any], metric: str) -> Iterator[str]:
    """One metric of a cell, in all readings."""
    arrow = {"higher": "↑", "lower": "↓"}[METRICS[metric.split("@")[0]].better]
    yield f"| {metric} {arrow} | reading | mean | less no mask | less random mask | τ to no mask |"
    yield "|---|---|---:|---|---|---:|"
    for reading in NAMES.values():
        for condition in (NO_MASK, *PARTS, *DRAWN):
            own = facts[reading][condition]
            differences = [
                gap(own[metric][key]) if key in own[metric] else ""
                for key in ("less no mask", "less random mask")
            ]
            tau = f"{own['tau to no mask']['mean']:.3f}" if "tau to no mask" in own else ""
            mean = own[metric]["summary"]["mean"]
            said = SAID.get(condition, condition)
            yield f"| {said} | {reading} | {mean:.4f} | {differences[0]} | {differences[1]} | {tau} |"
    for name in ("attn_lrp", "random"):
        yield f"| {name} |  | {facts[name][metric]['mean']:.4f} |  |  |  |"


def corruption_table(facts: dict[str, Any], metric: str) -> Iterator[str]:
    """The mean of a metric as heads that are not in the mask are added to it."""
    yield f"| {metric}, heads added | 0 % | {' | '.join(f'{c:.0%}' for c in CORRUPTIONS)} |"
    yield f"|---|{'---:|' * (len(CORRUPTIONS) + 1)}"
    for reading in NAMES.values():
        cells = ["both", *map(str, CORRUPTIONS)]
        means = [f"{facts[reading][c][metric]['summary']['mean']:.4f}" for c in cells]
        yield f"| {reading} | {' | '.join(means)} |"


def published_rows() -> Iterator[str]:
    """What the paper prints for the rows that this study has too."""
    rows = {"GAE": NO_MASK, "Random": "random mask", "Ours": "mask"}
    yield "| paper, BERT base | " + " | ".join(f"{r} ({said})" for r, said in rows.items()) + " |"
    yield "|---|---|---|---|"
    for each in PUBLISHED["mask_lrp"].experiments:
        if set(rows) <= set(each.rows):
            cells = [
                ", ".join(
                    f"{c} {v}" for c, v in zip(each.columns, each.rows[r].printed, strict=True)
                )
                for r in rows
            ]
            yield f"| {each.source} | {' | '.join(cells)} |"


def page(cells: dict[str, dict[str, Any]]) -> str:
    """The page."""
    lines = [
        "# Does a head mask help relevance?",
        "",
        "Written by `python -m benchmarks.mask_lrp.page` from runs of `python -m benchmarks.mask_lrp.run`.",
        "*No mask* is transformer attribution. Readings: *open* leaves a block without an important head",
        "as it is, *residual* sends its relevance past it, *released* is the authors' code. Random masks",
        "have as many heads as the mask: twenty of each kind, four for each example. Differences are",
        "between scores of the same examples, with 95 % intervals and p-values of a test that changes",
        "their signs. τ is Kendall's rank correlation of the scores of a text with those without a mask:",
        "1 means that the mask changes no rank.",
        "",
        "## The paper's figures",
        "",
        *published_rows(),
    ]
    for name, facts in cells.items():
        lines += [
            "",
            f"## {name}: `{facts['model']}` on {facts['count']} examples of {facts['data']}",
        ]
        for metric in facts["attn_lrp"]:
            lines += ["", *table(facts, metric), "", *corruption_table(facts, metric)]
        lines += ["", f"![heads added to the mask](corruption-{name}.svg)"]
    return "\n".join(lines) + "\n"


def draw(name: str, facts: dict[str, Any]) -> None:
    """Figure 4 of the paper: the first metric as heads are added to the mask."""
    metric = next(iter(facts["attn_lrp"]))
    drawn, axes = figure(5.0, 3.2)
    shares = [0.0, *CORRUPTIONS]
    for reading in NAMES.values():
        rows = [facts[reading][c][metric]["summary"] for c in ("both", *map(str, CORRUPTIONS))]
        (line,) = axes.plot(shares, [row["mean"] for row in rows], marker="o", label=reading)
        low, high = ([row[end] for row in rows] for end in ("low", "high"))
        axes.fill_between(shares, low, high, alpha=0.12, color=line.get_color())
    plain = facts["open"][NO_MASK][metric]["summary"]["mean"]
    axes.axhline(plain, linestyle=":", color="grey", label="no mask")
    axes.set_xlabel("share of the other heads that is added to the mask")
    axes.set_ylabel(metric)
    axes.legend(frameon=False, fontsize=8)
    save(drawn, HOME / f"corruption-{name}.svg")


def main() -> None:
    """Write what the finished runs say."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=Path, default=Path("runs/mask_lrp"))
    cells = {each.name: record(each) for each in finished(parser.parse_args().runs)}
    (HOME / "results.json").write_text(json.dumps(cells, indent=1) + "\n", encoding="utf-8")
    (HOME / "results.md").write_text(page(cells), encoding="utf-8")
    for name, facts in cells.items():
        draw(name, facts)


if __name__ == "__main__":
    main()
