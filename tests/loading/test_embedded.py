"""Embedded networks are plain ones."""

from pathlib import Path

import pytest
import torch

import headlight


def test_the_merged_network_is_a_plain_one(tmp_path: Path) -> None:
    model = headlight.load("sentiment")
    model.network.save_pretrained(tmp_path)
    model.tokenizer.save_pretrained(tmp_path)  # type: ignore[union-attr]
    again = headlight.load(tmp_path)
    text = "a charming film"
    found = headlight.explain(again, text).scores
    assert found == pytest.approx(headlight.explain(model, text).scores, rel=1e-4, abs=1e-7)


def test_an_embedded_network_is_in_the_type_and_place_that_was_asked_for() -> None:
    half = headlight.load("sentiment", dtype="bfloat16", device="cpu")
    assert half.network.dtype is torch.bfloat16
    assert half.network.device.type == "cpu"
    assert headlight.load("sentiment", dtype="auto").network.dtype is torch.float32
    assert headlight.load("sentiment", device_map="auto").network.device.type == "cpu"
