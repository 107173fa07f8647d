"""What a run leaves behind when it is killed, here and on a cluster: nothing but finished parts."""

import os
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest

from tests.evaluation.killing import command, contents, count, run_and_kill

pytestmark = pytest.mark.slow
KILLS = int(os.environ.get("HEADLIGHT_KILLS", "3"))


@pytest.fixture(scope="module")
def whole(folder_model: str, table_file: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run that nobody disturbed."""
    out = tmp_path_factory.mktemp("kill") / "whole"
    subprocess.run(command(folder_model, table_file, out), check=True, capture_output=True)
    return out


@pytest.mark.xdist_group("kill")
def test_a_killed_run_ends_with_the_same_bytes(
    whole: Path, folder_model: str, table_file: Path, tmp_path: Path
) -> None:
    out = tmp_path / "killed"
    reached = run_and_kill(command(folder_model, table_file, out), out, KILLS, seed=KILLS)
    assert reached == sorted(reached)
    assert reached[0] < count(out)
    assert contents(out) == contents(whole)


@pytest.mark.xdist_group("kill")
def test_two_processes_on_one_folder_end_with_the_same_bytes(
    whole: Path, folder_model: str, table_file: Path, tmp_path: Path
) -> None:
    out = tmp_path / "both"
    both = [
        subprocess.Popen(command(folder_model, table_file, out), stdout=subprocess.DEVNULL)
        for _ in "ab"
    ]
    assert [process.wait() for process in both] == [0, 0]
    assert contents(out) == contents(whole)


@pytest.mark.xdist_group("kill")
def test_a_cluster_that_loses_a_worker_ends_with_the_same_bytes(
    whole: Path, folder_model: str, table_file: Path, tmp_path: Path
) -> None:
    out = tmp_path / "cluster"
    given = command(folder_model, table_file, out, "--engine", "ray")
    process = subprocess.Popen(given, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    killed = None
    while process.poll() is None and killed is None:
        if count(out) > 1:
            killed = kill_a_worker(process.pid)
        time.sleep(0.01)
    _, said = process.communicate()
    assert process.returncode == 0, said
    assert killed is not None
    assert contents(out) == contents(whole)


def kill_a_worker(parent: int) -> int | None:
    """Kill a process that is doing a job of this run, if one is seen."""
    for each in psutil.Process(parent).children(recursive=True):
        try:
            if each.cmdline() and each.cmdline()[0].startswith("ray::do"):
                each.kill()
                return each.pid
        except psutil.Error:
            continue
    return None


def test_a_cluster_that_is_not_there_is_an_error_in_a_sentence(
    folder_model: str, table_file: Path, tmp_path: Path
) -> None:
    given = command(
        folder_model, table_file, tmp_path / "none", "--engine", "ray", "--address", "127.0.0.1:1"
    )
    done = subprocess.run([sys.executable, *given[1:]], capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "no Ray cluster answers at '127.0.0.1:1'" in " ".join(done.stderr.split())
