"""Adapters by their path: what their files say, and what those that say nothing get."""

import json
from pathlib import Path

import pytest
import torch
from safetensors.torch import save_file

import headlight
from headlight import InvalidInput
from headlight.cli.checking import check_models
from headlight.heads.masks import own_mask
from headlight.loading.adapter_facts import TASKS, adapter_entry
from headlight.loading.bases import MINILM
from headlight.loading.catalogue import CATALOGUE
from headlight.loading.names import entry_of, known_config, known_task
from headlight.models.task import Task

pytestmark = pytest.mark.xdist_group("catalogue")
RIVALS = Path(__file__).parents[2] / "benchmarks" / "faithfulness" / "rivals"
RECIPE = {"task": "classify", "train": [["sst2", "train"]], "shown": ["sst2", "dev"]}


def adapter(path: Path, **facts: str) -> str:
    """A file with these facts, and a tensor."""
    save_file({"classifier.bias": torch.ones(2)}, path, facts)
    return str(path)


@pytest.mark.parametrize("seed", [1, 2])
def test_a_rival_is_loaded_by_its_path(seed: int) -> None:
    path = RIVALS / f"sentiment-{seed}.safetensors"
    check_models(str(path))
    model = headlight.load(path)
    assert model.name == str(path)
    assert tuple(model.labels.values()) == ("negative", "positive")
    found = headlight.explain(
        model, "a charming film", ["attn_lrp", "decoded_grad_cam", "mask_lrp"]
    )
    assert all(each.target.label == "positive" for each in found.values())
    assert own_mask(model).facts["model"] == f"sentiment-{seed}"


def test_a_rival_is_known_before_it_is_loaded() -> None:
    path = RIVALS / "sentiment-1.safetensors"
    assert known_task(path) is Task.SEQUENCE
    assert known_config(path)["num_hidden_layers"] == 6
    entry = entry_of(path)
    assert entry is not None
    assert (entry.data, entry.shown, entry.is_shipped) == ("sst2 train", "sst2 dev", False)


@pytest.mark.parametrize("name", [name for name, entry in CATALOGUE.items() if entry.is_shipped])
def test_shipped_adapters_say_what_the_catalogue_says(name: str) -> None:
    entry = adapter_entry(str(CATALOGUE[name].adapter()))
    assert entry is not None
    assert (entry.task, entry.labels) == (CATALOGUE[name].task, CATALOGUE[name].labels)


def test_other_files_are_not_adapters(tmp_path: Path) -> None:
    other = adapter(tmp_path / "other.safetensors", format="pt")
    (tmp_path / "broken.safetensors").write_bytes(b"nonsense")
    for path in (other, tmp_path / "broken.safetensors"):
        assert entry_of(path) is None
        with pytest.raises(InvalidInput, match="it is a file, and not an adapter"):
            headlight.load(path)
    for name in ("", "a film", "nowhere.safetensors", f"{'x' * 300}.safetensors"):
        assert entry_of(name) is None


@pytest.mark.parametrize(
    "facts",
    [
        {},
        {"labels": "[]", "recipe": "not json"},
        {"labels": "[]", "recipe": json.dumps(RECIPE | {"task": "paint"})},
        {"labels": "[1]", "recipe": json.dumps(RECIPE)},
        {"labels": "[]", "recipe": "[]"},
    ],
)
def test_an_adapter_that_does_not_say_what_it_decides_is_refused(
    facts: dict[str, str], tmp_path: Path
) -> None:
    path = adapter(tmp_path / "a.safetensors", base_sha256=MINILM.sha256, **facts)
    with pytest.raises(InvalidInput, match="does not say what it decides"):
        headlight.load(path)


def test_an_adapter_of_another_base_or_shape_is_refused(tmp_path: Path) -> None:
    facts = {"labels": '["no", "yes", "perhaps"]', "recipe": json.dumps(RECIPE)}
    path = adapter(tmp_path / "a.safetensors", base_sha256="other", **facts)
    with pytest.raises(InvalidInput, match="trained on another base"):
        headlight.load(path)
    path = adapter(tmp_path / "a.safetensors", base_sha256=MINILM.sha256, **facts)
    with pytest.raises(InvalidInput, match=r"changes 'classifier\.bias'"):
        headlight.load(path)


def test_every_task_of_the_recipes_is_known() -> None:
    assert set(TASKS.values()) == {e.task for e in CATALOGUE.values() if e.is_shipped}
