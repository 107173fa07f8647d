"""The manifest of a run: the JSON that it always was, and a sentence for any other."""

import json
import re
import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from headlight import InvalidInput, InvalidOption, open_run
from headlight.evaluation.folder import Folder, check_same, open_folder
from headlight.evaluation.manifest import Manifest, read_manifest, write_manifest
from headlight.evaluation.plan import Round
from headlight.evaluation.settings import Settings
from tests.evaluation.made_up import made_up_run

HOME = Path(__file__).parents[2] / "benchmarks" / "faithfulness"
SETTINGS = Settings("m", "f", "d", "h", 3, labels=("a", "b"), options={"steps": 3})
ROUNDS = (
    Round(("attcat",), roles=("own", "runner_up")),
    Round(("attcat",), metrics={"aopc": {"levels": [0.5, 1.0]}, "hiding": {}}),
)
TEXT = """{
 "format": 2,
 "settings": {
  "model": "m",
  "fingerprint": "f",
  "data": "d",
  "data_hash": "h",
  "count": 3,
  "labels": [
   "a",
   "b"
  ],
  "limit": null,
  "seed": 0,
  "explain": "predicted",
  "variant": "paper",
  "rivals": [],
  "options": {
   "steps": 3
  },
  "sanity": 32,
  "shard": 64,
  "threads": 1,
  "versions": {}
 },
 "rounds": [
  {
   "methods": [
    "attcat"
   ],
   "roles": [
    "own",
    "runner_up"
   ],
   "metrics": {}
  },
  {
   "methods": [
    "attcat"
   ],
   "roles": [],
   "metrics": {
    "aopc": {
     "levels": [
      0.5,
      1.0
     ]
    },
    "hiding": {}
   }
  }
 ],
 "checksum": "80af5053671becf50a5cff5c55223631522f594009afbeaf6be1bf7dc889a04a"
}"""


def test_a_manifest_is_exactly_this(tmp_path: Path) -> None:
    write_manifest(tmp_path, Manifest(SETTINGS, ROUNDS))
    assert (tmp_path / "manifest.json").read_text(encoding="utf-8") == TEXT


def test_a_manifest_is_read_as_it_was_written(tmp_path: Path) -> None:
    written = Manifest(SETTINGS, ROUNDS)
    write_manifest(tmp_path, written)
    assert read_manifest(tmp_path) == written


def test_one_of_the_first_version_stays_of_the_first(tmp_path: Path) -> None:
    write_manifest(tmp_path, Manifest(SETTINGS, ROUNDS, format=1))
    assert "checksum" not in json.loads((tmp_path / "manifest.json").read_text(encoding="utf-8"))
    assert read_manifest(tmp_path) == Manifest(SETTINGS, ROUNDS, format=1)


@pytest.mark.parametrize("path", sorted(HOME.glob("*/settings.json")), ids=lambda p: p.parent.name)
def test_committed_runs_are_still_read_and_written_alike(path: Path, tmp_path: Path) -> None:
    shutil.copy(path, tmp_path / "manifest.json")
    found = read_manifest(tmp_path)
    assert found.settings.count > 0
    assert found.rounds[0].roles[0] == "own"
    write_manifest(tmp_path, found)
    assert (tmp_path / "manifest.json").read_text(encoding="utf-8") == path.read_text(
        encoding="utf-8"
    )


def test_another_type_than_32_bits_is_written_and_another_run(tmp_path: Path) -> None:
    folder = made_up_run(tmp_path / "run")
    half = replace(folder.settings, dtype="bfloat16")
    write_manifest(tmp_path, Manifest(half, ()))
    assert read_manifest(tmp_path).settings == half
    with pytest.raises(InvalidOption, match=r"dtype: 'float32' there, 'bfloat16' asked"):
        check_same(folder, half)


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Folder:
    return made_up_run(tmp_path_factory.mktemp("run"))


@pytest.fixture
def copy(run: Folder, tmp_path: Path) -> Folder:
    shutil.copytree(run.path, tmp_path / "copy")
    return open_folder(tmp_path / "copy")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ([], "is not the manifest of a run"),
        ({"name": "my web app"}, "is not the manifest of a run"),
        ({"format": 99}, "format 99; this version reads 1 and 2"),
        ({"format": True}, "format True"),
        ({"format": 1}, "'settings' is not an object"),
        ({"format": 1, "settings": []}, "'settings' is not an object"),
        ({"settings": {"model": "x"}}, "'fingerprint' is missing"),
        ({"rounds": None}, "'rounds' is not a list"),
        ({"rounds": [{"methods": ["a"]}]}, "round 0 does not have methods, roles and metrics"),
        ({"rounds": [{"methods": "a", "roles": [], "metrics": {}}]}, "round 0"),
        ({"rounds": [{"methods": [], "roles": [], "metrics": {"aopc": 3}}]}, "round 0"),
        ({"count": "x"}, "'count' cannot be 'x'"),
        ({"count": 0}, "'count' cannot be 0"),
        ({"count": True}, "'count' cannot be True"),
        ({"shard": 0}, "'shard' cannot be 0"),
        ({"shard": -1}, "'shard' cannot be -1"),
        ({"shard": 2.5}, "'shard' cannot be 2.5"),
        ({"labels": "x"}, "'labels' cannot be 'x'"),
        ({"explain": "best"}, "'explain' cannot be 'best'"),
        ({"options": None}, "'options' cannot be None"),
        ({"colour": "red"}, "'colour' is not known"),
        ({"count": 7}, "its checksum does not match"),
    ],
)
def test_a_strange_manifest_is_a_sentence(change: object, message: str, copy: Folder) -> None:
    manifest = copy.path / "manifest.json"
    kept = json.loads(manifest.read_text(encoding="utf-8"))
    if isinstance(change, dict) and not {"format", "name"} & set(change):
        if not {"rounds", "settings"} & set(change):
            change = {"settings": kept["settings"] | change}
        change = kept | change
    manifest.write_text(json.dumps(change), encoding="utf-8")
    with pytest.raises(InvalidInput, match=re.escape(message)):
        open_run(copy.path)


@pytest.mark.parametrize(
    "text", ["", "{", "[" * 100_000, '{"format": 1' + "0" * 5000 + "}", "\xff"]
)
def test_a_manifest_that_is_no_json_is_a_sentence(text: str, copy: Folder) -> None:
    (copy.path / "manifest.json").write_text(text, encoding="latin-1")
    with pytest.raises(InvalidInput):
        open_run(copy.path)
