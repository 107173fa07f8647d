"""Many clients at once, for a minute: whether answers are right, how long they take, how memory grows.

    python benchmarks/web/load.py [--clients 50] [--seconds 60]      writes benchmarks/web/results.*

A real server on this machine. Every question of a pool is first asked alone; then clients ask at random from
the pool, and each answer is held against the one asked alone. Slow clients send half a request and wait.
At the end the server is told to stop while the slow ones are still there.
"""

import argparse
import asyncio
import json
import os
import platform
import random
import re
import signal
import statistics
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from importlib.metadata import version
from pathlib import Path
from typing import Any

import httpx
import numpy as np
import psutil

HOME = Path(__file__).parent
POOL = 60
SHARES = {"explain attcat": 0.7, "explain attcat, gae": 0.1, "hide": 0.1, "curves": 0.1}
VOCABULARY = (
    "a the this that one film story plot journey ending actor director scene hour script joke music "
    "charming dull affecting thin brilliant boring honest clumsy moving empty funny slow wonderful bad "
    "is was seems feels remains becomes never often almost really hardly always and but though because "
    "with without of in about for"
)
RELATIVE, ABSOLUTE = 1e-3, 1e-5


# ------------------------------------------------------------------------------- questions


@dataclass(frozen=True)
class Asked:
    """A question, what kind it is, and the numbers that it was answered with when asked alone."""

    kind: str
    path: str
    body: dict[str, Any]
    expected: dict[str, Any] = field(default_factory=dict)


def pool(seed: int) -> list[Asked]:
    """Questions about texts of 5 to 60 words, in the given shares."""
    draw = random.Random(seed)
    kinds = [kind for kind, share in SHARES.items() for _ in range(round(share * POOL))]
    return [question(kind, draw) for kind in kinds]


def question(kind: str, draw: random.Random) -> Asked:
    text = " ".join(draw.choices(VOCABULARY.split(), k=draw.randint(5, 60)))
    common = {"model": "sentiment", "text": text}
    if kind == "hide":
        return Asked(kind, "/api/hide", {**common, "hidden": sorted(draw.sample(range(1, 6), 2))})
    if kind == "curves":
        return Asked(kind, "/api/curves", {**common, "methods": ["attcat"]})
    methods = kind.removeprefix("explain ").split(", ")
    return Asked(kind, "/api/explain", {**common, "methods": methods})


def numbers(kind: str, said: dict[str, Any]) -> dict[str, Any]:
    """What must be the same whoever else asks."""
    if kind == "hide":
        return said
    if kind == "curves":
        found = {curve["method"]: curve["probabilities"] for curve in said["curves"]}
        return {"label": said["label"], **found, "random": said["random"]["probabilities"]}
    scores = {each["method"]: each["data"]["scores"] for each in said["attributions"]}
    decided = said["prediction"]
    return {
        "tokens": said["tokens"],
        "predicted": decided["predicted"],
        "probabilities": decided["probabilities"],
        **scores,
    }


def is_same(found: dict[str, Any], expected: dict[str, Any]) -> bool:
    """Whether two answers say the same."""
    return found.keys() == expected.keys() and all(
        agree(value, expected[name]) for name, value in found.items()
    )


def agree(one: Any, other: Any) -> bool:
    if isinstance(one, str) or (isinstance(one, list) and any(isinstance(e, str) for e in one)):
        return bool(one == other)
    left, right = np.array(one, np.float64), np.array(other, np.float64)
    return left.shape == right.shape and bool(np.allclose(left, right, RELATIVE, ABSOLUTE))


# ----------------------------------------------------------------------------------- server


@contextmanager
def served() -> Iterator[tuple[subprocess.Popen[str], int]]:
    """A server process that is ready, and its port."""
    process = subprocess.Popen(
        [sys.executable, "-m", "headlight", "serve", "--model", "sentiment", "--port", "0"],
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "HF_HUB_OFFLINE": "1"},
    )
    assert process.stderr is not None
    try:
        for line in process.stderr:
            if found := re.search(r"headlight is at http://[^:]+:(\d+)", line):
                yield process, int(found[1])
                return
        raise SystemExit("the server did not start")
    finally:
        process.kill()
        process.wait()


