"""What is known of values on their way through a modifiable pass: weights, scores, activations, constants."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any
from weakref import ref

from torch import Tensor

from headlight.trace.relevance.intercept import takes
from headlight.trace.relevance.steps import Call


class Marks:
    """What is known of values on their way through a pass, until they change. It does not keep them alive."""

    def __init__(self) -> None:
        self.known: dict[int, tuple[ref[Tensor], int, Any]] = {}

    def of(self, value: Any) -> Any:
        """The mark of a value; None if it has none, or was changed in place since."""
        known, version, mark = self.known.get(id(value), (None, 0, None))
        held: Any = None if known is None else known()
        return mark if held is not None and held is value and held._version == version else None

    def put(self, value: Tensor, mark: Any) -> Tensor:
        """The value, marked."""
        if mark is None:
            self.known.pop(id(value), None)
        else:
            self.known[id(value)] = (ref(value), value._version, mark)
        return value

    def shared(self, values: Any) -> Any:
        """The mark that all of these values that take a gradient have; None if they have several or none."""
        found = [self.of(value) for value in tensors(values) if takes(value)]
        if found and all(isinstance(mark, Scores) for mark in found):
            return Scores.together(found)
        return found[0] if found and all(mark is found[0] for mark in found) else None


def tensors(values: Any) -> Iterator[Tensor]:
    """The tensors among arguments, also those in lists."""
    for value in values:
        if isinstance(value, Tensor):
            yield value
        elif isinstance(value, list | tuple):
            yield from tensors(value)


CONSTANT, ACTIVATED = "constant", "activated"
IN_PLACE = ("mul_", "__imul__")


@dataclass(eq=False)
class Scores:
    """Products of queries and keys; `is_followed` are their places to say that a softmax has followed."""

    is_followed: list[list[bool]]

    @classmethod
    def together(cls, several: list["Scores"]) -> "Scores":
        """A sum of scores."""
        return cls([place for scores in several for place in scores.is_followed])

    def follow(self) -> None:
        """A softmax has followed."""
        for place in self.is_followed:
            place[0] = True


@dataclass(frozen=True, eq=False)
class Root:
    """A value as it was when others were computed from it; it is not kept alive for this."""

    value: ref[Tensor]
    version: int

    def now(self) -> Tensor | None:
        """The value, if it is still there and was not changed."""
        value = self.value()
        return value if value is not None and value._version == self.version else None


@dataclass(frozen=True, eq=False)
class Pointwise:
    """That a value is function(root), one number at a time; is_curved: not only by adding and multiplying."""

    root: Root
    function: Call
    is_curved: bool
