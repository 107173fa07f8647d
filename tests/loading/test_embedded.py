"""Embedded networks are plain ones."""

from pathlib import Path

import pytest

import headlight


def test_the_merged_network_is_a_plain_one(tmp_path: Path) -> None:
    model = headlight.load("sentiment")
    model.network.save_pretrained(tmp_path)
    model.tokenizer.save_pretrained(tmp_path)  # type: ignore[union-attr]
    again = headlight.load(tmp_path)
    text = "a charming film"
    found = headlight.explain(again, text).scores
    assert found == pytest.approx(headlight.explain(model, text).scores, rel=1e-4, abs=1e-7)
