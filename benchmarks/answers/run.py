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
import subprocess
import time
from collections.abc import Callable, Sequence
from functools import cache, partial
from itertools import product
from pathlib import Path
from statistics import median
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
TIMED, REPEATED = 2, 2
"""On how many questions the cost of each method is measured, and how often on each."""
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


@cache
def code_in_use() -> str:
    """The commit of the code that measures."""
    found = subprocess.run(
        ["git", "rev-parse", "--short=7", "HEAD"], capture_output=True, text=True, check=True
    )
    return found.stdout.strip()


def answer_of(example: Example) -> str:
    """The right answer as it follows the prompt."""
    return f" {example.answers[0]}"


def record_of(model: headlight.Model, number: int, example: Example) -> dict[str, Any]:
    """What is measured on one question: scores of sources, and the answer's log-probability of every choice."""
    start = time.perf_counter()
    found = explained(model, example, METHODS)
    assert isinstance(found, dict)
    middle = time.perf_counter()
    removal = removal_of(model, example)
    logs = removal.log_probabilities(SUBSETS)[:, 0]
    return {
        "code": code_in_use(),
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
    """How many plain passes over prompt and answer each method takes, by processor time of one thread.

    Of several times the smallest counts, because others use the machine too.
    """
    found: dict[str, list[float]] = {}
    for example in examples:
        ids = torch.tensor([removal_of(model, example).text.ids])
        with torch.no_grad():
            plain = min(processor_seconds(partial(model.network, ids)) for _ in range(REPEATED))
        for method in (*METHODS, *ABLATIONS):
            explain = partial(explained, model, example, method)
            taken = min(processor_seconds(explain) for _ in range(REPEATED))
            found.setdefault(method, []).append(taken / plain)
    return {method: round(median(ratios), 2) for method, ratios in found.items()}


def explained(model: headlight.Model, example: Example, method: str | Sequence[str]) -> Any:
    """The right answer of a question, explained by its sources."""
    sources = list(example.sources)
    return headlight.explain_answer(
        model, example.text, answer_of(example), method, sources=sources
    )


def processor_seconds(do: Callable[[], object]) -> float:
    """The processor time that something takes."""
    start = time.process_time()
    do()
    return time.process_time() - start


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
