"""The server as a process: how it starts, what it says, and how it stops."""

import http.client
import json
import os
import re
import select
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar
from urllib.parse import urlsplit

import pytest
from typer.testing import CliRunner

from headlight import HeadlightError, InvalidOption, Model
from headlight.cli import app, main
from headlight.errors import MissingExtra
from headlight.web.app import STATIC
from headlight.web.limits import Limits
from headlight.web.loaded_models import LoadedModels
from headlight.web.server import DRAIN, Address, found_runs, serve
from tests.known import known

TEXT = "a charming and often affecting journey, though the plot is thin"


@dataclass(frozen=True, eq=False)
class Server:
    """A process and what it said of itself."""

    process: subprocess.Popen[str]
    line: str

    @property
    def address(self) -> Any:
        (found,) = re.findall(r"http://\S+", self.line)
        return urlsplit(found)

    def send(self, verb: str, path: str, question: Any = None, **headers: str) -> Any:
        """A connection over which a request was sent."""
        connection = http.client.HTTPConnection("127.0.0.1", self.address.port, timeout=60)
        body = None if question is None else json.dumps(question)
        kind = {} if body is None else {"Content-Type": "application/json"}
        connection.request(verb, path, body, {**kind, **headers})
        return connection

    def ask(self, verb: str, path: str, question: Any = None, **headers: str) -> tuple[int, str]:
        return answer(self.send(verb, path, question, **headers))


def answer(connection: http.client.HTTPConnection) -> tuple[int, str]:
    """The status and the text of what comes back."""
    try:
        response = connection.getresponse()
        return response.status, response.read().decode()
    finally:
        connection.close()


@contextmanager
def server(*arguments: str, **environment: str) -> Iterator[Server]:
    """A server that is ready to answer."""
    process = subprocess.Popen(
        [sys.executable, "-m", "headlight", "serve", "--port", "0", *arguments],
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "HF_HUB_OFFLINE": "1", "OMP_NUM_THREADS": "1", **environment},
    )
    assert process.stderr is not None
    try:
        said = []
        for line in process.stderr:
            said.append(line)
            if line.startswith("headlight is at"):
                break
        assert process.poll() is None, "".join(said)
        yield Server(process, said[-1])
    finally:
        process.kill()
        process.wait()
        process.stderr.close()


@pytest.mark.slow
@pytest.mark.xdist_group("serve")
def test_a_server_answers_and_stops_when_the_last_is_answered() -> None:
    question = {"model": "sentiment", "text": TEXT, "methods": ["lime"]}
    with server("--model", "sentiment") as running:
        assert running.address.hostname == "127.0.0.1"
        assert running.address.path == "/"
        assert running.address.fragment == ""
        assert running.ask("GET", "/") == (200, (STATIC / "index.html").read_text())
        status, about = running.ask("GET", "/api/about")
        assert status == 200
        assert [each["name"] for each in json.loads(about)["models"]] == ["sentiment"]
        assert running.ask("GET", "/", Host="evil.example")[0] == 421
        waiting = [
            running.send("POST", "/api/explain", {**question, "text": f"{TEXT} {n}"})
            for n in range(4)
        ]
        assert running.ask("GET", "/api/about")[0] == 200
        answered, *_ = select.select([each.sock for each in waiting], [], [], 0)
        assert len(answered) < 4
        running.process.send_signal(signal.SIGTERM)
        for number, connection in enumerate(waiting):
            status, said = answer(connection)
            assert status == 200, said
            assert json.loads(said)["attributions"][0]["data"]["texts"] == [f"{TEXT} {number}"]
        assert running.process.wait(30) == 0
        assert known(running.process.stderr).read() == ""
        with pytest.raises(ConnectionRefusedError):
            running.send("GET", "/")


@pytest.mark.slow
@pytest.mark.xdist_group("serve")
def test_other_machines_need_the_token(folder: str) -> None:
    with server("--model", folder, "--model", "sentiment", "--host", "0.0.0.0") as running:
        name, _, token = running.address.fragment.partition("=")
        assert name == "token"
        assert len(token) >= 32
        assert running.ask("GET", "/")[0] == 200
        assert running.ask("GET", "/api/about")[0] == 401
        assert running.ask("GET", "/api/about", Authorization="Bearer no")[0] == 401
        bearer = f"Bearer {token}"
        status, about = running.ask("GET", "/api/about", Authorization=bearer, Host="machine:1")
        assert status == 200
        assert token not in about
        running.process.send_signal(signal.SIGINT)
        assert running.process.wait(30) == 0
        assert known(running.process.stderr).read() == ""


# --------------------------------------------------------------------------------- refusals


