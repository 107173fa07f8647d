"""`Ablated` and `HeadEffects`: what a model decides with and without some of its attention heads."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray

from headlight.attribution import TARGET_FIELDS, Explained
from headlight.display import html_of, show, terminal_form
from headlight.errors import InvalidInput, missing_extra
from headlight.files.fields import (
    check_fields,
    is_named,
    is_number,
    is_text,
    is_truth,
    list_of,
    or_none,
)
from headlight.files.storage import read_json, save_json
from headlight.headmask import HeadMask

if TYPE_CHECKING:
    import pandas
    from rich.console import Console, ConsoleOptions, RenderResult

FORMAT_VERSION = 1
Changes = NDArray[np.floating[Any]]
"""[text, layer, head]"""

IS_FORMAT = (lambda value: value == FORMAT_VERSION, str(FORMAT_VERSION))
TEXT_FIELDS = {
    "texts": (list_of(is_text), "a list of texts"),
    "before": (is_named, "an object"),
    "after": (is_named, "an object"),
    "notes": (list_of(is_text), "a list of texts"),
}
ABLATED_FIELDS = {
    "format": IS_FORMAT,
    "model": (is_text, "text"),
    "heads": (list_of(list_of(is_truth)), "lists of true and false, [layer, head]"),
    "rows": (list_of(is_named), "a list of objects"),
}
CUBE = list_of(list_of(list_of(is_number)))
EFFECT_FIELDS = {
    "format": IS_FORMAT,
    "model": (is_text, "text"),
    "texts": (list_of(list_of(is_text)), "lists of texts"),
    "before": (list_of(is_named), "a list of objects"),
    "logits": (CUBE, "finite numbers, [text, layer, head]"),
    "probabilities": (or_none(CUBE), "finite numbers, [text, layer, head], or null"),
    "decided_otherwise": (
        list_of(list_of(list_of(is_truth))),
        "true and false, [text, layer, head]",
    ),
}
"""The fields of stored results: how each is checked, and what it must hold, in words."""


@dataclass(frozen=True)
class AblatedText:
    """One text: the explained number and the decision, before and after heads are switched off.

    texts: the text or the pair; the tokens, if there is no text. `before` and `after` are about the same label,
    read at the same tokens; `predicted` is what the model decides each time.
    """

    texts: tuple[str, ...]
    before: Explained
    after: Explained
    notes: tuple[str, ...] = ()

    @property
    def change(self) -> float:
        """How much the probability of the label changes, or the value if it has no probability."""
        if self.before.probability is None or self.after.probability is None:
            return self.logit_change
        return self.after.probability - self.before.probability

    @property
    def logit_change(self) -> float:
        """How much the logit of the label changes."""
        return self.after.logit - self.before.logit

    @property
    def decided_otherwise(self) -> bool:
        """Whether the model decides otherwise without the heads."""
        return self.after.predicted != self.before.predicted


@dataclass(frozen=True, eq=False)
class Ablated:
    """Texts with and without some heads. heads: those that were switched off. rows: one per text."""

    rows: tuple[AblatedText, ...]
    heads: HeadMask
    model: str

    def __len__(self) -> int:
        return len(self.rows)

    def __iter__(self) -> Iterator[AblatedText]:
        return iter(self.rows)

    def __getitem__(self, number: int) -> AblatedText:
        return self.rows[number]

    def __str__(self) -> str:
        others = sum(row.decided_otherwise for row in self.rows)
        return (
            f"{self.heads.count} of {self.heads.heads.numel()} heads off: {others} of {len(self)} decided "
            f"otherwise, {unit_of(self.rows[0].before)} {self.mean_change:+.3f} on average".replace(
                "-", "−"
            )
        )

    @property
    def mean_change(self) -> float:
        """The mean change over the texts."""
        return float(np.mean([row.change for row in self.rows]))

    def to_dataframe(self) -> "pandas.DataFrame":
        """A pandas table with one row per text."""
        columns = (
            {
                "text": " | ".join(row.texts),
                "label": row.before.label,
                **{
                    f"{name}_{when}": getattr(said, name)
                    for name in ("predicted", "probability", "logit")
                    for when, said in (("before", row.before), ("after", row.after))
                },
                "change": row.change,
            }
            for row in self.rows
        )
        return table_of(list(columns))

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain values, ready for JSON."""
        rows = [
            {
                "texts": list(row.texts),
                "before": plain(row.before),
                "after": plain(row.after),
                "notes": list(row.notes),
            }
            for row in self.rows
        ]
        heads = self.heads.heads.tolist()
        return {"format": FORMAT_VERSION, "model": self.model, "heads": heads, "rows": rows}

    def save(self, path: str | Path, *, overwrite: bool = False) -> None:
        """Write everything to a JSON file, whole or not at all."""
        save_json(path, self.to_dict(), overwrite=overwrite)

    @classmethod
    def load(cls, path: str | Path) -> Self:
        """Read what `save` wrote."""
        stored = read_json(path, "head ablation")
        check_fields(stored, ABLATED_FIELDS, "a head ablation")
        rows = []
        for row in stored["rows"]:
            check_fields(row, TEXT_FIELDS, "a row of a head ablation")
            before, after = (explained(row[name]) for name in ("before", "after"))
            rows.append(AblatedText(tuple(row["texts"]), before, after, tuple(row["notes"])))
        if not rows:
            raise InvalidInput(f"the head ablation in '{path}' has no rows.")
        return cls(tuple(rows), HeadMask.of(stored["heads"], name="off"), stored["model"])

    def show(self) -> None:
        """Print a table, in a terminal or a notebook."""
        show(self)

    def _repr_html_(self) -> str:
        return html_of(self)

    def __rich_console__(self, console: "Console", options: "ConsoleOptions") -> "RenderResult":
        yield terminal_form(self)


