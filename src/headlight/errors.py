"""The errors for mistakes of a caller, as one small tree.

    HeadlightError
    ├── UnknownName              a method, label, renderer, model … that does not exist
    ├── InvalidInput             a text, batch, file or token that cannot be explained
    ├── InvalidOption            an option with a wrong name or value
    ├── UnsupportedModel         a network without the head, family or parts that were asked for
    ├── UnstableModel            a network whose numbers are NaN or infinite
    └── MissingExtra             a package that an optional part of headlight needs

Each message says what was asked, what was found, and what would repair it.
"""

from collections.abc import Iterable
from difflib import get_close_matches


class HeadlightError(Exception):
    """The parent of everything headlight raises for a mistake of its caller."""


class UnknownName(HeadlightError):
    """A name that is not known; the message proposes the nearest ones."""


class InvalidInput(HeadlightError):
    """A text, batch or file that cannot be explained as it is."""


class InvalidOption(HeadlightError):
    """An option that does not exist, or a value it does not take."""


class UnsupportedModel(HeadlightError):
    """A network that lacks what was asked of it."""


class UnstableModel(HeadlightError):
    """A network that computes NaN or infinity."""


class MissingExtra(HeadlightError):
    """An optional dependency that is not installed."""


def unknown_name(kind: str, name: object, known: Iterable[str]) -> UnknownName:
    """The error for a name that is not known, with the nearest known one and the whole list."""
    names = sorted(known)
    near = get_close_matches(str(name), names, n=1, cutoff=0.6)
    proposal = f" Did you mean '{near[0]}'?" if near else ""
    shown = ", ".join(names[:40]) + (f" … ({len(names)} in all)" if len(names) > 40 else "")
    return UnknownName(f"no {kind} named '{name}'.{proposal} Known: {shown}.")


def missing_extra(package: str, extra: str, purpose: str) -> MissingExtra:
    """The error for an optional package that is not installed, with the command that installs it."""
    return MissingExtra(
        f"{purpose} needs the package '{package}', which is not installed. "
        f"Run: pip install 'headlight[{extra}]'."
    )
