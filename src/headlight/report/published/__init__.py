"""The tables of four papers (in the JSON files beside this one), and how rows and columns are computed."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

PAPERS = ("mask_lrp", "attcat", "alti", "decoded")


@dataclass(frozen=True)
class PublishedRow:
    """A row of a published table: our method for it, and the printed numbers, column by column.

    The layer of a decoded method is counted in a network of 12 layers.
    """

    method: str
    printed: tuple[float | None, ...]


@dataclass(frozen=True)
class Experiment:
    """One model and data set of a published table.

    columns: our metric for each column of the paper. rows: by the paper's name of the method. stand_in, sample:
    the embedded model and the sample to use if the paper's model or data are not available.
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
        """The small data set that comes with the stand-in."""
        return f"samples/{self.stand_in}"


@dataclass(frozen=True)
class Publication:
    """A paper, and the tables of it that can be computed."""

    title: str
    notes: str
    experiments: tuple[Experiment, ...]


def read_publication(name: str) -> Publication:
    """The tables of a paper, from the file of its name."""
    kept = json.loads((Path(__file__).parent / f"{name}.json").read_text(encoding="utf-8"))
    return Publication(kept["title"], kept["notes"], tuple(map(experiment, kept["experiments"])))


def experiment(kept: dict[str, Any]) -> Experiment:
    """An experiment from its JSON."""
    rows = {
        name: PublishedRow(row["method"], tuple(row["printed"]))
        for name, row in kept["rows"].items()
    }
    return Experiment(**{**kept, "rows": rows})


PUBLISHED = {name: read_publication(name) for name in PAPERS}
"""Publications by the name that `headlight replicate` takes."""
