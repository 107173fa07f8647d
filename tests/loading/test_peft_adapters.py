"""PEFT adapters from a folder decide what the live network decides."""

import importlib.util
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from peft import LoraConfig, get_peft_model
from transformers import BertConfig, BertModel

import headlight
from headlight import InvalidInput, MissingExtra, Model, UnsupportedModel
from headlight.loading import peft_adapters
from headlight.loading.peft_adapters import label_count, required_peft, still_missing
from headlight.models.model import Task
from tests.networks import ENCODER, network

TEXT = "a charming film"


def saved(tmp_path: Path, classifier: Model, base: Any, config: LoraConfig) -> tuple[Any, Path]:
    """A live PEFT model, and the folder of its adapter; the base is saved in another."""
    base.save_pretrained(tmp_path / "base")
    classifier.tokenizer.save_pretrained(tmp_path / "base")  # type: ignore[union-attr]
    base.config.name_or_path = base.name_or_path = str(tmp_path / "base")
    live = get_peft_model(base, config).eval()
    live.save_pretrained(str(tmp_path / "adapter"))
    return live, tmp_path / "adapter"


def lora(**changes: Any) -> LoraConfig:
    settings = {"target_modules": ["query", "value"], "init_lora_weights": False, **changes}
    return LoraConfig(**settings)


def test_a_folder_with_an_adapter_is_loaded_with_its_base(
    tmp_path: Path, classifier: Model
) -> None:
    live, folder = saved(
        tmp_path, classifier, network("bert", Task.SEQUENCE), lora(task_type="SEQ_CLS")
    )
    loaded = headlight.load(folder)
    assert (loaded.name, loaded.task) == (str(folder), Task.SEQUENCE)
    expected = headlight.explain(headlight.wrap(live, classifier.tokenizer), TEXT).scores
    np.testing.assert_allclose(headlight.explain(loaded, TEXT).scores, expected, rtol=1e-5)
    half = headlight.load(folder, dtype="bfloat16", device="cpu")
    assert half.network.dtype is torch.bfloat16


def test_a_head_that_only_the_adapter_has_is_taken_from_it(
    tmp_path: Path, classifier: Model
) -> None:
    whole = network("bert", Task.SEQUENCE)
    whole.save_pretrained(tmp_path / "whole")
    body = BertModel.from_pretrained(tmp_path / "whole")
    live, folder = saved(tmp_path, classifier, whole, lora(task_type="SEQ_CLS"))
    body.config.id2label = {0: "no", 1: "yes"}  # the base knows nothing of three labels
    body.save_pretrained(tmp_path / "base")
    loaded = headlight.load(folder)
    assert len(loaded.labels) == 3
    expected = headlight.explain(headlight.wrap(live, classifier.tokenizer), TEXT).scores
    np.testing.assert_allclose(headlight.explain(loaded, TEXT).scores, expected, rtol=1e-5)


def test_a_head_that_nobody_has_is_refused(tmp_path: Path, classifier: Model) -> None:
    body = BertModel(BertConfig(**ENCODER))
    _, folder = saved(tmp_path, classifier, body, lora(task_type="FEATURE_EXTRACTION"))
    with pytest.raises(UnsupportedModel, match="Say which task to use"):
        headlight.load(folder)
    with pytest.raises(UnsupportedModel, match=r"no weights for .*classifier"):
        headlight.load(folder, task="sequence classification")


def test_a_damaged_adapter_is_refused_in_a_sentence(tmp_path: Path, classifier: Model) -> None:
    _, folder = saved(tmp_path, classifier, network("bert", Task.SEQUENCE), lora())
    (folder / "adapter_model.safetensors").write_bytes(b"nothing")
    with pytest.raises(InvalidInput, match="no model could be loaded from"):
        headlight.load(folder)


def test_without_peft_its_installation_is_proposed(monkeypatch: pytest.MonkeyPatch) -> None:
    find = importlib.util.find_spec
    monkeypatch.setattr(
        peft_adapters, "find_spec", lambda name: None if name == "peft" else find(name)
    )
    with pytest.raises(MissingExtra, match="Run: pip install peft"):
        required_peft()


def test_labels_are_counted_at_the_head() -> None:
    head = torch.zeros(5, 2)
    assert (
        label_count({"bert.query.lora_A.weight": torch.zeros(3, 2), "classifier.weight": head}) == 5
    )
    assert label_count({"classifier.out_proj.weight": head, "classifier.dense.weight": head.T}) == 5
    assert label_count({"score.weight": head}) == 5
    assert label_count({"bert.query.lora_A.weight": head}) is None
    assert still_missing(["a", "b"], {"a": head}) == ["b"]
