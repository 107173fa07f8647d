"""Heat maps in a terminal: in colour, and in numbers and bars without."""

import re
from io import StringIO

from rich.console import Console

import headlight
from headlight import Model
from headlight.renderers.terminal import HeatMap, matrix_table
from tests.test_attribution import made


def printed(thing: object, **console: object) -> str:
    stream = StringIO()
    Console(file=stream, width=80, **console).print(thing)  # type: ignore[arg-type]
    return stream.getvalue()


def test_plain_terminal_shows_numbers_and_bars() -> None:
    assert printed(made().words(), no_color=True).splitlines()[:7] == [
        "attcat · positive (logit 1.5, probability 0.8) · toy",
        "       [CLS]  +0.9                  ",
        "        film  +0.1  ++++            ",
        "           ,    +0                  ",
        "unbelievable  -0.2  --------        ",
        "        film  -0.4  ----------------",
        "       [SEP]  +0.3                  ",
    ]


def test_brackets_and_colons_of_a_text_are_shown_as_they_are() -> None:
    words = ("[bold]", "[/INST]", ":heart:")
    plain = {"offsets": None, "segments": None, "word_ids": None, "texts": ()}
    answer = made([1.0, 1.0, 1.0], tokens=words, is_special=(False,) * 3, **plain)
    shown = printed(answer, no_color=True)
    assert [line.split()[0] for line in shown.splitlines()[1:4]] == list(words)


def test_colour_terminal_colours_the_text() -> None:
    text = printed(HeatMap(made()), force_terminal=True, color_system="truecolor")
    assert "\x1b[4;38;2;255;255;255;48;2;160;74;7mbeliev\x1b[0m" in text
    assert (
        re.sub(r"\x1b\[[0-9;]*m", "", text).splitlines()[1] == "[CLS] film, unbelievable film [SEP]"
    )


def test_generations_show_the_strongest_inputs(writer: Model) -> None:
    made_up = headlight.explain_generation(writer, "the keys", max_new_tokens=2)
    text = printed(matrix_table(made_up), no_color=True)
    assert "strongest inputs" in text
    assert "left out where beyond the scale: the first token" in text
    assert "output" in printed(made_up, no_color=True)
