"""What the modules of methods and metrics register, read from their source text instead of imported.

Importing them imports torch, which takes seconds. Names, aliases, options and documentation are plain values in
the source, so a list of methods, or an error about a name, does not have to wait for torch.
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
HOMES = {"method": "methods", "metric": "metrics", "ablation": "explaining.ablation"}
"""Where entries of a kind are registered: in the files of a folder, or in one file."""
BUILT_IN = {kind.__name__: kind for kind in (bool, float, int, str, tuple)}
LIGHT = ("collections.abc", "headlight.registry.options", "typing")
"""Modules whose names are looked up by importing them, because that needs no torch."""
OPAQUE = (ast.Attribute, ast.Lambda, ast.comprehension, ast.Await, ast.Yield, ast.NamedExpr)
"""Parts of an expression that are never evaluated here."""


class Unread:
    """A value that can be known only by importing its module."""


UNREAD = Unread()


def declared(kind: str) -> Functions:
    """The registry of a kind in HOMES, read from source unless the real one is loaded or needed.

    Other packages register when they are imported, so the real registry is needed if one is installed.
    """
    home = f"headlight.{HOMES[kind]}"
    if home in sys.modules or entry_points(group=home) or not sources(kind):
        registry: Functions = getattr(import_module(home), f"{kind}s".upper())
        return registry
    return read(kind)


def sources(kind: str) -> list[Path]:
    """The files that register entries of a kind."""
    place = HOME.joinpath(*HOMES[kind].split("."))
    return sorted(place.glob("*.py")) or [
        path for path in [place.with_suffix(".py")] if path.exists()
    ]


@cache
def read(kind: str) -> Functions:
    """A registry whose entries have all their facts, but functions that compute nothing."""
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
        """The syntax tree."""
        return ast.parse(self.path.read_text(encoding="utf-8"))

    @cached_property
    def assigned(self) -> dict[str, ast.expr]:
        """The expression that is assigned to each name."""
        simple = [n for n in self.module.body if isinstance(n, ast.Assign)]
        return {n.targets[0].id: n.value for n in simple if isinstance(n.targets[0], ast.Name)}

    @cached_property
    def imported(self) -> dict[str, str]:
        """The module that each name is imported from."""
        imports = [n for n in self.module.body if isinstance(n, ast.ImportFrom)]
        return {alias.name: str(node.module) for node in imports for alias in node.names}

    def value(self, node: ast.expr) -> Any:
        """The value of an expression of known names; `UNREAD` for any other."""
        parts = list(ast.walk(node))
        names = {part.id: self.named(part.id) for part in parts if isinstance(part, ast.Name)}
        if UNREAD in names.values() or any(isinstance(part, OPAQUE) for part in parts):
            return UNREAD
        # Safe: the source is our own, and neither attributes nor built-in functions can be reached.
        return eval(
            compile(ast.Expression(node), str(self.path), "eval"), {"__builtins__": {}}, names
        )

    def named(self, name: str) -> Any:
        """The value of a name, also if another module of headlight assigns it."""
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
    """Do what a decorator does to the registry, with a function that computes nothing."""
    verb = ast.unparse(call.func).removeprefix(f"{registry.kind}s.".upper())
    if verb not in ("register", "released"):
        return
    name = source.value(call.args[0])
    if verb == "released":
        registry.entries[name] = replace(registry.entries[name], released=function)
        return
    values = {str(k.arg): source.value(k.value) for k in call.keywords}
    # What cannot be read is another function, such as `mixing`: that there is one is all that is asked.
    facts = {key: function if value is UNREAD else value for key, value in values.items()}
    registry.register(name, **facts)(function)


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
