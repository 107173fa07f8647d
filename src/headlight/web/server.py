"""Starts and stops the server: models, runs, and uvicorn."""

import signal
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import uvicorn

from headlight.errors import InvalidOption
from headlight.evaluation.folder import open_folder
from headlight.web.address import Address as Address
from headlight.web.address import listening
from headlight.web.app import application
from headlight.web.limits import Limits
from headlight.web.loaded_models import LoadedModels
from headlight.web.runs import Runs

DRAIN = 5
"""Seconds beyond the limit of one request that a stopping server waits for the last answers."""


def found_runs(folders: Sequence[Path]) -> dict[str, Path]:
    """Folders of runs by name; a folder without a run is refused."""
    found: dict[str, Path] = {}
    for folder in folders:
        open_folder(folder)
        name = folder.resolve().name
        if name in found:
            raise InvalidOption(f"two runs are named '{name}'. Rename one of the folders.")
        found[name] = folder.resolve()
    return found


def serve(
    loaded: LoadedModels,
    runs: Sequence[Path],
    address: Address,
    limits: Limits,
    say: Callable[[str], None],
) -> None:
    """Serve until a signal arrives; then answer the waiting requests and stop."""
    token = address.needed_token
    folders = found_runs(runs)
    with listening(address) as place:
        say(f"loading {loaded.names[0]} …")
        loaded.fill()
        results = Runs(folders)
        results.prepare()
        app = application(loaded, results, limits=limits, token=token, hosts=address.hosts)
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
            loaded.close()


@contextmanager
def signals_end_quietly() -> Iterator[None]:
    """Ignore SIGINT and SIGTERM around uvicorn, which raises them again after the last answer."""
    before = {
        each: signal.signal(each, lambda *_: None) for each in (signal.SIGTERM, signal.SIGINT)
    }
    try:
        yield
    finally:
        for each, handler in before.items():
            signal.signal(each, handler)
