"""`Results`: what a run found, read from its folder into memory; summaries, curves and comparisons."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from headlight.evaluation.folder import Folder, open_folder
from headlight.evaluation.settings import Settings
from headlight.metrics.case import metric_of
from headlight.metrics.statistics import (
    RESAMPLES,
    Comparison,
    Summary,
    chunk_weights,
    compare,
    summarise,
)
from headlight.metrics.words import Corpus, TypeScores, class_words

if TYPE_CHECKING:
    import pandas
    import pyarrow

CHUNKED = {"aopc@mask_lrp", "log_odds@mask_lrp"}
"""Metrics whose paper averages the means of chunks."""
CORPUS_RESAMPLES = RESAMPLES // 20
NOTHING = Corpus(())


@dataclass(frozen=True, eq=False)
class Results:
    """All measures and attributions of a run.

    corpus: metrics of all examples at once, with their options. missing: jobs that are not finished. unsealed:
    parts without a checksum, as the first version wrote them.
    """

    settings: Settings
    measures: "pyarrow.Table"
    attributions: "pyarrow.Table"
    corpus: Mapping[str, Mapping[str, Any]]
    missing: int = 0
    unsealed: int = 0

    @cached_property
    def columns(self) -> dict[tuple[str, str], dict[str, NDArray[Any]]]:
        """For every metric and method: value, weight and note of each example."""
        found: dict[tuple[str, str], dict[str, list[Any]]] = {}
        names = ("example", "value", "weight", "note", "curve", "levels")
        plain = self.measures.to_pydict()
        for row, key in enumerate(zip(plain["metric"], plain["method"], strict=True)):
            own = found.setdefault(key, {name: [] for name in names})
            for name in names:
                own[name].append(plain[name][row])
        return {key: arranged(own) for key, own in found.items()}

    @property
    def methods(self) -> list[str]:
        """The methods, in the order in which they were asked for."""
        seen = dict.fromkeys(self.attributions.column("method").to_pylist())
        return [name for name in seen if name]

    @cached_property
    def metrics(self) -> list[str]:
        """The metrics and their parts, in the order in which they were asked for."""
        return [*dict.fromkeys(metric for metric, _ in self.columns), *self.corpus]

    @cached_property
    def failures(self) -> dict[int, str]:
        """Examples that could not be explained, and why."""
        rows = self.attributions.to_pydict()
        return {
            example: error
            for example, error in zip(rows["example"], rows["error"], strict=True)
            if error is not None
        }

    @cached_property
    def accuracy(self) -> float:
        """How often the model predicts the right class; NaN where there are no labels."""
        rows = self.attributions.select(["example", "role", "gold", "predicted"]).to_pydict()
        right = {
            example: gold == predicted
            for example, role, gold, predicted in zip(*rows.values(), strict=True)
            if role == "own" and gold is not None
        }
        return sum(right.values()) / len(right) if right else math.nan

    def values(self, metric: str, method: str) -> NDArray[np.float64]:
        """The value of every example, NaN where it was passed over."""
        own = self.columns.get((metric, method))
        return np.array([], np.float64) if own is None else own["value"]

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
        """A metric of single examples."""
        own = self.columns.get((metric, method))
        if own is None:
            return summarise([])
        noted = sum(
            n is not None and not math.isnan(v)
            for n, v in zip(own["note"], own["value"], strict=True)
        )
        weights = chunk_weights(own["value"]) if metric in CHUNKED else own["weight"]
        return summarise(own["value"], weights, noted=noted)

    def curve(self, metric: str, method: str) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """The levels of a metric and the mean of its curve there, where it has one."""
        if metric in self.corpus:
            examples, options = self.type_scores.get(method, NOTHING), self.corpus[metric]
            (whole,) = metric_of(metric).function(examples, **options).values()
            return np.array(whole.levels), np.array(whole.curve)
        own = self.columns.get((metric, method))
        known = [] if own is None else [
            (tuple(levels), curve)
            for levels, curve, value in zip(own["levels"], own["curve"], own["value"], strict=True)
            if curve and not math.isnan(value)
        ]  # fmt: skip
        if not known:
            return np.array([]), np.array([])
        usual = max(
            {levels for levels, _ in known}, key=lambda each: sum(k == each for k, _ in known)
        )
        curves = [curve for levels, curve in known if levels == usual]
        width = len(curves[0])
        places = np.array(usual if len(usual) == width else range(width), np.float64)
        return places, np.mean([curve for curve in curves if len(curve) == width], axis=0)

    def compare(self, metric: str, first: str, second: str) -> Comparison:
        """Two methods on the same examples."""
        both = [self.columns.get((metric, name)) for name in (first, second)]
        if both[0] is None or both[1] is None:
            return compare([], [])
        common = sorted(set(both[0]["example"].tolist()) & set(both[1]["example"].tolist()))
        paired = []
        for own in both:
            assert own is not None
            by_example = dict(zip(own["example"].tolist(), own["value"].tolist(), strict=True))
            paired.append([by_example[n] for n in common])
        return compare(*paired)

    def best(self, metric: str) -> str | None:
        """The method that a metric speaks for; of `random` it never does."""
        better = metric_of(metric).better
        means = {m: self.summary(metric, m).mean for m in self.methods if m != "random"}
        known = {m: mean for m, mean in means.items() if not math.isnan(mean)}
        if not known or not better:
            return None
        return (max if better == "higher" else min)(known, key=lambda m: known[m])

    # ------------------------------------------------------------------------ words of classes

    @cached_property
    def type_scores(self) -> dict[str, Corpus]:
        """The scores of every example by token type, by method."""
        names = ["method", "role", "tokens", "special", "scores", "predicted_label"]
        rows = self.attributions.select(names).to_pydict()
        found: dict[str, list[TypeScores]] = {}
        for method, role, tokens, special, scores, label in zip(*rows.values(), strict=True):
            if role == "own":
                kept = [n for n, is_special in enumerate(special) if not is_special]
                found.setdefault(method, []).append(
                    TypeScores(
                        tuple(tokens[n] for n in kept), np.array([scores[n] for n in kept]), label
                    )
                )
        return {method: Corpus(tuple(own)) for method, own in found.items()}

    def words(self, method: str, count: int = 30) -> dict[str, list[tuple[str, float]]]:
        """The words that speak most for each class, weighed by the documents that `token_overlap` was given."""
        documents = self.corpus.get("token_overlap", {}).get("documents")
        return class_words(self.type_scores.get(method, NOTHING), count, documents)

    def corpus_summary(self, metric: str, method: str) -> Summary:
        """A metric of all examples at once; its interval from random weights of the examples.

        Resampled examples would not do: those left out take their words with them. Random weights also move
        the mean, so the interval is the value and 1.96 of their standard deviations either way.
        """
        examples = self.type_scores.get(method, NOTHING)
        function, options = metric_of(metric).function, self.corpus[metric]
        (own,) = function(examples, **options).values()
        if math.isnan(own.value):
            return summarise([math.nan])
        generator = np.random.default_rng(0)
        drawn = []
        for _ in range(CORPUS_RESAMPLES):
            weights = generator.exponential(size=len(examples.examples)).tolist()
            (found,) = function(examples, weights, **options).values()
            drawn.append(found.value)
        error = float(np.nanstd(drawn))
        return Summary(
            own.value,
            error,
            own.value - 1.96 * error,
            own.value + 1.96 * error,
            len(examples.examples),
        )

    # --------------------------------------------------------------------------- other forms

    def _repr_html_(self) -> str:
        return str(import_module("headlight.report.page").tables(self))

    def to_dataframe(self) -> "pandas.DataFrame":
        """One row for every metric and method, for pandas."""
        import pandas

        rows = [
            {"metric": metric, "method": method, **vars(self.summary(metric, method))}
            for metric in self.metrics
            for method in self.methods
        ]
        return pandas.DataFrame([row for row in rows if row["count"]])


def arranged(own: Mapping[str, list[Any]]) -> dict[str, NDArray[Any]]:
    """Columns of one metric and method in the order of the examples."""
    order = sorted(range(len(own["example"])), key=lambda n: own["example"][n])
    found: dict[str, Any] = {}
    for name, values in own.items():
        sorted_values: Any = [values[n] for n in order]
        if name in ("value", "weight"):
            sorted_values = np.array(
                [math.nan if v is None else v for v in sorted_values], np.float64
            )
        elif name == "example":
            sorted_values = np.array(sorted_values, np.int64)
        found[name] = sorted_values
    return found


def results_of(folder: Folder) -> Results:
    """The finished part of a run."""
    asked = {
        name: options
        for each in folder.manifest.rounds
        for name, options in each["metrics"].items()
    }
    return Results(
        settings=folder.settings,
        measures=folder.read(("measure", "time")),
        attributions=folder.read(("explain",)),
        corpus={n: o for n, o in asked.items() if "corpus" in metric_of(n).needs},
        missing=len(folder.missing()),
        unsealed=len(folder.unsealed),
    )


def open_run(path: str | Path) -> Results:
    """What the run in a folder has found so far."""
    folder = open_folder(path)
    folder.refuse_damage()
    return results_of(folder)
