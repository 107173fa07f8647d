"""Runs in processes of their own that are killed at random moments, until one of them finishes."""

import random
import subprocess
import sys
import time
from pathlib import Path


def command(model: str, data: Path, out: Path, *more: str) -> list[str]:
    """A run of the command line."""
    return [
        sys.executable, "-m", "headlight", "evaluate", "--model", model, "--data", f"{data}:text,label",
        "--methods", "random,attcat,rollout,gae,transformer_attribution:first_layer=2", "--metrics",
        "aopc,log_odds,hiding,sufficiency", "--shard", "1", "--threads", "1", "--out", str(out), *more,
    ]  # fmt: skip


def contents(out: Path) -> dict[str, bytes]:
    """Every result of a run, byte for byte."""
    files = [out / "manifest.json", out / "examples.parquet", *sorted((out / "parts").iterdir())]
    return {path.name: path.read_bytes() for path in files}


def run_and_kill(given: list[str], out: Path, kills: int, seed: int) -> list[int]:
    """Kill the run this often, then let it finish; the parts that each killed process had reached."""
    generator = random.Random(seed)
    reached = []
    for _ in range(kills):
        process = subprocess.Popen(given, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        goal = count(out) + generator.randint(0, 3)
        while process.poll() is None and count(out) < goal:
            time.sleep(0.005)
        time.sleep(generator.random() * 0.2)
        process.kill()
        process.wait()
        reached.append(count(out))
    subprocess.run(given, check=True, capture_output=True)
    return reached


def count(out: Path) -> int:
    """Finished parts."""
    return len(list(out.glob("parts/*.parquet")))
