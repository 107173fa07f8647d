"""A run on disk: damage is noticed, the first version is read, only our own leftovers are removed."""

import errno
import json
import os
import random
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from filelock import FileLock

from headlight import InvalidInput, InvalidOption, open_run
from headlight.evaluation.folder import Folder, open_folder, prepare_folder
from headlight.evaluation.parts import BLANK, MARK, to_part
from headlight.evaluation.records import from_bytes, table, to_bytes
from headlight.report.page import facts
from tests.evaluation.made_up import METHODS, made_up_run, records

FLIPS = 300


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Folder:
    return made_up_run(tmp_path_factory.mktemp("run"))


@pytest.fixture
def copy(run: Folder, tmp_path: Path) -> Folder:
    shutil.copytree(run.path, tmp_path / "copy")
    return open_folder(tmp_path / "copy")


def again(folder: Folder) -> Folder:
    """Prepare the same run once more, as `evaluate` does."""
    metrics: dict[str, dict[str, Any]] = {name: {} for name in ("aopc", "log_odds")}
    return prepare_folder(folder.path, folder.settings, folder.examples, METHODS, metrics)


def test_no_flipped_bit_of_a_part_goes_unnoticed(run: Folder) -> None:
    draw = random.Random(0)
    for job in run.jobs:
        content = run.part(job).read_bytes()
        assert run.is_usable(job, content)
        for _ in range(FLIPS // len(run.jobs)):
            place, bit = draw.randrange(len(content)), 1 << draw.randrange(8)
            changed = content[:place] + bytes([content[place] ^ bit]) + content[place + 1 :]
            assert not run.is_usable(job, changed), (job.name, place, bit)


def test_no_flipped_bit_of_the_checksum_itself_goes_unnoticed(run: Folder) -> None:
    job = run.jobs[0]
    content = run.part(job).read_bytes()
    start = content.rindex(MARK) - len("headlight")
    for place in range(start, start + len("headlight") + len(MARK) + len(BLANK)):
        for bit in range(8):
            changed = content[:place] + bytes([content[place] ^ 1 << bit]) + content[place + 1 :]
            assert not run.is_usable(job, changed), (place, bit)


def test_no_flipped_bit_of_manifest_or_examples_changes_what_is_read(copy: Folder) -> None:
    draw = random.Random(1)
    for name in ("manifest.json", "examples.parquet"):
        content = (copy.path / name).read_bytes()
        for _ in range(200):
            place, bit = draw.randrange(len(content)), 1 << draw.randrange(8)
            changed = content[:place] + bytes([content[place] ^ bit]) + content[place + 1 :]
            (copy.path / name).write_bytes(changed)
            with pytest.raises(InvalidInput):
                open_run(copy.path)
        (copy.path / name).write_bytes(content)
    assert open_run(copy.path).missing == 0


def test_a_part_of_another_job_or_run_is_not_taken(run: Folder, tmp_path: Path) -> None:
    first, second, *_ = run.jobs
    assert not run.is_usable(first, run.part(second).read_bytes())
    other = made_up_run(tmp_path / "other", count=9)
    assert [job.name for job in other.jobs[:2]] == [first.name, second.name]
    assert not run.is_usable(first, other.part(first).read_bytes())


def test_equal_rows_give_equal_bytes_and_any_program_reads_them(
    run: Folder, tmp_path: Path
) -> None:
    other = made_up_run(tmp_path / "other")
    for job in run.jobs:
        assert run.part(job).read_bytes() == other.part(job).read_bytes()
        assert from_bytes(run.part(job).read_bytes()).equals(table(job.kind, records(job)))


def test_runs_of_the_first_version_are_read_and_go_on(copy: Folder) -> None:
    manifest = copy.path / "manifest.json"
    kept = json.loads(manifest.read_text(encoding="utf-8"))
    del kept["checksum"]
    manifest.write_text(json.dumps(kept | {"format": 1}), encoding="utf-8")
    for job in copy.jobs:
        copy.part(job).write_bytes(to_bytes(table(job.kind, records(job))))
    found = open_run(copy.path)
    assert (found.missing, found.unsealed) == (0, len(copy.jobs))
    assert "<dt>parts without checksum</dt><dd>4, written by an earlier version</dd>" in facts(
        found
    )
    damaged = copy.part(copy.jobs[0])
    damaged.write_bytes(damaged.read_bytes()[:-9])
    with pytest.raises(InvalidInput, match=f"1 of 4 parts .* '{damaged.name}'"):
        open_run(copy.path)
    folder = again(copy)
    assert folder.manifest.format == 1
    assert folder.missing() == [folder.jobs[0]]
    folder.write(folder.jobs[0], to_part(table("explain", records(folder.jobs[0]))))
    assert open_run(copy.path).unsealed == len(copy.jobs) - 1


def test_a_part_without_a_checksum_is_not_taken_in_a_run_that_has_them(copy: Folder) -> None:
    job = copy.jobs[0]
    copy.part(job).write_bytes(to_bytes(table(job.kind, records(job))))
    assert copy.missing() == [job]


def test_the_first_version_is_compared_with_its_examples(copy: Folder) -> None:
    manifest = copy.path / "manifest.json"
    kept = json.loads(manifest.read_text(encoding="utf-8"))
    kept = {"format": 1, "settings": kept["settings"] | {"count": 10**15}, "rounds": kept["rounds"]}
    manifest.write_text(json.dumps(kept), encoding="utf-8")
    with pytest.raises(InvalidInput, match=r"has 8 examples, its manifest says 1000000000000000"):
        open_run(copy.path)


def test_missing_examples_are_a_sentence(copy: Folder) -> None:
    (copy.path / "examples.parquet").unlink()
    with pytest.raises(InvalidInput, match=r"examples\.parquet' is missing"):
        open_run(copy.path)


def test_what_may_not_be_read_is_a_sentence(copy: Folder, monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(_path: Path) -> bytes:
        raise PermissionError(errno.EACCES, "Permission denied")

    monkeypatch.setattr(Path, "read_bytes", refused)
    with pytest.raises(InvalidInput, match=r"cannot be read: Permission denied"):
        open_run(copy.path)


def test_a_run_is_read_without_writing(copy: Folder, monkeypatch: pytest.MonkeyPatch) -> None:
    before = sorted(copy.path.rglob("*"))
    shutil.rmtree(copy.path / "locks")
    monkeypatch.setattr("headlight.files.storage.os.open", None)
    assert open_run(copy.path).missing == 0
    monkeypatch.undo()
    assert sorted(copy.path.rglob("*")) == [p for p in before if "locks" not in p.parts]


def test_a_folder_that_may_not_be_locked_is_a_sentence(
    copy: Folder, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refused(*_args: object, **_options: object) -> None:
        raise PermissionError(errno.EACCES, "Permission denied")

    monkeypatch.setattr(FileLock, "acquire", refused)
    with pytest.raises(InvalidInput, match=r"cannot be locked: .*Permission denied"):
        again(copy)


def test_a_disk_without_locks_is_locked_by_files(
    copy: Folder, monkeypatch: pytest.MonkeyPatch
) -> None:
    def unknown(*_args: object, **_options: object) -> None:
        raise OSError(errno.ENOLCK, "No locks available")

    monkeypatch.setattr(FileLock, "acquire", unknown)
    with copy.locked("a") as is_ours, copy.locked("a") as is_theirs:
        assert (is_ours, is_theirs) == (True, False)
    with copy.locked("a") as is_ours:
        assert is_ours


def test_only_our_own_leftovers_are_removed(copy: Folder) -> None:
    job = copy.jobs[0]
    ours = [
        copy.path / ".manifest.json.0123456789abcdef.tmp",
        copy.path / ".examples.parquet.0123456789abcdef.tmp",
        copy.path / "parts" / f".{job.name}.parquet.0123456789abcdef.tmp",
        copy.path / "parts" / f".{job.name}.parquet.4321",
    ]
    theirs = [
        copy.path / ".env",
        copy.path / ".env.1234",
        copy.path / "parts" / ".notes.parquet.0123456789abcdef.tmp",
        copy.path / "parts" / ".gitignore",
        copy.path / "sub" / ours[2].name,
    ]
    (copy.path / "sub").mkdir()
    for path in (*ours, *theirs):
        path.write_bytes(b"x")
    again(copy)
    assert [path.exists() for path in ours] == [False] * len(ours)
    assert [path.exists() for path in theirs] == [True] * len(theirs)


def test_what_another_process_is_writing_is_left_alone(copy: Folder) -> None:
    job = copy.jobs[0]
    half = copy.path / "parts" / f".{job.name}.parquet.0123456789abcdef.tmp"
    half.write_bytes(b"half")
    with copy.locked(job.name):
        again(copy)
        assert half.exists()
    again(copy)
    assert not half.exists()


def test_names_of_processes_are_not_asked_for(
    copy: Folder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "kill", None)
    again(copy)


def test_links_and_folders_are_no_leftovers(copy: Folder, tmp_path: Path) -> None:
    theirs = tmp_path / "theirs"
    theirs.write_bytes(b"kept")
    link = copy.path / "parts" / f".{copy.jobs[0].name}.parquet.0123456789abcdef.tmp"
    link.symlink_to(theirs)
    folder = copy.path / "parts" / f".{copy.jobs[1].name}.parquet.0123456789abcdef.tmp"
    folder.mkdir()
    copy.remove_leftovers()
    assert theirs.read_bytes() == b"kept"
    assert link.is_symlink()
    assert folder.is_dir()


def test_what_is_asked_for_again_changes_nothing(copy: Folder) -> None:
    before = {p.name: p.stat().st_mtime_ns for p in copy.path.glob("*.*")}
    assert again(copy).manifest == copy.manifest
    assert {p.name: p.stat().st_mtime_ns for p in copy.path.glob("*.*")} == before


def test_another_number_of_threads_is_the_same_run_and_another_seed_is_not(copy: Folder) -> None:
    metrics: dict[str, dict[str, Any]] = {name: {} for name in ("aopc", "log_odds")}
    more = replace(copy.settings, threads=7)
    found = prepare_folder(copy.path, more, copy.examples, METHODS, metrics)
    assert found.settings.threads == copy.settings.threads
    other = replace(copy.settings, seed=1)
    with pytest.raises(InvalidOption, match=r"seed: 0 there, 1 asked"):
        prepare_folder(copy.path, other, copy.examples, METHODS, metrics)


def test_jobs_of_a_shard_are_those_of_the_run(run: Folder) -> None:
    assert {shard: len(jobs) for shard, jobs in run.jobs_by_shard.items()} == {0: 2, 1: 2}
    assert sorted(j.name for jobs in run.jobs_by_shard.values() for j in jobs) == sorted(
        job.name for job in run.jobs
    )


def test_parts_are_read_by_kind_columns_and_shard(run: Folder) -> None:
    every = list(run.tables(("measure",)))
    assert [each["example"].to_pylist()[0] for each in every] == [0, 4]
    (second,) = run.tables(("measure",), ["value"], shard=1)
    assert second.column_names == ["value"]
    assert second["value"].to_pylist() == every[1]["value"].to_pylist()
    assert list(run.tables(("measure",), shard=9)) == []
