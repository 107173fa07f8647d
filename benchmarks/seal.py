"""Checksums of measured results, so that a result that was edited by hand is noticed.

The make targets that measure run this last; `tests/test_benchmarks.py` compares.
"""

import hashlib
from pathlib import Path

HOME = Path(__file__).parent
SEAL = HOME / "results.sha256"
MEASURED = (".csv", ".json", ".md", ".png", ".svg")


def checksums() -> dict[str, str]:
    """The sha256 of every result by its path; pages that people write are not among them."""
    paths = sorted(path for path in HOME.rglob("*") if path.suffix in MEASURED)
    return {
        path.relative_to(HOME).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in paths
        if path.parent.name != "rivals"
    }


def sealed() -> dict[str, str]:
    """The checksums that were written when the results were measured."""
    lines = SEAL.read_text(encoding="utf-8").splitlines()
    return {name: digest for digest, name in (line.split("  ", 1) for line in lines)}


if __name__ == "__main__":
    text = "".join(f"{digest}  {name}\n" for name, digest in checksums().items())
    SEAL.write_text(text, encoding="utf-8")
