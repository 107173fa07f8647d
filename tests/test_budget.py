"""Small enough to read: how long functions and files are, and how many parameters functions take."""

import ast
from collections.abc import Iterator
from pathlib import Path

import headlight

HOME = Path(headlight.__file__).parent
FILES = sorted(HOME.rglob("*.py"))
MOST_LINES_OF_A_FILE = 460
MOST_LINES_OF_A_BODY = 60
USUAL_LINES_OF_A_BODY = 20
MOST_PARAMETERS = 8
VERBS = {"evaluate", "from_scores", "mask_lrp", "random_mask_lrp"}
"""Public calls and methods whose parameters are what a user may ask for; commands are so by nature."""

Function = ast.FunctionDef | ast.AsyncFunctionDef


def functions() -> Iterator[tuple[Path, Function]]:
    for path in FILES:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, Function):
                yield path, node


def lines_of(function: Function) -> int:
    """Lines of the body without its docstring."""
    body = function.body[1:] if ast.get_docstring(function) else function.body
    return body[-1].end_lineno - body[0].lineno + 1 if body else 0  # type: ignore[operator]


def parameters_of(function: Function) -> int:
    given = [
        a.arg for a in (*function.args.posonlyargs, *function.args.args, *function.args.kwonlyargs)
    ]
    return len([name for name in given if name not in ("self", "cls")])


def test_bodies_are_short() -> None:
    sizes = {f"{path}:{f.lineno} {f.name}": lines_of(f) for path, f in functions()}
    assert {name: size for name, size in sizes.items() if size > MOST_LINES_OF_A_BODY} == {}
    assert sorted(sizes.values())[int(len(sizes) * 0.9)] <= USUAL_LINES_OF_A_BODY


def test_functions_take_few_parameters() -> None:
    many = [
        f"{path.relative_to(HOME)} {f.name}"
        for path, f in functions()
        if parameters_of(f) > MOST_PARAMETERS and "cli" not in path.parts and f.name not in VERBS
    ]
    assert many == []


def test_files_are_short() -> None:
    sizes = {str(path): len(path.read_text(encoding="utf-8").splitlines()) for path in FILES}
    assert {name: size for name, size in sizes.items() if size > MOST_LINES_OF_A_FILE} == {}
