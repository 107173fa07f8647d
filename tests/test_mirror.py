"""Tests stand where their source stands: src/headlight/a/b.py has tests/a/test_b.py."""

from pathlib import Path

import headlight

SOURCE = Path(headlight.__file__).parent
TESTS = Path(__file__).parent

EXCEPTIONS = {
    "__main__.py": "three lines, run by tests/cli/test_cli.py",
    "methods/registry.py": "five lines that make a registry; tests/registry tests what registries do",
    "renderers/registry.py": "five lines that make a registry; tests/registry tests what registries do",
    "shapes.py": "names of axes, which jaxtyping checks in every test",
    "web/replies.py": "types alone; FastAPI checks every reply, tests/web/test_javascript.py the page's copy",
}
"""Modules without a test file of their own, and why."""


def modules() -> list[Path]:
    """Every source file but the openings of packages, which hold names alone (tests/test_surface.py)."""
    found = (path.relative_to(SOURCE) for path in SOURCE.rglob("*.py"))
    return sorted(path for path in found if path.name != "__init__.py")


def test_every_module_has_its_tests_beside_it_in_the_mirror() -> None:
    missing = [
        path.as_posix()
        for path in modules()
        if not (TESTS / path.parent / f"test_{path.name}").exists()
    ]
    assert missing == sorted(EXCEPTIONS), (
        "a source file without tests/…/test_NAME.py, or an exception that is none any more"
    )


def test_every_file_of_the_mirror_tests_something() -> None:
    for path in modules():
        mirrored = TESTS / path.parent / f"test_{path.name}"
        if mirrored.exists():
            assert "\ndef test_" in mirrored.read_text(encoding="utf-8"), mirrored


def test_tests_that_trace_for_themselves_are_not_measured() -> None:
    """After `sys.settrace` coverage sees nothing more in that process, and does not say so."""
    for path in TESTS.rglob("test_*.py"):
        text = path.read_text(encoding="utf-8")
        if f"sys.{'settrace'}(" in text:
            assert "pytest.mark.no_cover" in text, path
