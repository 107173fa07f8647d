"""`Results`: the results of a run, read from its folder: summaries, curves and comparisons."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

import numpy as np
from numpy.typing import NDArray

from headlight.display import html_of
from headlight.evaluation.columns import (
    BYTES_OF_A_MEASURE,
    Block,
    Column,
    Curves,
    Names,
    blocks_of,
    curves_of,
    names_of,
)
from headlight.evaluation.folder import Folder, open_folder
from headlight.evaluation.records import concatenated
from headlight.evaluation.settings import Settings
from headlight.metrics.case import Metrics, metric_of, protocol_of
from headlight.metrics.statistics import (
    Comparison,
    Summary,
    chunk_weights,
    compare,
    summarise,
    summarise_weighted,
)
from headlight.metrics.words import Corpus, TypeScores, class_words

if TYPE_CHECKING:
    import pandas
    import pyarrow

NOTHING = Corpus(())
MEASURING = ("measure", "time")
"""Kinds of jobs that give measures."""
SMALL = 16_000_000
"""A run with fewer bytes is read into memory at once; larger ones are read part by part."""
GATHERED = 1_000_000_000
"""How many bytes of measures of a large run are held in memory at a time."""


class Source(Protocol):
    """Where the finished parts of a run are read from."""

    def tables(
        self, kinds: Sequence[str], columns: Sequence[str] | None = None
    ) -> "Iterator[pyarrow.Table]":
        """The parts of some kinds one by one, with all or some columns."""
        ...


@dataclass(frozen=True, eq=False)
class InMemory:
    """A run that has been read."""

    measures: "pyarrow.Table"
    attributions: "pyarrow.Table"

    def tables(
        self, kinds: Sequence[str], columns: Sequence[str] | None = None
    ) -> "Iterator[pyarrow.Table]":
        """All parts of these kinds as one table, with all or some columns."""
        found = self.attributions if "explain" in kinds else self.measures
        yield found if columns is None else found.select(list(columns))


@dataclass(frozen=True, eq=False)
class Results:
    """All measures and attributions of a run.

    corpus: metrics of all examples at once, with their options. missing: how many jobs are not finished.
    unsealed: how many parts have no checksum, because format 1 had none.
    """

    settings: Settings
    source: Source
    corpus: Metrics
    missing: int = 0
    unsealed: int = 0

    @cached_property
    def measures(self) -> "pyarrow.Table":
        """All measures in one table; that of a large run may not fit into memory."""
        return concatenated("measure", self.source.tables(MEASURING))

    @cached_property
    def attributions(self) -> "pyarrow.Table":
        """All attributions in one table; that of a large run may not fit into memory."""
        return concatenated("explain", self.source.tables(("explain",)))

    def attributed(self, method: str) -> "Iterator[pyarrow.Table]":
        """The attributions of a method for the explained class, part by part."""
        compute = import_module("pyarrow.compute")
        for each in self.source.tables(("explain",)):
            is_own = compute.equal(each["role"], "own")
            yield each.filter(compute.and_(compute.equal(each["method"], method), is_own))

    @cached_property
    def names(self) -> Names:
        """The metrics of single examples, and the methods that each measured."""
        return names_of(partial(self.source.tables, MEASURING))

    @cached_property
    def blocks(self) -> dict[str, Block]:
        """The metrics that are in memory now."""
        return {}

    def column(self, metric: str, method: str) -> Column | None:
        """The values of a metric for a method, example by example; None if it was not measured."""
        if metric not in self.names:
            return None
        if metric not in self.blocks:
            self.blocks.clear()
            chosen = self.next_names(metric)
            tables = partial(self.source.tables, MEASURING)
            self.blocks.update(blocks_of(tables, chosen, self.settings.count))
        return self.blocks[metric].column(method)

    def next_names(self, metric: str) -> Names:
        """A metric and as many of the next as fit into memory: tables and figures use them in order."""
        ordered = list(self.names)
        chosen: Names = {}
        room = GATHERED / BYTES_OF_A_MEASURE / max(1, self.settings.count)
        for name in ordered[ordered.index(metric) :]:
            room -= len(self.names[name])
            if chosen and room < 0:
                break
            chosen[name] = self.names[name]
        return chosen

    @property
    def methods(self) -> list[str]:
        """The methods, in the order in which they were added."""
        return list(self.overview.methods)

    @cached_property
    def metrics(self) -> list[str]:
        """The metrics and their parts, in the order in which they were added."""
        return [*self.names, *self.corpus]

    @cached_property
    def overview(self) -> "Overview":
        """Methods, failures and accuracy, from one pass over the attributions."""
        return overview_of(self.source, self.settings.count)

    @property
    def failures(self) -> dict[int, str]:
        """Examples that could not be explained, and why."""
        return self.overview.failures

    @property
    def accuracy(self) -> float:
        """How often the model predicts the right class; NaN if there are no labels."""
        return self.overview.accuracy

    def values(self, metric: str, method: str) -> NDArray[np.float64]:
        """The value of every example; NaN where the example was passed over."""
        column = self.column(metric, method)
        return np.array([], np.float64) if column is None else column.value

    @cached_property
    def summaries(self) -> dict[tuple[str, str], Summary]:
        """The summaries made so far."""
        return {}

    def summary(self, metric: str, method: str) -> Summary:
        """Mean, standard error and interval of a metric for a method."""
        key = (metric, method)
        if key not in self.summaries:
            make = self.corpus_summary if metric in self.corpus else self.example_summary
            self.summaries[key] = make(metric, method)
        return self.summaries[key]

    def example_summary(self, metric: str, method: str) -> Summary:
        """The summary of a metric of single examples."""
        column = self.column(metric, method)
        if column is None:
            return summarise([])
        is_chunked = protocol_of(metric) in metric_of(metric).chunked
        weights = chunk_weights(column.value) if is_chunked else column.weight
        return summarise(column.value, weights, noted=column.noted)

    @cached_property
    def curves(self) -> dict[tuple[str, str], Curves]:
        """The sums of all curves."""
        return curves_of(partial(self.source.tables, MEASURING))

    def curve(self, metric: str, method: str) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """The levels of a metric and its mean curve; both empty if it has none."""
        if metric in self.corpus:
            examples, options = self.type_scores.get(method, NOTHING), self.corpus[metric]
            (whole,) = metric_of(metric).function(examples, **options).values()
            return np.array(whole.levels), np.array(whole.curve)
        curves = self.curves.get((metric, method))
        return (np.array([]), np.array([])) if curves is None else curves.mean

    def compare(self, metric: str, first: str, second: str) -> Comparison:
        """Compare two methods on the same examples: first minus second."""
        one, other = self.column(metric, first), self.column(metric, second)
        if one is None or other is None:
            return compare([], [])
        common = np.intersect1d(one.example, other.example, assume_unique=True)
        return compare(
            one.value[np.searchsorted(one.example, common)],
            other.value[np.searchsorted(other.example, common)],
        )

    def best(self, metric: str) -> str | None:
        """The best method by a metric; None if it has no direction. `random` is never the best."""
        better = metric_of(metric).better
        means = {m: self.summary(metric, m).mean for m in self.methods if m != "random"}
        known = {m: mean for m, mean in means.items() if not math.isnan(mean)}
        if not known or not better:
            return None
        return (max if better == "higher" else min)(known, key=lambda m: known[m])

    @cached_property
    def type_scores(self) -> dict[str, Corpus]:
        """The scores of every example by token type, by method."""
        names = ["method", "role", "tokens", "special", "scores", "predicted_label"]
        found: dict[str, list[TypeScores]] = {}
        rows = (
            row
            for each in self.source.tables(("explain",), names)
            for row in zip(*each.select(names).to_pydict().values(), strict=True)
        )
        for method, role, tokens, special, scores, label in rows:
            if role == "own":
                kept = [n for n, is_special in enumerate(special) if not is_special]
                found.setdefault(method, []).append(
                    TypeScores(
                        tuple(tokens[n] for n in kept), np.array([scores[n] for n in kept]), label
                    )
                )
        return {method: Corpus(tuple(scores)) for method, scores in found.items()}

    def words(self, method: str, count: int = 30) -> dict[str, list[tuple[str, float]]]:
        """The words with the highest scores for each class, weighted by the documents of `token_overlap`."""
        documents = self.corpus.get("token_overlap", {}).get("documents")
        return class_words(self.type_scores.get(method, NOTHING), count, documents)

    def corpus_summary(self, metric: str, method: str) -> Summary:
        """The summary of a metric of all examples at once; its interval comes from random weights."""
        examples = self.type_scores.get(method, NOTHING)
        measure = partial(metric_of(metric).function, examples, **self.corpus[metric])

        def value(weights: Sequence[float] | None = None) -> float:
            (found,) = measure(weights).values()
            return float(found.value)

        return summarise_weighted(value, len(examples.examples))

    def _repr_html_(self) -> str:
        return html_of(self)

    def to_dataframe(self) -> "pandas.DataFrame":
        """A pandas data frame with one row for every metric and method."""
        import pandas

        rows = [
            {"metric": metric, "method": method, **vars(self.summary(metric, method))}
            for metric in self.metrics
            for method in self.methods
        ]
        return pandas.DataFrame([row for row in rows if row["count"]])


@dataclass(frozen=True)
class Overview:
    """Facts about a run that are stored with its attributions."""

    methods: tuple[str, ...]
    failures: dict[int, str]
    accuracy: float


def overview_of(source: Source, count: int) -> Overview:
    """Methods, failures and accuracy, in one pass over the attributions."""
    compute = import_module("pyarrow.compute")
    methods: dict[str, None] = {}
    failures: dict[int, str] = {}
    is_known, is_right = np.zeros(count, bool), np.zeros(count, bool)
    for each in source.tables(
        ("explain",), ("example", "method", "role", "gold", "predicted", "error")
    ):
        methods |= dict.fromkeys(name for name in each["method"].unique().to_pylist() if name)
        failed = each.filter(each["error"].is_valid())
        failures |= zip(failed["example"].to_pylist(), failed["error"].to_pylist(), strict=True)
        is_own = compute.and_(compute.equal(each["role"], "own"), each["gold"].is_valid())
        own = each.filter(is_own)
        examples = own["example"].to_numpy()
        is_known[examples] = True
        is_right[examples] = own["gold"].to_numpy() == own["predicted"].to_numpy()
    accuracy = float(is_right[is_known].mean()) if is_known.any() else math.nan
    return Overview(tuple(methods), failures, accuracy)


def results_of(folder: Folder, *, is_kept: bool = True) -> Results:
    """The results so far. is_kept: the folder will not be deleted, so a large run can be read from it later."""
    rounds = folder.manifest.rounds
    asked = {name: options for each in rounds for name, options in each.metrics.items()}
    missing = len(folder.missing())
    source: Source = folder
    if not is_kept or folder.size < SMALL:
        source = InMemory(
            concatenated("measure", folder.tables(MEASURING)),
            concatenated("explain", folder.tables(("explain",))),
        )
    return Results(
        settings=folder.settings,
        source=source,
        corpus={n: o for n, o in asked.items() if "corpus" in metric_of(n).needs},
        missing=missing,
        unsealed=len(folder.unsealed),
    )


def open_run(path: str | Path) -> Results:
    """The results so far of the run in a folder."""
    folder = open_folder(path)
    folder.refuse_damage()
    return results_of(folder)
