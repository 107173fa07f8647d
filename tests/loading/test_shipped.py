"""The package headlight-models: where it is looked for, and what damaged or missing files get."""

import json
import shutil
import tomllib
from importlib.machinery import ModuleSpec
from pathlib import Path

import pytest

import headlight
from headlight import InvalidInput, MissingExtra
from headlight.cli.checking import check_masks, check_models, check_parser
from headlight.heads import find_mask, load_parser
from headlight.loading import shipped as shipping
from headlight.loading.catalogue import CATALOGUE, is_here
from headlight.loading.digests import digest
from headlight.loading.shipped import models_folder, shipment, shipped, shipped_names, shipped_place

HOME = Path(__file__).parents[2]
FOLDER = HOME / "headlight-models" / "src" / "headlight_models"


@pytest.fixture
def copy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of all that is small in the package, which is read in its place."""
    shutil.copytree(FOLDER / "masks", tmp_path / "masks")
    shutil.copytree(FOLDER / "pipeline", tmp_path / "pipeline")
    monkeypatch.setenv("HEADLIGHT_MODELS", str(tmp_path))
    return tmp_path


@pytest.fixture
def nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """A machine without the package."""
    monkeypatch.delenv("HEADLIGHT_MODELS", raising=False)
    monkeypatch.setattr(shipping, "find_spec", lambda _name: None)


def test_the_table_is_that_of_the_files_in_the_repository(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(HOME / "training"))
    from shipping import TABLE, table  # the one of `training`

    assert json.loads(TABLE.read_text(encoding="utf-8")) == table()


def test_the_release_is_that_of_both_projects() -> None:
    own, models = (
        tomllib.loads((HOME / folder / "pyproject.toml").read_text(encoding="utf-8"))["project"]
        for folder in (".", "headlight-models")
    )
    assert shipment().release == f"{models['name']}=={models['version']}"
    assert shipment().release in own["optional-dependencies"]["models"]


def test_every_entry_has_its_files() -> None:
    assert shipped_names("adapters") == sorted(n for n, e in CATALOGUE.items() if e.is_shipped)
    assert shipped_names("masks") == sorted(CATALOGUE)


def test_the_package_is_found_where_it_is_installed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("HEADLIGHT_MODELS", raising=False)
    spec = ModuleSpec("headlight_models", None, origin=str(tmp_path / "__init__.py"))
    monkeypatch.setattr(shipping, "find_spec", lambda _name: spec)
    assert models_folder() == tmp_path
    assert shipped_place() == "installed"


def test_the_variable_names_a_folder(copy: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert shipped("masks/llm.safetensors") == copy / "masks" / "llm.safetensors"
    assert shipped_place() == f"in {copy} (HEADLIGHT_MODELS)"
    monkeypatch.setenv("HEADLIGHT_MODELS", str(copy / "nowhere"))
    with pytest.raises(
        InvalidInput, match=r"HEADLIGHT_MODELS is '.*nowhere', which is not a folder"
    ):
        models_folder()


@pytest.mark.usefixtures("nothing")
def test_a_missing_package_says_how_to_get_it() -> None:
    asked = [
        lambda: headlight.load("sentiment"),
        lambda: find_mask("llm"),
        load_parser,
        lambda: check_models("topic"),
        lambda: check_masks("topic"),
        lambda: check_parser("headlight", "texts.csv"),
    ]
    for ask in asked:
        with pytest.raises(MissingExtra, match=r"separate package.*'headlight\[models\]'"):
            ask()
    assert shipped_place().startswith("not here; pip install")
    assert not is_here(CATALOGUE["sentiment"])
    check_models("llm")
    check_parser("headlight", "texts.conllu")


@pytest.mark.parametrize("name", shipment().files)
def test_a_damaged_file_is_refused_before_it_is_parsed(name: str, copy: Path) -> None:
    path = copy / name
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(b"something else")
    asked = "pipeline" if name.startswith("pipeline/") else name
    with pytest.raises(
        InvalidInput, match=r"is damaged or of .*--force-reinstall headlight-models=="
    ):
        shipped(asked)
    path.unlink()
    with pytest.raises(InvalidInput, match="cannot be read: No such file"):
        shipped(asked)


def test_a_file_that_is_not_ours_is_refused(copy: Path) -> None:
    assert shipped("pipeline") == copy / "pipeline"
    (copy / "pipeline" / "vocab" / "more").touch()
    with pytest.raises(InvalidInput, match=r"vocab/more' is not a file of headlight-models=="):
        load_parser()
    with pytest.raises(InvalidInput, match=r"masks/other.safetensors' is not a file of"):
        shipped("masks/other.safetensors")


def test_models_masks_and_parser_read_checked_files(copy: Path) -> None:
    (copy / "adapters").mkdir()
    for path in ("adapters/topic.safetensors", "masks/topic.safetensors", "pipeline/meta.json"):
        (copy / path).write_bytes(b"{}")
    for ask in (lambda: headlight.load("topic"), lambda: find_mask("topic"), load_parser):
        with pytest.raises(InvalidInput, match="is damaged or of another version"):
            ask()


def test_what_is_installed_is_what_is_in_the_repository() -> None:
    folder = models_folder()
    assert folder is not None
    for name, sha256 in shipment().files.items():
        assert digest(folder / name) == sha256, f"{name}: install ./headlight-models again"
