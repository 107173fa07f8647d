"""Folders are loaded as they were saved, and nothing of them is run."""

import json
import os
from pathlib import Path

import numpy as np
import pytest
import torch
from safetensors.torch import load_file, save_file
from transformers import FlaubertConfig, FlaubertWithLMHeadModel

import headlight
from headlight import InvalidInput, InvalidOption, Model, UnknownName, UnsupportedModel
from headlight.models.model import Task
from tests.networks import network

TEXT = "a charming film"


@pytest.fixture
def folder(classifier: Model, tmp_path: Path) -> Path:
    classifier.network.save_pretrained(tmp_path / "model")
    classifier.tokenizer.save_pretrained(tmp_path / "model")  # type: ignore[union-attr]
    return tmp_path / "model"


class Payload:
    """Writes a file when it is unpickled."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self) -> tuple[object, tuple[str]]:
        return os.mkdir, (str(self.path),)


def test_a_saved_folder_is_loaded_with_its_head(folder: Path, classifier: Model) -> None:
    loaded = headlight.load(folder, dtype=torch.float64)
    assert loaded.task is Task.SEQUENCE
    assert loaded.name == str(folder)
    found = headlight.explain(loaded, TEXT)
    exact = headlight.wrap(network("bert", Task.SEQUENCE).double(), classifier.tokenizer)
    np.testing.assert_allclose(found.scores, headlight.explain(exact, TEXT).scores, rtol=1e-9)


def test_checkpoints_are_loaded_in_full_precision(folder: Path, classifier: Model) -> None:
    network("bert", Task.SEQUENCE).half().save_pretrained(folder)
    assert headlight.load(folder).network.dtype is torch.float32
    assert headlight.load(folder, dtype=torch.bfloat16).network.dtype is torch.bfloat16


def test_the_task_can_be_chosen(folder: Path) -> None:
    assert headlight.load(folder, task="token classification").task is Task.TOKEN
    with pytest.raises(UnknownName, match="no task named 'tokens'"):
        headlight.load(folder, task="tokens")


def test_a_type_may_be_that_of_the_checkpoint_and_a_device_is_where_the_weights_are(
    folder: Path,
) -> None:
    network("bert", Task.SEQUENCE).half().save_pretrained(folder)
    assert headlight.load(folder, dtype="auto").network.dtype is torch.float16
    assert headlight.load(folder, dtype="float64", device="cpu").network.dtype is torch.float64
    with pytest.raises(InvalidOption, match=r"no device 'cuda:99' on this machine.*It has: cpu"):
        headlight.load(folder, device="cuda:99")


def test_a_map_of_devices_goes_to_transformers(folder: Path, classifier: Model) -> None:
    spread = headlight.load(folder, device_map={"": "cpu"})
    found, expected = (headlight.explain(m, TEXT).scores for m in (spread, classifier))
    np.testing.assert_allclose(found, expected, rtol=1e-4)
    parts = dict.fromkeys(("bert.embeddings", "bert.pooler", "classifier", "dropout"), "cpu")
    with pytest.raises(UnsupportedModel, match=r"weights of BertFor.* are not in memory"):
        headlight.load(folder, device_map={"bert.encoder": "disk", **parts})


def test_a_network_whose_class_does_not_say_its_task_is_told_it(
    folder: Path, classifier: Model
) -> None:
    config = FlaubertConfig(
        vocab_size=120, emb_dim=16, n_layers=2, n_heads=2, max_position_embeddings=40
    )
    torch.manual_seed(0)
    FlaubertWithLMHeadModel(config).save_pretrained(folder)
    classifier.tokenizer.save_pretrained(folder)  # type: ignore[union-attr]
    assert headlight.load(folder, task="masked language modelling").task is Task.MASKED


def test_a_regression_can_be_asked_for(folder: Path) -> None:
    assert headlight.load(folder, task="regression").task is Task.REGRESSION


@pytest.mark.parametrize("name", ["/nowhere/at/all", "someone/no-such-model"])
def test_what_cannot_be_loaded_says_so(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    with pytest.raises(InvalidInput, match="no model could be loaded from"):
        headlight.load(name)


def test_a_half_written_folder_says_so(folder: Path) -> None:
    weights = folder / "model.safetensors"
    weights.write_bytes(weights.read_bytes()[:1000])
    with pytest.raises(InvalidInput, match="no model could be loaded from"):
        headlight.load(folder)


def test_pickled_weights_are_read_and_run_nothing(
    folder: Path, classifier: Model, tmp_path: Path
) -> None:
    (folder / "model.safetensors").unlink()
    torch.save(classifier.network.state_dict(), folder / "pytorch_model.bin")
    found = headlight.explain(headlight.load(folder), TEXT)
    np.testing.assert_allclose(found.scores, headlight.explain(classifier, TEXT).scores, rtol=1e-5)
    torch.save({"weight": Payload(tmp_path / "harm")}, folder / "pytorch_model.bin")
    with pytest.raises(InvalidInput, match="no model could be loaded from"):
        headlight.load(folder)
    assert not (tmp_path / "harm").exists()


@pytest.mark.parametrize("content", [b"", b"\x80\x02nonsense", b"PK\x03\x04half an archive"])
def test_broken_pickled_weights_say_so(folder: Path, content: bytes) -> None:
    (folder / "model.safetensors").unlink()
    (folder / "pytorch_model.bin").write_bytes(content)
    with pytest.raises(InvalidInput, match="no model could be loaded from"):
        headlight.load(folder)


def test_a_head_that_was_never_trained_is_refused(folder: Path, classifier: Model) -> None:
    weights = load_file(folder / "model.safetensors")
    save_file(
        {name: w for name, w in weights.items() if not name.startswith("classifier")},
        folder / "model.safetensors",
        {"format": "pt"},
    )
    with pytest.raises(
        UnsupportedModel, match=r"no weights for classifier\.bias.* would be random"
    ):
        headlight.load(folder)


def test_code_of_a_checkpoint_is_never_run(folder: Path) -> None:
    config = json.loads((folder / "config.json").read_text())
    config |= {"model_type": "own", "auto_map": {"AutoConfig": "own.OwnConfig"}}
    (folder / "config.json").write_text(json.dumps(config))
    (folder / "own.py").write_text(f"open({str(folder / 'harm')!r}, 'w')")
    with pytest.raises(InvalidInput, match="no model could be loaded from"):
        headlight.load(folder)
    assert not (folder / "harm").exists()


def test_a_checkpoint_without_a_head_says_so(folder: Path, classifier: Model) -> None:
    classifier.network.bert.save_pretrained(folder)  # type: ignore[operator, union-attr]
    with pytest.raises(UnsupportedModel, match="has no head to explain"):
        headlight.load(folder)
