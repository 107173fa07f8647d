"""Which method finds the source that an answer came from: on the embedded `llm`, and questions made from SQuAD.

    python -m benchmarks.answers.run --data FOLDER [--questions 240]
    python -m benchmarks.answers.run --data FOLDER --cost

FOLDER holds squad/v2_dev.json. Every question has five sources, of which one holds the answer, and the right
answer is explained. What is measured goes to build/answers/records.jsonl, one line per question, without its
texts; a stopped run goes on from there. With --cost, what each method takes on a few questions goes to
build/answers/costs.json. The results are written by `python -m benchmarks.answers.page`.
"""

import argparse
import json
import time
from itertools import product
from pathlib import Path
from typing import Any

import torch

import headlight
from headlight.answer import Answer
from headlight.data import Example, read_examples
from headlight.evaluation.sourced import written_from
from headlight.explaining.ablated import ablatable
from headlight.explaining.removal import Removal

RECORDS = Path("build/answers/records.jsonl")
COSTS = Path("build/answers/costs.json")
TIMED = 2
"""How many questions are explained once more, by one method at a time, to measure the cost."""
METHODS = (
    "attn_lrp", "libragrad", "gim", "cp_lrp", "input_x_gradient", "input_x_gradient_l2", "gradient_l2",
    "attcat", "gae", "grad_sam", "raw_attention", "rollout", "globenc", "alti", "random",
)  # fmt: skip
ABLATIONS = ("leave_one_out", "context_cite:samples=16", "context_cite", "source_shapley")
SUBSETS = list(product((True, False), repeat=5))
"""Every choice of sources that are kept, the whole prompt first."""


def removal_of(model: headlight.Model, example: Example) -> Removal:
    """What reads the answer of a question without some of its sources."""
    made = written_from(model, example, is_gold=True)
    return Removal(model, ablatable(made, [made.whole], "sources").divided)


def answer_of(example: Example) -> str:
    """The right answer as it follows the prompt."""
    return f" {example.answers[0]}"


def record_of(model: headlight.Model, number: int, example: Example) -> dict[str, Any]:
    """What is measured on one question: scores of sources, and the answer's log-probability of every choice."""
    start = time.perf_counter()
    found = headlight.explain_answer(
        model, example.text, answer_of(example), METHODS, sources=list(example.sources)
    )
    assert isinstance(found, dict)
    middle = time.perf_counter()
    removal = removal_of(model, example)
    logs = removal.log_probabilities(SUBSETS)[:, 0]
    return {
        "question": number,
        "right": example.right_source,
        "tokens": len(removal.text.ids),
        "answer_tokens": removal.text.part_lengths[0],
        "log_probabilities": [round(float(each), 6) for each in logs],
        "methods": {name: numbers_of(answer) for name, answer in found.items()},
        "seconds": [round(middle - start, 2), round(time.perf_counter() - middle, 2)],
    }


def numbers_of(answer: Answer | list[Answer]) -> dict[str, Any]:
    """The scores of the sources, the sum of all scores, and the number that they explain."""
    assert isinstance(answer, Answer)
    return {
        "sources": [float(f"{score:.6g}") for score in answer.matrix[0]],
        "total": float(f"{answer.scores.sum(dtype='float64'):.6g}"),
        "value": float(f"{answer.parts[0].value:.6g}"),
    }


def costs_of(model: headlight.Model, examples: list[Example]) -> dict[str, float]:
    """How many plain passes over prompt and answer each method takes, by its time."""
    methods = [*METHODS, *ABLATIONS]
    found = headlight.evaluate(model, examples, methods, ["runtime"], explain="gold", threads=1)
    return {method: round(found.summary("runtime.passes", method).mean, 2) for method in methods}


def main() -> None:
    """Measure the questions that were not measured yet."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--questions", type=int, default=240)
    parser.add_argument("--cost", action="store_true")
    asked = parser.parse_args()
    torch.set_num_threads(1)
    source = f"squad_sources={asked.data / 'squad' / 'v2_dev.json'}"
    examples, _ = read_examples(source, limit=asked.questions, seed=0)
    RECORDS.parent.mkdir(parents=True, exist_ok=True)
    model = headlight.load("llm")
    if asked.cost:
        COSTS.write_text(json.dumps(costs_of(model, examples[:TIMED])), encoding="utf-8")
        return
    known = RECORDS.read_text(encoding="utf-8").splitlines() if RECORDS.exists() else []
    done = {json.loads(line)["question"] for line in known}
    # In a drawn order, so that a run that is stopped early has seen questions of all articles.
    order = torch.randperm(len(examples), generator=torch.Generator().manual_seed(0)).tolist()
    for number in order:
        if number in done:
            continue
        line = json.dumps(record_of(model, number, examples[number]))
        with RECORDS.open("a", encoding="utf-8") as file:
            file.write(line + "\n")
        print(f"question {number}: {line[-30:]}", flush=True)


if __name__ == "__main__":
    main()
