"""How often the verdict on one map agrees with the full measurement of that map.

    python -m benchmarks.trust.run                       the sample texts that come with headlight
    python -m benchmarks.trust.run --data FOLDER         short texts of sst2 and ag_news below FOLDER instead
    python -m benchmarks.trust.run --page                writes results.md again from results.json

The verdict sees ten levels and ten random orders. The full measurement removes tokens at up to twenty levels,
along forty other random orders, by any metric of which higher is better (--metric). The limits of the verdict
are chosen on the texts with even numbers and reported on those with odd ones. Writes results.json and
results.md.
"""

import argparse
import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import torch
from benchmarks.trust.page import write_page

import headlight
from headlight.data import read_examples
from headlight.explaining.inputs import rows_of
from headlight.explaining.prediction import predict
from headlight.metrics.case import Case
from headlight.metrics.measuring import measure
from headlight.metrics.trust import Trust, deletions_of, random_orders
from headlight.probing.probe import Subject, subject_of
from headlight.target import Target

HOME = Path(__file__).parent
RESULTS = HOME / "results.json"
METHODS = (
    "random", "random:seed=1", "random:seed=2", "raw_attention", "rollout", "input_x_gradient", "gae",
    "transformer_attribution", "attcat", "alti", "attn_lrp", "cp_lrp", "integrated_gradients:steps=5",
)  # fmt: skip
TEXTS = {"sentiment": 105, "topic": 50}
"""How many texts each network reads."""
ELSEWHERE = {"sentiment": "sst2/dev.jsonl:text,label", "topic": "ag_news/test.jsonl:text,label"}
"""Where --data has texts for each network."""
LONGEST = 32
"""Tokens of the longest text from --data."""
FULL_ORDERS, FULL_LEVELS, FULL_SEED = 40, 20, 1
COLUMNS = ("data", "text", "method", "fall", "gain", "lead", "full_gain", "full_rank")
"""full_rank: the share of random orders that are as good or better, counting the map itself once."""


def texts_of(model: headlight.Model, name: str, data: Path | None, count: int) -> list[str]:
    """Texts that a network reads, the first of a file that are short enough."""
    source = f"samples/{name}" if data is None else str(data / ELSEWHERE[name])
    examples, _ = read_examples(source)
    texts = [each.text for each in examples if isinstance(each.text, str)]
    short = (text for text in texts if data is None or len(rows_of(model, text)[0]) <= LONGEST)
    return [text for text, _ in zip(short, range(count), strict=False)]


def full_values(
    model: headlight.Model, subject: Subject, orders: list[Any], metric: str
) -> list[float]:
    """The metric of every order of the tokens; the AOPC at every token, or at twenty levels."""
    count = min(FULL_LEVELS, len(subject.eligible))
    options = {"levels": [n / count for n in range(1, count + 1)]} if metric == "aopc" else {}
    cases = [Case(subject, np.asarray(each, np.float64), "", signed=True) for each in orders]
    return [found[metric][""].value for found in measure(model, cases, {metric: options})]


def rows(
    model: headlight.Model, name: str, number: int, text: str, metric: str
) -> Iterator[list[Any]]:
    """The verdict's numbers and the full measurement of every map of a text."""
    row = rows_of(model, text)[0]
    terms = predict(model, [row], [Target()])[0].resolved.terms
    subject = subject_of(model, row, [t.position for t in terms], [t.index for t in terms])
    maps = headlight.explain(model, text, METHODS)
    scores = [np.array(each.scores, np.float64) for each in maps.values()]
    few = deletions_of(model, subject, [*scores, *random_orders(len(row))])
    many = full_values(
        model, subject, [*scores, *random_orders(len(row), FULL_ORDERS, FULL_SEED)], metric
    )
    random = np.array(many[len(maps) :])
    for place, method in enumerate(maps):
        trust = Trust(
            "", few[place].probabilities, tuple(each.probabilities for each in few[len(maps) :])
        )
        rank = (1 + int((random >= many[place]).sum())) / (1 + len(random))
        numbers = (trust.fall, trust.gain, trust.lead, many[place] - random.mean(), rank)
        yield [name, number, method, *(round(float(n), 5) for n in numbers)]


def main() -> None:
    """Measure, choose the limits, and write the page."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--data", type=Path)
    parser.add_argument("--metric", default="aopc")
    parser.add_argument("--quick", action="store_true", help="a few texts; writes nothing")
    parser.add_argument("--page", action="store_true")
    given = parser.parse_args()
    if not given.page:
        torch.set_num_threads(1)
        start = time.process_time()
        found: list[list[Any]] = []
        for name, count in TEXTS.items():
            model = headlight.load(name)
            chosen = texts_of(model, name, given.data, 3 if given.quick else count)
            for number, text in enumerate(chosen):
                found += rows(model, name, number, text, given.metric)
                print(name, number, f"{time.process_time() - start:.0f} s", flush=True)
        settings = {
            "metric": given.metric,
            "texts": "samples" if given.data is None else ELSEWHERE,
            "methods": METHODS,
            "full_orders": FULL_ORDERS,
            "full_levels": FULL_LEVELS,
            "cpu_seconds": round(time.process_time() - start),
            "versions": {"headlight": headlight.__version__, "torch": torch.__version__},
        }
        if given.quick:
            print(json.dumps(found[:3]))
            return
        content = {"settings": settings, "columns": COLUMNS, "maps": found}
        RESULTS.write_text(json.dumps(content).replace("], [", "],\n["), encoding="utf-8")
    write_page(HOME)


if __name__ == "__main__":
    main()
