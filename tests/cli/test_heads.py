"""Heads are learned, shown and used."""

from pathlib import Path

import pytest

from tests.cli.commands import run


@pytest.mark.slow
def test_heads_are_learned_shown_and_used(tmp_path: Path) -> None:
    texts, mask, counts = (tmp_path / name for name in ("t.txt", "m.safetensors", "s.safetensors"))
    texts.write_text("The young doctor quickly sold an old clock.\nThe critic admired the film.\n")
    found = run("heads", "learn", "-d", str(texts), "-o", str(mask), "--statistics", str(counts))
    assert "of 72 heads" in found
    for source in (mask, counts, "sentiment"):
        assert "parser: headlight" in run("heads", "show", str(source))
    assert run("heads", "sweep", str(counts)).count("\n") == 31
    assert "nsubj" in run("heads", "relations", str(counts))
    assert "1.00" in run("heads", "compare", str(mask), str(counts))
    assert "with as many other texts" in run("heads", "sizes", "-d", str(texts), "--parts", "2")
    for name in ("show", "sweep", "relations"):
        run("heads", name, str(counts), "--picture", str(tmp_path / f"{name}.svg"))
        assert (tmp_path / f"{name}.svg").read_text(encoding="utf-8").startswith("<?xml")
    assert "mask_lrp" in run("explain", "a charming film", "-a", "mask_lrp", "-O", f"mask={mask}")
