"""The processes of the libraries: started, asked, and their last words kept if they end."""

import json
import os
import re
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any

HOME = Path(__file__).parent
ROOT = HOME.parent.parent
PATH = re.compile(r"\s*\(?/[^\s)]*\)?")
"""Paths of this machine, which say nothing to a reader."""


@dataclass(frozen=True)
class Library:
    """A library and how it is used.

    name: as the tables show it.
    module: the file `by_….py` that calls it.
    apart: whether it needs the second environment.
    """

    name: str
    module: str
    apart: bool = False


@dataclass
class Worker:
    """A running library; its process is replaced when it ends."""

    library: Library
    python: Path
    networks: Path
    process: Any = None
    log: IO[str] | None = None
    facts: dict[str, Any] = field(default_factory=dict)
    error: str = ""

    def start(self) -> None:
        """Starts the process; what it knows is read by `greet`."""
        self.log = (self.networks / f"{self.library.name}.log").open("w+")
        command = [self.python, "-m", "benchmarks.peers.worker", self.library.module, self.networks]
        self.process = subprocess.Popen(
            [*map(str, command)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self.log,
            text=True,
            cwd=ROOT,
            env={**os.environ, "TRANSFORMERS_VERBOSITY": "error", "HF_HUB_OFFLINE": "1"},
        )

    def greet(self) -> None:
        """Waits until the library is loaded; if it cannot be, `error` says why."""
        self.facts = self.answer() or {}

    def answer(self) -> dict[str, Any] | None:
        """The next answer, or nothing if the process has ended; `error` then has its last words."""
        line = self.process.stdout.readline()
        if line:
            return json.loads(line)
        assert self.log is not None
        self.process.wait()
        self.log.seek(0)
        self.error = last_line(self.log.read())
        return None

    def ask(self, case: str, count: int, profile: bool = False) -> dict[str, Any] | None:
        """Seconds and scores of a case, or nothing if the library failed; it is then started anew."""
        asked = {"case": case, "count": count, "profile": profile}
        print(json.dumps(asked), file=self.process.stdin, flush=True)
        answer = self.answer()
        if answer is None:
            self.start()
            self.greet()
        return answer

    def stop(self) -> None:
        """Ends the process."""
        self.process.stdin.close()
        self.process.wait()


def last_line(text: str) -> str:
    """The last line of an error, without paths."""
    return PATH.sub(
        "", ([line for line in text.splitlines() if line.strip()] or ["no message"])[-1]
    )


def error_of(python: Path, code: str, variables: Mapping[str, str]) -> str:
    """The error that a line of Python ends with."""
    done = subprocess.run(
        [str(python), "-c", code],
        capture_output=True,
        text=True,
        cwd=ROOT,
        env={**os.environ, **variables},
        check=False,
    )
    return last_line(done.stderr) if done.returncode else "no error"
