"""The measures of a run as arrays, read part by part: a large run does not fit into memory."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from headlight.evaluation.records import arrow

if TYPE_CHECKING:
    import pyarrow

Tables = Callable[[Sequence[str]], Iterator["pyarrow.Table"]]
"""Yields the parts of a run one by one, with the given columns."""
Names = dict[str, list[str]]
"""The methods that each metric measured, in the order in which they were added to the run."""


@dataclass(frozen=True, eq=False)
class Column:
    """The values of a metric for a method, in the order of the examples.

    value: NaN where the metric does not apply. noted: how many measured examples have a note.
    """

    example: NDArray[np.int64]
    value: NDArray[np.float64]
    weight: NDArray[np.float64]
    noted: int


@dataclass(eq=False)
class Block:
    """One metric for all its methods, [method example]. weight: None as long as every weight is 1."""

    methods: list[str]
    value: NDArray[np.float64]
    is_there: NDArray[np.bool_]
    noted: NDArray[np.int64]
    weight: NDArray[np.float64] | None = None

    def put(
        self, rows: NDArray[Any], examples: NDArray[Any], found: dict[str, NDArray[Any]]
    ) -> None:
        """Add the measures of some examples. rows: their methods, by number."""
        self.value[rows, examples] = found["value"]
        self.is_there[rows, examples] = True
        np.add.at(self.noted, rows, found["note"] & ~np.isnan(found["value"]))
        if self.weight is None and (found["weight"] != 1).any():
            self.weight = np.ones_like(self.value)
        if self.weight is not None:
            self.weight[rows, examples] = found["weight"]

    def column(self, method: str) -> Column | None:
        """The measures of one method."""
        if method not in self.methods:
            return None
        row = self.methods.index(method)
        there = self.is_there[row]
        value = self.value[row, there]
        weight = np.ones_like(value) if self.weight is None else self.weight[row, there]
        return Column(np.flatnonzero(there), value, weight, int(self.noted[row]))


BYTES_OF_A_MEASURE = 17
"""In a block: 8 for the value, 8 for the weight, 1 for whether it is there."""


def names_of(tables: Tables) -> Names:
    """The metrics of a run, and the methods that each measured."""
    found: dict[str, dict[str, None]] = {}
    for each in tables(("metric", "method")):
        pairs = each.group_by(["metric", "method"], use_threads=False).aggregate([]).to_pydict()
        for metric, method in zip(pairs["metric"], pairs["method"], strict=True):
            found.setdefault(metric, {})[method] = None
    return {metric: list(methods) for metric, methods in found.items()}


def blocks_of(tables: Tables, names: Names, count: int) -> dict[str, Block]:
    """These metrics on that many examples, in one pass over the parts."""
    found = {
        metric: Block(
            methods,
            np.full((len(methods), count), np.nan),
            np.zeros((len(methods), count), bool),
            np.zeros(len(methods), np.int64),
        )
        for metric, methods in names.items()
    }
    for each in tables(("example", "method", "metric", "value", "weight", "note")):
        codes = coded(each["metric"], names)
        columns = {name: each[name].to_numpy() for name in ("example", "value", "weight")}
        columns["note"] = each["note"].is_valid().to_numpy()
        for code, metric in enumerate(names):
            chosen = np.flatnonzero(codes == code)
            if len(chosen):
                rows = coded(each["method"].take(chosen), found[metric].methods)
                values = {name: column[chosen] for name, column in columns.items()}
                found[metric].put(rows, values["example"].astype(np.int64), values)
    return found


def coded(column: "pyarrow.ChunkedArray", known: Iterable[str]) -> NDArray[np.int32]:
    """For every row, the index of its name among the known ones; −1 if it is not known."""
    import pyarrow.compute as compute

    numbered = compute.index_in(column, value_set=arrow().array(list(known), arrow().string()))
    return np.asarray(numbered.fill_null(-1).to_numpy())


@dataclass(eq=False)
class Curves:
    """Sums of the curves of a metric and a method, by their levels and length."""

    sums: dict[tuple[tuple[float, ...], int], tuple[int, NDArray[np.float64]]] = field(
        default_factory=dict
    )

    def add(self, levels: tuple[float, ...], count: int, total: NDArray[np.float64]) -> None:
        """Add curves that have the same levels."""
        before, known = self.sums.get((levels, len(total)), (0, np.zeros(len(total))))
        self.sums[levels, len(total)] = (before + count, known + total)

    @property
    def mean(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """The levels that most curves have, and the mean of these curves."""
        (levels, width), (count, total) = max(self.sums.items(), key=lambda item: item[1][0])
        places = levels if len(levels) == width else range(width)
        return np.array(places, np.float64), total / count


def curves_of(tables: Tables) -> dict[tuple[str, str], Curves]:
    """The curves of every metric and method that has any, in one pass over the parts."""
    import pyarrow.compute as compute

    found: dict[tuple[str, str], Curves] = {}
    for each in tables(("metric", "method", "value", "levels", "curve")):
        lengths = compute.list_value_length(each["curve"]).fill_null(0)
        drawn = each.filter(compute.and_(compute.greater(lengths, 0), each["value"].is_valid()))
        for key, levels, curves in same_levels(drawn):
            found.setdefault(key, Curves()).add(levels, len(curves), curves.sum(0))
    return found


def same_levels(
    drawn: "pyarrow.Table",
) -> Iterator[tuple[tuple[str, str], tuple[float, ...], NDArray[np.float64]]]:
    """Curves [example level] that have metric, method and levels in common."""
    import pyarrow.compute as compute

    keys = drawn.select(["metric", "method"]).append_column(
        "width", compute.list_value_length(drawn["curve"])
    )
    keys = keys.append_column("levels", compute.list_value_length(drawn["levels"]).fill_null(0))
    rows = keys.append_column("row", arrow().array(np.arange(drawn.num_rows)))
    names = ["metric", "method", "width", "levels"]
    for group in rows.group_by(names, use_threads=False).aggregate([("row", "list")]).to_pylist():
        chosen = drawn.take(group["row_list"])
        levels = flat(chosen["levels"]).reshape(len(chosen), group["levels"])
        curves = flat(chosen["curve"]).reshape(len(chosen), group["width"])
        distinct, which = np.unique(levels, axis=0, return_inverse=True)
        for number, shared in enumerate(distinct):
            same = curves[which.reshape(-1) == number]
            yield (group["metric"], group["method"]), tuple(shared.tolist()), same


def flat(column: "pyarrow.ChunkedArray") -> NDArray[np.float64]:
    """All numbers of a column of lists, one after the other."""
    import pyarrow.compute as compute

    return np.asarray(compute.list_flatten(column).to_numpy(), np.float64)