# ---------------------------------------------------------------------------------- clients


@dataclass
class Record:
    """What happened."""

    statuses: Counter[str] = field(default_factory=Counter)
    latencies: dict[str, list[float]] = field(default_factory=dict)
    answered_at: list[float] = field(default_factory=list)
    wrong: list[dict[str, Any]] = field(default_factory=list)
    slow: Counter[str] = field(default_factory=Counter)
    memory: list[tuple[float, float]] = field(default_factory=list)
    end: str = ""

    def note(self, asked: Asked, response: httpx.Response, seconds: float) -> None:
        self.statuses[str(response.status_code)] += 1
        self.latencies.setdefault(asked.kind, []).append(seconds)
        self.answered_at.append(time.monotonic())
        if response.status_code == 200:
            found = numbers(asked.kind, response.json())
            self.wrong += [] if is_same(found, asked.expected) else [asked.body]


async def client(port: int, questions: list[Asked], end: float, seed: int, record: Record) -> None:
    """Asks at random, one after the other, until time is over."""
    draw = random.Random(seed)
    async with httpx.AsyncClient(base_url=f"http://127.0.0.1:{port}", timeout=120) as session:
        while time.monotonic() < end:
            asked = draw.choice(questions)
            begun = time.monotonic()
            try:
                response = await session.post(asked.path, json=asked.body)
            except httpx.HTTPError as error:
                record.statuses[type(error).__name__] += 1
                continue
            record.note(asked, response, time.monotonic() - begun)
            if response.status_code == 429:
                await asyncio.sleep(float(response.headers["retry-after"]))


HALVES = {
    "half of the headers": b"POST /api/explain HTTP/1.1\r\nHost: localhost\r\nContent-",
    "half of the body": b"POST /api/explain HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
    b'Content-Length: 1000\r\n\r\n{"model": "sentiment"',
}


async def slow_client(port: int, kind: str, record: Record) -> None:
    """Sends half a request again and again, and waits for what the server makes of it."""
    while True:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        try:
            writer.write(HALVES[kind])
            await writer.drain()
            said = await reader.readline()
            record.slow[f"{kind}: {said.decode().strip() or 'closed'}"] += 1
        except ConnectionError:
            record.slow[f"{kind}: reset"] += 1
        except asyncio.CancelledError:
            record.slow[f"{kind}: waiting at the end"] += 1
            raise
        finally:
            writer.close()


async def watch(process: int, every: float, record: Record) -> None:
    """Notes the memory of the server."""
    begun, watched = time.monotonic(), psutil.Process(process)
    while True:
        megabytes = watched.memory_info().rss / 2**20
        record.memory.append((round(time.monotonic() - begun, 1), round(megabytes, 1)))
        await asyncio.sleep(every)


async def ask_alone(port: int, questions: list[Asked]) -> list[Asked]:
    """The questions with their answers, asked one after the other."""
    found = []
    async with httpx.AsyncClient(base_url=f"http://127.0.0.1:{port}", timeout=120) as session:
        for each in questions:
            response = (await session.post(each.path, json=each.body)).raise_for_status()
            expected = numbers(each.kind, response.json())
            found.append(Asked(each.kind, each.path, each.body, expected))
    return found


