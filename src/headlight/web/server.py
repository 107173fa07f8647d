"""Starting and stopping: the address, the token, and uvicorn."""

import secrets
import signal
import socket
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from ipaddress import ip_address
from pathlib import Path
from typing import Any

import uvicorn

from headlight.errors import InvalidInput, InvalidOption
from headlight.evaluation.folder import open_folder
from headlight.web.app import application
from headlight.web.guard import LOOPBACK
from headlight.web.limits import Limits
from headlight.web.runs import Runs
from headlight.web.served import Shelf

DRAIN = 5
"""Seconds beyond the limit of a request that a stopping server waits for the last answers."""


@dataclass(frozen=True)
class Address:
    """Where a server listens; anywhere but on this machine only with a token."""

    host: str = "127.0.0.1"
    port: int = 8000
    token: str | None = None

    @property
    def is_loopback(self) -> bool:
        """Whether only this machine can reach it."""
        try:
            return ip_address(self.host).is_loopback
        except ValueError:
            return self.host == "localhost"

    @property
    def needed_token(self) -> str | None:
        """The token, made up where one is needed and none was given."""
        return self.token or (None if self.is_loopback else secrets.token_urlsafe(24))

    @property
    def hosts(self) -> tuple[str, ...]:
        """The names by which it may be called; with a token by any."""
        return tuple(dict.fromkeys((*LOOPBACK, self.host))) if self.is_loopback else ()


def listening(address: Address) -> socket.socket:
    """A socket that takes connections, or why it cannot; those that come early wait."""
    if not 0 <= address.port <= 65535:
        raise InvalidOption(f"port {address.port} does not exist. Use 0 (any free one) to 65535.")
    try:
        family, *_, place = socket.getaddrinfo(
            address.host, address.port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]
        return bound(family, place)
    except OSError as error:
        raise InvalidInput(
            f"cannot listen on {address.host}, port {address.port}: {error.strerror or error}. "
            "Choose another --port, or --port 0 for any free one."
        ) from error


def bound(family: int, place: Any) -> socket.socket:
    """A listening socket; one that cannot be bound is closed."""
    found = socket.socket(family, socket.SOCK_STREAM)
    try:
        found.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        found.bind(place)
        found.listen()
    except OSError:
        found.close()
        raise
    return found


def found_runs(folders: Sequence[Path]) -> dict[str, Path]:
    """Folders of runs by their names, each known to be one."""
    found: dict[str, Path] = {}
    for folder in folders:
        open_folder(folder)
        name = folder.resolve().name
        if name in found:
            raise InvalidOption(f"two runs are called '{name}'. Rename one of the folders.")
        found[name] = folder.resolve()
    return found


def serve(
    models: Sequence[str],
    runs: Sequence[Path],
    address: Address,
    limits: Limits,
    say: Callable[[str], None],
) -> None:
    """Serve until a signal comes; then answer what was asked and stop."""
    token = address.needed_token
    folders = found_runs(runs)
    with listening(address) as place:
        shelf = Shelf(tuple(dict.fromkeys(models)))
        say(f"loading {shelf.names[0]} …")
        shelf.fill()
        results = Runs(folders)
        results.prepare()
        app = application(shelf, results, limits=limits, token=token, hosts=address.hosts)
        shown = f"[{address.host}]" if ":" in address.host else address.host
        fragment = f"/#token={token}" if token else "/"
        say(f"headlight is at http://{shown}:{place.getsockname()[1]}{fragment} (Ctrl+C stops it)")
        config = uvicorn.Config(
            app,
            log_level="warning",
            access_log=False,
            server_header=False,
            timeout_keep_alive=10,
            timeout_graceful_shutdown=int(limits.seconds) + DRAIN,
        )
        with signals_end_quietly():
            uvicorn.Server(config).run(sockets=[place])
            shelf.close()


@contextmanager
def signals_end_quietly() -> Iterator[None]:
    """Nothing happens at a signal but that uvicorn stops: it sends the signal again when all is answered."""
    before = {
        each: signal.signal(each, lambda *_: None) for each in (signal.SIGTERM, signal.SIGINT)
    }
    try:
        yield
    finally:
        for each, handler in before.items():
            signal.signal(each, handler)
