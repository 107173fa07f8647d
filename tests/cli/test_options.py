"""Options of methods, as text."""

import json
from io import BytesIO, TextIOWrapper
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from headlight import HeadlightError, InvalidOption, Target
from headlight.cli import app
from headlight.cli.options import given_texts, parsed_options, parsed_target
from tests.cli.commands import run


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


def given(*words: str, **options: Any) -> Any:
    settings = {"pair": None, "source": None, "column": None, "pair_column": None, **options}
    return given_texts(list(words), **settings)


def test_texts_are_of_the_command_line_of_a_file_or_of_standard_input(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "t.csv").write_text("a,b\none,two\n", encoding="utf-8")
    assert given("a film") == ["a film"]
    assert given("a", pair="b") == [("a", "b")]
    assert given(source=str(tmp_path / "t.csv"), column="a", pair_column="b") == [("one", "two")]
    monkeypatch.setattr("sys.stdin", TextIOWrapper(BytesIO(b"one\ntwo\n")))
    assert given("-") == ["one", "two"]


@pytest.mark.parametrize(
    ("words", "options", "message"),
    [
        ([], {}, "there is nothing to explain"),
        (["a"], {"source": "t.csv"}, "Give one of the two"),
        (["a"], {"column": "text"}, "are for --input"),
        (["a"], {"pair_column": "text"}, "are for --input"),
        ([], {"source": "t.csv", "pair": "b"}, "--pair is for one text"),
        (["a", "film"], {}, '2 texts were given. .*"a film"'),
        ([__file__], {}, "is a file. To explain the texts in it"),
        ([" "], {}, "input 0 is empty"),
    ],
)
def test_what_is_no_text_is_refused(words: list[str], options: Any, message: str) -> None:
    with pytest.raises(HeadlightError, match=message):
        given(*words, **options)


def test_digits_of_a_target_are_an_index() -> None:
    assert parsed_target("2", "bad", True) == Target(label=2, contrast="bad", output="probability")
    assert parsed_target(None, None, False) == Target()


def test_options_are_names_and_values() -> None:
    assert parsed_options(["steps=3", "scale=0.5", "mask=auto", "reverse=true"]) == {
        "steps": 3,
        "scale": 0.5,
        "mask": "auto",
        "reverse": True,
    }
    assert parsed_options(None) == {}
    with pytest.raises(InvalidOption, match="Write NAME=VALUE"):
        parsed_options(["steps"])
    with pytest.raises(InvalidOption, match=r"--option steps is given twice"):
        parsed_options(["steps=3", "steps=4"])


@pytest.mark.parametrize(
    "command",
    [
        "explain", "compare", "mix", "conservation", "evaluate", "replicate", "serve", "heads learn",
        "heads sizes",
    ],
)  # fmt: skip
def test_every_command_that_loads_a_model_refuses_a_wrong_device_and_type_at_once(
    command: str,
) -> None:
    for option, value in (("--device", "gpu"), ("--dtype", "half")):
        given = CliRunner().invoke(app, [*command.split(), option, value])
        assert isinstance(given.exception, InvalidOption), given.output
        assert f"'{value}'" in str(given.exception)


def test_a_type_and_a_device_reach_the_model() -> None:
    asked = ["explain", "a charming film", "-a", "input_x_gradient", "-f", "json"]
    plain = json.loads(run(*asked))
    half = json.loads(run(*asked, "--dtype", "bfloat16", "--device", "cpu"))
    assert plain["scores"] != half["scores"]
    assert half["scores"] == pytest.approx(plain["scores"], abs=0.2)
