"""Writes benchmarks/answers/results.json and results.md from what `benchmarks.answers.run` has measured.

    python -m benchmarks.answers.page

The metrics are headlight's own. Ablations are computed here from the log-probabilities of all choices of
sources, which the run has read once for every question.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from math import isnan
from pathlib import Path
from typing import Any, cast

import numpy as np
import torch
import transformers
from benchmarks.answers.run import ABLATIONS, COSTS, RECORDS, SUBSETS

import headlight
from headlight.batch import Row
from headlight.explaining.ablated import entry_of
from headlight.explaining.removal import Divided, Removal
from headlight.metrics.case import Case
from headlight.metrics.statistics import compare, summarise
from headlight.probing.probe import Outcome, Probe, Subject

HOME = Path(__file__).parent
SOURCES, QUESTION, ANSWER = tuple(range(10, 15)), 15, 16
"""A prompt of one token per source, one for the question and one for the answer, to which metrics are put."""
METRICS = {
    "source_recall": "right source first",
    "top_drop.1": "drop without the first",
    "top_drop.3": "drop without the first three",
    "lds": "LDS",
    "answer_completeness": "completeness error",
}
REFERENCE = "source_shapley"
CHANCE = 0.05

Values = dict[str, dict[str, list[float]]]
"""By metric and method, the value of every question; NaN where a metric does not apply."""


def answer_to(record: Mapping[str, Any], probe: Probe) -> Outcome:
    """What the run has read of the model without the sources that a probe lacks."""
    kept = tuple(source in probe.ids for source in SOURCES)
    return Outcome(0.0, record["log_probabilities"][SUBSETS.index(kept)], 0)


def case_of(method: str, sources: Sequence[float], total: float, value: float) -> Case:
    """Scores of sources, and of all that is no source, as a case of headlight's metrics."""
    ids = (*SOURCES, QUESTION, ANSWER)
    row = Row(ids, (True,) * len(ids), tuple(map(str, ids)), (False,) * len(ids))
    scores = np.array([*sources, total - sum(sources), 0.0])
    subject = Subject(row, (len(SOURCES),), (ANSWER,), False, None, 0)
    numbers = (*range(len(SOURCES)), None, None)
    return Case(subject, scores, method, entry_of(method).signed, sources=numbers, explained=value)


def cases_of(record: Mapping[str, Any]) -> Iterator[Case]:
    """The case of every method, then that of every ablation."""
    for method, found in record["methods"].items():
        yield case_of(method, found["sources"], found["total"], found["value"])
    known = {
        case: np.array([log])
        for case, log in zip(SUBSETS, record["log_probabilities"], strict=True)
    }
    size = record["answer_tokens"]
    text = Divided((*SOURCES, *[ANSWER] * size), tuple(range(5)), ((5, 4 + size),))
    removal = Removal(cast(Any, None), text, known=known)
    for method in ABLATIONS:
        entry = entry_of(method)
        made = entry.function(removal, **entry.settled)
        scores = made.scores[0].tolist()
        yield case_of(method, scores, sum(scores), float(made.value[0]))


def measured(record: Mapping[str, Any], case: Case) -> dict[str, float]:
    """The values of all metrics in a case."""
    found: dict[str, float] = {}
    for name in dict.fromkeys(metric.partition(".")[0] for metric in METRICS):
        placed = Case(**{**vars(case), "right_source": record["right"]})
        result: Any = headlight.METRICS[name].function(placed)
        if not isinstance(result, dict):
            probes = next(result)
            try:
                result.send([answer_to(record, probe) for probe in probes])
            except StopIteration as ended:
                result = ended.value
        found |= {f"{name}.{part}" if part else name: each.value for part, each in result.items()}
    return found


def values_of(records: Sequence[Mapping[str, Any]]) -> Values:
    """Every metric of every method on every question."""
    values: Values = {metric: {} for metric in METRICS}
    for record in records:
        for case in cases_of(record):
            found = measured(record, case)
            for metric in METRICS:
                values[metric].setdefault(case.method, []).append(found.get(metric, float("nan")))
    return values


