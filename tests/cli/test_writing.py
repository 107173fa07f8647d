"""Answers are printed, or written in the form that was asked for."""

import json
import re
import sys
from pathlib import Path

import numpy as np
import pandas
import pytest

import headlight
from headlight import Attribution
from tests.cli.commands import MAGIC, TEXT, in_shell, run


def test_explain_in_every_format(folder: str, tmp_path: Path) -> None:
    arguments = ("explain", TEXT, "-m", folder, "-a", "attcat", "-a", "rollout", "--words")
    assert run(*arguments, "-f", "html").startswith("<!doctype html>")
    assert r"\colorbox" in run(*arguments, "-f", "latex")
    lines = run(*arguments, "-f", "jsonl").splitlines()
    assert [json.loads(line)["method"] for line in lines] == ["attcat", "rollout"]
    run(*arguments, "-o", str(tmp_path / "page.html"))
    assert (tmp_path / "page.html").read_text().startswith("<!doctype html>")
    assert [path.name for path in tmp_path.iterdir()] == ["page.html"]


@pytest.mark.parametrize("kind", MAGIC)
def test_explain_and_compare_draw_pictures(folder: str, kind: str, tmp_path: Path) -> None:
    methods = ("-m", folder, "-a", "attcat", "-a", "rollout")
    run("explain", TEXT, *methods, "-o", str(tmp_path / f"a.{kind}"))
    run("compare", TEXT, *methods, "-o", str(tmp_path / "b"), "--format", kind)
    run("explain", TEXT, "-m", folder, "--layers", "--words", "-o", str(tmp_path / f"c.{kind}"))
    for name in (f"a.{kind}", "b", f"c.{kind}"):
        assert (tmp_path / name).read_bytes().startswith(MAGIC[kind]), name


def test_svg_is_text(folder: str) -> None:
    assert run("explain", TEXT, "-m", folder, "-f", "svg").startswith("<svg")
    compared = run("compare", TEXT, "-m", folder, "-a", "attcat", "-a", "rollout", "-f", "svg")
    assert "attcat − rollout" in compared
    assert ">more</text>" in compared


def test_comparisons_are_written_in_every_format(folder: str, tmp_path: Path) -> None:
    arguments = ("compare", TEXT, "-m", folder, "-a", "attcat", "-a", "rollout")
    assert "grid-column-start" in run(*arguments, "-f", "html")
    lines = run(*arguments, "-f", "jsonl").splitlines()
    assert [json.loads(line)["method"] for line in lines] == [
        "attcat",
        "rollout",
        "attcat − rollout",
    ]
    run(*arguments, "-o", str(tmp_path / "a.tex"))
    assert "attcat − rollout" in (tmp_path / "a.tex").read_text(encoding="utf-8")


@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_tables_have_a_row_for_each_token(folder: str, tmp_path: Path, suffix: str) -> None:
    out = tmp_path / f"answers.{suffix}"
    texts = tmp_path / "texts.txt"
    texts.write_text("a charming film\nnan, null and NA\n")
    run("explain", "-i", str(texts), "-m", folder, "-a", "rollout", "-a", "gae", "-o", str(out))
    read = pandas.read_parquet if suffix == "parquet" else pandas.read_csv
    frame = read(out, **({"keep_default_na": False, "na_values": [""]} if suffix == "csv" else {}))
    assert list(frame["input"].unique()) == [0, 1]
    assert list(frame["method"].unique()) == ["rollout", "gae"]
    first = frame[(frame["input"] == 0) & (frame["method"] == "rollout")]
    assert list(first["token"]) == ["[CLS]", "a", "charming", "film", "[SEP]"]
    model = headlight.load(folder)
    expected = headlight.explain(model, "a charming film", "rollout")
    np.testing.assert_allclose(first["score"], expected.scores, rtol=1e-4, atol=1e-6)
    assert list(first["is_special"]) == [True, False, False, False, True]
    assert list(first["is_sink"]) == [False] * 5
    assert not re.search(rb"\x1b\[[0-9;]*m", out.read_bytes())


def test_several_answers_are_one_json_document_or_one_a_line(folder: str, tmp_path: Path) -> None:
    whole, lines = tmp_path / "answers.json", tmp_path / "answers.jsonl"
    arguments = ("explain", TEXT, "-m", folder, "-a", "rollout", "-a", "gae")
    run(*arguments, "-o", str(whole))
    run(*arguments, "-o", str(lines))
    stored = json.loads(whole.read_text())
    assert [Attribution.from_dict(each).method for each in stored] == ["rollout", "gae"]
    assert [json.loads(line) for line in lines.read_text().splitlines()] == stored
    run(*arguments[:-2], "-o", str(whole))
    assert Attribution.load(whole).method == "rollout"


@pytest.mark.slow
def test_colour_is_left_out_when_asked(folder: str) -> None:
    command = f"{sys.executable} -m headlight explain 'a film' -m {folder}"
    coloured = in_shell(command, FORCE_COLOR="1", COLORTERM="truecolor", TERM="xterm-256color")
    plain = in_shell(command, FORCE_COLOR="1", NO_COLOR="1", TERM="xterm-256color")
    assert "48;2;" in coloured.stdout
    assert "48;2;" not in plain.stdout
    assert re.search(r"film\s+[+-]", re.sub(r"\x1b\[[0-9;]*m", "", plain.stdout))
