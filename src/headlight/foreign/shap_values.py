"""Explanations of SHAP: the pieces of a text, a value for each and for each class, and the base value."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from headlight.attribution import Attribution
from headlight.batch import plain
from headlight.errors import InvalidInput, InvalidOption
from headlight.explaining.inputs import rows_of
from headlight.explaining.prediction import predict
from headlight.foreign.scores import from_scores
from headlight.models.model import Model, Task
from headlight.models.reading import cut_to_limit
from headlight.target import Target, TargetLike
from headlight.text import Text


class Explanation(Protocol):
    """The fields of `shap.Explanation` that are read; `base_values` and `output_names` may be None."""

    @property
    def data(self) -> Any:
        """The pieces of the text: '' for special tokens. For several texts, a list of these."""

    @property
    def values(self) -> Any:
        """[piece] or [piece, class]; for several texts, a list of these."""

    @property
    def base_values(self) -> Any:
        """The output without any piece: a number, or one per class."""

    @property
    def output_names(self) -> Any:
        """The name of the class, or the names of all."""


@dataclass(frozen=True, eq=False)
class Explained:
    """The explanation of one text. values: [piece] or [piece, class]."""

    pieces: list[str]
    values: NDArray[np.float64]
    base: NDArray[np.float64] | None
    names: Any


def from_shap(
    model: Model,
    explanation: Explanation,
    *,
    text: Text | list[Text] | None = None,
    target: TargetLike = None,
    method: str = "shap",
) -> Attribution | list[Attribution]:
    """The explanation of a text by SHAP as an attribution; of several texts, a list.

    text: what was explained; by default, the pieces put together. target: the class; by default the one that
    the model predicts. If the explanation holds one class only, as explanation[..., "POSITIVE"] does, it must
    say which by `output_names`, or the target must. The base value is kept in `options`.
    """
    found, is_one = explained_texts(explanation)
    texts = [None] * len(found) if text is None else text if isinstance(text, list) else [text]
    if len(texts) != len(found):
        raise InvalidInput(f"{len(texts)} texts were given, and the explanation has {len(found)}.")
    made = [
        attribution_of(
            model, each, "".join(each.pieces) if given is None else given, target, method
        )
        for each, given in zip(found, texts, strict=True)
    ]
    return made[0] if is_one else made


def explained_texts(explanation: Explanation) -> tuple[list[Explained], bool]:
    """The explanations of the single texts, and whether there is only one, not in a list."""
    for name in ("data", "values"):
        if getattr(explanation, name, None) is None:
            raise InvalidInput(
                f"this {type(explanation).__name__} has no '{name}'. Give a shap.Explanation of texts."
            )
    data, names = plain(explanation.data), getattr(explanation, "output_names", None)
    base = getattr(explanation, "base_values", None)
    if data and all(isinstance(piece, str) for piece in data):
        return [explained(data, explanation.values, base, names)], True
    return [
        explained(pieces, explanation.values[n], None if base is None else plain(base)[n], names)
        for n, pieces in enumerate(data)
    ], False


def explained(pieces: Any, values: Any, base: Any, names: Any) -> Explained:
    """The explanation of one text, its numbers checked."""
    if not isinstance(pieces, list) or not all(isinstance(piece, str) for piece in pieces):
        raise InvalidInput(
            "the data of the explanation must be pieces of text, as shap.maskers.Text makes."
        )
    try:
        found = np.asarray(plain(values), np.float64)
    except (TypeError, ValueError) as error:
        raise InvalidInput("the values of the explanation must be numbers.") from error
    # Texts of different lengths share one array in some versions, filled up with zeros.
    if found.ndim in (1, 2) and len(found) > len(pieces) and not found[len(pieces) :].any():
        found = found[: len(pieces)]
    if found.ndim not in (1, 2) or len(found) != len(pieces):
        raise InvalidInput(
            f"{len(pieces)} pieces need values of the shape [piece] or [piece, class]; these have the shape "
            f"{found.shape}."
        )
    start = None if base is None else np.atleast_1d(np.asarray(plain(base), np.float64))
    return Explained(pieces, found, start, names)


def attribution_of(
    model: Model, found: Explained, text: Text, target: TargetLike, method: str
) -> Attribution:
    """The attribution of one text for one class."""
    asked = Target.of(target)
    if asked.contrast is not None:
        raise InvalidOption("SHAP explains one class. Give a target without a contrast.")
    scores, base = found.values, found.base
    if found.values.ndim == 2:
        label, column = chosen_class(model, text, found, asked)
        asked = replace(asked, label=label)
        scores = found.values[:, column]
        base = base[column : column + 1] if base is not None and len(base) > column else None
    elif asked.label is None and isinstance(found.names, str):
        asked = replace(asked, label=found.names)
    elif asked.label is None and len(model.labels) > 1:
        raise InvalidOption(
            "the explanation does not say which class its values are for. Give target=, one of "
            f"{', '.join(model.labels.values())}."
        )
    made = from_scores(model, text, scores, tokens=found.pieces, target=asked, method=method)
    known = base is not None and len(base) == 1
    return (
        replace(made, options={"base_value": float(base[0])})
        if known and base is not None
        else made
    )


def chosen_class(model: Model, text: Text, found: Explained, asked: Target) -> tuple[int, int]:
    """The class that is asked for, and its column of the values."""
    if model.task not in (Task.SEQUENCE, Task.REGRESSION):
        raise InvalidInput(
            f"{model.name} does not classify texts, so the columns of the values are not its classes. Give the "
            "explanation of one output: explanation[..., name]."
        )
    row = cut_to_limit(model, rows_of(model, [text])[0])
    label = predict(model, [row], [asked])[0].resolved.terms[0].index
    count = found.values.shape[1]
    names = column_names(found.names, count)
    own = model.labels.get(label, str(label)).casefold()
    if names and {own} <= set(names) and len(set(names)) == count:
        return label, names.index(own)
    if count != max(1, len(model.labels)) or (names and not are_numbered(names)):
        raise InvalidInput(
            f"the explanation has {count} classes ({', '.join(names) or 'without names'}), and {model.name} "
            f"has {len(model.labels)} ({', '.join(model.labels.values())}). Name them alike in output_names, "
            "or give the explanation of one class and target=."
        )
    return label, label


def column_names(names: Any, count: int) -> list[str]:
    """The names of the classes without case; [] if they are not all known."""
    known = plain(names)
    is_list = isinstance(known, Sequence) and not isinstance(known, str) and len(known) == count
    return [str(name).casefold() for name in known] if is_list else []


def are_numbered(names: Sequence[str]) -> bool:
    """Whether classes have no names but their numbers, as in 'Output 0' and 'LABEL_0'."""
    return all(name.endswith(str(number)) for number, name in enumerate(names))
