"""`TokenMixing`: how much of every token is in every other, layer by layer."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray

from headlight.errors import InvalidInput, InvalidOption
from headlight.storage import write_whole

if TYPE_CHECKING:
    from rich.console import Console, ConsoleOptions, RenderResult

Matrices = NDArray[np.floating[Any]]
FORMAT_VERSION = 1


@dataclass(frozen=True, eq=False)
class TokenMixing:
    """Token-to-token matrices of one input.

    layers[l, i, j]: how much of what goes into layer l at token j is in what comes out at token i.
    """

    tokens: tuple[str, ...]
    layers: Matrices
    method: str
    model: str
    options: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        layers = np.array(self.layers)
        layers.flags.writeable = False
        object.__setattr__(self, "layers", layers)
        object.__setattr__(self, "options", MappingProxyType(dict(self.options)))

    @property
    def accumulated(self) -> Matrices:
        """The products up to every layer: how much of each input token is in each token there."""
        products = [self.layers[0]]
        for matrix in self.layers[1:]:
            products.append(matrix @ products[-1])
        return np.stack(products)

    def at(self, layer: int = -1, *, accumulated: bool = True) -> Matrices:
        """The matrix of one layer, or the product up to it; −1 is the last."""
        if not -len(self.layers) <= layer < len(self.layers):
            raise InvalidOption(
                f"layer {layer} does not exist: there are {len(self.layers)}, from 0 to "
                f"{len(self.layers) - 1}."
            )
        found: Matrices = (self.accumulated if accumulated else self.layers)[layer]
        return found

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain values, ready for JSON."""
        return {
            "format": FORMAT_VERSION,
            "tokens": list(self.tokens),
            "layers": self.layers.tolist(),
            "method": self.method,
            "model": self.model,
            "options": dict(self.options),
        }

    def save(self, path: str | Path) -> None:
        """Write the matrices to a JSON file, whole or not at all."""
        write_whole(path, json.dumps(self.to_dict(), ensure_ascii=False))

    @classmethod
    def load(cls, path: str | Path) -> Self:
        """Read matrices that `save` wrote."""
        try:
            plain = json.loads(Path(path).read_text(encoding="utf-8"))
            if plain.pop("format") != FORMAT_VERSION:
                raise ValueError(f"it is not of format {FORMAT_VERSION}")
            return cls(**{**plain, "tokens": tuple(plain["tokens"])})
        except (OSError, ValueError, TypeError, KeyError, AttributeError) as error:
            raise InvalidInput(f"no token mixing can be read from '{path}': {error}.") from error

    def _repr_html_(self) -> str:
        matrix = import_module("headlight.renderers.matrix")
        return str(matrix.table(matrix.mixing_cells(self)))

    def __rich_console__(self, console: "Console", options: "ConsoleOptions") -> "RenderResult":
        yield import_module("headlight.renderers.matrix").MatrixMap(self)
