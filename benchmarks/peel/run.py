"""Whether `peel` orders tokens better than the relevance it is built on, and at what price.

    python -m benchmarks.peel.run --data FOLDER [--seconds 500]

Texts are drawn at random and measured from the shortest on; `results.json` keeps what was measured of each, so
that a run that was stopped goes on. Every order is judged with two ways of removing tokens: deletion, by which
peel works unless it is told otherwise, and the mask token. LDS asks about amounts instead of order.
"""

import argparse
import json
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import chain, count
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
import torch
import transformers
from numpy.typing import NDArray

import headlight
from headlight import METHODS, Attribution, Model
from headlight.batch import Inputs
from headlight.data import read_examples
from headlight.explaining.inputs import rows_of
from headlight.methods import peel as peeling
from headlight.metrics.case import Case
from headlight.metrics.curves import aopc, probability, sufficiency
from headlight.metrics.statistics import compare, rank_correlation
from headlight.models.reading import cut_to_limit
from headlight.probing.ask import ask
from headlight.probing.probe import Outcome, Probe, Subject, subject_of
from headlight.registry.entries import Entry
from headlight.registry.options import BY_MODEL
from headlight.trace.forward import Pass, forward
from headlight.trace.recorder import Wants
from headlight.trace.trace import Noted, Trace

HOME = Path(__file__).parent
SETTINGS = json.loads((HOME / "settings.json").read_text(encoding="utf-8"))
RESULTS = HOME / "results.json"
Scores = NDArray[np.float64]
Measured = dict[str, dict[str, float]]
"""What was measured of one text: by method, then by metric."""
Columns = dict[str, dict[str, list[float]]]
"""The same of all texts."""


@METHODS.register(
    "peel_to_the_end", needs={"again"}, signed=True, is_order=True, paper="peel that never stops"
)
def peel_to_the_end(captured: Trace, *, base: Entry = BY_MODEL) -> Noted:
    """Peel that goes on if a removal does not lower the probability: what is measured always falls here."""
    steps = count(0, -1)

    def falling(seen: Trace) -> list[float]:
        return [float(next(steps))] * len(seen.rows)

    with patch.object(peeling, "measured", falling):
        return peeling.peel(captured, base=base)


def drawn(name: str, data: Path) -> list[str]:
    """The texts of a data set, from the shortest on."""
    chosen = SETTINGS["data"][name]
    source = f"{chosen['name']}={data / chosen['file']}"
    examples, _ = read_examples(source, limit=chosen["count"], seed=SETTINGS["seed"])
    return sorted((str(example.text) for example in examples), key=len)


@contextmanager
def counted_tokens() -> Iterator[list[int]]:
    """How many tokens go through the network, forth and back."""
    counts = [0]

    def counting(model: Model, inputs: Inputs, wants: Wants) -> Pass:
        counts[0] += int(inputs.present.sum())
        return forward(model, inputs, wants)

    with patch("headlight.trace.trace.forward", counting):
        yield counts


def case_of(model: Model, found: Attribution) -> Case:
    """What a metric is given; the explained class is the predicted one."""
    row = cut_to_limit(model, rows_of(model, found.texts[0])[0])
    label = next(n for n, name in model.labels.items() if name == found.target.label)
    subject = subject_of(model, row, (0,), (label,))
    return Case(subject, found.scores.astype(np.float64), found.method, True)


