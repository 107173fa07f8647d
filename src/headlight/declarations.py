"""What the modules of methods and metrics register, read from their source text instead of imported.

Importing them imports torch, which takes seconds. Names, aliases, options and documentation stand in the
source as plain values, so that a list of methods, or a mistake in a name, need not wait for it.
"""

import ast
import sys
from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import cache
from importlib import import_module
from importlib.metadata import entry_points
from inspect import Parameter, Signature, cleandoc
from pathlib import Path
from typing import Any

from headlight.registry import Function, Registry

SIMPLE_TYPES: dict[str, type] = {t.__name__: t for t in (bool, float, int, str)}
VALUES = (ast.Constant, ast.Set, ast.Tuple, ast.List, ast.BinOp, ast.UnaryOp, ast.operator, ast.unaryop,
          ast.expr_context)  # fmt: skip
"""Nodes of an expression that has its value without any name being looked up."""


class Unread:
    """Stands for a value that only importing the module would tell."""


UNREAD = Unread()


def declared(kind: str) -> Registry:
    """The registry of 'method' or 'metric': the real one where it costs nothing or has more to tell.

    Other packages register by being imported, so where one is installed the real registry is taken.
    """
    home = f"headlight.{kind}s"
    if home in sys.modules or entry_points(group=home) or not sources(kind):
        registry: Registry = getattr(import_module(home), f"{kind}s".upper())
        return registry
    return read(kind)


def sources(kind: str) -> list[Path]:
    """The files that register entries of a kind."""
    return sorted((Path(__file__).parent / f"{kind}s").glob("*.py"))


@cache
def read(kind: str) -> Registry:
    """A registry of entries that say everything about themselves and compute nothing."""
    registry = Registry(kind, plugins_read=True)
    for path in sources(kind):
        module = ast.parse(path.read_text(encoding="utf-8"))
        constants = {name: value for name, value in assigned(module) if value is not UNREAD}
        for node in module.body:
            for call in registrations(node, f"{kind}s".upper()):
                add(registry, call, placeholder(node, constants), constants)
    return registry


def assigned(module: ast.Module) -> Iterator[tuple[str, Any]]:
    """The names of a module that are given plain values, and these."""
    for node in module.body:
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            yield node.targets[0].id, value_of(node.value, {})


def registrations(node: ast.stmt, registry: str) -> Iterator[ast.Call]:
    """The decorators of a function that register it."""
    for each in getattr(node, "decorator_list", ()):
        if isinstance(each, ast.Call) and ast.unparse(each.func).startswith(f"{registry}."):
            yield each


def add(
    registry: Registry, call: ast.Call, function: Function, constants: Mapping[str, Any]
) -> None:
    """Do to the registry what the decorator does, with a function that computes nothing."""
    name = value_of(call.args[0], constants)
    if ast.unparse(call.func).endswith(".released"):
        registry.entries[name] = replace(registry.entries[name], released=function)
        return
    facts = {str(k.arg): value_of(k.value, constants) for k in call.keywords}
    registry.register(name, **{k: function if v is UNREAD else v for k, v in facts.items()})(
        function
    )


def placeholder(node: Any, constants: Mapping[str, Any]) -> Function:
    """A function with the name, documentation and options of a definition, and no body."""

    def function(*_: Any, **__: Any) -> None:
        raise AssertionError(f"{node.name} was read from its source, not imported")

    options = zip(node.args.kwonlyargs, node.args.kw_defaults, strict=True)
    parameters = [
        Parameter(
            argument.arg,
            Parameter.KEYWORD_ONLY,
            default=Parameter.empty if default is None else value_of(default, constants),
            annotation=type_of(argument.annotation),
        )
        for argument, default in options
    ]
    function.__name__, function.__doc__ = node.name, cleandoc(ast.get_docstring(node) or "")
    function.__signature__ = Signature(parameters)  # type: ignore[attr-defined]
    return function


def value_of(node: ast.expr, constants: Mapping[str, Any]) -> Any:
    """The value of a plain expression, or of a name that is given one; `UNREAD` of any other."""
    if isinstance(node, ast.Name):
        return constants.get(node.id, UNREAD)
    if not all(isinstance(part, VALUES) for part in ast.walk(node)):
        return UNREAD
    return eval(compile(ast.Expression(node), "", "eval"), {"__builtins__": {}})


def type_of(annotation: ast.expr | None) -> Any:
    """The type of an annotation that is made of simple ones, as in `int | None`; else nothing."""
    named = (
        [part.id for part in ast.walk(annotation) if isinstance(part, ast.Name)]
        if annotation
        else []
    )
    if annotation is None or not named or not set(named) <= set(SIMPLE_TYPES):
        return Parameter.empty
    return eval(
        compile(ast.Expression(annotation), "", "eval"), {"__builtins__": {}, **SIMPLE_TYPES}
    )
