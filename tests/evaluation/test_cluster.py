"""Jobs on a cluster: handed out when they can be done, and kept by this process alone."""

import socket
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from headlight import Example, HeadlightError, InvalidInput
from headlight.evaluation import cluster as module
from headlight.evaluation.cluster import check_address, do, keep, run_cluster, schedule
from headlight.evaluation.folder import Folder, data_hash, open_folder, prepare_folder
from headlight.evaluation.local import run_local
from headlight.evaluation.parts import to_part
from headlight.evaluation.plan import Job
from headlight.evaluation.records import table
from headlight.evaluation.settings import Settings
from headlight.loading.load import load
from tests.evaluation.made_up import made_up_run, records


class WorkerCrashed(Exception):
    """What Ray raises when a job has lost its workers."""


class Ray:
    """A cluster in this process, which gives back the newest result first."""

    def __init__(self, cores: int) -> None:
        self.cores, self.results, self.most = cores, dict[int, Any](), 0
        self.exceptions = SimpleNamespace(WorkerCrashedError=WorkerCrashed)
        self.options: dict[str, Any] = {}

    def remote(self, **options: Any) -> Callable[[Callable[..., Any]], Any]:
        self.options = options

        def decorate(function: Callable[..., Any]) -> Any:
            def start(*given: Any) -> int:
                self.results[len(self.results)] = function(*given)
                return len(self.results) - 1

            return SimpleNamespace(remote=start)

        return decorate

    def wait(self, running: list[int]) -> tuple[list[int], list[int]]:
        self.most = max(self.most, len(running))
        return running[-1:], running[:-1]

    def get(self, handle: int) -> Any:
        if isinstance(self.results[handle], WorkerCrashed):
            raise self.results[handle]
        return self.results[handle]

    def cluster_resources(self) -> dict[str, float]:
        return {"CPU": self.cores}


@pytest.fixture
def folders(folder_model: str, examples: list[Example], tmp_path: Path) -> list[Folder]:
    """Twice the same run, not begun."""
    settings = Settings(folder_model, "f", "made up", data_hash(examples[:6]), 6, shard=1)
    return [
        prepare_folder(tmp_path / name, settings, examples[:6], ["gae"], {"aopc": {}}) for name in "ab"
    ]  # fmt: skip


@pytest.fixture
def unfinished(tmp_path: Path) -> Folder:
    """A run of eight examples without its parts."""
    folder = made_up_run(tmp_path / "run", shard=2)
    for job in folder.jobs:
        folder.part(job).unlink()
    return open_folder(folder.path)


def test_a_cluster_ends_with_the_bytes_of_one_process(
    folders: list[Folder], folder_model: str
) -> None:
    model = load(folder_model)
    run_local(folders[0], lambda _: model, lambda _: None)
    done: list[Job] = []
    ray = Ray(cores=2)
    schedule(ray, folders[1], done.append)
    assert len(done) == len(folders[1].jobs)
    for job in folders[0].jobs:
        assert folders[0].part(job).read_bytes() == folders[1].part(job).read_bytes()
    assert ray.options == {"max_retries": module.RETRIES, "num_cpus": 1}


def test_no_more_jobs_are_handed_out_than_there_is_room_for_twice(
    unfinished: Folder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "part_of", lambda job, *_: to_part(table(job.kind, records(job))))
    ray, done = Ray(cores=1), list[Job]()
    schedule(ray, unfinished, done.append)
    assert ray.most == 2
    for shard in range(4):
        assert [job.kind for job in done if job.shard == shard] == ["explain", "measure"]
    assert unfinished.missing() == []


