"""Every example runs, and is short; the app for a Space answers over its own server."""

import json
import os
import runpy
import socket
import subprocess
import sys
import time
from pathlib import Path

import httpx
import pytest

from headlight import Answer

HOME = Path(__file__).parent.parent / "examples"
EXAMPLES, NOTEBOOKS = sorted(HOME.glob("*.py")), sorted(HOME.glob("*.ipynb"))


@pytest.mark.parametrize(
    "path",
    [EXAMPLES[0], *(pytest.param(path, marks=pytest.mark.slow) for path in EXAMPLES[1:])],
    ids=lambda path: path.stem,
)
def test_examples_run(path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert len(path.read_text(encoding="utf-8").splitlines()) < 40
    runpy.run_path(str(path), run_name="__main__")
    assert capsys.readouterr().out


@pytest.mark.slow
@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_notebooks_run(path: Path) -> None:
    names: dict[str, object] = {}
    for cell in json.loads(path.read_text(encoding="utf-8"))["cells"]:
        assert not cell.get("outputs"), "outputs are not stored"
        if cell["cell_type"] == "code":
            exec("".join(cell["source"]), names)
    shown = [value for value in names.values() if isinstance(value, Answer)]
    assert shown
    assert all("headlight" in answer._repr_html_() for answer in shown)


@pytest.mark.slow
def test_the_app_for_a_space_answers() -> None:
    path = Path(__file__).parent.parent / "examples" / "space" / "app.py"
    assert len(path.read_text(encoding="utf-8").splitlines()) < 40
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    address = f"http://127.0.0.1:{port}/gradio_api"
    environment = {"GRADIO_SERVER_PORT": str(port), "GRADIO_ANALYTICS_ENABLED": "False"}
    with subprocess.Popen([sys.executable, path], env=os.environ | environment) as process:
        try:
            wait_for(f"{address}/info", process)
            given = {"data": ["a fine film <b>", ["attcat"]]}
            asked = httpx.post(f"{address}/call/explain", json=given).json()
            answer = httpx.get(f"{address}/call/explain/{asked['event_id']}", timeout=60).text
        finally:
            process.terminate()
    assert "event: complete" in answer
    assert "positive" in answer
    assert "&lt;" in answer
    assert "fine film <b>" not in answer


def wait_for(address: str, process: "subprocess.Popen[bytes]") -> None:
    """Until a server answers."""
    for _ in range(600):
        assert process.poll() is None, "the app has ended"
        try:
            if httpx.get(address).is_success:
                return
        except httpx.TransportError:
            time.sleep(0.1)
    raise TimeoutError(address)
