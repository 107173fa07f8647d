"""Data flows one way: a module imports only from its own folder and from lower layers."""

import ast
from pathlib import Path

import headlight

HOME = Path(headlight.__file__).parent
LAYERS = {
    "errors": 0,
    "progress": 0,
    "shapes": 0,
    "text": 1,
    "fields": 1,
    "storage": 1,
    "options": 1,
    "registry": 2,
    "declarations": 3,
    "batch": 2,
    "target": 1,
    "attribution": 2,
    "headmask": 2,
    "tokenmixing": 2,
    "models": 3,
    "renderers": 3,
    "files": 3,
    "trace": 4,
    "heads": 5,
    "inputs": 5,
    "loading": 5,
    "metrics": 5,
    "data": 6,
    "methods": 6,
    "decoders": 7,
    "passes": 7,
    "continuation": 7,
    "ledger": 7,
    "prediction": 8,
    "windows": 8,
    "planning": 8,
    "explanation": 9,
    "evaluation": 10,
    "plot": 11,
    "report": 12,
    "web": 13,
    "cli": 14,
    "__main__": 15,
    "__init__": 15,
}


def imported(path: Path) -> set[str]:
    """Top-level parts of headlight that a file imports."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("headlight."):
            found.add(str(node.module).split(".")[1])
    return found


def test_no_module_imports_from_above() -> None:
    for path in HOME.rglob("*.py"):
        own = path.relative_to(HOME).parts[0].removesuffix(".py")
        for other in imported(path):
            assert other == own or LAYERS[other] < LAYERS[own], f"{path} imports {other}"


def test_every_part_has_a_layer() -> None:
    parts = {
        p.name.removesuffix(".py") for p in HOME.iterdir() if not p.name.startswith("__pycache")
    }
    assert parts - {"py.typed"} == set(LAYERS)
