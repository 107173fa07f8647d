"""Whether methods find one planted sentence among thousands of tokens, on the embedded `llm`.

    python -m benchmarks.answers.needles            measure what was not measured yet, then write the page
    python -m benchmarks.answers.needles --page     write needles.json and needles.md of this folder only

Every needle is a made-up password in one of eight made-up passages. The right password is explained, in units
of sentences. What is measured goes to build/answers/needles.jsonl, one line per needle; a stopped run goes on.
"""

import argparse
import json
import resource
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
import transformers
from benchmarks.answers.run import code_in_use

import headlight
from headlight.answer import Answer
from headlight.data import Example, needles
from headlight.units import sentences

RECORDS = Path("build/answers/needles.jsonl")
HOME = Path(__file__).parent
COUNTS = {1024: 12, 2048: 8, 4096: 4, 8192: 1}
"""How many needles there are of each length; fewer of the long ones, because of their time."""
ROOM = 224
"""Tokens left for the question, its answer, what stands between passages, and sentences that end them."""
METHODS = ("attn_lrp", "libragrad", "gradient_l2", "input_x_gradient", "random")
MEASURES = ("passage", "sentence", "share")
EVEN = "sentence's share of tokens"


def record_of(model: headlight.Model, length: int, number: int, example: Example) -> dict[str, Any]:
    """What is measured on one needle: the password is explained where a sentence says it."""
    start, secret = time.perf_counter(), example.answers[0]
    assert isinstance(example.text, str)
    said = example.text.removeprefix("What is the").removesuffix("?")
    found = headlight.explain_answer(
        model,
        [{"role": "user", "content": example.text}],
        f"The{said} is {secret}.",
        list(METHODS),
        sources=list(example.sources),
        of=[secret],
    )
    taken = time.perf_counter() - start
    first = found[METHODS[0]]
    return {
        "code": code_in_use(),
        "length": length,
        "needle": number,
        "tokens": len(first.tokens),
        "passage": example.right_source,
        "log_probability": round(first.log_probability, 4),
        "methods": {name: numbers_of(answer, example) for name, answer in found.items()},
        "seconds": round(taken, 1),
        "peak bytes": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024,
    }


def numbers_of(answer: Answer, example: Example) -> dict[str, float]:
    """Whether the right passage and the planted sentence are first, and the share of that sentence.

    share: of the positive scores of all sentences of the passages; even: what equal scores of all their tokens
    would give.
    """
    spans = [
        (unit.start + start, unit.start + end)
        for unit in answer.known["sources"]
        for start, end in sentences(answer.text[unit.start : unit.end])
    ]
    split = answer.by(spans)
    scores = split.matrix[0]
    planted = next(n for n, unit in enumerate(split.units) if example.answers[0] in unit.name)
    sizes = np.bincount([number for number in split.groups if number is not None])
    positive = scores.clip(min=0)
    return {
        "passage": float(np.argmax(answer.by("sources").matrix[0]) == example.right_source),
        "sentence": float(np.argmax(scores) == planted),
        "share": float(f"{positive[planted] / positive.sum():.6g}"),
        "even": float(f"{sizes[planted] / sizes.sum():.6g}"),
    }


def measure() -> None:
    """Measure the needles that were not measured yet, short ones first."""
    torch.set_num_threads(1)
    model = headlight.load("llm")
    tokenizer: Any = model.tokenizer
    RECORDS.parent.mkdir(parents=True, exist_ok=True)
    done = {(record["length"], record["needle"]) for record in measured()}
    for length, count in COUNTS.items():
        examples = needles(count, length - ROOM, lambda text: len(tokenizer(text)["input_ids"]))
        for number, example in enumerate(examples):
            if (length, number) in done:
                continue
            line = json.dumps(record_of(model, length, number, example))
            with RECORDS.open("a", encoding="utf-8") as file:
                file.write(line + "\n")
            print(line, flush=True)


