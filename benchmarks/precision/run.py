"""How far scores of networks in 16 bits are from those of the same weights in 64, by every one-pass method.

    python -m benchmarks.precision.run        writes benchmarks/precision/results.json and results.md

Both ways of computing are measured: in the 16 bits of the network, as large networks are, and on a copy of it
in 32 bits. Left out are `random`, `attention_flow` (a linear program over attention weights) and the
`decoded_…` methods (they need a second network).
"""

import json
import time
from collections.abc import Callable, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from statistics import median
from typing import Any
from unittest.mock import patch

import numpy as np
import torch
import transformers
from scipy.stats import spearmanr
from transformers import AutoModelForCausalLM, LlamaConfig, PreTrainedModel

import headlight
from headlight import METHODS, Batch, Model, Target
from headlight.running import precision

HOME = Path(__file__).parent
TYPES = {"bfloat16": torch.bfloat16, "float16": torch.float16}
LEFT_OUT = {"random", "attention_flow", "decoded_grad_cam", "decoded_simple"}
ONE_PASS = [
    name
    for name in METHODS
    if name not in LEFT_OUT and not METHODS[name].needs & {"replay", "relevance"}
]
WAYS = ("16 bits", "32-bit copy")

SENTENCES = (
    "a warm , funny and quietly moving film .",
    "the jokes fall flat and the plot goes nowhere .",
    "it is hard to hate a movie this cheerful , but i managed .",
    "an elegant thriller that never wastes a scene .",
    "two hours of noise with nothing to say .",
    "the cast is wonderful even when the script is not .",
    "i laughed twice , and one of those was at the credits .",
    "a small miracle of patience and craft .",
    "dull , slow and far too pleased with itself .",
    "not a great film , but a very likeable one .",
    "the director mistakes volume for feeling .",
    "tender and sharp in equal measure .",
    "what a waste of a perfectly good premise .",
    "its charm lies in how little it asks of you .",
    "never boring , rarely good .",
    "the ending redeems much of what comes before it .",
    "a clumsy sequel that forgets why anyone cared .",
    "beautifully shot , sadly empty .",
    "smart enough to know when to be silly .",
    "i would rather watch paint dry in the rain .",
    "one of the finest performances of the year .",
    "there is not a single honest moment in it .",
    "gentle , odd and surprisingly suspenseful .",
    "the film has no idea what it wants to be .",
)
PROMPTS = (
    "The capital of France is",
    "When the sun goes down, the sky turns",
    "She opened the door, saw the snow and put on her",
)
LLAMA: dict[str, Any] = {
    "hidden_size": 256,
    "intermediate_size": 688,
    "num_hidden_layers": 12,
    "num_attention_heads": 8,
    "num_key_value_heads": 4,
    "vocab_size": 2000,
    "pad_token_id": 0,
}


@dataclass(frozen=True)
class Subject:
    """A network in 16 bits, and what it is asked to explain."""

    model: Model
    texts: Sequence[Any]

    def wider(self, dtype: torch.dtype) -> Model:
        """The same weights in a wider type."""
        network: PreTrainedModel = deepcopy(self.model.network).to(dtype)  # type: ignore[arg-type]
        return headlight.wrap(network, self.model.tokenizer)

    def batch(self) -> Any:
        """What `explain` takes: texts, or token ids."""
        is_text = isinstance(self.texts[0], str)
        return list(self.texts) if is_text else Batch.from_ids(list(self.texts))


def random_llama(dtype: torch.dtype) -> Subject:
    """Twelve layers of random weights, with 16 rows of 24 random tokens."""
    torch.manual_seed(0)
    network = AutoModelForCausalLM.from_config(LlamaConfig(**LLAMA), dtype=dtype).eval()
    rows = torch.randint(3, LLAMA["vocab_size"], (16, 24)).tolist()
    return Subject(headlight.wrap(network), rows)


SUBJECTS: Mapping[str, Callable[[torch.dtype], Subject]] = {
    "sentiment": lambda dtype: Subject(headlight.load("sentiment", dtype=dtype), SENTENCES),
    "random Llama": random_llama,
    "llm": lambda dtype: Subject(headlight.load("llm", dtype=dtype), PROMPTS),
}


