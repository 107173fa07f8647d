"""A published table beside our run of it, on the paper's model and data if they are available."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from headlight.data.datasets import describe_source
from headlight.errors import HeadlightError, unknown_name
from headlight.evaluation.evaluate import evaluate
from headlight.evaluation.plan import full_name
from headlight.files import Skipped
from headlight.loading.catalogue import CATALOGUE
from headlight.loading.load import load
from headlight.models.model import Model
from headlight.registry.entries import parse_specification, written
from headlight.report.published import PUBLISHED, Experiment

DEPTH = 12
"""Layers of the papers' networks; a layer of another network is scaled to its depth."""
Loader = Callable[[str], Model]
"""Loads a model by its name."""


@dataclass(frozen=True)
class Replication:
    """A published table, the same cells computed here, and the model and data used.

    cells: the paper's number and ours for every row, column by column. is_paper_model, is_paper_data: whether
    model and data are those of the paper.
    """

    experiment: Experiment
    model: str
    data: str
    count: int
    is_paper_model: bool
    is_paper_data: bool
    cells: Mapping[str, tuple[tuple[float | None, float], ...]]

    @property
    def said(self) -> str:
        """The model and data of our numbers, in a sentence."""
        if self.is_paper_model and self.is_paper_data:
            return f"Ours: the paper's model and data, {self.count} examples."
        return (
            f"Ours use another model or other data, so they need not agree: '{self.model}' on '{self.data}', "
            f"{self.count} examples; the paper uses {self.experiment.model} on {self.experiment.data}."
        )


def replicate(
    name: str,
    *,
    data: Mapping[str, str] | None = None,
    limit: int | None = None,
    out: str | Path | None = None,
    offline: bool = False,
    progress: bool = False,
    loader: Loader | None = None,
) -> Iterator[Replication]:
    """Yield the tables of a paper, each beside a run of ours.

    data: local copies, by the name of the data set. offline: do not try the hub. If several experiments fall
    back to the same embedded model and sample, only the first is run. loader: loads a model by its name,
    such as onto another device.
    """
    if name not in PUBLISHED:
        raise unknown_name("paper", name, PUBLISHED)
    seen = set()
    for number, experiment in enumerate(PUBLISHED[name].experiments):
        model, is_own_model = reached_model(experiment, offline, loader or load)
        source, is_own_data = reached_data(experiment, data or {}, offline)
        if (model.name, source) in seen and not is_own_model:
            continue
        seen.add((model.name, source))
        place = None if out is None else Path(out) / f"{name}-{number}-{experiment.data}"
        cells, count = run(experiment, model, source, limit, place, progress)
        yield Replication(experiment, model.name, source, count, is_own_model, is_own_data, cells)


Cells = dict[str, tuple[tuple[float | None, float], ...]]


def run(
    experiment: Experiment,
    model: Model,
    source: str,
    limit: int | None,
    place: Path | None,
    progress: bool,
) -> tuple[Cells, int]:
    """The paper's numbers and ours by row, and the number of examples."""
    methods = {name: scaled(row.method, model) for name, row in experiment.rows.items()}
    results = evaluate(
        model,
        source,
        list(dict.fromkeys(methods.values())),
        list(experiment.columns.values()),
        explain=experiment.explain,
        variant=experiment.variant,
        limit=limit or experiment.limit,
        out=place,
        progress=progress,
    )
    cells = {}
    for name, row in experiment.rows.items():
        ours = [
            experiment.factor * results.summary(metric, full_name(methods[name])).mean
            for metric in experiment.columns.values()
        ]
        cells[name] = tuple(zip(row.printed, ours, strict=True))
    return cells, results.settings.count


def reached_model(experiment: Experiment, offline: bool, loader: Loader) -> tuple[Model, bool]:
    """The paper's model, or its embedded stand-in; and whether it is the paper's."""
    if not offline and experiment.model not in CATALOGUE:
        try:
            return loader(experiment.model), True
        except HeadlightError:
            pass
    return loader(experiment.stand_in), False


def reached_data(
    experiment: Experiment, data: Mapping[str, str], offline: bool
) -> tuple[str, bool]:
    """The paper's data from a local copy or the hub, or our sample; and whether it is the paper's."""
    if experiment.data in data:
        return f"{experiment.data}={data[experiment.data]}", True
    if not offline:
        try:
            next(describe_source(experiment.data).read(Skipped(experiment.data)))
        except (HeadlightError, StopIteration):
            pass
        else:
            return experiment.data, True
    return experiment.sample, False


def scaled(specification: str, model: Model) -> str:
    """A method whose layer, counted in a network of 12, is scaled to the depth of this one."""
    name, options = parse_specification(specification)
    if "layer" not in options:
        return specification
    depth = model.network.config.get_text_config().num_hidden_layers
    layer = max(1, round(int(options["layer"]) * depth / DEPTH))
    return written(name, {**options, "layer": layer})


def markdown(found: Replication) -> str:
    """A replication as a Markdown table."""
    columns = [
        f"{name} ({side})" for name in found.experiment.columns for side in ("paper", "ours")
    ]
    lines = [
        f"**{found.experiment.source}.** {found.said}",
        "",
        f"| method | {' | '.join(columns)} |",
        f"|---|{'---:|' * len(columns)}",
    ]
    for row, cells in found.cells.items():
        shown = [text for cell in cells for text in (figure(cell[0]), figure(cell[1]))]
        lines.append(f"| {row} | {' | '.join(shown)} |")
    return "\n".join(lines) + "\n"


def figure(value: float | None) -> str:
    """A number of a table."""
    return "–" if value is None or value != value else f"{value:.3f}"
