"""The page's scripts: their unit tests, run by node, and what holds without it."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from headlight.web.app import STATIC
from tests.web.reply_types import HOME, module

TESTS = sorted(Path(__file__).with_name("static").rglob("*.test.js"))
SCRIPTS = sorted(STATIC.rglob("*.js"))
NODE = shutil.which("node")


@pytest.mark.skipif(NODE is None, reason="node is not installed, so no JavaScript can run")
def test_unit_tests_pass() -> None:
    command = [str(NODE), "--test", "--experimental-test-coverage", *map(str, TESTS)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    print(done.stdout)
    assert done.returncode == 0, done.stdout + done.stderr
    passed = re.search(r"^# pass (\d+)", done.stdout, re.MULTILINE)
    assert passed is not None
    assert int(passed[1]) >= len(TESTS)


def test_types_of_replies_are_those_of_the_server() -> None:
    assert HOME.read_text("utf-8") == module(), "run `python -m tests.web.reply_types`"


@pytest.mark.parametrize("path", SCRIPTS, ids=lambda path: str(path.relative_to(STATIC)))
def test_a_script_imports_files_of_the_page_only(path: Path) -> None:
    text = path.read_text("utf-8")
    for name in re.findall(r'(?:from|import) "([^"]+)"', text):
        assert name.startswith("."), name
        assert (path.parent / name).resolve().is_relative_to(STATIC), name
        assert (path.parent / name).is_file(), name
    assert set(re.findall(r"https?://[^\"'` ]+", text)) <= {"http://www.w3.org/2000/svg"}


@pytest.mark.parametrize("page", ["index.html", "answers.html", "results.html"])
def test_a_page_has_every_id_that_its_scripts_ask_for(page: str) -> None:
    html = (STATIC / page).read_text("utf-8")
    (entry,) = re.findall(r'type="module" src="/static/([^"]+)"', html)
    scripts = [*(STATIC / entry).parent.glob("*.js"), *(STATIC / "shared").glob("*.js")]
    asked = {
        name
        for script in scripts
        for name in re.findall(r'[bB]yId\("([\w-]+)"', script.read_text("utf-8"))
    }
    assert asked - set(re.findall(r'id="([\w-]+)"', html)) == set()
