"""Saving changes the content of a file and nothing else: not its kind, mode, links or neighbours."""

import os
import stat
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from threading import Thread

import pytest
import torch
from safetensors.torch import save_file

from headlight import InvalidInput
from headlight.files.storage import (
    kind_in,
    read_json,
    read_tensors,
    save_json,
    write_tensors,
    write_whole,
)


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


@pytest.fixture
def usual_umask() -> Iterator[None]:
    before = os.umask(0o027)
    yield
    os.umask(before)


def test_a_link_stays_a_link_and_its_target_gets_the_content(tmp_path: Path) -> None:
    (tmp_path / "far").mkdir()
    target, link, chain = tmp_path / "far" / "target", tmp_path / "link", tmp_path / "chain"
    target.write_text("old", encoding="utf-8")
    link.symlink_to(target)
    chain.symlink_to("link")
    write_whole(chain, "new")
    assert chain.is_symlink()
    assert link.is_symlink()
    assert target.read_text(encoding="utf-8") == "new"


def test_a_link_to_nothing_makes_its_target(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to("later")
    write_whole(tmp_path / "link", "new")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "later").read_text(encoding="utf-8") == "new"


def test_a_pipe_is_written_and_stays_a_pipe(tmp_path: Path) -> None:
    pipe, got = tmp_path / "pipe", []
    os.mkfifo(pipe)
    reader = Thread(target=lambda: got.append(pipe.read_bytes()))
    reader.start()
    write_whole(pipe, "through")
    reader.join()
    assert got == [b"through"]
    assert stat.S_ISFIFO(pipe.stat().st_mode)


def test_a_device_is_written_and_stays_a_device() -> None:
    # A terminal of our own: unlike /dev/null nobody else needs it, and its folder takes no files.
    ours, theirs = os.openpty()
    name = Path(os.ttyname(theirs))
    write_whole(name, "shown")
    assert os.read(ours, 100) == b"shown"
    assert stat.S_ISCHR(name.stat().st_mode)
    os.close(ours)
    os.close(theirs)


@pytest.mark.slow
@pytest.mark.parametrize("form", ["pipe", "file"])
def test_standard_output_by_name_keeps_what_else_is_printed(form: str, tmp_path: Path) -> None:
    (tmp_path / "out").symlink_to("/dev/stdout")
    code = (
        "import sys; from headlight.files.storage import write_whole; print('before', flush=True); "
        "write_whole(sys.argv[1], 'content\\n'); print('after', flush=True)"
    )
    given = [sys.executable, "-c", code, str(tmp_path / "out")]
    if form == "pipe":
        said = subprocess.run(given, check=True, capture_output=True).stdout
    else:
        with (tmp_path / "said").open("ab") as file:
            subprocess.run(given, check=True, stdout=file)
        said = (tmp_path / "said").read_bytes()
    assert said == b"before\ncontent\nafter\n"


@pytest.mark.parametrize("given", [0o600, 0o640, 0o755])
@pytest.mark.usefixtures("usual_umask")
def test_the_mode_of_a_file_is_kept(given: int, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("old", encoding="utf-8")
    (tmp_path / "file").chmod(given)
    write_whole(tmp_path / "file", "new")
    assert mode(tmp_path / "file") == given


@pytest.mark.usefixtures("usual_umask")
def test_a_new_file_has_the_mode_that_the_umask_gives(tmp_path: Path) -> None:
    write_whole(tmp_path / "file", "new")
    assert mode(tmp_path / "file") == 0o640


def test_a_planted_temporary_link_is_not_followed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("headlight.files.storage.secrets.token_hex", lambda _: "known")
    (tmp_path / "victim").write_text("dear", encoding="utf-8")
    (tmp_path / ".b.json.known.tmp").symlink_to("victim")
    with pytest.raises(InvalidInput, match="File exists"):
        write_whole(tmp_path / "b.json", "new")
    assert (tmp_path / "victim").read_text(encoding="utf-8") == "dear"


def test_threads_may_save_one_name(tmp_path: Path) -> None:
    failed: list[Exception] = []

    def save(text: str) -> None:
        for _ in range(30):
            try:
                write_whole(tmp_path / "one", text)
            except InvalidInput as error:
                failed.append(error)

    threads = [Thread(target=save, args=(letter * 1000,)) for letter in "abcdef"]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failed == []
    assert len(set((tmp_path / "one").read_text(encoding="utf-8"))) == 1
    assert [path.name for path in tmp_path.iterdir()] == ["one"]


@pytest.mark.parametrize("letter", ["x", "é", "字"])
def test_the_longest_name_can_be_saved_and_a_longer_one_is_a_sentence(
    letter: str, tmp_path: Path
) -> None:
    longest = letter * (255 // len(letter.encode()))
    write_whole(tmp_path / longest, "content")
    assert (tmp_path / longest).read_text(encoding="utf-8") == "content"
    with pytest.raises(InvalidInput, match="cannot be written: File name too long"):
        write_whole(tmp_path / (longest + letter), "content")


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("", "x", "Is a directory"),
        ("none/file", "x", "No such file or directory"),
        ("a\0b", "x", "null"),
        ("loop", "x", "Too many levels of symbolic links"),
        ("file", "\ud800", "half a character"),
    ],
)
def test_what_cannot_be_written_is_a_sentence(
    name: str, content: str, message: str, tmp_path: Path
) -> None:
    (tmp_path / "loop").symlink_to("loop")
    with pytest.raises(InvalidInput, match=message):
        write_whole(tmp_path / name, content)
    assert [path.name for path in tmp_path.iterdir()] == ["loop"]


