"""Jobs in this process: each done once, measured after it was explained, shared with other processes."""

import time
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
import torch

from headlight import Example, Model
from headlight.evaluation import local as module
from headlight.evaluation.folder import Folder, data_hash, open_folder, prepare_folder
from headlight.evaluation.local import attributions_of, part_of, run_local
from headlight.evaluation.parts import sealed
from headlight.evaluation.plan import Job
from headlight.evaluation.records import from_bytes
from headlight.evaluation.settings import Settings


@pytest.fixture
def folder(classifier: Model, examples: list[Example], tmp_path: Path) -> Folder:
    """A run that has not begun."""
    settings = Settings(
        classifier.name, "f", "made up", data_hash(examples[:6]), 6, shard=2, sanity=2
    )
    metrics: dict[str, dict[str, Any]] = {"aopc": {}, "runtime": {}}
    return prepare_folder(tmp_path / "run", settings, examples[:6], ["gae"], metrics)


def contents(folder: Folder) -> dict[str, bytes]:
    """The parts whose bytes do not depend on a clock."""
    return {job.name: folder.part(job).read_bytes() for job in folder.jobs if job.kind != "time"}


def test_every_job_is_done_once_and_reported(folder: Folder, classifier: Model) -> None:
    done: list[Job] = []
    run_local(folder, lambda _: classifier, done.append)
    assert sorted(job.name for job in done) == sorted(job.name for job in folder.jobs)
    assert folder.missing() == []
    for shard in range(3):
        order = [job.kind for job in done if job.shard == shard and job.kind != "time"]
        assert order == ["explain", "measure"]
    run_local(folder, lambda name: pytest.fail(name), done.append)
    assert len(done) == len(folder.jobs)


def test_a_part_is_what_its_job_gives(folder: Folder, classifier: Model) -> None:
    run_local(folder, lambda _: classifier, lambda _: None)
    examples = dict(enumerate(folder.examples))
    for job in folder.jobs:
        if job.kind != "time":
            own = {n: examples[n] for n in range(job.first, job.last)}
            known = attributions_of(folder, job)
            part = part_of(job, folder.settings, lambda _: classifier, own, known)
            assert folder.part(job).read_bytes() == sealed(part, folder.owner(job))


def test_a_shard_is_measured_on_its_own_attributions(folder: Folder, classifier: Model) -> None:
    run_local(folder, lambda _: classifier, lambda _: None)
    explain, measure = folder.jobs_by_shard[1]
    assert attributions_of(folder, explain) == []
    assert {record.example for record in attributions_of(folder, measure)} == {2, 3}


def test_time_is_measured_on_the_first_examples(folder: Folder, classifier: Model) -> None:
    run_local(folder, lambda _: classifier, lambda _: None)
    (job,) = (job for job in folder.jobs if job.kind == "time")
    found = from_bytes(folder.part(job).read_bytes()).to_pylist()
    assert [(row["example"], row["metric"]) for row in found] == [
        (n, metric) for n in (0, 1) for metric in ("runtime.seconds", "runtime.passes")
    ]


def test_what_another_process_is_doing_is_waited_for(
    folder: Folder, classifier: Model, monkeypatch: pytest.MonkeyPatch
) -> None:
    busy, waited = folder.jobs[0], []
    with ExitStack() as theirs:
        assert theirs.enter_context(open_folder(folder.path).locked(busy.name))

        def wait(seconds: float) -> None:
            waited.append(seconds)
            theirs.close()

        monkeypatch.setattr(time, "sleep", wait)
        done: list[Job] = []
        run_local(folder, lambda _: classifier, done.append)
    assert waited == [module.PAUSE]
    assert busy.name in [job.name for job in done[-2:]]
    assert folder.missing() == []


def test_what_another_process_has_finished_is_not_done_again(
    folder: Folder, classifier: Model
) -> None:
    theirs = open_folder(folder.path)
    assert len(theirs.missing()) == len(theirs.jobs)
    run_local(folder, lambda _: classifier, lambda _: None)
    before = contents(folder)
    run_local(theirs, lambda name: pytest.fail(name), lambda _: None)
    assert contents(folder) == before


def test_threads_are_as_they_were(folder: Folder, classifier: Model) -> None:
    before = torch.get_num_threads()
    inside: list[int] = []

    def models(_name: str) -> Model:
        inside.append(torch.get_num_threads())
        return classifier

    torch.set_num_threads(2)
    try:
        run_local(folder, models, lambda _: None)
        assert set(inside) == {folder.settings.threads} == {1}
        assert torch.get_num_threads() == 2
    finally:
        torch.set_num_threads(before)