def explained(
    model: Model, subject: Subject, targets: Sequence[Target]
) -> dict[str, list[headlight.Attribution]]:
    """The attributions of every text by every method, without a wider copy of the network."""
    with patch.object(precision, "MOST_PARAMETERS", 0):
        return headlight.explain(model, subject.batch(), ONE_PASS, list(targets))


def error(found: np.ndarray, exact: np.ndarray) -> float:
    """The largest difference, as a share of the largest score."""
    return float(np.abs(found - exact).max() / np.abs(exact).max())


def compared(found: Sequence[Any], exact: Sequence[Any]) -> dict[str, float]:
    """Errors and rank correlations of one method: the middle one and the worst of the texts.

    Texts of which the method says nothing, that is whose exact scores are all equal, are left out.
    """
    both = [(a.scores.astype(np.float64), b.scores) for a, b in zip(found, exact, strict=True)]
    pairs = [(a, b) for a, b in both if np.ptp(b) > 0]
    if not pairs:
        return {"texts": 0}
    errors = [error(a, b) for a, b in pairs]
    ranks = [float(spearmanr(a, b).statistic) for a, b in pairs]
    return {
        "texts": len(pairs),
        "error, median": median(errors),
        "error, worst": max(errors),
        "rank correlation, median": median(ranks),
        "rank correlation, worst": min(ranks),
    }


def measured(subject: Subject) -> dict[str, Any]:
    """Both ways on one network: what is lost by method, and the seconds of all methods together."""
    exact = subject.wider(torch.float64)
    first = headlight.explain(exact, subject.batch(), "input_x_gradient")
    targets = [Target(label=predicted(one, subject.model)) for one in first]
    truth = explained(exact, subject, targets)
    models = {"16 bits": subject.model, "32-bit copy": subject.wider(torch.float32)}
    answer: dict[str, Any] = {}
    for way, model in models.items():
        start = time.perf_counter()
        found = explained(model, subject, targets)
        seconds = time.perf_counter() - start
        methods = {name: compared(found[name], truth[name]) for name in ONE_PASS}
        answer[way] = {"seconds of all methods": seconds, "methods": methods}
    return answer


def predicted(one: headlight.Attribution, model: Model) -> str | int:
    """What the network predicts in 64 bits: a label, or a token by its id if there is no tokenizer."""
    return int(one.target.label) if model.tokenizer is None else one.target.label


def page(results: Mapping[str, Any]) -> str:
    """The results as tables, one per network and type."""
    lines = [
        "# Scores of networks in 16 bits",
        "",
        "Against the same 16-bit weights computed in 64 bits. Error: the largest difference as a share of the",
        "largest score, of the middle text (and of the worst). Rank: Spearman's correlation of the scores of a",
        "text, in the same way. Written by `python -m benchmarks.precision.run`; "
        f"torch {results['torch']}, transformers {results['transformers']}, on a CPU.",
        "",
    ]
    for name, kind in product(SUBJECTS, TYPES):
        ways = results["results"][name][kind]
        lines += [f"## {name}, {kind}", ""]
        lines += ["| method | " + " | ".join(f"{w}: error | rank" for w in WAYS) + " |"]
        lines += ["|---|" + "---|" * 2 * len(WAYS)]
        for method in ONE_PASS:
            cells = [cell for way in WAYS for cell in written(ways[way]["methods"][method])]
            lines += [f"| `{method}` | " + " | ".join(cells) + " |"]
        spent = " and ".join(f"{ways[w]['seconds of all methods']:.1f} s" for w in WAYS)
        lines += [
            "",
            f"All methods together took {spent}, once, on a machine that others used.",
            "",
        ]
    return "\n".join(lines)


def written(one: Mapping[str, float]) -> tuple[str, str]:
    """An error and a rank correlation, each of the middle text and of the worst."""
    if not one["texts"]:
        return "all scores are equal", ""
    return (
        f"{one['error, median']:.1e} ({one['error, worst']:.1e})",
        f"{one['rank correlation, median']:.3f} ({one['rank correlation, worst']:.3f})",
    )


if __name__ == "__main__":
    results = {
        "torch": torch.__version__,
        "transformers": transformers.__version__,
        "results": {
            name: {kind: measured(make(dtype)) for kind, dtype in TYPES.items()}
            for name, make in SUBJECTS.items()
        },
    }
    text = json.dumps(results, indent=1) + "\n"
    (HOME / "results.json").write_text(text, encoding="utf-8")
    (HOME / "results.md").write_text(page(results), encoding="utf-8")
