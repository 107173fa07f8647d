"""Evaluation runs for the results page: tables, curves, and examples on which two methods disagree."""

import math
from collections.abc import Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from pathlib import Path
from threading import RLock, Thread
from typing import Any

import numpy as np
from scipy.stats import spearmanr

from headlight.data.example import index_of
from headlight.errors import unknown_name
from headlight.evaluation.folder import open_folder
from headlight.evaluation.results import Results, open_run
from headlight.metrics.case import axes_of, metric_of
from headlight.renderers.pieces import token_pieces
from headlight.tokens import ordinary
from headlight.web.answers.formatting import shown
from headlight.web.replies import Cell, Disagreements, MeanCurves, MetricRow, Run, Shown

Scored = dict[int, dict[str, Any]]
"""The record of a method for each example, by the number of the example."""


@dataclass(frozen=True, eq=False)
class Runs:
    """Folders of runs by name; a run that has new parts is read again."""

    folders: dict[str, Path]
    read: dict[str, tuple[int, Results]] = field(default_factory=dict)
    orders: dict[tuple[str, str, str], list[tuple[float, int]]] = field(default_factory=dict)
    labels: dict[str, list[str | None]] = field(default_factory=dict)
    overviews: dict[str, Run] = field(default_factory=dict)
    lock: AbstractContextManager[Any] = field(default_factory=RLock)

    def __getitem__(self, name: str) -> Results:
        if name not in self.folders:
            raise unknown_name("run on this server", name, self.folders)
        with self.lock:
            size = len(list((self.folders[name] / "parts").glob("*.parquet")))
            if self.read.get(name, (-1,))[0] != size:
                self.read[name] = (size, open_run(self.folders[name]))
                self.overviews.pop(name, None)
                for key in [key for key in self.orders if key[0] == name]:
                    del self.orders[key]
            return self.read[name][1]

    def prepare(self) -> None:
        """Compute the overviews in a thread, because the intervals of large runs take seconds."""

        def make() -> None:
            for name in self.folders:
                self.overview(name)

        Thread(target=make, name="headlight-runs", daemon=True).start()

    def overview(self, name: str) -> Run:
        """What was run, and the value of every metric for every method."""
        with self.lock:
            results = self[name]
            if name not in self.overviews:
                self.overviews[name] = self.summed_up(name, results)
            return self.overviews[name]

    def summed_up(self, name: str, results: Results) -> Run:
        """The overview of a run as it is now."""
        measured = [
            m for m in results.metrics if any(results.summary(m, n).count for n in results.methods)
        ]
        return {
            "name": name,
            "model": results.settings.model,
            "data": results.settings.data,
            "count": results.settings.count,
            "accuracy": number(results.accuracy),
            "methods": results.methods,
            "metrics": measured,
            "missing": results.missing,
            "failures": len(results.failures),
            "curved": [m for m in measured if any(len(results.curve(m, n)[0]) for n in results.methods[:1])],
            "table": [row(results, metric) for metric in measured],
        }  # fmt: skip

    def curves(self, name: str, metric: str) -> MeanCurves:
        """The mean curve of a metric for every method."""
        results = self[name]
        if metric not in results.metrics:
            raise unknown_name("metric of this run", metric, results.metrics)
        across, up = axes_of(metric)
        found = {method: results.curve(metric, method) for method in results.methods}
        return {
            "metric": metric,
            "x": across,
            "y": up,
            "curves": [
                {"method": method, "levels": levels.tolist(), "means": means.tolist()}
                for method, (levels, means) in found.items()
                if len(levels)
            ],
        }

    def examples(
        self, name: str, first: str, second: str, offset: int, limit: int
    ) -> Disagreements:
        """Examples, sorted by how differently two methods rank their tokens, most different first."""
        results = self[name]
        for method in (first, second):
            if method not in results.methods:
                raise unknown_name("method of this run", method, results.methods)
        one, other = scored(results, first), scored(results, second)
        key = (name, first, second)
        order = self.orders.get(key)
        if order is None:
            both = sorted(set(one) & set(other))
            ranked = [(disagreement(one[n], other[n]), n) for n in both]
            order = sorted(ranked, key=lambda pair: (-pair[0], pair[1]))
            self.orders[key] = order
        golds = self.golds(name, results)
        return {
            "total": len(order),
            "examples": [
                {
                    "number": n,
                    "disagreement": round(gap, 4),
                    "gold": golds[n],
                    "predicted": one[n]["predicted_label"],
                    "label": one[n]["label"],
                    "first": record_pieces(one[n]),
                    "second": record_pieces(other[n]),
                }
                for gap, n in order[offset : offset + limit]
            ],
        }

    def golds(self, name: str, results: Results) -> list[str | None]:
        """The right label of every example, by its name in the data set."""
        if name not in self.labels:
            given = open_folder(self.folders[name]).examples
            self.labels[name] = [
                gold_name(example.label, results.settings.labels) for example in given
            ]
        return self.labels[name]


def row(results: Results, metric: str) -> MetricRow:
    """The values of one metric for every method."""
    best = results.best(metric)
    cells: list[Cell] = []
    for method in results.methods:
        found = results.summary(metric, method)
        if found.count:
            cells.append(
                {
                    "method": method,
                    "mean": number(found.mean),
                    "low": number(found.low),
                    "high": number(found.high),
                    "count": found.count,
                    "best": method == best,
                }
            )
    return {"metric": metric, "better": metric_of(metric).better, "cells": cells}


def number(value: float) -> float | None:
    """A number, or None for NaN and infinity, which JSON does not have."""
    return value if math.isfinite(value) else None


def scored(results: Results, method: str) -> Scored:
    """The record of a method for every example."""
    return {
        record["example"]: record
        for each in results.attributed(method)
        for record in each.to_pylist()
    }


def gold_name(label: str | int | None, names: Sequence[str]) -> str | None:
    """A label by its name in the data set, if it has one; the model may number its classes differently."""
    number = index_of(label)
    if number is not None and 0 <= number < len(names):
        return names[number]
    return None if label is None else str(label)


def ordinary_scores(record: dict[str, Any]) -> np.ndarray:
    """The scores of ordinary tokens."""
    return np.array(record["scores"], np.float64)[ordinary(record["special"])]


def disagreement(one: dict[str, Any], other: dict[str, Any]) -> float:
    """1 − Spearman's ρ: 0 for equal orders, 2 for opposite ones, 1 if either has no order."""
    left, right = ordinary_scores(one), ordinary_scores(other)
    if len(left) < 2 or len(set(left.tolist())) < 2 or len(set(right.tolist())) < 2:
        return 1.0
    return 1.0 - float(spearmanr(left, right).statistic)


def record_pieces(record: dict[str, Any]) -> list[Shown]:
    """The tokens of a record with their scores, as pieces for the page."""
    tokens, special = record["tokens"], record["special"]
    sinks = record.get("sink") or [False] * len(tokens)  # runs of earlier versions do not say
    return shown(token_pieces(tokens, record["scores"], special, sinks))
