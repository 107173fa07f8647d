"""Heads are learned by what they do to the decision: the choices of --by, and what belongs to each."""

from pathlib import Path

import pytest
import torch
from typer.testing import CliRunner

from headlight import HeadMask
from headlight.cli import app
from headlight.cli.head_learning import By, bare_texts
from headlight.errors import InvalidOption
from headlight.heads import HeadImportance
from tests.cli.commands import run
from tests.conftest import WORDS


@pytest.fixture
def texts(tmp_path: Path) -> str:
    """Ten texts in a file."""
    path = tmp_path / "t.txt"
    lines = [" ".join(WORDS[n : n + 5]) for n in range(10)]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return str(path)


@pytest.mark.parametrize("by", ["importance", "gradient", "relevance"])
def test_heads_that_matter_are_learned_shown_and_used(
    by: str, folder: str, texts: str, tmp_path: Path
) -> None:
    mask, found = str(tmp_path / "m"), str(tmp_path / "i")
    shown = run(
        "heads", "learn", "-d", texts, "-m", folder, "--by", by, "--keep", "0.5", "-o", mask,
        "--statistics", found,
    )  # fmt: skip
    assert "important: 6 of 12 heads (X important)" in shown
    assert HeadMask.load(mask).facts["by"] == by.replace("importance", "gradient")
    assert HeadImportance.load(found).facts["corpus"] == "t.txt"
    again = run("heads", "show", mask)
    assert "important: 6 of 12 heads" in again
    assert f"by: {by.replace('importance', 'gradient')}" in again
    assert "important: 3 of 12 heads" in run("heads", "show", found)
    assert "important: 1 of 12 heads" in run("heads", "show", found, "--keep", "0.1")
    assert "0.50" in run("heads", "compare", mask, found)
    used = run("explain", "a charming film", "-m", folder, "-a", "mask_lrp", "-O", f"mask={mask}")
    assert "mask_lrp" in used


def test_every_layer_keeps_heads_if_they_are_compared_apart(folder: str, texts: str) -> None:
    shown = run(
        "heads", "learn", "-d", texts, "-m", folder, "--by", "gradient", "--within", "layer"
    )
    assert "important: 3 of 12 heads" in shown
    assert all(line.count("X") == 1 for line in shown.splitlines()[1:4])


def test_a_search_says_what_it_costs_and_what_it_found(
    folder: str, texts: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    mask = tmp_path / "m"
    shown = run(
        "heads", "learn", "-d", texts, "-m", folder, "--by", "faithful", "--steps", "1", "--draws",
        "2", "-o", str(mask),
    )  # fmt: skip
    assert "AOPC of mask_lrp on 2 other texts" in shown
    kept = HeadMask.load(mask)
    assert kept.facts["held_out"]["texts"] == 2
    assert kept.facts["selection"]["draws"] == 2
    assert "AOPC of mask_lrp on 2 other texts" in run("heads", "show", str(mask))


@pytest.mark.parametrize(
    ("by", "option", "use"),
    [
        ("gradient", "--parser=x", "syntax"),
        ("relevance", "--syntactic=0.2", "syntax"),
        ("gradient", "--steps=2", "faithful"),
        ("faithful", "--keep=0.5", "importance or gradient or relevance"),
        ("faithful", "--statistics=s", "syntax or importance or gradient or relevance"),
        ("syntax", "--draws=2", "faithful"),
    ],
)
def test_an_option_of_another_choice_is_refused(
    by: str, option: str, use: str, folder: str, texts: str
) -> None:
    name = option.split("=")[0]
    arguments = ("heads", "learn", "-d", texts, "-m", folder, "--by", by, option)
    refused = CliRunner().invoke(app, arguments).exception
    assert isinstance(refused, InvalidOption)
    said = f"{name} means nothing with --by {by}. Leave it out, or use --by {use}."
    assert str(refused) == said


def test_parses_are_read_as_texts(tmp_path: Path) -> None:
    path = tmp_path / "p.conllu"
    path.write_text("1\tso\t_\t_\t_\t_\t0\troot\t_\t_\n\n" * 3, encoding="utf-8")
    assert bare_texts(str(path), 2) == ["so", "so"]
    assert bare_texts(["a", "b"], None) == ["a", "b"]
    assert By("importance") is By.IMPORTANCE
    assert torch.is_tensor(HeadImportance(torch.ones(1, 1)).values)