@dataclass(frozen=True, eq=False)
class HeadEffects:
    """What changes when each head alone is switched off: after minus before, [text, layer, head].

    A negative change means that the head speaks for the label. probabilities: None in regression.
    decided_otherwise: where the model decides otherwise without the head. The arrays count layers and heads
    from 0; `top` and pictures count them from 1.
    """

    texts: tuple[tuple[str, ...], ...]
    before: tuple[Explained, ...]
    logits: Changes
    probabilities: Changes | None
    decided_otherwise: NDArray[np.bool_]
    model: str

    def __post_init__(self) -> None:
        for name in ("logits", "probabilities", "decided_otherwise"):
            values = getattr(self, name)
            if values is None:
                continue
            held = np.array(values)
            if (
                held.shape != np.shape(self.logits)
                or held.ndim != 3
                or len(held) != len(self.texts)
            ):
                raise InvalidInput(
                    f"{len(self.texts)} texts need changes [text, layer, head], all of one shape; '{name}' is "
                    f"{list(held.shape)}."
                )
            held.flags.writeable = False
            object.__setattr__(self, name, held)

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state)
        self.__post_init__()  # arrays come back from a pickle writable

    @property
    def changes(self) -> Changes:
        """The changes of the probability, or of the value in regression, [text, layer, head]."""
        return self.logits if self.probabilities is None else self.probabilities

    @property
    def mean(self) -> Changes:
        """The mean change over the texts, [layer, head]."""
        means: Changes = self.changes.mean(0)
        return means

    @property
    def unit(self) -> str:
        """What changes: 'probability' or 'value'."""
        return unit_of(self.before[0])

    def top(self, count: int = 5) -> list[tuple[int, int, float]]:
        """The heads with the largest mean changes: layer and head, counted from 1, and the change."""
        means = self.mean
        order = np.argsort(-np.abs(means), axis=None, kind="stable")[:count]
        places = (divmod(int(number), means.shape[1]) for number in order)
        return [(layer + 1, head + 1, float(means[layer, head])) for layer, head in places]

    def to_dataframe(self) -> "pandas.DataFrame":
        """A pandas table with one row per text and head."""
        rows = (
            {
                "text": " | ".join(self.texts[text]),
                "label": self.before[text].label,
                "layer": layer + 1,
                "head": head + 1,
                "logit_change": float(change),
                "probability_change": (
                    None
                    if self.probabilities is None
                    else float(self.probabilities[text, layer, head])
                ),
                "decided_otherwise": bool(self.decided_otherwise[text, layer, head]),
            }
            for (text, layer, head), change in np.ndenumerate(self.logits)
        )
        return table_of(list(rows))

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain values, ready for JSON."""
        return {
            "format": FORMAT_VERSION,
            "model": self.model,
            "texts": list(map(list, self.texts)),
            "before": list(map(plain, self.before)),
            "logits": self.logits.tolist(),
            "probabilities": None if self.probabilities is None else self.probabilities.tolist(),
            "decided_otherwise": self.decided_otherwise.tolist(),
        }

    def save(self, path: str | Path, *, overwrite: bool = False) -> None:
        """Write everything to a JSON file, whole or not at all."""
        save_json(path, self.to_dict(), overwrite=overwrite)

    @classmethod
    def load(cls, path: str | Path) -> Self:
        """Read what `save` wrote."""
        stored = read_json(path, "head effects")
        check_fields(stored, EFFECT_FIELDS, "head effects")
        texts, before = tuple(map(tuple, stored["texts"])), tuple(map(explained, stored["before"]))
        if len(texts) != len(before):
            raise InvalidInput(f"the head effects in '{path}' are of texts without a decision.")
        return cls(
            texts=texts,
            before=before,
            logits=cube(stored, "logits"),
            probabilities=None
            if stored["probabilities"] is None
            else cube(stored, "probabilities"),
            decided_otherwise=cube(stored, "decided_otherwise"),
            model=stored["model"],
        )

    def show(self) -> None:
        """Print the map, in a terminal or a notebook."""
        show(self)

    def _repr_html_(self) -> str:
        return html_of(self)

    def __rich_console__(self, console: "Console", options: "ConsoleOptions") -> "RenderResult":
        yield terminal_form(self)


def unit_of(said: Explained) -> str:
    """What changes of a decision: its probability, or its value in regression."""
    return "value" if said.probability is None else "probability"


def plain(said: Explained) -> dict[str, Any]:
    """What is stored of a decision."""
    values = {name: getattr(said, name) for name in TARGET_FIELDS}
    return values | {"positions": None if said.positions is None else list(said.positions)}


def explained(stored: Mapping[str, Any]) -> Explained:
    """The decision from which `plain` made these values."""
    check_fields(stored, TARGET_FIELDS, "the decision of a head ablation")
    values = {name: stored[name] for name in TARGET_FIELDS}
    positions = values["positions"]
    return Explained(**values | {"positions": None if positions is None else tuple(positions)})


def cube(stored: Mapping[str, Any], name: str) -> NDArray[Any]:
    """A stored array [text, layer, head]; refused if its lists differ in length."""
    try:
        return np.array(stored[name])
    except ValueError as error:
        raise InvalidInput(f"the lists of '{name}' in head effects differ in length.") from error


def table_of(rows: list[dict[str, Any]]) -> "pandas.DataFrame":
    """A pandas table of these rows."""
    try:
        import pandas
    except ImportError as error:
        raise missing_extra("pandas", "data", "to_dataframe()") from error
    return pandas.DataFrame(rows)
