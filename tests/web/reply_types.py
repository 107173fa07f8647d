"""The replies of the API as JSDoc types: `python -m tests.web.reply_types` writes them for the page."""

import inspect
from pathlib import Path
from types import NoneType, UnionType
from typing import Any, Literal, get_args, get_origin, get_type_hints

from typing_extensions import is_typeddict

from headlight.web import replies
from headlight.web.app import STATIC

HOME = STATIC / "shared" / "replies.js"
NAMES = {
    str: "string",
    int: "number",
    float: "number",
    bool: "boolean",
    NoneType: "null",
    Any: "any",
}
HEADER = """\
// What the server replies, as src/headlight/web/replies.py has it; a test compares both.
// Written by `python -m tests.web.reply_types`.
"""


def written(kind: Any) -> str:
    """A Python type as JSDoc writes it."""
    if kind in NAMES:
        return NAMES[kind]
    if is_typeddict(kind):
        return str(kind.__name__)
    parts = get_args(kind)
    if get_origin(kind) is Literal:
        return " | ".join(f'"{part}"' for part in parts)
    if isinstance(kind, UnionType):
        return " | ".join(map(written, parts))
    if get_origin(kind) is list:
        inner = written(parts[0])
        return f"({inner})[]" if " " in inner else f"{inner}[]"
    assert get_origin(kind) is dict, kind
    return f"Record<{written(parts[0])}, {written(parts[1])}>"


def typedef(kind: type) -> str:
    """One reply."""
    summary = inspect.cleandoc(str(kind.__doc__)).replace("\n", "\n * ").replace(" * \n", " *\n")
    fields = [f" * @property {{{written(t)}}} {name}" for name, t in get_type_hints(kind).items()]
    return "\n".join(
        ["/**", f" * {summary}", f" * @typedef {{object}} {kind.__name__}", *fields, " */"]
    )


def module() -> str:
    """The whole file."""
    kinds = [each for each in vars(replies).values() if is_typeddict(each)]
    return "\n".join([HEADER, *(f"{typedef(kind)}\n" for kind in kinds), "export {};", ""])


if __name__ == "__main__":
    Path(HOME).write_text(module(), encoding="utf-8")
