"""Estimates of memory, and amounts as people write them."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch

from headlight.models.model import Task
from headlight.running.footprint import (
    Footprint,
    footprint,
    free_bytes,
    free_of_group,
    sizes,
)
from tests.networks import model

BERT = model("bert", Task.SEQUENCE)


def test_a_row_takes_some_bytes_per_token_and_some_per_pair() -> None:
    assert Footprint(10, 2).of(3) == 48
    assert Footprint(10, 2, least=5).of(3) == 68


def test_what_is_kept_decides() -> None:
    def of(*needs: str, **settings: Any) -> int:
        return footprint(BERT, needs, **settings).of(100)

    assert of() < of("embedding_gradient") < of("attention", "hidden_gradient") < of("relevance")
    assert of("embedding_gradient", recomputes=True) < of("embedding_gradient")
    assert of("replay", replayed=4096) > 10 * of("replay")
    again = of("embedding_gradient", "again")
    assert again == pytest.approx(2 * of("embedding_gradient"), rel=1e-5)
    twice = replace(BERT, kept_per_token=2 * BERT.kept_per_token)
    doubled = footprint(twice, ["embedding_gradient"]).of(100)
    assert doubled == pytest.approx(2 * of("embedding_gradient"), rel=1e-5)
    wide = model("bert", Task.SEQUENCE, torch.float64)
    assert footprint(wide, ["attention"]).of(100) > footprint(BERT, ["attention"]).of(100)
    assert sizes(BERT) == (3, 4, 32)


def test_softmax_that_is_watched_keeps_every_map() -> None:
    watched = replace(BERT, sees_attention_by="softmax")
    assert footprint(watched, ["attention"]).of(500) > footprint(BERT, ["attention"]).of(500)


def test_a_container_s_bound_counts(tmp_path: Path) -> None:
    assert free_of_group(tmp_path) is None
    (tmp_path / "memory.max").write_text("5000\n")
    (tmp_path / "memory.current").write_text("2000\n")
    assert free_of_group(tmp_path) == 3000
    (tmp_path / "memory.max").write_text("max\n")
    assert free_of_group(tmp_path) is None
    assert (free_bytes(torch.device("cpu")) or 1) > 0
    assert free_bytes(torch.device("meta")) is None
