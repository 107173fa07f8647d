"""`Folder`: a run on disk. A manifest, the examples, and one Parquet part for every finished job.

Parts are written under another name, flushed and renamed, so that a part is whole or not there. Every job is
locked while it runs, so that two processes share the work; a lock dies with its process.
"""

import hashlib
import json
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from headlight.data.example import Example
from headlight.errors import InvalidInput, InvalidOption
from headlight.evaluation import MANIFEST
from headlight.evaluation.settings import FORMAT, Job, Settings, plan
from headlight.evaluation.tables import (
    example_records,
    examples_of,
    from_bytes,
    table,
    to_bytes,
)
from headlight.storage import write_whole

if TYPE_CHECKING:
    import pyarrow

EXAMPLES = "examples.parquet"


@dataclass(frozen=True)
class Folder:
    """The results of one run, finished or not."""

    path: Path
    settings: Settings
    rounds: tuple[Mapping[str, Any], ...] = ()

    @property
    def jobs(self) -> list[Job]:
        """All jobs of all rounds."""
        return plan(self.settings, (), {}, self.rounds)[0]

    @property
    def examples(self) -> list[Example]:
        """The examples, in their order."""
        return examples_of(from_bytes((self.path / EXAMPLES).read_bytes()))

    def part(self, job: Job) -> Path:
        """Where the result of a job is kept."""
        return self.path / "parts" / f"{job.name}.parquet"

    def is_done(self, job: Job) -> bool:
        """Whether a job is finished."""
        return self.part(job).exists()

    def missing(self) -> list[Job]:
        """The jobs that are not finished."""
        return [job for job in self.jobs if not self.is_done(job)]

    def write(self, job: Job, content: bytes) -> None:
        """Keep the result of a job."""
        write_whole(self.part(job), content, flush=True)

    def read(self, kinds: Sequence[str], shard: int | None = None) -> "pyarrow.Table":
        """The finished parts of these kinds, of all shards or one, in the order of the jobs."""
        parts = [
            from_bytes(self.part(job).read_bytes())
            for job in self.jobs
            if job.kind in kinds and shard in (None, job.shard) and self.is_done(job)
        ]
        concatenated = import_module("pyarrow").concat_tables
        return concatenated([table(kinds[0], []), *parts])

    @contextmanager
    def locked(self, name: str, *, waits: bool = False) -> Iterator[bool]:
        """Whether this process alone has the lock of that name, inside the block."""
        with (self.path / "locks" / name).open("w") as file:
            yield lock(file.fileno(), waits)


def lock(descriptor: int, waits: bool) -> bool:
    """Lock an open file until it is closed; False if another process has it and we do not wait."""
    try:
        fcntl = import_module("fcntl")
    except ImportError:
        return True
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | (0 if waits else fcntl.LOCK_NB))
    except BlockingIOError:
        return False
    return True


def open_folder(path: str | Path) -> Folder:
    """The run in a folder."""
    path = Path(path)
    try:
        kept = json.loads((path / MANIFEST).read_text(encoding="utf-8"))
    except FileNotFoundError as error:
        raise InvalidInput(
            f"there is no run in '{path}'. Make one with: headlight evaluate --out {path}."
        ) from error
    except (OSError, ValueError) as error:
        raise InvalidInput(f"the manifest of '{path}' cannot be read: {error}.") from error
    if kept.get("format") != FORMAT:
        raise InvalidInput(
            f"'{path}' holds a run of format {kept.get('format')!r}; this version reads {FORMAT}."
        )
    given = kept["settings"]
    settings = Settings(
        **given | {"labels": tuple(given["labels"]), "rivals": tuple(given["rivals"])}
    )
    return Folder(path, settings, tuple(kept["rounds"]))


def prepare_folder(
    path: str | Path,
    settings: Settings,
    examples: Sequence[Example],
    methods: Sequence[str],
    metrics: Mapping[str, Mapping[str, Any]],
) -> Folder:
    """The folder of a run with what this call asks for added to its plan; refused if it is another run's."""
    path = Path(path)
    try:
        for part in ("parts", "locks"):
            (path / part).mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InvalidInput(f"'{path}' cannot be made a folder: {error.strerror}.") from error
    empty = Folder(path, settings)
    with empty.locked("manifest", waits=True):
        remove_stale(path)
        known: tuple[Mapping[str, Any], ...] = ()
        if (path / MANIFEST).exists():
            found = open_folder(path)
            check_same(found, settings)
            settings, known = found.settings, found.rounds
        else:
            write_whole(
                path / EXAMPLES, to_bytes(table("examples", example_records(examples))), flush=True
            )
        _, rounds = plan(settings, methods, metrics, known)
        kept = {"format": FORMAT, "settings": settings.to_dict(), "rounds": rounds}
        text = json.dumps(kept, indent=1)
        if not (path / MANIFEST).exists() or rounds != list(known):
            write_whole(path / MANIFEST, text, flush=True)
    return Folder(path, settings, tuple(rounds))


def remove_stale(path: Path) -> None:
    """Take away what processes of this machine that were killed while writing left behind."""
    for each in path.rglob(".*"):
        if each.is_file() and not is_alive(each.suffix.removeprefix(".")):
            each.unlink(missing_ok=True)


def is_alive(process: str) -> bool:
    """Whether a process of that number runs on this machine."""
    try:
        os.kill(int(process), 0)
    except (ValueError, ProcessLookupError):
        return False
    except PermissionError:
        return True
    return True


def check_same(found: Folder, settings: Settings) -> None:
    """Refuse to mix runs: what was asked must be what the folder is about."""
    own, asked = (
        found.settings.to_dict(),
        replace(settings, threads=found.settings.threads).to_dict(),
    )
    differing = [name for name in own if own[name] != asked[name]]
    if differing:
        shown = "; ".join(
            f"{name}: {own[name]!r} there, {asked[name]!r} asked" for name in differing
        )
        raise InvalidOption(
            f"'{found.path}' holds the results of another run ({shown}). Choose another folder, or ask for "
            "the same; methods and metrics may be added."
        )


def data_hash(examples: Sequence[Example]) -> str:
    """A number that changes when any example does."""
    return hashlib.sha256(to_bytes(table("examples", example_records(examples)))).hexdigest()[:16]
