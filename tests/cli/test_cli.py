"""The command line as people use it: commands, files, pipes, exit codes."""

import os
import runpy
import subprocess
import sys
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import pytest
import typer

import headlight
from headlight.cli import app, main
from tests.cli.commands import in_shell, run


def test_version() -> None:
    assert run("--version").strip() == headlight.__version__


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["explain", "x", "-m", "{folder}", "-a", "rolout"], "Did you mean 'rollout'"),
        (["explain", "x", "-m", "{folder}", "-t", "postive"], "Did you mean 'positive'"),
        (["explain", " ", "-m", "{folder}"], "only spaces"),
        (["explain", "-m", "{folder}"], "Give a text in quotes"),
        (["explain", "x", "-i", "-", "-m", "{folder}"], "one of the two"),
        (["explain", "x", "-m", "/nowhere"], "no model could be loaded"),
        (
            ["explain", "x", "-m", "{folder}", "-o", "/nowhere/x.html"],
            "there is no folder '/nowhere'",
        ),
        (["explain", "x", "-m", "{folder}", "--generate", "3"], "needs a causal language model"),
        (["explain", "x", "-m", "{folder}", "-f", "png"], "needs a file: add --output picture.png"),
        (["compare", "x", "-m", "{folder}", "-f", "pdf"], "needs a file: add --output picture.pdf"),
        (
            ["explain", "x", "-m", "{folder}", "-a", "random", "--layers"],
            "has no layers to choose from",
        ),
        (
            ["explain", "x", "-m", "{folder}", "-a", "gae", "-a", "cat", "--layers"],
            "--layers explains one text with one method, not 1 with 2",
        ),
        (
            ["explain", "x", "-m", "{folder}", "--layers", "--variant", "released"],
            "Leave --variant out",
        ),
        (["explain", "x", "-p", "y", "-m", "{writer}", "--generate", "1"], "one text, not a pair"),
        (
            ["explain", "x", "-m", "{writer}", "--generate", "1", "-f", "json"],
            "Use the terminal, html, png, svg or pdf",
        ),
        (
            ["explain", "x", "-m", "{folder}", "-o", "/nowhere/x.png"],
            "there is no folder '/nowhere'",
        ),
        (
            ["explain", "x", "-m", "{folder}", "-o", "x.xyz"],
            "'x.xyz' does not say what to write. Use one of the suffixes .html, .svg, .png, .pdf, "
            ".json, .jsonl, .ndjson, .csv, .tsv, .parquet, .tex, or add --format",
        ),
        (["compare", "x", "-m", "{folder}", "-o", "answer"], "'answer' does not say what to write"),
        (
            ["explain", "x", "-m", "{folder}", "-f", "parquet"],
            "parquet is not text and needs a file: add --output table.parquet",
        ),
        (["methods", "nothing"], "no method named 'nothing'"),
    ],
)
def test_a_mistake_is_one_sentence_and_exit_code_1(
    arguments: list[str],
    message: str,
    folder: str,
    writer_folder: str,
    capsys: pytest.CaptureFixture[str],
) -> None:
    filled = [a.format(folder=folder, writer=writer_folder) for a in arguments]
    with pytest.raises(SystemExit) as stopped:
        main(lambda: app(filled, standalone_mode=False))
    assert stopped.value.code == 1
    written = capsys.readouterr()
    assert message in " ".join(written.err.split())
    assert "Traceback" not in written.err


HEAVY = {
    *("torch", "transformers", "numpy", "scipy", "matplotlib", "pandas", "pyarrow", "spacy", "ray"),
    *("captum", "fastapi", "uvicorn"),
}
"""Packages that take long to import."""

RUNNER = """
import sys
from collections.abc import Iterator
from headlight.cli import app
for line in sys.argv[2:]:
    print("#", line)
    try: app(line.split())
    except SystemExit as end: assert not end.code, line
    heavy = set(sys.argv[1].split()) & set(sys.modules)
    assert not heavy, f"{line} imports {heavy}"
"""


def commands(group: Any, names: tuple[str, ...] = ()) -> Iterator[str]:
    """Every command and group of commands, by the words that call it."""
    yield " ".join(names)
    for name, command in getattr(group, "commands", {}).items():
        yield from commands(command, (*names, name))


def test_help_and_lists_need_neither_torch_nor_transformers() -> None:
    helps = [f"{words} --help".strip() for words in commands(typer.main.get_command(app))]
    assert {"--help", "explain --help", "heads learn --help"} <= set(helps)
    lists = ["--version", "methods", "methods attcat", "models", "metrics", "data"]
    result = subprocess.run(
        [sys.executable, "-c", RUNNER, " ".join(HEAVY), *helps, *lists],
        capture_output=True,
        text=True,
        check=False,
    )
    assert result.returncode == 0, result.stderr
    for said in ("Examples", "attn_lrp", "Qiang et al.", "headlight-models==", "aopc", "sst_trees"):
        assert said in result.stdout


EXPLAINER = """
import sys, torch
from transformers import AutoModelForSequenceClassification, AutoTokenizer, Pipeline, PreTrainedModel
needed = set(sys.modules)
from headlight.cli import app
try: app(["explain", "a good film", "-m", sys.argv[2]])
except SystemExit as end: assert not end.code
heavy = {name.partition(".")[0] for name in set(sys.modules) - needed} & set(sys.argv[1].split())
print("more:", *sorted(heavy - {"torch", "transformers"}))
"""


def test_an_explanation_imports_nothing_heavy_beside_torch_and_transformers(folder: str) -> None:
    result = subprocess.run(
        [sys.executable, "-c", EXPLAINER, " ".join(HEAVY), folder],
        capture_output=True,
        text=True,
        check=False,
    )
    assert result.returncode == 0, result.stderr
    assert result.stdout.endswith("more:\n")


@pytest.mark.slow
def test_a_closed_pipe_ends_quietly(folder: str) -> None:
    command = (
        f"{sys.executable} -m headlight explain '{'a film ' * 20}' -m {folder} -f json | head -c 1"
    )
    result = in_shell(command)
    assert result.stdout == "{"
    assert "Traceback" not in result.stderr
    assert "BrokenPipe" not in result.stderr


def test_a_text_that_begins_with_a_dash_is_shown_its_place(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def stop() -> None:
        raise SystemExit(2)

    for arguments, said in ((["explain", "-5 stars"], True), (["explain", "--nothing"], False)):
        monkeypatch.setattr("sys.argv", ["headlight", *arguments])
        with pytest.raises(SystemExit) as stopped:
            main(stop)
        assert stopped.value.code == 2
        assert ('last, after --: -- "-5 stars"' in capsys.readouterr().err) is said


def test_a_reader_that_goes_away_is_no_error(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken() -> None:
        raise BrokenPipeError

    given: list[tuple[int, int]] = []
    monkeypatch.setattr("os.dup2", lambda *pair: given.append(pair))
    monkeypatch.setattr("sys.stdout", SimpleNamespace(fileno=lambda: 1, flush=lambda: None))
    with pytest.raises(SystemExit) as stopped:
        main(broken)
    assert stopped.value.code == 0
    ((replacement, replaced),) = given
    assert replaced == 1
    os.close(replacement)


def test_python_m_headlight_is_the_command_line(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("sys.argv", ["headlight", "--version"])
    with pytest.raises(SystemExit) as stopped:
        runpy.run_module("headlight", run_name="__main__")
    assert not stopped.value.code
    assert capsys.readouterr().out.strip() == headlight.__version__