def test_a_mistake_of_a_worker_stops_the_run_and_keeps_what_is_finished(
    unfinished: Folder, monkeypatch: pytest.MonkeyPatch
) -> None:
    def part_of(job: Job, *_: Any) -> bytes:
        if job.kind == "measure" and job.shard == 1:
            raise InvalidInput("no token")
        return to_part(table(job.kind, records(job)))

    monkeypatch.setattr(module, "part_of", part_of)
    with pytest.raises(InvalidInput, match="no token"):
        schedule(Ray(cores=1), unfinished, lambda _: None)
    left = unfinished.missing()
    assert 0 < len(left) < len(unfinished.jobs)
    assert ("measure", 1) in {(job.kind, job.shard) for job in left}


def test_mistakes_come_back_as_values_because_ray_would_wrap_what_is_raised(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    error = InvalidInput("no token")

    def part_of(*_: Any) -> bytes:
        raise error

    monkeypatch.setattr(module, "part_of", part_of)
    settings = Settings("m", "f", "d", "h", 1)
    assert do(Job("explain", 0, 0, 1, ("gae",)), settings, {}, []) is error
    assert isinstance(error, HeadlightError)


def test_a_job_that_loses_all_its_workers_is_named(unfinished: Folder) -> None:
    ray = Ray(cores=1)
    job = unfinished.jobs[0]
    ray.results[0] = WorkerCrashed()
    with pytest.raises(InvalidInput, match=rf"'{job.name}' lost 6 workers"):
        module.result_of(ray, job, 0)


def test_a_part_that_another_process_wrote_meanwhile_stays(unfinished: Folder) -> None:
    job = unfinished.jobs[0]
    theirs = open_folder(unfinished.path)
    theirs.write(job, to_part(table(job.kind, records(job))))
    before = unfinished.part(job).stat().st_mtime_ns
    keep(unfinished, job, to_part(table(job.kind, [])))
    assert unfinished.part(job).stat().st_mtime_ns == before


def test_an_address_at_which_nobody_listens_is_refused_at_once() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        port = taken.getsockname()[1]
    with pytest.raises(InvalidInput, match=f"no Ray cluster answers at 'ray://127.0.0.1:{port}'"):
        check_address(f"ray://127.0.0.1:{port}")
    with socket.create_server(("127.0.0.1", 0)) as server:
        check_address(f"127.0.0.1:{server.getsockname()[1]}")
    check_address(None)
    check_address("auto")


class Cluster:
    """Ray as `run_cluster` begins and ends it."""

    def __init__(self, *, is_running: bool = False, error: Exception | None = None) -> None:
        self.is_running, self.error = is_running, error
        self.calls: list[str] = []

    def is_initialized(self) -> bool:
        return self.is_running

    def init(self, **_: Any) -> None:
        self.calls.append("init")
        if self.error is not None:
            raise self.error

    def shutdown(self) -> None:
        self.calls.append("shutdown")


@pytest.mark.parametrize(("is_running", "calls"), [(False, ["init", "shutdown"]), (True, [])])
def test_a_cluster_of_ours_is_ended_also_after_an_error_and_another_s_is_not(
    is_running: bool, calls: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object) -> None:
        raise InvalidInput("a job failed")

    ray = Cluster(is_running=is_running)
    monkeypatch.setattr(module, "import_module", lambda _name: ray)
    monkeypatch.setattr(module, "schedule", broken)
    with pytest.raises(InvalidInput, match="a job failed"):
        run_cluster(made_up_run(tmp_path / "run"), None, lambda _job: None)
    assert ray.calls == calls


def test_a_cluster_that_does_not_answer_and_a_missing_package_are_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = made_up_run(tmp_path / "run")
    ray = Cluster(error=ConnectionError("nobody there"))
    monkeypatch.setattr(module, "import_module", lambda _name: ray)
    with pytest.raises(InvalidInput, match="no Ray cluster answers at 'auto': nobody there"):
        run_cluster(folder, "auto", lambda _job: None)
    assert ray.calls == ["init"]

    def missing(_name: str) -> None:
        raise ImportError

    monkeypatch.setattr(module, "import_module", missing)
    with pytest.raises(HeadlightError, match=r"headlight\[cluster\]"):
        run_cluster(folder, None, lambda _job: None)