def test_a_file_that_may_not_be_written_is_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("dear", encoding="utf-8")
    # Root may write everything, so the answer of the system is imitated.
    monkeypatch.setattr("headlight.files.storage.os.access", lambda *_: False)
    with pytest.raises(InvalidInput, match="may not be written"):
        write_whole(tmp_path / "file", "new")
    assert (tmp_path / "file").read_text(encoding="utf-8") == "dear"


@pytest.mark.parametrize("error", [OSError(28, "No space left on device"), KeyboardInterrupt()])
def test_a_save_that_stops_leaves_the_old_file_and_nothing_else(
    error: BaseException, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("old", encoding="utf-8")

    def stop(_descriptor: int) -> None:
        raise error

    monkeypatch.setattr("headlight.files.storage.os.fsync", stop)
    with pytest.raises((InvalidInput, KeyboardInterrupt)):
        write_whole(tmp_path / "file", "new", flush=True)
    assert (tmp_path / "file").read_text(encoding="utf-8") == "old"
    assert len(list(tmp_path.iterdir())) == 1


def test_a_flushed_file_and_its_folder_reach_the_disk(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kinds = []
    monkeypatch.setattr(
        "headlight.files.storage.os.fsync",
        lambda d: kinds.append(stat.S_ISDIR(os.fstat(d).st_mode)),
    )
    write_whole(tmp_path / "file", "new", flush=True)
    assert kinds == [False, True]


@pytest.mark.parametrize("about", [None, "{", "[1]", '"x"', "[" * 100_000])
def test_tensors_that_do_not_say_what_they_are_about_are_a_sentence(
    about: str | None, tmp_path: Path
) -> None:
    facts = {"format": "headlight head mask 1"} | ({} if about is None else {"about": about})
    save_file({"a": torch.ones(1)}, tmp_path / "mask", facts)
    with pytest.raises(InvalidInput, match="does not say what its head mask is about"):
        read_tensors(tmp_path / "mask", "head mask")


def test_tensors_come_back_with_what_was_said(tmp_path: Path) -> None:
    write_tensors(tmp_path / "mask", {"a": torch.arange(3)}, "head mask", {"by": "us"})
    tensors, about, version = read_tensors(tmp_path / "mask", "head mask")
    assert version == 1
    assert tensors["a"].tolist() == [0, 1, 2]
    assert about == {"by": "us"}
    with pytest.raises(InvalidInput, match="holds no head statistics"):
        read_tensors(tmp_path / "mask", "head statistics")


def test_a_json_file_that_exists_is_replaced_only_if_that_is_asked_for(tmp_path: Path) -> None:
    path = tmp_path / "é.json"
    save_json(path, {"a": "ü"}, overwrite=False)
    with pytest.raises(InvalidInput, match=r"exists\. Choose another name"):
        save_json(path, {"a": 2}, overwrite=False)
    assert path.read_text(encoding="utf-8") == '{"a": "ü"}'
    save_json(path, {"a": 2}, overwrite=True)
    assert read_json(path, "object") == {"a": 2}


def test_a_file_of_tensors_says_what_it_holds(tmp_path: Path) -> None:
    write_tensors(tmp_path / "own", {"a": torch.ones(1)}, "head mask", {}, 2)
    save_file({"a": torch.ones(1)}, tmp_path / "other")
    (tmp_path / "text").write_text("no tensors", encoding="utf-8")
    found = [kind_in(tmp_path / name) for name in ("own", "other", "text", "missing")]
    assert found == ["head mask", "", "", ""]
