"""`Folder`: a run on disk. A manifest, the examples, and one Parquet part for every finished job.

A part is written under a temporary name, flushed and renamed, so it is either complete or absent. It carries a
checksum; a part that was changed later is computed again. Every job is locked while it runs, so that several
processes can share the work. A lock ends with its process.
"""

import errno
import hashlib
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from filelock import BaseFileLock, FileLock, SoftFileLock, Timeout

from headlight.data.example import Example
from headlight.errors import InvalidInput, InvalidOption
from headlight.evaluation import MANIFEST
from headlight.evaluation.manifest import Manifest, read_manifest, write_manifest
from headlight.evaluation.parts import is_intact, is_sealed, sealed
from headlight.evaluation.plan import Job, jobs_of, plan
from headlight.evaluation.records import (
    example_table,
    examples_of,
    from_bytes,
    has_columns,
    to_bytes,
)
from headlight.evaluation.settings import Settings
from headlight.files.storage import write_whole
from headlight.metrics.case import Metrics

if TYPE_CHECKING:
    import pyarrow

EXAMPLES = "examples.parquet"
OURS = re.compile(
    r"\.(?P<name>manifest|examples|(?:explain|measure|time)-\d{5,}-[0-9a-f]{8})\.(?:json|parquet)"
    r"\.(?:[0-9a-f]{16}\.tmp|\d+)"
)
"""Temporary names of our files; those of format 1 ended with the id of the process."""
UNLOCKABLE = {errno.ENOLCK, errno.ENOTSUP, errno.EOPNOTSUPP, errno.ENOSYS}
"""Errors of file systems that have no locks, such as some network drives."""


@dataclass(frozen=True)
class Folder:
    """The results of one run, finished or not.

    checked: parts that this process has checked or written. unsealed: those of them without a checksum.
    """

    path: Path
    manifest: Manifest
    checked: set[str] = field(default_factory=set, compare=False, repr=False)
    unsealed: set[str] = field(default_factory=set, compare=False, repr=False)

    @property
    def settings(self) -> Settings:
        """What the run is about."""
        return self.manifest.settings

    @cached_property
    def jobs(self) -> list[Job]:
        """All jobs of all rounds."""
        return jobs_of(self.settings, self.manifest.rounds)

    @cached_property
    def jobs_by_shard(self) -> dict[int, list[Job]]:
        """All jobs by shard."""
        found: dict[int, list[Job]] = {}
        for job in self.jobs:
            found.setdefault(job.shard, []).append(job)
        return found

    @property
    def examples(self) -> list[Example]:
        """The examples, in their order."""
        return examples_of(self.example_table())

    def example_table(self) -> "pyarrow.Table":
        """The table of the examples; refused if it is not as it was written."""
        content = read(self.path / EXAMPLES)
        if content is None or short_hash(content) != self.settings.data_hash:
            raise InvalidInput(
                f"'{self.path / EXAMPLES}' is {'missing' if content is None else 'damaged'}. "
                f"{self.repair}"
            )
        found = from_bytes(content)
        if found.num_rows != self.settings.count:
            raise InvalidInput(
                f"the run in '{self.path}' has {found.num_rows} examples, its manifest says "
                f"{self.settings.count}. Restore the manifest from a copy, or choose another folder."
            )
        return found

    @property
    def repair(self) -> str:
        """The advice for a missing or damaged file."""
        return f"Run the same 'headlight evaluate … --out {self.path}' again: it restores the file."

    def part(self, job: Job) -> Path:
        """The file of a job's result."""
        return self.path / "parts" / f"{job.name}.parquet"

    def owner(self, job: Job) -> str:
        """The line that names the run and the job of a part, for its checksum."""
        return f"{self.settings.identity} {job.name}"

    def is_done(self, job: Job) -> bool:
        """Whether a job is finished and its part is intact."""
        if job.name in self.checked:
            return True
        content = read(self.part(job))
        if content is None or not self.is_usable(job, content):
            return False
        self.checked.add(job.name)
        return True

    def is_usable(self, job: Job, content: bytes) -> bool:
        """Whether a part is intact; in runs of format 1, whether it can at least be read."""
        if self.manifest.format > 1 or is_sealed(content):
            return is_intact(content, self.owner(job))
        self.unsealed.add(job.name)
        return has_columns(content, job.kind)

    @property
    def size(self) -> int:
        """Bytes of all finished parts."""
        return sum(self.part(job).stat().st_size for job in self.jobs if self.is_done(job))

    def missing(self) -> list[Job]:
        """The jobs that are not finished."""
        return [job for job in self.jobs if not self.is_done(job)]

    def refuse_damage(self) -> None:
        """Refuse a run with files that exist but are damaged."""
        self.example_table()
        damaged = [job for job in self.missing() if self.part(job).exists()]
        if damaged:
            raise InvalidInput(
                f"{len(damaged)} of {len(self.jobs)} parts in '{self.path}' are damaged, the first is "
                f"'{self.part(damaged[0]).name}'. {self.repair}"
            )

    def write(self, job: Job, content: bytes) -> None:
        """Store the result of a job."""
        write_whole(self.part(job), sealed(content, self.owner(job)), flush=True)
        self.checked.add(job.name)

    def tables(
        self, kinds: Sequence[str], columns: Sequence[str] | None = None, shard: int | None = None
    ) -> "Iterator[pyarrow.Table]":
        """The finished parts of these kinds one by one, whole or some columns of them."""
        jobs = self.jobs if shard is None else self.jobs_by_shard.get(shard, [])
        for job in jobs:
            if job.kind in kinds and self.is_done(job):
                yield from_bytes(read(self.part(job)) or b"", columns)

    @contextmanager
    def locked(self, name: str, *, waits: bool = False) -> Iterator[bool]:
        """Hold the lock of that name inside the block; yields False if another process has it."""
        held = acquired(self.path / "locks" / name, waits)
        try:
            yield held is not None
        finally:
            if held is not None:
                held.release()

    def remove_leftovers(self) -> None:
        """Delete temporary files of processes that were killed while writing.

        A process that is writing a part holds the lock of its job, on any machine; other files are left over.
        """
        for each, name in leftovers(self.path / "parts"):
            with self.locked(name) as is_ours:
                if is_ours:
                    each.unlink(missing_ok=True)