def halves(subject: Subject) -> list[list[int]]:
    """Random halves of the tokens that may be removed, the same for every method."""
    draw = np.random.default_rng(SETTINGS["seed"])
    eligible = np.array(subject.eligible)
    draws = range(SETTINGS["draws of lds"])
    return [sorted(draw.permutation(eligible)[: len(eligible) // 2].tolist()) for _ in draws]


def ranks(scores: Scores, eligible: Sequence[int]) -> Scores:
    """Evenly spaced scores in the same order, as another form in which an order could be given."""
    even = np.zeros(len(scores))
    order = np.argsort(-scores[list(eligible)], kind="stable")
    even[np.array(eligible)[order]] = np.arange(len(eligible), 0, -1) / len(eligible)
    return even


def measured(model: Model, found: dict[str, Attribution]) -> Measured:
    """The metrics of every method on one text, from one round of questions to the model."""
    cases = {method: case_of(model, each) for method, each in found.items()}
    measuring = {}
    for method, case in cases.items():
        for change in SETTINGS["changes"]:
            options = {"change": change, "levels": SETTINGS["levels"]["aopc"]}
            measuring[method, f"aopc, {change}"] = aopc(case, **options)
            options["levels"] = SETTINGS["levels"]["sufficiency"]
            measuring[method, f"sufficiency, {change}"] = sufficiency(case, **options)
    asked = {key: list(next(each)) for key, each in measuring.items()}
    subject = next(iter(cases.values())).subject
    removed = halves(subject)
    drawn_probes = [subject.without(gone, "delete") for gone in removed]
    answers = outcomes(model, [*chain.from_iterable(asked.values()), *drawn_probes])
    values: Measured = {method: {} for method in found}
    for (method, metric), each in measuring.items():
        try:
            each.send([answers[probe] for probe in asked[method, metric]])
        except StopIteration as stop:
            values[method][metric] = stop.value[""].value
    logs = np.array([answers[probe].log_probability for probe in drawn_probes])
    for method, case in cases.items():
        forms = {"lds": case.scores, "lds of ranks": ranks(case.scores, subject.eligible)}
        for name, scores in forms.items():
            left = scores[subject.eligible].sum() - np.array(
                [scores[gone].sum() for gone in removed]
            )
            values[method][name] = rank_correlation(np.round(left, 9), logs)
        values[method]["probability"] = probability(answers[subject.whole])
    return values


def outcomes(model: Model, probes: Sequence[Probe]) -> dict[Probe, Outcome]:
    """The answers to probes."""
    unique = list(dict.fromkeys(probes))
    return dict(zip(unique, ask(model, unique), strict=True))


def explained(
    model: Model, texts: list[str], method: str
) -> tuple[list[Attribution], float, list[bool]]:
    """The explanations of texts, the plain passes of each on average, and which were not peeled to the end."""
    length = sum(len(cut_to_limit(model, row)) for text in texts for row in rows_of(model, text))
    with counted_tokens() as counts:
        found = headlight.explain(model, texts, method)
    # A pass back costs what a pass forth costs if the weights get no gradients.
    stopped = [any("no fall" in note for note in each.notes) for each in found]
    return found, 2 * counts[0] / length, stopped


def run(data: Path, seconds: float) -> None:
    """Measure until all is measured or the time is up."""
    begin = time.perf_counter()
    results = {} if not RESULTS.exists() else json.loads(RESULTS.read_text(encoding="utf-8"))
    results |= {"torch": torch.__version__, "transformers": transformers.__version__}
    for name, chosen in SETTINGS["data"].items():
        texts = drawn(name, data)
        model = headlight.load(chosen["model"])
        known = results.setdefault(name, {})
        while count_of(known) < len(texts) and time.perf_counter() - begin < seconds:
            part = texts[count_of(known) :][: SETTINGS["texts at once"]]
            found = {method: explained(model, part, method) for method in SETTINGS["methods"]}
            for place in range(len(part)):
                values = measured(model, {m: f[0][place] for m, f in found.items()})
                for method, (_, passes, stopped) in found.items():
                    own = values[method] | {"passes": passes, "stopped": stopped[place]}
                    columns = known.setdefault(method, {})
                    for metric, value in own.items():
                        columns.setdefault(metric, []).append(round(float(value), 6))
            RESULTS.write_text(json.dumps(results, separators=(",", ":")) + "\n", encoding="utf-8")
            print(name, count_of(known), round(time.perf_counter() - begin), flush=True)


def count_of(known: Columns) -> int:
    """How many texts were measured."""
    return len(next(iter(known.values()))["passes"]) if known else 0


# -------------------------------------------------------------------------------------- the page


def gap(known: Columns, method: str, other: str, metric: str) -> str:
    """The paired difference of two methods with its interval."""
    found = compare(known[method][metric], known[other][metric])
    return f"{found.difference:+.3f} ({found.low:+.3f} to {found.high:+.3f})"


def table(known: Columns) -> list[str]:
    """The means and paired differences of one data set."""
    metrics = [f"{m}, {c}" for m in ("aopc", "sufficiency") for c in SETTINGS["changes"]]
    heads = " | ".join(f"{metric} | difference" for metric in metrics)
    lines = [
        f"| method | plain passes | stopped early | {heads} | LDS | difference | LDS of ranks |",
        "|---" * (6 + 2 * len(metrics)) + "|",
    ]
    for method, base in SETTINGS["methods"].items():
        own = known[method]
        cells = [
            f"`{method}`",
            f"{np.mean(own['passes']):.1f}",
            f"{np.mean(own['stopped']):.0%}" if base else "",
        ]
        for metric in [*metrics, "lds"]:
            cells.append(f"{np.nanmean(own[metric]):.3f}")
            cells.append(gap(known, method, base, metric) if base else "")
        cells.append(f"{np.nanmean(own['lds of ranks']):.3f}")
        lines.append(f"| {' | '.join(cells)} |")
    return lines


def percents(metric: str) -> str:
    """The levels of a metric, in words."""
    return ", ".join(f"{level:.0%}" for level in SETTINGS["levels"][metric])


def page(results: dict[str, Any]) -> str:
    """The results as tables."""
    lines = [
        "# peel beside the relevance it is built on",
        "",
        "Explained is the predicted class; texts are drawn at random (`settings.json`). `aopc`: mean fall of",
        f"the probability when the first {percents('aopc')} of the tokens are removed (higher is better);",
        f"`sufficiency`: its mean fall when only the first {percents('sufficiency')} are left (lower is",
        "better); both with two ways of removing tokens. LDS: Spearman's ρ between the sum of the scores that",
        f"are left and the log-probability over {SETTINGS['draws of lds']} random halves of the text",
        "(deletion; higher is better); 'of ranks': the same with evenly spaced scores in the same order.",
        "Differences are those to the base of the method, text by text, with their 95 % intervals. Plain",
        "passes: tokens that go forth and back, twice, over the tokens of the text. Stopped early: a removal",
        "did not lower the probability, so that no further one was tried; `peel_to_the_end` never stops.",
        f"Written by `python -m benchmarks.peel.run`; torch {results['torch']}, transformers "
        f"{results['transformers']}.",
    ]
    for name, chosen in SETTINGS["data"].items():
        known = results.get(name, {})
        shown = f"## `{chosen['model']}` on {count_of(known)} texts of {chosen['file']}"
        lines += ["", shown, "", *(table(known) if known else ["Not measured."])]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--seconds", type=float, default=500)
    given = parser.parse_args()
    run(given.data, given.seconds)
    text = page(json.loads(RESULTS.read_text(encoding="utf-8")))
    (HOME / "results.md").write_text(text, encoding="utf-8")
