"""What a run is about, in JSON and in short."""

import json
from dataclasses import fields, replace
from typing import Any

import pytest

from headlight.evaluation.settings import Settings

SETTINGS = Settings("m", "f", "d", "h", 3, labels=("a",), options={"steps": 3})


def test_settings_are_what_json_gives_back() -> None:
    found = SETTINGS.to_dict()
    assert found == json.loads(json.dumps(found))
    assert list(found) == [field.name for field in fields(Settings)]
    assert found["labels"] == ["a"]


def test_the_identity_is_that_of_parts_that_exist() -> None:
    assert SETTINGS.identity == "ec2a43ff6e82b5a7"


@pytest.mark.parametrize(
    "change",
    [
        {"fingerprint": "g"}, {"data_hash": "i"}, {"explain": "gold"}, {"variant": "released"},
        {"rivals": ("r",)}, {"options": {"steps": 4}}, {"sanity": 1}, {"shard": 1},
        {"dtype": "bfloat16"},
    ],
    ids=str,
)  # fmt: skip
def test_what_changes_the_scores_changes_the_identity(change: dict[str, Any]) -> None:
    assert replace(SETTINGS, **change).identity != SETTINGS.identity


@pytest.mark.parametrize(
    "change",
    [{"model": "another name"}, {"data": "a copy"}, {"threads": 8}, {"versions": {"torch": "9"}}],
    ids=str,
)
def test_names_and_machines_do_not(change: dict[str, Any]) -> None:
    assert replace(SETTINGS, **change).identity == SETTINGS.identity
