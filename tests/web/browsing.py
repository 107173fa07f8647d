"""A real server and a real browser, for the tests of the pages."""

import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect, sync_playwright

import headlight

BROWSERS = ("chromium", "chromium-browser", "google-chrome")
FOUND = next((path for name in BROWSERS if (path := shutil.which(name))), None)
EXPECT_SECONDS = 20
MARKS = [
    pytest.mark.slow,
    pytest.mark.skipif(FOUND is None, reason=f"no browser is installed: {', '.join(BROWSERS)}"),
    pytest.mark.xdist_group("browser"),
]
"""What every module of browser tests is marked with."""
expect.set_options(timeout=EXPECT_SECONDS * 1000)


@dataclass(frozen=True)
class Tab:
    """A page, the address of its server, and what its console said."""

    page: Page
    address: str
    said: list[str] = field(default_factory=list)

    def open(self, query: str = "") -> Page:
        """The page of a link, once it has answered."""
        self.page.goto(f"{self.address}/{query}")
        expect(self.page.locator(".heatmap .piece").first).to_be_visible()
        return self.page

    def is_quiet(self) -> bool:
        """Whether nothing was said but that a request was refused."""
        return not [line for line in self.said if "Failed to load resource" not in line]


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A small evaluation run."""
    out = tmp_path_factory.mktemp("runs") / "small"
    headlight.evaluate(
        "sentiment",
        "samples/sentiment",
        methods=["attcat", "rollout", "random"],
        metrics=["aopc", "sufficiency"],
        out=out,
        limit=12,
    )
    return out


@pytest.fixture(scope="module")
def server(run: Path) -> Iterator[str]:
    """A real server with a classifier, a reader of pairs and a writer."""
    models = [
        word for name in ("sentiment", "qa", "agreement", "llm") for word in ("--model", name)
    ]
    command = [
        sys.executable,
        "-m",
        "headlight",
        "serve",
        "--port",
        "0",
        "--run",
        str(run),
        *models,
    ]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        found = None
        while found is None:
            line = process.stderr.readline()
            assert line, "the server has ended"
            found = re.search(r"http://[0-9.:]+", line)
        yield found[0]
        process.send_signal(signal.SIGTERM)
        assert process.wait(30) == 0


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with sync_playwright() as playwright:
        found = playwright.chromium.launch(executable_path=FOUND, args=["--no-sandbox"])
        yield found
        found.close()


@pytest.fixture
def tab(browser: Browser, server: str) -> Iterator[Tab]:
    context = browser.new_context(viewport={"width": 1280, "height": 900}, accept_downloads=True)
    found = Tab(context.new_page(), server)
    found.page.on("console", lambda message: found.said.append(message.text))
    found.page.on("pageerror", lambda error: found.said.append(str(error)))
    yield found
    context.close()
    assert found.is_quiet(), found.said
