"""Data flows one way: a module imports only from lower layers, by whatever means it imports."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import headlight

HOME = Path(headlight.__file__).parent
LAYERS = {
    layer: number
    for number, layers in enumerate(
        (
            ("errors", "frozen", "shapes"),
            ("text", "units", "progress", "display", "tokens", "amounts", "making"),
            ("files", "registry", "target"),
            ("batch", "attribution", "headmask", "tokenmixing", "answer_fields"),
            ("answer", "ablated"),
            ("models",),
            ("running",),
            ("trace",),
            ("probing",),
            ("proof", "metrics", "renderers"),
            ("loading",),
            ("methods",),
            ("heads",),
            ("data", "explaining", "using"),
            ("foreign",),
            ("evaluation",),
            ("plot",),
            ("report",),
            ("web",),
            ("cli",),
            ("__main__", "__init__"),
        )
    )
    for layer in layers
}
"""Folders and single files; what stands in one line does not know of its neighbours."""

INSIDE = {
    "explaining": (
        ("inputs", "choices", "chats", "passages"),
        ("plan",),
        ("batches",),
        ("continuation", "conservation", "prediction", "long_texts", "removal"),
        ("robust", "prompts", "ablation", "trust"),
        ("written",),
        ("thoughts", "ablated"),
        ("answers", "explain", "generation", "heads_off", "labels", "layers", "mix"),
    ),
    "evaluation": (
        ("settings", "records", "sourced", "contrasted"),
        ("plan", "parts", "predictions"),
        ("manifest", "queue", "given", "columns"),
        ("attribute",),
        ("folder", "measure"),
        ("estimate", "results"),
        ("standings",),
        ("local",),
        ("cluster",),
        ("request",),
        ("evaluate",),
    ),
    "trace": (
        (
            "resolve",
            "padding",
            "backward",
            "attention_maps",
            "head_switch",
            "relevance.rules",
            "relevance.modifications",
        ),
        ("goal", "relevance.presets", "relevance.intercept", "relevance.steps"),
        ("relevance.activations", "relevance.marks", "recorder", "recompute"),
        ("relevance.modified",),
        ("capture",),
        ("attention_block", "decoder", "double_embedding", "switched_pass"),
        ("forward",),
        ("readout", "attention_pass", "relevance.sweep", "relevance.deeplift"),
        ("trace",),
        ("baselines", "again"),
    ),
}
"""The order of the files in the large folders, from the lowest up."""


def imported(path: Path) -> Iterator[str]:
    """The modules of headlight that a file imports, also those whose names it builds from text."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.module == "headlight":
            yield from (f"headlight.{each.name}" for each in node.names)
        elif isinstance(node, ast.ImportFrom) and str(node.module).startswith("headlight."):
            yield str(node.module)
        elif isinstance(node, ast.Import):
            yield from (each.name for each in node.names if each.name.startswith("headlight"))
        elif isinstance(node, ast.Call) and ast.unparse(node.func).endswith("import_module"):
            yield from re.findall(r"headlight\.[\w.]+", ast.unparse(node))


def inside(name: str) -> int | None:
    """The place of a module in the order of its folder, if the folder has one."""
    folder, _, rest = name.partition(".")
    for number, modules in enumerate(INSIDE.get(folder, ())):
        if rest in modules:
            return number
    return None


def test_no_module_imports_from_above() -> None:
    for path in HOME.rglob("*.py"):
        name = ".".join(path.relative_to(HOME).with_suffix("").parts)
        own = name.split(".")[0]
        for other in imported(path):
            module = other.removeprefix("headlight").removeprefix(".")
            part = module.split(".")[0]
            if part in ("", "__version__") or part == own:
                continue
            assert LAYERS[part] < LAYERS[own], f"{name} imports {module}"


def test_the_files_of_large_folders_have_an_order() -> None:
    for path in HOME.rglob("*.py"):
        name = ".".join(path.relative_to(HOME).with_suffix("").parts)
        if name.split(".")[0] not in INSIDE or name.endswith("__init__"):
            continue
        own = inside(name)
        assert own is not None, f"{name} has no place in the order of its folder"
        for other in imported(path):
            module = other.removeprefix("headlight.")
            place = inside(module) if module.split(".")[0] == name.split(".")[0] else None
            assert place is None or place < own, f"{name} imports {module}"


def test_every_part_has_a_layer() -> None:
    parts = {
        p.name.removesuffix(".py") for p in HOME.iterdir() if not p.name.startswith("__pycache")
    }
    assert parts - {"py.typed"} == set(LAYERS)


def test_imports_by_text_are_seen(tmp_path: Path) -> None:
    path = tmp_path / "sly.py"
    path.write_text('found = import_module("headlight.cli.options")\nimport headlight.web.app\n')
    assert set(imported(path)) == {"headlight.cli.options", "headlight.web.app"}
