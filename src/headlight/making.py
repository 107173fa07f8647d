"""How attributions are made from scores that were computed elsewhere.

That takes a model, and results know none. `headlight/__init__.py` says which function does it, so that it is
imported only when the first one is made.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol


class Named(Protocol):
    """A model; results know no more of it than its name."""

    @property
    def name(self) -> str:
        """Its name."""
        ...


@dataclass
class Making:
    """`find` imports the function that puts scores on the tokens of a model."""

    find: Callable[[], Callable[..., Any]] | None = None

    def from_scores(self, model: Named, *given: Any, **options: Any) -> Any:
        """The attribution that the function makes."""
        assert self.find is not None
        return self.find()(model, *given, **options)


MAKING = Making()
