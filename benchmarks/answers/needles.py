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
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
import torch
import transformers
from benchmarks.answers.run import answer_of, code_in_use

import headlight
from headlight.answer import Answer
from headlight.data import Example, needles
from headlight.metrics.statistics import summarise
from headlight.units import sentences

RECORDS = Path("build/answers/needles.jsonl")
HOME = Path(__file__).parent
COUNTS = {1024: 12, 2048: 8, 4096: 4, 8192: 1}
"""How many needles there are of each length; fewer of the long ones, because of their time."""
ROOM = 224
"""Tokens left for the question, its answer, what stands between passages, and sentences that end them."""
METHODS = ("attn_lrp", "libragrad", "gradient_l2", "input_x_gradient", "random")


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