def results_of(records: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Means with intervals, and each method compared with the best that needs no ablation."""
    values = values_of(records)
    summaries = {
        metric: {method: asdict(summarise(own)) for method, own in by_method.items()}
        for metric, by_method in values.items()
    }
    best = {metric: best_of(metric, by_method) for metric, by_method in summaries.items()}
    whole, nothing = (
        float(np.mean([record["log_probabilities"][place] for record in records]))
        for place in (0, -1)
    )
    costs = json.loads(COSTS.read_text(encoding="utf-8")) if COSTS.exists() else {}
    return {
        "questions": len(records),
        "code": sorted({record["code"] for record in records}),
        "tokens": float(np.mean([record["tokens"] for record in records])),
        "log-probability with all sources": whole,
        "log-probability without sources": nothing,
        "torch": torch.__version__,
        "transformers": transformers.__version__,
        "passes": costs,
        "results": summaries,
        "best of one pass": best,
        "difference to it": {
            metric: {
                method: asdict(compare(own, by_method[best[metric]]))
                for method, own in by_method.items()
                if method != best[metric]
            }
            for metric, by_method in values.items()
        },
    }


def best_of(metric: str, by_method: Mapping[str, Mapping[str, float]]) -> str:
    """The best method that is no ablation."""
    known = {
        method: found["mean"]
        for method, found in by_method.items()
        if method not in (*ABLATIONS, "random") and not isnan(found["mean"])
    }
    pick = max if headlight.METRICS[metric.partition(".")[0]].better == "higher" else min
    return pick(known, key=lambda method: known[method])


# ---------------------------------------------------------------------------------------- page


def cell(found: Mapping[str, float]) -> str:
    """A mean with its interval."""
    if isnan(found["mean"]):
        return "–"
    return f"{found['mean']:.2f} ({found['low']:.2f} to {found['high']:.2f})"


def table(results: Mapping[str, Any]) -> list[str]:
    """A row per method, ablations last, the others by LDS."""
    means = results["results"]
    order = sorted(
        means["lds"], key=lambda method: (method in ABLATIONS, -means["lds"][method]["mean"])
    )
    lines = [
        f"| method | passes | {' | '.join(METRICS.values())} |",
        f"|---|---|{'---|' * len(METRICS)}",
    ]
    for method in order:
        passes = results["passes"].get(method)
        cost = "–" if passes is None else f"{passes:.1f}"
        cells = " | ".join(cell(means[metric][method]) for metric in METRICS)
        lines.append(f"| `{method}` | {cost} | {cells} |")
    return lines


def verdicts(results: Mapping[str, Any]) -> Iterator[str]:
    """For each metric who is best with one pass, who cannot be told from it, and what ablations add."""
    for metric, title in METRICS.items():
        best, means = results["best of one pass"][metric], results["results"][metric]
        alike = [
            f"`{method}`"
            for method, gap in results["difference to it"][metric].items()
            if method not in (*ABLATIONS, "random") and gap["p_value"] >= CHANCE
        ]
        text = f"- **{title}**: `{best}` is the best of one pass, {means[best]['mean']:.2f}. "
        text += (
            f"{', '.join(alike)} cannot be told from it. " if alike else "All others are worse. "
        )
        others = [name for name in (REFERENCE, "random") if not isnan(means[name]["mean"])]
        yield text + ", ".join(f"`{name}`: {means[name]['mean']:.2f}" for name in others) + "."


def page(results: Mapping[str, Any]) -> str:
    """The results as a page."""
    whole, nothing = (
        results[f"log-probability {name}"] for name in ("with all sources", "without sources")
    )
    lines = [
        "# Which method finds the source of an answer",
        "",
        f"On the embedded `llm` and {results['questions']} questions made from SQuAD, each with five",
        "passages of one or two sentences, of which one holds the answer. The right answer is explained.",
        f"Prompt and answer have {results['tokens']:.0f} tokens on average; the answer's log-probability is",
        f"{whole:.1f} with all sources and {nothing:.1f} without any. Means with their 95 % intervals. Written",
        f"by `make answers`; measured with the code of commit {', '.join(results['code'])},",
        f"torch {results['torch']}, transformers {results['transformers']}.",
        "",
        "Passes: the processor time of one explanation as a multiple of that of a plain pass over prompt and",
        "answer, on one thread, the median of two questions. A plain pass computes the logits of all tokens,",
        "an explanation only those of the answer, so that one pass can cost less than 1. Ablations read the",
        "answer again without some sources: `leave_one_out` in 7 cases, `context_cite` in 32 (all choices of",
        "five sources) or in 16 drawn ones, `source_shapley` in 32.",
        "They are references: they have seen cases by which LDS and the drops judge, which flatters them.",
        "",
        *table(results),
        "",
        "## Who wins, at what cost",
        "",
        f"`Cannot be told` means that a paired test of that one difference has p ≥ {CHANCE}; the tests are not",
        "corrected for their number, and the best one was chosen on the same questions.",
        "",
        *verdicts(results),
    ]
    return "\n".join(lines) + "\n"


def main() -> None:
    """Write both files."""
    lines = RECORDS.read_text(encoding="utf-8").splitlines()
    records = sorted(map(json.loads, lines), key=lambda record: int(record["question"]))
    results = results_of(records)
    text = json.dumps(results, indent=1).replace("NaN", "null") + "\n"
    (HOME / "results.json").write_text(text, encoding="utf-8")
    (HOME / "results.md").write_text(page(results), encoding="utf-8")


if __name__ == "__main__":
    main()