def measured() -> list[dict[str, Any]]:
    """What was measured so far."""
    if not RECORDS.exists():
        return []
    return [json.loads(line) for line in RECORDS.read_text(encoding="utf-8").splitlines()]


# ---------------------------------------------------------------------------------------- page


def results_of(records: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """By length: how many needles, how long they are, and every measure of every method."""
    found: dict[str, Any] = {}
    for length in sorted({record["length"] for record in records}):
        own = [record for record in records if record["length"] == length]
        found[str(length)] = {
            "needles": len(own),
            "tokens": float(np.mean([record["tokens"] for record in own])),
            "probability": [round(float(np.exp(r["log_probability"])), 4) for r in own],
            EVEN: mean_of(own, METHODS[0], "even"),
            "peak bytes": max(record["peak bytes"] for record in own),
            "methods": {
                method: {name: mean_of(own, method, name) for name in MEASURES}
                for method in METHODS
            },
        }
    versions = {"torch": torch.__version__, "transformers": transformers.__version__}
    code = sorted({record["code"] for record in records})
    return {"code": code, **versions, "results": found}


def mean_of(records: Sequence[Mapping[str, Any]], method: str, name: str) -> float:
    """The mean of a measure of a method."""
    return round(float(np.mean([record["methods"][method][name] for record in records])), 4)


def table(results: Mapping[str, Any]) -> list[str]:
    """A row per length and method."""
    lines = [
        "| tokens | n | method | right passage first | planted sentence first | its share of the scores |",
        "|---|---|---|---|---|---|",
    ]
    for found in results.values():
        count = found["needles"]
        for method, values in found["methods"].items():
            hits = [f"{round(values[name] * count)} of {count}" for name in MEASURES[:2]]
            share = f"{values['share']:.2f}"
            lines.append(
                f"| {found['tokens']:,.0f} | {count} | `{method}` | {' | '.join(hits)} | {share} |"
            )
    return lines


def costs(results: Mapping[str, Any]) -> list[str]:
    """What a needle of each length is like, and what it took."""
    return [
        f"- {found['tokens']:,.0f} tokens: the planted sentence has {found[EVEN]:.4f} of the passages' tokens; "
        f"the password has a probability of {min(found['probability']):.2g} to "
        f"{max(found['probability']):.2g}; {found['peak bytes'] / 2**30:.1f} GiB at most."
        for found in results.values()
    ]


def page(results: Mapping[str, Any]) -> str:
    """The results as a page."""
    by_length = results["results"]
    lines = [
        "# Does a method find one sentence among thousands of tokens",
        "",
        "On the embedded `llm`, which reads up to 8,192 tokens. Each prompt is a chat with eight made-up",
        "passages; one sentence in one of them says a password, and the question asks for it. Explained are",
        "the tokens of the right password in the answer “The password of … is …”. Share: of the positive",
        "scores of all sentences of the passages, that of the planted one, on average. Few long prompts were",
        "measured, so read the counts, not their ratios. Written by `make answers`; measured with the code of",
        f"commit {', '.join(results['code'])}, torch {results['torch']},",
        f"transformers {results['transformers']}.",
        "",
        *table(by_length),
        "",
        "What the prompts are like:",
        "",
        *costs(by_length),
        "",
        "The memory is that of the whole process with all five methods in one call. A method can only find",
        "what the model has used: where the password is improbable, the model itself hardly found it.",
    ]
    return "\n".join(lines) + "\n"


def main() -> None:
    """Measure unless only the page is asked for, then write both files."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--page", action="store_true")
    if not parser.parse_args().page:
        measure()
    results = results_of(measured())
    text = json.dumps(results, indent=1, ensure_ascii=False) + "\n"
    (HOME / "needles.json").write_text(text, encoding="utf-8")
    (HOME / "needles.md").write_text(page(results), encoding="utf-8")


if __name__ == "__main__":
    main()