def acquired(path: Path, waits: bool) -> BaseFileLock | None:
    """A lock that this process now holds; None if another process has it and we do not wait."""
    for kind in (FileLock, SoftFileLock):
        lock: BaseFileLock = kind(path)
        try:
            lock.acquire(timeout=-1 if waits else 0)
        except Timeout:
            return None
        except (OSError, NotImplementedError) as error:
            if kind is FileLock and getattr(error, "errno", errno.ENOSYS) in UNLOCKABLE:
                continue
            raise InvalidInput(f"'{path}' cannot be locked: {error}.") from error
        return lock
    return None


def read(path: Path) -> bytes | None:
    """The bytes of a file; None if it does not exist."""
    try:
        return path.read_bytes()
    except FileNotFoundError:
        return None
    except OSError as error:
        raise InvalidInput(f"'{path}' cannot be read: {error.strerror}.") from error


def leftovers(folder: Path) -> list[tuple[Path, str]]:
    """Files in a folder that have our temporary names, each with the name of its lock."""
    with os.scandir(folder) as entries:
        found = [(each, OURS.fullmatch(each.name)) for each in entries]
        return [
            (Path(each.path), name["name"])
            for each, name in found
            if name and each.is_file(follow_symlinks=False)
        ]


def open_folder(path: str | Path) -> Folder:
    """The run in a folder."""
    return Folder(Path(path), read_manifest(Path(path)))


def prepare_folder(
    path: str | Path,
    settings: Settings,
    examples: Sequence[Example],
    methods: Sequence[str],
    metrics: Metrics,
    given: Mapping[str, str] | None = None,
) -> Folder:
    """The folder of a run, with methods and metrics added to its plan; refused if it holds another run.

    given: a hash of the scores that were given for each name.
    """
    path = Path(path)
    content = to_bytes(example_table(examples))
    check_place(path, settings, content)
    try:
        for part in ("parts", "locks"):
            (path / part).mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InvalidInput(f"'{path}' cannot be made a folder: {error.strerror}.") from error
    with Folder(path, Manifest(settings, ())).locked("manifest", waits=True):
        known = Manifest(settings, ())
        if (path / MANIFEST).exists():
            known = check_same(open_folder(path), settings).manifest
        manifest = replace(
            known,
            rounds=plan(methods, metrics, known.rounds, given or {}),
            given=same_given(path, known.given, given or {}),
        )
        if manifest != known:
            write_manifest(path, manifest)
        if read(path / EXAMPLES) != content:
            write_whole(path / EXAMPLES, content, flush=True)
        for each, _ in leftovers(path):
            each.unlink(missing_ok=True)
    folder = Folder(path, manifest)
    folder.remove_leftovers()
    return folder


def check_place(path: Path, settings: Settings, content: bytes) -> None:
    """Refuse a folder whose files would be overwritten, before anything is written there.

    content: the bytes of the examples file; a run that was stopped early may have left the same file.
    """
    parts, kept = path / "parts", None if path.is_file() else read(path / EXAMPLES)
    strange = parts.is_dir() and not all(OURS.fullmatch(each.name) for each in parts.iterdir())
    # Checked last: another process that starts the same run writes the manifest before any other file.
    if (path / MANIFEST).exists():
        check_same(open_folder(path), settings)
    elif strange or kept not in (None, content):
        raise InvalidInput(
            f"'{path}' has {'parts' if strange else EXAMPLES} but no {MANIFEST}, so it is not clear of which "
            "run. Choose another folder, or restore the manifest."
        )


def same_given(path: Path, known: Mapping[str, str], given: Mapping[str, str]) -> dict[str, str]:
    """The hashes of all given scores; refused if other scores have had one of the names."""
    for name, digest in given.items():
        if known.get(name, digest) != digest:
            raise InvalidOption(
                f"'{path}' holds other scores that were given as '{name}'. Give the new ones another name, or "
                "choose another folder."
            )
    return {**known, **given}


def check_same(found: Folder, settings: Settings) -> Folder:
    """The folder, if its settings are the given ones; runs are not mixed."""
    stored = found.settings.to_dict()
    asked = replace(settings, threads=found.settings.threads).to_dict()
    differing = [name for name in stored if stored[name] != asked[name]]
    if differing:
        shown = "; ".join(
            f"{name}: {stored[name]!r} there, {asked[name]!r} asked" for name in differing
        )
        raise InvalidOption(
            f"'{found.path}' holds the results of another run ({shown}). Choose another folder, or use the "
            "same settings; methods and metrics may be added."
        )
    return found


def data_hash(examples: Sequence[Example]) -> str:
    """A short hash of all examples."""
    return short_hash(to_bytes(example_table(examples)))


def short_hash(content: bytes) -> str:
    """The first 16 digits of the SHA-256 of bytes."""
    return hashlib.sha256(content).hexdigest()[:16]
