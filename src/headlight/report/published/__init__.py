"""What four papers print, table by table (in the JSON beside), and how rows and columns are computed here."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

PAPERS = ("mask_lrp", "attcat", "alti", "decoded")


@dataclass(frozen=True)
class PublishedRow:
    """A method in a published table: ours that stands for it, and what the paper prints, column by column.

    A decoded layer counts in a network of 12.
    """

    method: str
    printed: tuple[float | None, ...]


@dataclass(frozen=True)
class Experiment:
    """One model and data set of a published table.

    columns: the paper's columns and the metrics that stand for them. rows: by the paper's names of methods.
    stand_in, sample: what takes the place of the model and the data where the paper's own cannot be reached.
    """

    source: str
    model: str
    data: str
    stand_in: str
    columns: dict[str, str]
    rows: dict[str, PublishedRow]
    explain: Literal["predicted", "gold"] = "gold"
    variant: Literal["paper", "released"] = "paper"
    factor: float = 1.0
    limit: int | None = None

    @property
    def sample(self) -> str:
        """Our own small set for the stand-in."""
        return f"samples/{self.stand_in}"


@dataclass(frozen=True)
class Publication:
    """A paper and those of its tables that can be computed."""

    title: str
    notes: str
    experiments: tuple[Experiment, ...]


def read_publication(name: str) -> Publication:
    """The tables of a paper, from the file of its name."""
    kept = json.loads((Path(__file__).parent / f"{name}.json").read_text(encoding="utf-8"))
    return Publication(kept["title"], kept["notes"], tuple(map(experiment, kept["experiments"])))


def experiment(kept: dict[str, Any]) -> Experiment:
    """An experiment as JSON keeps it."""
    rows = {
        name: PublishedRow(row["method"], tuple(row["printed"]))
        for name, row in kept["rows"].items()
    }
    return Experiment(**{**kept, "rows": rows})


PUBLISHED = {name: read_publication(name) for name in PAPERS}
"""By the name that `headlight replicate` takes."""
