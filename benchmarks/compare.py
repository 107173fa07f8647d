"""Which cases of the speed benchmark became slower than in earlier results.

    python benchmarks/compare.py                          the committed results and what `make bench` wrote
    python benchmarks/compare.py --old FILE --new FILE    two files

A case is slower if the median of its ratio to a plain pass grew by more than 15 %. Ends with 1 if any did.
"""

import argparse
import json
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

HOME = Path(__file__).parent
FRESH = HOME / "speed" / "results.json"
MOST = 0.15
Results = dict[str, dict[str, dict[str, float]]]
"""Network, case, and its numbers."""


@dataclass(frozen=True)
class Slower:
    """A case that became slower: its ratios to a plain pass."""

    network: str
    case: str
    before: float
    after: float

    def __str__(self) -> str:
        growth = self.after / self.before - 1
        return f"{self.network}, {self.case}: {self.before:g} → {self.after:g} (+{growth:.0%})"


def ratios(results: Results) -> dict[tuple[str, str], float]:
    """The median ratio of every case; seconds, which have no middle half, are left out."""
    return {
        (network, case): numbers["median"]
        for network, cases in results.items()
        for case, numbers in cases.items()
        if "quarter" in numbers
    }


def slower(old: Results, new: Results) -> Iterator[Slower]:
    """The cases of both whose ratio grew by more than may be, the worst first."""
    before, after = ratios(old), ratios(new)
    found = [Slower(*key, before[key], after[key]) for key in before if key in after]
    worst = sorted(found, key=lambda one: -one.after / one.before)
    return (one for one in worst if one.after > one.before * (1 + MOST))


def unmatched(old: Results, new: Results) -> list[str]:
    """Cases that only one of the two has."""
    return [", ".join(key) for key in ratios(old).keys() ^ ratios(new).keys()]


def committed() -> str:
    """The results of the last commit."""
    command = ["git", "show", "HEAD:./speed/results.json"]
    return subprocess.run(command, cwd=HOME, check=True, capture_output=True, text=True).stdout


def compared(old: Any, new: Any) -> tuple[str, int]:
    """What to print, and the exit code."""
    if old == new:
        return "Both are the same measurement. Run `make bench` first.", 2
    lines = [str(one) for one in slower(old["results"], new["results"])]
    alone = sorted(unmatched(old["results"], new["results"]))
    notes = [f"not compared, because only one has it: {name}" for name in alone]
    head = f"{len(lines)} cases became slower by more than {MOST:.0%}."
    return "\n".join([head, *lines, *notes]), int(bool(lines))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--old", type=Path, help="Default: the committed results.")
    parser.add_argument("--new", type=Path, default=FRESH, help="Default: the fresh ones.")
    asked = parser.parse_args()
    old = asked.old.read_text(encoding="utf-8") if asked.old else committed()
    text, code = compared(json.loads(old), json.loads(asked.new.read_text(encoding="utf-8")))
    print(text)
    sys.exit(code)


if __name__ == "__main__":
    main()
