"""Generated pages are up to date, links lead somewhere, and what the README shows runs."""

import json
import re
import runpy
from pathlib import Path

import pytest
from benchmarks.families.page import page as families_page
from benchmarks.families.run import PAGE, RESULTS

import headlight

HOME = Path(__file__).parent.parent
README = (HOME / "README.md").read_text(encoding="utf-8")


def test_generated_pages_are_up_to_date() -> None:
    generate = runpy.run_path(str(HOME / "docs" / "generate.py"))
    for name in ("methods", "metrics", "models"):
        page = (HOME / "docs" / f"{name}.md").read_text(encoding="utf-8")
        assert page == generate[f"{name}_page"](), name
    assert generate["readme"](README) == README


def test_the_page_of_families_tells_what_was_measured() -> None:
    results = json.loads(RESULTS.read_text(encoding="utf-8"))
    assert PAGE.read_text(encoding="utf-8") == families_page(results)


@pytest.mark.parametrize("page", [*HOME.glob("*.md"), *HOME.glob("docs/**/*.md")], ids=str)
def test_links_lead_somewhere(page: Path) -> None:
    prose = re.sub(r"```.*?```", "", page.read_text(encoding="utf-8"), flags=re.DOTALL)
    for link in re.findall(r"\]\(([^)#]+)", prose):
        if not link.startswith("http"):
            assert (page.parent / link).exists(), link


def test_the_readme_is_short_and_its_code_runs() -> None:
    assert README.count("\n") <= 150
    code = re.findall(r"```python\n(.*?)```", README, re.DOTALL)
    assert code
    for block in code:
        exec(block.replace('"a.json"', '"/dev/null"'), {})


def test_every_error_is_documented() -> None:
    page = (HOME / "docs" / "errors.md").read_text(encoding="utf-8")
    for name in headlight.__all__:
        value = getattr(headlight, name)
        if isinstance(value, type) and issubclass(value, Exception):
            assert f"`{name}`" in page


def test_every_stored_field_is_documented() -> None:
    page = (HOME / "docs" / "format.md").read_text(encoding="utf-8")
    for name in headlight.Attribution.__dataclass_fields__:
        assert f"`{name}`" in page