def mistake(*arguments: str) -> HeadlightError:
    """The error that a command must end with."""
    found = CliRunner().invoke(app, ["serve", *arguments]).exception
    assert isinstance(found, HeadlightError), found
    return found


@pytest.fixture
def taken() -> Iterator[int]:
    """A port on which someone listens."""
    with socket.create_server(("127.0.0.1", 0)) as found:
        yield found.getsockname()[1]


def test_a_port_that_is_taken_is_told_in_a_sentence_and_an_exit_code(
    taken: int, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", ["headlight", "serve", "--port", str(taken)])
    with pytest.raises(SystemExit) as end:
        main()
    assert end.value.code == 1
    said = " ".join(capsys.readouterr().err.split())
    assert said == (
        f"error: InvalidInput: cannot listen on 127.0.0.1, port {taken}: Address already in use. "
        "Choose another --port, or --port 0 for any free port."
    )


@pytest.mark.parametrize(
    ("arguments", "part"),
    [
        (["--model", "sentimnet"], "no model named 'sentimnet'. Did you mean 'sentiment'?"),
        (["--port", "70000"], "port 70000 does not exist"),
        (["--port", "-1"], "port -1 does not exist"),
        (["--host", "no.such.host.invalid"], "cannot listen on no.such.host.invalid"),
        (["--host", "192.0.2.1"], "cannot listen on 192.0.2.1, port 0"),
        (["--run", "."], "there is no run in '.'"),
        (["--run", "nowhere"], "there is no run in 'nowhere'"),
    ],
)
def test_what_cannot_be_served_is_told_in_a_sentence(
    arguments: list[str], part: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert part in str(mistake("--port", "0", *arguments))


def test_runs_are_called_by_their_folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("headlight.web.server.open_folder", lambda path: path)
    one, other = tmp_path / "a" / "run", tmp_path / "b" / "run"
    assert found_runs([one, tmp_path / "b" / ".." / "c"]) == {"run": one, "c": tmp_path / "c"}
    with pytest.raises(InvalidOption, match="two runs are named 'run'"):
        found_runs([one, other])


@pytest.mark.parametrize("package", ["fastapi", "uvicorn"])
def test_without_the_packages_it_says_what_to_install(
    package: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    modules = dict(sys.modules)
    for name, module in modules.items():
        if name.startswith("headlight.web."):
            # Importing sets the attribute of the package too, which must be put back as well.
            package_name, _, own = name.rpartition(".")
            monkeypatch.setattr(modules[package_name], own, module)
            monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, package, None)
    error = mistake()
    assert type(error).__name__ == MissingExtra.__name__
    assert str(error) == (
        f"headlight serve needs the package '{package}', which is not installed. "
        "Run: pip install 'headlight[web]'."
    )


# -------------------------------------------------------------------------------- addresses


# ------------------------------------------------------------------------- what is told


class Uvicorn:
    """A server that answers one question and is stopped."""

    def __init__(self, config: Any) -> None:
        self.config = config

    def run(self, sockets: list[socket.socket]) -> None:
        (place,) = sockets
        Uvicorn.seen = (self.config, place.getsockname()[1])
        os.kill(os.getpid(), signal.SIGTERM)  # which uvicorn sends again when it has stopped

    seen: ClassVar[tuple[Any, int]]


def has_version_6() -> bool:
    """Whether this machine can listen on ::1."""
    try:
        with socket.socket(socket.AF_INET6) as tried:
            tried.bind(("::1", 0))
    except OSError:
        return False
    return True


@pytest.mark.parametrize(
    ("host", "token", "shown"),
    [
        ("127.0.0.1", None, "http://127.0.0.1:{port}/ "),
        ("::1", "own", "http://[::1]:{port}/#token=own "),
    ],
)
def test_a_server_says_where_it_is_and_gives_back_the_signals(
    host: str, token: str | None, shown: str, classifier: Model, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("headlight.web.loaded_models.load", lambda _name, **_place: classifier)
    monkeypatch.setattr("headlight.web.server.uvicorn.Server", Uvicorn)
    before = [signal.getsignal(each) for each in (signal.SIGTERM, signal.SIGINT)]
    said: list[str] = []
    if host == "::1" and not has_version_6():
        pytest.skip("this machine has no network of version 6")
    serve(LoadedModels(("one",)), [], Address(host, 0, token), Limits(seconds=7), said.append)
    config, port = Uvicorn.seen
    assert said == ["loading one …", f"headlight is at {shown.format(port=port)}(Ctrl+C stops it)"]
    assert config.timeout_graceful_shutdown == 7 + DRAIN
    assert [signal.getsignal(each) for each in (signal.SIGTERM, signal.SIGINT)] == before
