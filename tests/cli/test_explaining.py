"""explain, compare and generate, as they are typed."""

import json
from dataclasses import replace
from pathlib import Path

import pytest
from typer.testing import CliRunner

import headlight
from headlight import Attribution, Model
from headlight.cli import app
from headlight.cli.explaining import rollout_of
from tests.cli.commands import MAGIC, TEXT, run


def test_explain_prints_a_heat_map(folder: str) -> None:
    lines = run("explain", TEXT, "--model", folder, "--method", "rollout").splitlines()
    assert lines[0].startswith("rollout · ")
    assert [line.split()[0] for line in lines if "0." in line][2:8] == TEXT.split()


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


def test_variants_of_a_method_are_typed_side_by_side(folder: str) -> None:
    asked = (TEXT, "-m", folder, "-a", "rollout", "-a", "rollout:variant=released")
    found = [json.loads(line) for line in run("explain", *asked, "-f", "jsonl").splitlines()]
    assert [each["method"] for each in found] == ["rollout", "rollout:variant=released"]
    assert [each["options"]["variant"] for each in found] == ["paper", "released"]
    assert found[0]["scores"] != found[1]["scores"]
    assert "rollout:variant=released" in run("compare", *asked)


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


def test_layers_are_printed_one_below_another(folder: str) -> None:
    out = run("explain", TEXT, "-m", folder, "--layers")
    assert [out.count(f"attcat, layer {number} · ") for number in range(5)] == [0, 1, 1, 1, 0]
    read = run("explain", TEXT, "-m", folder, "-a", "rollout", "--layers", "-f", "jsonl")
    found = [json.loads(line) for line in read.splitlines()]
    assert [(each["method"], each["options"]["layer"]) for each in found] == [
        ("rollout", layer) for layer in (1, 2, 3)
    ]


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


def test_relevance_that_is_left_is_shown() -> None:
    shown = run("conservation", "a charming film")
    assert shown.count("1.0000") == 7
    assert "embeddings" in shown


def test_a_row_without_a_text_is_skipped_and_named_or_stops(folder: str, tmp_path: Path) -> None:
    path = tmp_path / "rows.csv"
    path.write_text('text,label\n"a\nfilm",1\n,0\na plot,1\n', encoding="utf-8")
    asked = ("explain", "--input", str(path), "-m", folder, "-a", "rollout", "-f", "json")
    result = CliRunner().invoke(app, asked)
    assert len(json.loads(result.stdout)) == 2
    assert f"skipped 1 of 3 rows of '{path}' with no text: line 4." in result.stderr
    result = CliRunner().invoke(app, [*asked, "--strict"])
    assert "line 4 of" in str(result.exception)


def test_mix_shows_a_layer_and_writes_all_of_them(folder: str, tmp_path: Path) -> None:
    kept, picture = tmp_path / "m.json", tmp_path / "m.svg"
    whole = run("mix", TEXT, "-m", folder, "-o", str(kept), "--picture", str(picture))
    assert whole.startswith("alti: tokens up to layer 3, %")
    single = run("mix", TEXT, "-m", folder, "-a", "rollout", "--layer", "1", "--single")
    assert single.startswith("rollout: tokens in layer 1, %")
    found = headlight.TokenMixing.load(kept)
    assert (found.method, found.layers.shape[0]) == ("alti", 3)
    assert picture.read_text(encoding="utf-8").startswith("<?xml")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--generate", "3", "--layers"], "--generate does not go with --layers"),
        (["--layers", "--stride", "3"], "--layers does not go with --stride"),
    ],
)
def test_options_that_exclude_each_other_are_refused(
    folder: str, arguments: list[str], message: str
) -> None:
    result = CliRunner().invoke(app, ["explain", TEXT, "-m", folder, *arguments])
    assert message in str(result.exception)


def test_layers_of_a_network_without_attention_stand_without_a_rollout(
    classifier: headlight.Model,
) -> None:
    blind = replace(classifier, attention_refusal="has no attention")
    assert rollout_of(blind, TEXT, headlight.Target()) == []
    (found,) = rollout_of(classifier, TEXT, headlight.Target())
    assert found.method == "rollout"


def test_trust_is_said_after_the_maps_or_beside_a_file(folder: str, tmp_path: Path) -> None:
    arguments = ("explain", TEXT, "-m", folder, "-a", "attcat", "-a", "random", "--trust")
    said = run(*arguments).splitlines()
    assert said[-2].startswith("attcat: ")
    assert said[-1].startswith("random: ")
    assert "Removing its highest-scored words step by step leaves ‘" in said[-1]
    result = CliRunner().invoke(app, [*arguments, "-f", "json", "--words"])
    assert result.exit_code == 0
    assert len(json.loads(result.stdout)) == 2
    assert "attcat: " in result.stderr
    (tmp_path / "two.txt").write_text("a good film\na dull plot\n")
    several = run("explain", "-i", str(tmp_path / "two.txt"), "-m", folder, "--trust").splitlines()
    assert [line.split(":")[0][:6] for line in several[-2:]] == ["text 1", "text 2"]


@pytest.mark.parametrize("other", [("--contrast", "0"), ("--stride", "3"), ("--layers",)])
def test_trust_does_not_go_with_every_option(folder: str, other: tuple[str, ...]) -> None:
    result = CliRunner().invoke(app, ["explain", TEXT, "-m", folder, "--trust", *other])
    assert result.exit_code != 0
    assert f"--trust does not go with {other[0]}" in " ".join(str(result.exception).split())
