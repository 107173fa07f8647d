"""Whether attn_lrp is more faithful in a decoder if nothing goes back into the first token, its sink.

    python -m benchmarks.sinks.run       writes benchmarks/sinks/results.json and results.md

If the first key and value of every attention are constants, the first score becomes 0 and no other score
changes (tests/methods/test_modified_gradient.py), so that is what is evaluated: on the embedded `llm`, with
prompts written for this.
"""

import json
from dataclasses import asdict
from pathlib import Path
from typing import Any

import torch
import transformers

import headlight
from headlight import METHODS
from headlight.data.example import Example
from headlight.methods.modified_gradient import scored
from headlight.shapes import Scores
from headlight.trace.relevance.modifications import MODIFICATIONS
from headlight.trace.trace import Trace

HOME = Path(__file__).parent
METRICS = ("aopc", "log_odds", "comprehensiveness", "sufficiency")
WHOLE, WITHOUT = "attn_lrp", "attn_lrp_without_sink"
PROMPTS = (
    "The capital of France is",
    "When the sun goes down, the sky turns",
    "She opened the door, saw the snow and put on her",
    "Water freezes at zero degrees and boils at one",
    "The opposite of hot is",
    "He was hungry, so he went to the kitchen and made a",
    "Dogs bark, cats meow and cows",
    "The first president of the United States was George",
    "My favourite colour is blue, because it reminds me of the",
    "After a long day at work, I like to drink a cup of",
    "Romeo and Juliet was written by William",
    "The bread comes out of the oven when it is golden",
    "Two plus two equals",
    "In winter the days are short and the nights are",
    "The teacher asked the children to open their",
    "Paris is in France, Rome is in Italy and Berlin is in",
    "The plane landed safely at the",
    "To make an omelette you have to break some",
    "The doctor told the patient to take the pills twice a",
    "The moon goes around the",
    "Bees make honey and hens lay",
    "The largest planet in the solar system is",
    "She plays the piano and he plays the",
    "The train was late, so we missed the",
    "Once upon a time there was a king who lived in a",
    "You should brush your teeth before you go to",
    "The baker sells bread and the butcher sells",
    "The river flows from the mountains down to the",
    "It was raining, so I took my",
    "The heart pumps blood through the",
    "The author of the book signed her",
    "The farmer milks the cows early in the",
    "Spiders have eight legs and insects have",
    "The students were tired, because the exam was very",
    "We looked at the map, because we had lost our",
    "The children built a castle out of",
)


@METHODS.register(
    WITHOUT,
    group="relevance",
    needs={"modified_gradient"},
    preset="attn_lrp",
    signed=True,
    paper="attn_lrp with a constant first key and value",
)
def attn_lrp_without_sink(trace: Trace) -> Scores:
    """Relevance as in attn_lrp, which ends where it would go into the first token."""
    scores = scored(trace, MODIFICATIONS["attn_lrp"])
    scores[:, 0] = 0
    return scores


def measured() -> dict[str, Any]:
    """Means of both ways and of a random order, and the paired difference with its interval."""
    examples = [Example(prompt) for prompt in PROMPTS]
    methods = (WHOLE, WITHOUT, "random")
    found = headlight.evaluate(headlight.load("llm"), examples, methods, METRICS)
    return {
        metric: {
            "means": {method: found.summary(metric, method).mean for method in methods},
            "without minus whole": asdict(found.compare(metric, WITHOUT, WHOLE)),
        }
        for metric in METRICS
    }


def verdict(metric: str, difference: dict[str, float]) -> str:
    """What the interval says."""
    if difference["low"] <= 0 <= difference["high"]:
        return "cannot be told: the interval contains 0"
    is_better = (difference["difference"] > 0) == (headlight.METRICS[metric].better == "higher")
    return "better" if is_better else "worse"


def page(results: dict[str, Any]) -> str:
    """The results as a table."""
    lines = [
        "# attn_lrp with and without the sink of a decoder",
        "",
        f"On the embedded `llm` and {results['prompts']} prompts, the predicted next token explained. Without",
        "the sink the first key and value of every attention are constants on the way back: the first score is",
        "0, and all others are the same. Difference: without minus whole, prompt by prompt, with its 95 %",
        "interval. Written by `python -m benchmarks.sinks.run`; "
        f"torch {results['torch']}, transformers {results['transformers']}.",
        "",
        "| metric | better is | whole | without | random | difference | without the sink is |",
        "|---|---|---|---|---|---|---|",
    ]
    for metric, values in results["results"].items():
        gap = values["without minus whole"]
        means = " | ".join(f"{mean:.3f}" for mean in values["means"].values())
        interval = f"{gap['difference']:+.3f} ({gap['low']:+.3f} to {gap['high']:+.3f})"
        better = headlight.METRICS[metric].better
        lines += [f"| `{metric}` | {better} | {means} | {interval} | {verdict(metric, gap)} |"]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    results = {
        "torch": torch.__version__,
        "transformers": transformers.__version__,
        "prompts": len(PROMPTS),
        "results": measured(),
    }
    text = json.dumps(results, indent=1) + "\n"
    (HOME / "results.json").write_text(text, encoding="utf-8")
    (HOME / "results.md").write_text(page(results), encoding="utf-8")
