"""The same attributions by headlight and by other libraries: times in turn, and how far the scores agree.

    make peers                                         makes the two environments and runs this
    python -m benchmarks.peers.run --apart PYTHON      PYTHON: the interpreter of LXT's environment

Every library runs in a process of its own with one thread, on the same files of weights, and is used as its
documentation shows. In every round each library that knows a case runs it once, in a new order, as many at a
time as there are cores. Seconds are those of the process on its processor; a ratio is taken to headlight's of
the same round. Writes results.json and results.md.
"""

import argparse
import json
import os
import platform
import random
import statistics
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
from benchmarks.peers import settings, subject
from benchmarks.peers.processes import HOME, Library, Worker, error_of
from benchmarks.peers.report import page
from benchmarks.peers.texts import texts
from scipy.stats import spearmanr

LIBRARIES = (
    Library("headlight", "headlight"),
    Library("captum", "captum"),
    Library("SHAP", "shap"),
    Library("inseq", "inseq"),
    Library("interpreto", "interpreto"),
    Library("transformers-interpret", "transformers_interpret"),
    Library("LXT", "lxt", apart=True),
)
PASSES = Library("passes", "passes")
CASES = (
    "bert saliency",
    "bert input_x_gradient",
    "bert integrated_gradients",
    "bert deeplift",
    "bert occlusion",
    "bert shapley",
    "llama input_x_gradient",
    "llama integrated_gradients",
    "llama attention",
    "llama attn_lrp",
    "gpt2 attn_lrp",
)
AGREES = {
    ("bert input_x_gradient", "interpreto"): "bert input_x_gradient_mean",
    ("bert integrated_gradients", "interpreto"): "bert integrated_gradients_mean",
    (
        "bert integrated_gradients",
        "transformers-interpret",
    ): "bert integrated_gradients of the probability",
}
"""Scores that a library's are compared with if it computes another form of the method at the same cost."""
FEW = 8
"""Texts of such a comparison, and of a profile."""
TEXTS = 64
QUICK, SLOW = 5, 3
"""Rounds of a case, and of one whose first round takes longer than this many seconds:"""
LONG = 10.0
Scores = list[list[float]]


def agreement(own: Scores, other: Scores) -> dict[str, float]:
    """How alike scores are: the rank correlation within a text, and the length of the difference."""
    ranks = [float(spearmanr(a, b).statistic) for a, b in zip(own, other, strict=True)]
    ours, theirs = np.concatenate(own), np.concatenate(other)
    apart = np.linalg.norm(theirs - ours) / np.linalg.norm(ours)
    return {
        "rank correlation": round(statistics.median(ranks), 5),
        "least rank correlation": round(min(ranks), 5),
        "relative difference": float(f"{apart:.2g}"),
    }


def middle(values: list[float]) -> dict[str, float]:
    low, median, high = statistics.quantiles(values, n=4, method="inclusive")
    return {
        "median": round(median, 2),
        "quarter": round(low, 2),
        "three quarters": round(high, 2),
    }


def rounds_of(case: str, count: int, workers: list[Worker]) -> dict[str, list[dict[str, Any]]]:
    """The answers of every library that can do the case, in rounds; who fails once is left out."""
    able = [worker for worker in workers if worker.ask(case, 1)]
    answers: dict[str, list[dict[str, Any]]] = {worker.library.name: [] for worker in able}
    rounds, number = QUICK, 0
    while number < rounds:
        order = random.Random(number).sample(able, len(able))
        with ThreadPoolExecutor(os.cpu_count()) as cores:
            found = list(cores.map(lambda worker: worker.ask(case, count), order))
        for worker, answer in zip(order, found, strict=True):
            if answer is None:
                able.remove(worker)
                del answers[worker.library.name]
            else:
                answers[worker.library.name].append(answer)
        if number == 0 and sum(answer["seconds"] for answer in found if answer) > LONG:
            rounds = SLOW
        number += 1
    return answers


