"""The loop that puts perturbed inputs to a model: its useful tokens a second beside plain passes on the same.

    python -m benchmarks.speed.probing           writes benchmarks/speed/probing.json and results.md
    python -m benchmarks.speed.probing --quick   one example, one round; writes below build/bench

Plain passes get the same unique inputs, sorted and packed in the same way, as tensors made beforehand, so the
ratio is what collecting, packing and reading cost. Both run in turn.
"""

import statistics
from collections.abc import Sequence

import numpy as np
import torch
from benchmarks.speed.measuring import command, facts, folder, seconds
from benchmarks.speed.report import keep

import headlight
from headlight.batch import collate, encode
from headlight.data import read_examples
from headlight.metrics.case import Case
from headlight.metrics.measuring import measure
from headlight.probing.ask import ask, packed
from headlight.probing.probe import Outcome, Probe, subject_of
from headlight.running.logits import logits_of
from headlight.running.memory import TOKENS_AT_ONCE

METHODS = ["random", "attcat", "gae", "rollout", "alti", "mask_lrp", "lrp", "input_x_gradient"]
METRICS = ["aopc", "log_odds", "comprehensiveness", "sufficiency", "hiding", "revealing"]
EXAMPLES, ROUNDS = 8, 3


def cases(model: headlight.Model, count: int) -> list[Case]:
    """The cases of a shard, as an evaluation has them."""
    examples, _ = read_examples("samples/sentiment", limit=count)
    assert model.tokenizer is not None
    found = []
    answers = headlight.explain(model, [e.text for e in examples], METHODS)
    for method, attributions in answers.items():
        for attribution, example in zip(attributions, examples, strict=True):
            row = encode([example.text], model.tokenizer)[0]
            label = list(model.labels.values()).index(attribution.target.label)
            subject = subject_of(model, row, [0], [label])
            scores = np.asarray(attribution.scores, np.float64)
            found.append(Case(subject, scores, method, True, gold=label, predicted=label))
    return found


def main() -> None:
    """Measure and write."""
    given = command(__doc__).parse_args()
    examples, rounds = (1, 1) if given.quick else (EXAMPLES, ROUNDS)
    model = headlight.load("sentiment")
    probes: list[Probe] = []

    def noted(model: headlight.Model, asked: Sequence[Probe]) -> list[Outcome]:
        probes.extend(asked)
        return ask(model, asked)

    measure(model, cases(model, examples), {name: {} for name in METRICS}, noted)
    unique = sorted(set(probes), key=lambda probe: (len(probe.positions), len(probe)))
    tokens = sum(map(len, unique))
    batches = [
        collate(batch, model.pad_id or 0, model.network.device)
        for batch in packed(model, unique, TOKENS_AT_ONCE)
    ]

    def plain() -> None:
        with torch.inference_mode():
            for batch in batches:
                logits_of(model, batch)

    taken: dict[str, list[float]] = {"plain": [], "loop": []}
    plain()
    for _ in range(rounds):
        for name, do in (("plain", plain), ("loop", lambda: ask(model, probes))):
            taken[name].append(seconds(do))
    ratios = sorted(p / q for p, q in zip(taken["plain"], taken["loop"], strict=True))
    found = {
        "settings": facts() | {"rounds": rounds},
        "model": "sentiment",
        "examples": examples,
        "methods": METHODS,
        "metrics": METRICS,
        "probes": len(probes),
        "unique": len(unique),
        "dropped": 1 - len(unique) / len(probes),
        "tokens": tokens,
        "padding": 1 - tokens / sum(batch.ids.numel() for batch in batches),
        "tokens_a_second": {n: tokens / statistics.median(s) for n, s in taken.items()},
        "throughput_of_plain": {
            "median": statistics.median(ratios),
            "least": ratios[0],
            "most": ratios[-1],
        },
    }
    print(keep(folder(given.quick), "probing", found))


if __name__ == "__main__":
    main()
