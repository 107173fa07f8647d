"""Every family of the installed transformers, tried from a tiny config.

    python -m benchmarks.families.run [FAMILY …]   writes benchmarks/families/results.json and docs/families.md
    python -m benchmarks.families.run --page       writes the page anew from the results

Each family and head runs in a process of its own, with limits of time and memory. Families named on the
command line are tried anew; the others keep their results.
"""

import argparse
import json
import os
import platform
import resource
import signal
import sys
import tempfile
import time
import warnings
from pathlib import Path
from typing import Any

import torch
import transformers
from benchmarks.families.examine import examined, said
from benchmarks.families.page import page
from benchmarks.families.tiny import cases
from transformers.utils import logging

HOME = Path(__file__).parent
RESULTS = HOME / "results.json"
PAGE = HOME.parent.parent / "docs" / "families.md"
SECONDS, BYTES = 300, 8 << 30


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("families", nargs="*", help="only these (default: all)")
    parser.add_argument("--page", action="store_true", help="write only the page anew")
    parser.add_argument("--at-once", type=int, default=1, help="processes at once")
    asked = parser.parse_args()
    warnings.filterwarnings("ignore")
    logging.set_verbosity_error()
    torch.set_num_threads(1)
    known: list[dict[str, Any]] = (
        json.loads(RESULTS.read_text())["cases"] if RESULTS.exists() else []
    )
    if not asked.page:
        todo = [case for case in cases() if not asked.families or case[0] in asked.families]
        anew = all_examined(todo, asked.at_once)
        kept = [c for c in known if asked.families and (c["family"], c["head"]) not in todo]
        known = sorted(kept + anew, key=lambda case: (case["family"], case["head"]))
        written = {"versions": versions(), "cases": known}
        RESULTS.write_text(json.dumps(written, indent=1, ensure_ascii=False) + "\n")
    PAGE.write_text(page(json.loads(RESULTS.read_text())))


def versions() -> dict[str, str]:
    return {
        "python": platform.python_version(),
        "torch": torch.__version__.split("+")[0],
        "transformers": transformers.__version__,
    }


def all_examined(todo: list[tuple[str, str]], at_once: int) -> list[dict[str, Any]]:
    """What became of every case, each in a process of its own."""
    results: list[dict[str, Any]] = []
    running: dict[int, tuple[str, str, Path]] = {}
    with tempfile.TemporaryDirectory() as folder:
        for number, (family, head) in enumerate(todo):
            if len(running) == at_once:
                results.append(finished(running))
            path = Path(folder) / str(number)
            running[started(family, head, path)] = (family, head, path)
        while running:
            results.append(finished(running))
    return results


def started(family: str, head: str, path: Path) -> int:
    """The id of a process that examines a case and writes what it finds."""
    process = os.fork()
    if process:
        return process
    resource.setrlimit(resource.RLIMIT_AS, (BYTES, BYTES))
    signal.alarm(SECONDS)
    start = time.perf_counter()
    try:
        found = examined(family, head)
    except BaseException as error:  # noqa: BLE001  # of the script itself, or memory that ran out
        found = {"not built": said(error)}
    path.write_text(json.dumps(found))
    print(
        f"{family:26} {head:15} {time.perf_counter() - start:5.1f} s  {summary(found)}", flush=True
    )
    sys.stdout.flush()
    os._exit(0)


def finished(running: dict[int, tuple[str, str, Path]]) -> dict[str, Any]:
    """What the next process that ends has found."""
    process, status = os.wait()
    family, head, path = running.pop(process)
    case = {"family": family, "head": head}
    if path.exists():
        return {**case, **json.loads(path.read_text())}
    ended = (
        "ran longer than the limit" if status == signal.SIGALRM else f"ended with status {status}"
    )
    print(f"{family:26} {head:15} {ended}", flush=True)
    return {**case, "not built": f"its process {ended}"}


def summary(found: dict[str, Any]) -> str:
    """A line to watch a run by."""
    if "not built" in found:
        return f"NOT BUILT {found['not built'][:120]}"
    if "wrapping" in found:
        return f"{found['wrapping']['status']} at wrapping: {found['wrapping']['reason'][:150]}"
    verdicts = {**found["methods"], **found.get("checks", {})}
    unwell = [f"{name} {v['status']}" for name, v in verdicts.items() if v["status"] != "works"]
    return ", ".join(unwell) or "all work"


if __name__ == "__main__":
    main()
