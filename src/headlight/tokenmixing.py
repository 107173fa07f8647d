"""`TokenMixing`: how much of every token is in every other, layer by layer."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray

from headlight.display import html_of, terminal_form
from headlight.errors import InvalidInput, InvalidOption
from headlight.files.fields import (
    check_fields,
    is_count,
    is_named,
    is_number,
    is_text,
    is_truth,
    list_of,
)
from headlight.files.storage import read_json, write_whole
from headlight.frozen import FrozenMapping
from headlight.tokens import in_scale

if TYPE_CHECKING:
    from rich.console import Console, ConsoleOptions, RenderResult

Matrices = NDArray[np.floating[Any]]
FORMAT_VERSION = 2
"""Version 1 had no `is_special` and no `is_sink`."""
FLAGS = ("is_special", "is_sink")
FIELDS = {
    "format": (
        lambda value: is_count(value) and value in (1, FORMAT_VERSION),
        f"1 or {FORMAT_VERSION}",
    ),
    "tokens": (list_of(is_text), "a list of texts"),
    "layers": (list_of(list_of(list_of(is_number))), "matrices of finite numbers"),
    "method": (is_text, "text"),
    "model": (is_text, "text"),
    "options": (is_named, "an object"),
    **{name: (list_of(is_truth), "a list of true and false") for name in FLAGS},
}
"""The fields of a stored token mixing: how each is checked, and what it must hold, in words."""


@dataclass(frozen=True, eq=False)
class TokenMixing:
    """Token-to-token matrices of one input.

    layers[l, i, j]: how much of the layer's input at token j is in its output at token i. The array counts
    layers from 0; `at` counts them from 1, as pictures and messages do. `is_special` and `is_sink` are those of
    an `Attribution`; by default no token is marked.
    """

    tokens: tuple[str, ...]
    layers: Matrices
    method: str
    model: str
    options: Mapping[str, Any] = field(default_factory=dict)
    is_special: tuple[bool, ...] = ()
    is_sink: tuple[bool, ...] = ()

    def __post_init__(self) -> None:
        layers = np.array(self.layers)
        count = len(self.tokens)
        if layers.ndim != 3 or layers.shape[1:] != (count, count) or not layers.size:
            raise InvalidInput(
                f"{count} tokens need matrices [layer, token, token]; these are {list(layers.shape)}."
            )
        layers.flags.writeable = False
        object.__setattr__(self, "layers", layers)
        object.__setattr__(self, "options", FrozenMapping(self.options))
        for name in FLAGS:
            flags = getattr(self, name) or (False,) * count
            object.__setattr__(self, name, flags)
            if len(flags) != count:
                raise InvalidInput(
                    f"{count} tokens need as many values of '{name}', not {len(flags)}."
                )

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state)
        self.__post_init__()  # arrays come back from a pickle writable

    @property
    def accumulated(self) -> Matrices:
        """The products up to every layer: how much of each input token is in each token there."""
        products = [self.layers[0]]
        for matrix in self.layers[1:]:
            products.append(matrix @ products[-1])
        return np.stack(products)

    @property
    def in_scale(self) -> NDArray[np.bool_]:
        """Which input tokens set the scale of a picture, as in an `Attribution`."""
        return np.array(in_scale(self.is_special, self.is_sink))

    def at(self, layer: int = -1, *, accumulated: bool = True) -> Matrices:
        """The matrix of one layer, or the product up to it; layers count from 1, and −1 is the last."""
        matrices = self.accumulated if accumulated else self.layers
        matrix: Matrices = matrices[self.number(layer) - 1]
        return matrix

    def number(self, layer: int) -> int:
        """The number of a layer, 1 … L; a negative one is counted from the end."""
        count = len(self.layers)
        if layer == 0 or not -count <= layer <= count:
            raise InvalidOption(
                f"layer {layer} does not exist: there are {count}, from 1 to {count}, and -1 is the last."
            )
        return layer if layer > 0 else count + 1 + layer

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain values, ready for JSON."""
        return {
            "format": FORMAT_VERSION,
            "tokens": list(self.tokens),
            "layers": self.layers.tolist(),
            "method": self.method,
            "model": self.model,
            "options": dict(self.options),
            "is_special": list(self.is_special),
            "is_sink": list(self.is_sink),
        }

    def save(self, path: str | Path) -> None:
        """Write the matrices to a JSON file, whole or not at all."""
        write_whole(path, json.dumps(self.to_dict(), ensure_ascii=False))

    @classmethod
    def load(cls, path: str | Path) -> Self:
        """Read matrices that `save` wrote."""
        plain = read_json(path, "token mixing")
        if isinstance(plain, dict) and plain.get("format") == 1:
            plain |= {name: [] for name in FLAGS}
        check_fields(plain, FIELDS, "a token mixing")
        if len({len(row) for matrix in plain["layers"] for row in matrix}) > 1:
            raise InvalidInput(f"the rows of the matrices in '{path}' differ in length.")
        if len({len(matrix) for matrix in plain["layers"]}) > 1:
            raise InvalidInput(f"the matrices in '{path}' differ in size.")
        layers = np.array(plain["layers"], dtype=np.float64)
        return cls(
            tuple(plain["tokens"]),
            layers,
            *(plain[name] for name in ("method", "model", "options")),
            *(tuple(plain[name]) for name in FLAGS),
        )

    def _repr_html_(self) -> str:
        return html_of(self)

    def __rich_console__(self, console: "Console", options: "ConsoleOptions") -> "RenderResult":
        yield terminal_form(self)
