"""Heads are switched off by a command."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from headlight import Ablated, HeadEffects, HeadMask, InvalidInput, InvalidOption
from headlight.cli import app
from headlight.cli.heads_off import checked_heads, parsed_heads
from tests.cli.commands import run


def refused(*arguments: str) -> BaseException | None:
    return CliRunner().invoke(app, ["heads", "off", *arguments]).exception


def test_the_answer_is_shown_before_and_after(folder: str, tmp_path: Path) -> None:
    path = tmp_path / "off.json"
    shown = run("heads", "off", "a good film", "-m", folder, "--heads", "1.2, 3.4", "-o", str(path))
    assert "2 of 12 heads off" in shown
    assert "off: 1.2, 3.4" in shown
    assert "→" in shown
    found = Ablated.load(path)
    assert found.heads.heads.nonzero().tolist() == [[0, 1], [2, 3]]
    others = run("heads", "off", "a good film", "-m", folder, "--heads", "1.2", "--others")
    assert "11 of 12 heads off" in others


def test_heads_of_a_mask_file_and_texts_of_a_file(folder: str, tmp_path: Path) -> None:
    mask, texts = tmp_path / "mask.safetensors", tmp_path / "texts.txt"
    HeadMask.at([(2, 1)], 3, 4).save(mask)
    texts.write_text("a good film\na bad film\n", encoding="utf-8")
    shown = run("heads", "off", "-i", str(texts), "-m", folder, "--mask", str(mask))
    assert "1 of 12 heads off: " in shown
    assert "of 2 decided otherwise" in shown


def test_each_head_is_switched_off_and_drawn(folder: str, tmp_path: Path) -> None:
    picture, path = tmp_path / "effects.svg", tmp_path / "effects.json"
    shown = run(
        "heads", "off", "a good film", "-m", folder, "--each", "-t", "positive",
        "--picture", str(picture), "-o", str(path),
    )  # fmt: skip
    assert "points of probability lost without a head" in shown
    assert "layer 3" in picture.read_text(encoding="utf-8")
    found = HeadEffects.load(path)
    assert found.logits.shape == (1, 3, 4)
    assert json.loads(path.read_text(encoding="utf-8"))["before"][0]["label"] == "positive"


def test_mistakes_are_refused_before_anything_runs(tmp_path: Path) -> None:
    for arguments in (
        ["x"],
        ["x", "--heads", "1.1", "--each"],
        ["x", "--heads", "1.1", "--mask", "both"],
    ):
        assert "in one way" in str(refused(*arguments))
    assert "Leave it out with --each" in str(refused("x", "--each", "--others"))
    assert "Add --each" in str(refused("x", "--heads", "1.1", "--picture", str(tmp_path / "a.svg")))
    with pytest.raises(InvalidInput, match="there is no file"):
        checked_heads(None, "gone.safetensors", others=False, each=False)
    assert checked_heads(None, "syntactic", others=False, each=False) == "syntactic"


@pytest.mark.parametrize("given", ["", "3", "3.4;5.1", "3.4,", "a.b", "-1.2"])
def test_heads_are_layers_and_heads(given: str) -> None:
    with pytest.raises(InvalidOption, match=r"Write LAYER\.HEAD, counted from 1"):
        parsed_heads(given)


def test_heads_are_read() -> None:
    assert parsed_heads("3.4, 10.12") == [(3, 4), (10, 12)]