def measure(case: str, count: int, workers: list[Worker]) -> dict[str, dict[str, Any]]:
    """Times and agreement of every library on a case."""
    asked = [worker for worker in workers if case in worker.facts.get("cases", ())]
    answers = rounds_of(case, count, asked)
    own = answers["headlight"]
    found: dict[str, dict[str, Any]] = {}
    for worker in asked:
        name = worker.library.name
        if name not in answers:
            found[name] = {"error": worker.error}
            continue
        theirs = answers[name]
        ratios = [b["seconds"] / a["seconds"] for a, b in zip(own, theirs, strict=True)]
        found[name] = {
            clock: round(statistics.median(a[clock] for a in theirs), 4)
            for clock in ("seconds", "wall seconds")
        }
        found[name] |= {"to headlight": middle(ratios), "rounds": len(ratios)}
        if name != "headlight":
            scores = own[0]["scores"]
            if (case, name) in AGREES:
                scores = (workers[0].ask(AGREES[case, name], min(count, FEW)) or {})["scores"]
            found[name] |= agreement(scores, theirs[0]["scores"][: len(scores)])
    return found


def measure_all(workers: list[Worker], most: int) -> dict[str, dict[str, Any]]:
    """Every case at every number of texts, and where headlight's time goes."""
    results: dict[str, dict[str, Any]] = {}
    for case in CASES:
        results[case] = {f"{count}": measure(case, count, workers) for count in (1, most)}
        results[case]["operators"] = workers[0].ask(case, FEW, profile=True)
        print(case, json.dumps(results[case][f"{most}"]), flush=True)
    return results


def measure_passes(worker: Worker, most: int) -> dict[str, float]:
    """Seconds of the plain passes over many texts; the least of the rounds, as nothing can be faster."""
    return {
        name: min((worker.ask(name, most) or {})["seconds"] for _ in range(QUICK))
        for name in worker.facts["cases"]
    }


def started(apart: Path, networks: Path) -> list[Worker]:
    """All libraries, loaded."""
    workers = [
        Worker(library, apart if library.apart else Path(sys.executable), networks)
        for library in (*LIBRARIES, PASSES)
    ]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.greet()
    return workers


def why_apart(apart: Path) -> str:
    """What LXT says to the transformers of headlight's environment."""
    packages = next((apart.parent.parent / "lib").glob("python*/site-packages"))
    code = (
        "import os, sys; sys.path.append(os.environ['PACKAGES'])\n"
        "from benchmarks.peers import by_lxt; by_lxt.repair_torchvision(); import lxt.efficient"
    )
    return error_of(Path(sys.executable), code, {"PACKAGES": str(packages)})


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--apart", type=Path, required=True, help="The Python that has LXT.")
    parser.add_argument("--texts", type=int, default=TEXTS, help="How many are many texts.")
    asked = parser.parse_args()
    apart, most = asked.apart.absolute(), asked.texts
    start = time.perf_counter()
    with tempfile.TemporaryDirectory() as folder:
        networks = Path(folder)
        subject.write(networks)
        workers = started(apart, networks)
        *libraries, passes = workers
        seconds = measure_passes(passes, most)
        cases = measure_all(libraries, most)
        for worker in workers:
            worker.stop()
    answers = {
        "command": "make peers" if most == TEXTS else f"make peers TEXTS={most}",
        "settings": {
            "texts": [1, most],
            "steps of integrated gradients": settings.STEPS,
            "permutations of Shapley values": {
                f"{count}": settings.permutations(count) for count in (1, most)
            },
            "words of a text": round(statistics.mean(len(t.split()) for t in texts(most))),
            "rows at once": settings.ROWS_AT_ONCE,
            "clock": "of the process on its processor, one thread",
            "cores": os.cpu_count(),
            "processor": platform.machine(),
            "python": platform.python_version(),
            "minutes": round((time.perf_counter() - start) / 60, 1),
        },
        "libraries": {
            w.library.name: {k: v for k, v in w.facts.items() if k != "cases"} or w.error
            for w in libraries
        },
        "seconds of plain passes": seconds,
        "lxt with the other transformers": why_apart(apart),
        "cases": cases,
    }
    (HOME / "results.json").write_text(json.dumps(answers, indent=1) + "\n", encoding="utf-8")
    (HOME / "results.md").write_text(page(answers), encoding="utf-8")
    print(page(answers))


if __name__ == "__main__":
    main()