async def load(given: argparse.Namespace, process: subprocess.Popen[str], port: int) -> Record:
    """Everything at once; the server is told to stop before the slow clients go."""
    record = Record()
    questions = await ask_alone(port, pool(given.seed))
    begun = time.monotonic()
    aside = [
        asyncio.create_task(slow_client(port, list(HALVES)[n % 2], record))
        for n in range(given.slow)
    ]
    aside.append(asyncio.create_task(watch(process.pid, min(10.0, given.seconds / 4), record)))
    clients = (
        client(port, questions, begun + given.seconds, given.seed + n, record)
        for n in range(given.clients)
    )
    await asyncio.gather(*clients)
    record.answered_at.insert(0, begun)
    aside.pop().cancel()
    process.send_signal(signal.SIGTERM)
    stopping = time.monotonic()
    code = await asyncio.to_thread(process.wait, 120)
    record.end = f"exit code {code} after {time.monotonic() - stopping:.1f} s"
    for each in aside:
        each.cancel()
    await asyncio.gather(*aside, return_exceptions=True)
    return record


# ----------------------------------------------------------------------------------- report


def spread(latencies: list[float]) -> dict[str, float]:
    """Median, 95th percentile and maximum in seconds."""
    return {
        "count": len(latencies),
        "median": round(statistics.median(latencies), 3),
        "p95": round(float(np.quantile(latencies, 0.95)), 3),
        "max": round(max(latencies), 3),
    }


def summary(given: argparse.Namespace, record: Record) -> dict[str, Any]:
    whole = [seconds for each in record.latencies.values() for seconds in each]
    taken = record.answered_at[-1] - record.answered_at[0]
    return {
        "command": f"python benchmarks/web/load.py --clients {given.clients} --seconds {given.seconds:g} "
        f"--slow {given.slow} --seed {given.seed}",
        "machine": f"{platform.processor() or platform.machine()}, {os.cpu_count()} cores, "
        f"Python {platform.python_version()}, torch {version('torch')}",
        "requests": len(whole),
        "requests_a_second": round(len(whole) / taken, 1),
        "statuses": dict(sorted(record.statuses.items())),
        "wrong_answers": len(record.wrong),
        "wrong": record.wrong[:5],
        "latency_seconds": {"all": spread(whole)}
        | {kind: spread(record.latencies[kind]) for kind in SHARES if kind in record.latencies},
        "longest_pause_seconds": round(max(np.diff(record.answered_at)), 3),
        "memory_megabytes": record.memory,
        "slow_clients": dict(sorted(record.slow.items())),
        "end": record.end,
    }


def page(found: dict[str, Any]) -> str:
    """The results for people."""
    rows = [
        f"| {kind} | {s['count']} | {s['median']} | {s['p95']} | {s['max']} |"
        for kind, s in found["latency_seconds"].items()
    ]
    statuses = ", ".join(f"{n} × {status}" for status, n in found["statuses"].items())
    memory = ", ".join(f"{size:.0f} ({at:.0f} s)" for at, size in found["memory_megabytes"])
    slow = "; ".join(f"{n} × {kind}" for kind, n in found["slow_clients"].items())
    return "\n".join(
        [
            "# The web server under load",
            "",
            f"    {found['command']}",
            "",
            f"{found['machine']}. Clients and server share it.",
            "",
            f"- {found['requests']} requests, {found['requests_a_second']} a second: {statuses}",
            f"- wrong answers: {found['wrong_answers']} (each is held against the same question asked alone, "
            f"to {RELATIVE:g})",
            f"- longest time without any answer: {found['longest_pause_seconds']} s",
            f"- memory of the server in megabytes: {memory}",
            f"- slow clients: {slow or 'none'}",
            f"- told to stop: {found['end']}",
            "",
            "| seconds | requests | median | 95 % | max |",
            "|---|---|---|---|---|",
            *rows,
            "",
        ]
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--clients", type=int, default=50)
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--slow", type=int, default=6, help="clients that send half a request")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--out", type=Path, default=HOME)
    given = parser.parse_args()
    with served() as (process, port):
        record = asyncio.run(load(given, process, port))
    found = summary(given, record)
    given.out.mkdir(parents=True, exist_ok=True)
    text = json.dumps(found, indent=1, ensure_ascii=False)
    (given.out / "results.json").write_text(text + "\n", encoding="utf-8")
    (given.out / "results.md").write_text(page(found), encoding="utf-8")
    print(page(found))


if __name__ == "__main__":
    main()
