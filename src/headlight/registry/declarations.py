"""What the modules of methods and metrics register, read from their source text instead of imported.

Importing them imports torch, which takes seconds. Names, aliases, options and documentation stand in the
source as plain values, so that a list of methods, or a mistake in a name, need not wait for it.
"""

import ast
import sys
from dataclasses import dataclass, replace
from functools import cache, cached_property
from importlib import import_module
from importlib.metadata import entry_points
from inspect import Parameter, Signature, cleandoc
from pathlib import Path
from typing import Any

from headlight.registry.entries import Function, Functions

HOME = Path(__file__).parents[1]
BUILT_IN = {kind.__name__: kind for kind in (bool, float, int, str, tuple)}
LIGHT = ("collections.abc", "headlight.registry.options", "typing")
"""Modules whose names are looked up by importing them, because that needs no torch."""
OPAQUE = (ast.Attribute, ast.Lambda, ast.comprehension, ast.Await, ast.Yield, ast.NamedExpr)
"""Parts of an expression that are never evaluated here."""


class Unread:
    """Stands for a value that only importing its module would tell."""


UNREAD = Unread()


def declared(kind: str) -> Functions:
    """The registry of 'method' or 'metric': the real one where it costs nothing or has more to tell.

    Other packages register by being imported, so where one is installed the real registry is taken.
    """
    home = f"headlight.{kind}s"
    if home in sys.modules or entry_points(group=home) or not sources(kind):
        registry: Functions = getattr(import_module(home), f"{kind}s".upper())
        return registry
    return read(kind)


def sources(kind: str) -> list[Path]:
    """The files that register entries of a kind."""
    return sorted((HOME / f"{kind}s").glob("*.py"))


@cache
def read(kind: str) -> Functions:
    """A registry of entries that say everything about themselves and compute nothing."""
    registry = Functions(kind, plugins_read=True)
    for path in sources(kind):
        source = source_at(path)
        for node in source.module.body:
            for call in getattr(node, "decorator_list", ()):
                if isinstance(call, ast.Call) and isinstance(node, ast.FunctionDef):
                    add(registry, call, placeholder(node, source), source)
    return registry


@dataclass(frozen=True)
class Source:
    """A module as text: its plain values can be read, nothing in it runs."""

    path: Path

    @cached_property
    def module(self) -> ast.Module:
        """What is written there."""
        return ast.parse(self.path.read_text(encoding="utf-8"))

    @cached_property
    def assigned(self) -> dict[str, ast.expr]:
        """The expressions that names are given."""
        simple = [n for n in self.module.body if isinstance(n, ast.Assign)]
        return {n.targets[0].id: n.value for n in simple if isinstance(n.targets[0], ast.Name)}

    @cached_property
    def imported(self) -> dict[str, str]:
        """The modules that names are imported from."""
        found = [n for n in self.module.body if isinstance(n, ast.ImportFrom)]
        return {each.name: str(node.module) for node in found for each in node.names}

    def value(self, node: ast.expr) -> Any:
        """The value of an expression of known names; `UNREAD` of any other."""
        parts = list(ast.walk(node))
        names = {part.id: self.named(part.id) for part in parts if isinstance(part, ast.Name)}
        if UNREAD in names.values() or any(isinstance(part, OPAQUE) for part in parts):
            return UNREAD
        return eval(
            compile(ast.Expression(node), str(self.path), "eval"), {"__builtins__": {}}, names
        )

    def named(self, name: str) -> Any:
        """The value of a name, also of one that another module of ours gives a plain value."""
        if name in self.assigned:
            return self.value(self.assigned[name])
        home = self.imported.get(name, "")
        if home in LIGHT:
            return getattr(import_module(home), name)
        path = HOME.parent.joinpath(*home.split(".")).with_suffix(".py")
        if home.startswith("headlight.") and path.is_file():
            return source_at(path).named(name)
        return BUILT_IN.get(name, UNREAD)


source_at = cache(Source)
"""A module as text, read once."""


def add(registry: Functions, call: ast.Call, function: Function, source: Source) -> None:
    """Do to the registry what a decorator does, with a function that computes nothing."""
    verb = ast.unparse(call.func).removeprefix(f"{registry.kind}s.".upper())
    if verb not in ("register", "released"):
        return
    name = source.value(call.args[0])
    if verb == "released":
        registry.entries[name] = replace(registry.entries[name], released=function)
        return
    facts = {str(k.arg): source.value(k.value) for k in call.keywords}
    given = {name: function if value is UNREAD else value for name, value in facts.items()}
    registry.register(name, **given)(function)


def placeholder(node: ast.FunctionDef, source: Source) -> Function:
    """A function with the name, documentation and options of a definition, and no body."""

    def function(*_: Any, **__: Any) -> None:
        raise AssertionError(f"{node.name} was read from its source, not imported")

    kinds: dict[str, Any] = {}
    parameters = []
    for argument, default in zip(node.args.kwonlyargs, node.args.kw_defaults, strict=True):
        kind = source.value(argument.annotation) if argument.annotation else UNREAD
        kinds[argument.arg] = object if kind is UNREAD else kind
        value = Parameter.empty if default is None else source.value(default)
        parameters.append(Parameter(argument.arg, Parameter.KEYWORD_ONLY, default=value))
    function.__name__, function.__doc__ = node.name, cleandoc(ast.get_docstring(node) or "")
    function.__annotations__ = kinds
    function.__signature__ = Signature(parameters)  # type: ignore[attr-defined]
    return function
