"""What is built from this repository: small code under one licence, and weights under theirs."""

import subprocess
import sys
import tarfile
import tomllib
import zipfile
from pathlib import Path

import pytest

from headlight.loading.shipped import shipment

HOME = Path(__file__).parent.parent
WEIGHTS = (".safetensors", "/model", "/tokenizer", ".bin")

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with what is built of both projects, by the builder that pip would use."""
    pytest.importorskip("hatchling")
    place = tmp_path_factory.mktemp("built")
    for folder in (HOME, HOME / "headlight-models"):
        command = [sys.executable, "-m", "hatchling", "build", "-d", str(place)]
        subprocess.run(command, cwd=folder, check=True, capture_output=True)
    return place


def test_the_code_is_small_and_without_weights(built: Path) -> None:
    (wheel,) = built.glob("headlight-*.whl")
    assert wheel.stat().st_size < 2_000_000
    names = zipfile.ZipFile(wheel).namelist()
    assert "headlight/loading/shipped.json" in names
    assert not [name for name in names if name.endswith(WEIGHTS)]
    (source,) = built.glob("headlight-*.tar.gz")
    with tarfile.open(source) as archive:
        assert not [name for name in archive.getnames() if name.endswith(WEIGHTS)]


def test_the_weights_are_all_there_and_their_terms_are_named(built: Path) -> None:
    (wheel,) = built.glob("headlight_models-*.whl")
    archive = zipfile.ZipFile(wheel)
    inside = {f"headlight_models/{name}" for name in shipment().files}
    assert inside <= set(archive.namelist())
    (metadata,) = (name for name in archive.namelist() if name.endswith("/METADATA"))
    told = archive.read(metadata).decode()
    terms = (HOME / "headlight-models" / "LICENSE").read_text(encoding="utf-8")
    own = tomllib.loads((HOME / "headlight-models" / "pyproject.toml").read_text(encoding="utf-8"))
    assert f"License-Expression: {own['project']['license']}" in told
    for licence in own["project"]["license"].split(" AND "):
        assert licence in terms, licence
    for name in shipment().files:
        row = Path(name).stem if name.endswith(".safetensors") else "pipeline/"
        assert row in terms, name
