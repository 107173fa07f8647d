"""How results are shown in terminals and notebooks.

Results do not know how they are drawn. The modules that draw them register here, and `headlight/__init__.py`
says which module draws which kind of result, so that it is imported only when the first one is shown.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

Draw = Callable[[Any], Any]


@dataclass(frozen=True)
class Display:
    """How one kind of result looks: as an HTML fragment, and as something that rich can print."""

    html: Callable[[Any], str]
    terminal: Draw | None = None


@dataclass
class Displays:
    """The displays of every kind of result; `find` imports the one of a kind that is not known yet."""

    known: dict[type, Display]
    find: Callable[[str], object] | None = None

    def register(
        self, kind: type, html: Callable[[Any], str], terminal: Draw | None = None
    ) -> None:
        """Register how results of a kind are drawn."""
        self.known[kind] = Display(html, terminal)

    def of(self, result: object) -> Display:
        """The display of a result."""
        if type(result) not in self.known and self.find is not None:
            self.find(type(result).__name__)
        return self.known[type(result)]


DISPLAYS = Displays({})


def html_of(result: object) -> str:
    """A result as an HTML fragment, for notebooks."""
    return DISPLAYS.of(result).html(result)


def terminal_form(result: object) -> Any:
    """A result as something that rich can print."""
    terminal = DISPLAYS.of(result).terminal
    assert terminal is not None, f"{type(result).__name__} has no form for a terminal"
    return terminal(result)


def show(result: object) -> None:
    """Print a result, in a terminal or a notebook."""
    from rich.console import Console

    Console().print(result)
