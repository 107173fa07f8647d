"""One library in a process of its own: explains when asked, and says how long it took.

    python -m benchmarks.peers.worker LIBRARY FOLDER     reads lines of JSON and answers each with one

It has one thread, so that its time on the processor hardly depends on what else the machine does. Libraries
change networks, patch classes for the whole process or need other versions of transformers, so none shares a
process with another.
"""

import importlib
import json
import os
import sys
import time
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path

import torch
from benchmarks.peers.texts import texts

Call = Callable[[list[str]], list[list[float]]]


def timed(call: Call, given: list[str]) -> dict[str, object]:
    wall, processor = time.perf_counter(), time.process_time()
    scores = call(given)
    return {
        "seconds": time.process_time() - processor,
        "wall seconds": time.perf_counter() - wall,
        "scores": scores,
    }


def operators(call: Call, given: list[str]) -> dict[str, float]:
    """The five torch operators that take most time of a call, and their shares of all operators' time."""
    with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU]) as profile:
        call(given)
    events = [event for event in profile.key_averages() if event.key.startswith("aten::")]
    total = sum(event.self_cpu_time_total for event in events)
    events.sort(key=lambda event: -event.self_cpu_time_total)
    return {event.key[6:]: event.self_cpu_time_total / total for event in events[:5]}


def main() -> None:
    library, folder = sys.argv[1:]
    torch.set_num_threads(1)
    # What libraries print must not come between the answers.
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    module = importlib.import_module(f"benchmarks.peers.by_{library}")
    calls = module.calls(Path(folder))
    facts = {
        "cases": list(calls),
        "version": module.VERSION,
        "transformers": version("transformers"),
        "torch": torch.__version__,
    }
    print(json.dumps(facts), file=answers, flush=True)
    for line in sys.stdin:
        asked = json.loads(line)
        call, given = calls[asked["case"]], texts(asked["count"])
        answer = (operators if asked["profile"] else timed)(call, given)
        print(json.dumps(answer), file=answers, flush=True)


if __name__ == "__main__":
    main()
