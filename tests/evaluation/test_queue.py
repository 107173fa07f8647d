"""Jobs are planned once and looked at a fixed number of times, also when there are very many."""

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from headlight import Example
from headlight.evaluation import cluster, folder, local
from headlight.evaluation.folder import Folder
from headlight.evaluation.manifest import Manifest
from headlight.evaluation.plan import Job, jobs_of, plan
from headlight.evaluation.queue import Queue
from headlight.evaluation.records import table
from headlight.evaluation.settings import Settings

COUNT = 1_000_000


def job(kind: Any, shard: int, method: str = "random") -> Job:
    return Job(kind, shard, shard, shard + 1, (method,))


def test_a_shard_is_measured_when_all_that_explains_it_is_finished() -> None:
    first, second, other = job("explain", 0), job("explain", 0, "gae"), job("explain", 1)
    measure, measure_other, time = job("measure", 0), job("measure", 1), job("time", 0)
    queue = Queue([measure, first, measure_other, other, second, time])
    assert [queue.take() for _ in range(5)] == [first, other, second, time, None]
    queue.finish(first)
    assert queue.take() is None
    queue.finish(other)
    assert queue.take() == measure_other
    queue.finish(second)
    assert queue.take() == measure
    for each in (measure, measure_other, time):
        assert len(queue) > 0
        queue.finish(each)
    assert len(queue) == 0


def test_what_others_are_doing_is_offered_again() -> None:
    only = job("explain", 0)
    queue = Queue([only])
    queue.postpone(queue.take() or only)
    assert queue.take() is None
    queue.retry()
    assert queue.take() == only


def test_a_shard_that_was_explained_before_is_measured_at_once() -> None:
    assert Queue([job("measure", 3)]).take() == job("measure", 3)


class Same:
    """As many examples as one wants, all the same."""

    example = Example("a text")

    def __getitem__(self, _number: int) -> Example:
        return self.example


@pytest.fixture
def calls(monkeypatch: pytest.MonkeyPatch) -> Counter[str]:
    """How often a run of many examples asks for anything; nothing is computed, read or written."""
    counted: Counter[str] = Counter()
    done: set[str] = set()

    def counting(name: str, answer: Any = None) -> Any:
        def call(*given: Any, **_options: Any) -> Any:
            counted[name] += 1
            return answer(*given) if answer else b""

        return call

    @contextmanager
    def locked(_folder: Folder, name: str, *, waits: bool = False) -> Iterator[bool]:
        counted["locked"] += 1
        yield bool(name) or waits

    monkeypatch.setattr(folder, "jobs_of", counting("jobs_of", jobs_of))
    monkeypatch.setattr(Folder, "examples", Same())
    monkeypatch.setattr(Folder, "locked", locked)
    monkeypatch.setattr(Folder, "is_done", counting("is_done", lambda _, own: own.name in done))
    monkeypatch.setattr(Folder, "write", counting("write", lambda _, own, __: done.add(own.name)))
    monkeypatch.setattr(Folder, "part", counting("part", lambda _, own: Path(own.name)))
    monkeypatch.setattr(folder, "read", counting("read"))
    nothing = table("explain", [])
    monkeypatch.setattr(folder, "from_bytes", lambda *_: nothing)
    monkeypatch.setattr(local, "concatenated", lambda *_: nothing)
    for module in (local, cluster):
        monkeypatch.setattr(module, "part_of", counting("work"))
    return counted


def large() -> Folder:
    settings = Settings("none", "f", "made up", "h", COUNT)
    metrics: dict[str, dict[str, Any]] = {"aopc": {}, "log_odds": {}}
    return Folder(Path("nowhere"), Manifest(settings, plan(["random", "gae"], metrics)))


def check(calls: Counter[str], jobs: int) -> None:
    assert jobs == 2 * COUNT // 64
    assert calls["jobs_of"] == 1
    assert calls["work"] == calls["write"] == jobs
    assert calls["locked"] == jobs
    assert calls["is_done"] <= 3 * jobs
    assert calls["read"] <= jobs


def test_a_million_examples_cost_a_few_looks_a_job_in_one_process(calls: Counter[str]) -> None:
    many = large()
    finished: list[Job] = []
    local.run_local(many, lambda name: pytest.fail(name), finished.append)
    check(calls, len(finished))


def test_a_million_examples_cost_a_few_looks_a_job_on_a_cluster(calls: Counter[str]) -> None:
    many = large()
    finished: list[Job] = []
    handles: dict[int, Any] = {}

    def remote(**_options: Any) -> Any:
        def decorate(do: Any) -> Any:
            def start(*given: Any) -> int:
                handles[len(handles)] = do(*given)
                return len(handles) - 1

            return SimpleNamespace(remote=start)

        return decorate

    waited = Counter[str]()

    def wait(running: list[int]) -> tuple[list[int], list[int]]:
        waited["handles"] += len(running)
        return running[:1], running[1:]

    ray = SimpleNamespace(
        remote=remote,
        wait=wait,
        get=lambda handle: handles[handle],
        cluster_resources=lambda: {"CPU": 4},
        exceptions=SimpleNamespace(WorkerCrashedError=RuntimeError),
    )
    cluster.schedule(ray, many, finished.append)
    check(calls, len(finished))
    assert waited["handles"] <= 8 * len(finished)
