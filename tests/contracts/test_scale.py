"""Every face leaves the same tokens out of the scale: a dominating first token, and [CLS].

`The` is beyond the scale and drawn grey; `[CLS]` is special and not coloured in texts; `keys` has the
strongest colour.
"""

import csv
import json
import re
from io import StringIO
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from headlight import Attribution, Generation, TokenMixing, plot, render
from headlight.renderers.colours import GREY, LIGHT, PALETTES, STRONGEST, Rgb, blended, shade
from headlight.renderers.comparison import panels
from headlight.renderers.html import overlay
from headlight.renderers.layout import sheet
from headlight.renderers.matrix import MatrixMap, generation_cells, mixing_cells, table
from headlight.renderers.terminal import HeatMap, matrix_table, style_of
from headlight.web.answers.formatting import attributed, rounded
from tests.plot.test_mixing import colour_at
from tests.plot.test_text import pixels
from tests.renderers.test_terminal import printed
from tests.test_attribution import made

TOKENS = ("The", "keys", "are", "[CLS]")
SCORES = [-9.0, 2.0, -1.0, 40.0]
FLAGS = {"is_special": (False, False, False, True), "is_sink": (True, False, False, False)}
COLOURS = PALETTES["blue_red"]
BEYOND = blended(GREY, STRONGEST, LIGHT.paper)


def dominated(**changes: object) -> Attribution:
    """The first token and [CLS] are far larger than all others."""
    places = {
        "tokens": TOKENS,
        "texts": ("The keys are",),
        "offsets": ((0, 3), (4, 8), (9, 12), (0, 0)),
        "segments": (0, 0, 0, None),
        "word_ids": (0, 1, 2, None),
    }
    return made(SCORES, **{**places, **FLAGS, **changes})


def continued() -> Generation:
    bare = {"texts": (), "offsets": None, "segments": None, "word_ids": None}
    return Generation(TOKENS, (" here",), (dominated(**bare),))


def mixing() -> TokenMixing:
    matrix = np.array([np.abs(SCORES) / np.abs(SCORES).sum()] * 4)
    return TokenMixing(TOKENS, matrix[None], "alti", "toy", **FLAGS)  # type: ignore[arg-type]


@pytest.mark.parametrize("found", [dominated(), dominated().words()], ids=["tokens", "words"])
def test_numbers(found: Attribution) -> None:
    assert found.in_scale.tolist() == [False, True, True, False]
    assert found.normalised().scores.tolist() == [-1, 1, -0.5, 1]
    assert [token for token, _, _ in found.top()] == ["keys", "are"]


@pytest.mark.parametrize("renderer", ["json", "jsonl"])
def test_json(renderer: str) -> None:
    stored = json.loads(render([dominated()], renderer))
    assert Attribution.from_dict(stored).in_scale.tolist() == dominated().in_scale.tolist()


def test_tables() -> None:
    rows = list(csv.DictReader(StringIO(render([dominated()], "csv"))))
    assert [row["is_sink"] for row in rows] == [str(sink) for sink in FLAGS["is_sink"]]
    assert dominated().to_dataframe()["is_sink"].tolist() == list(FLAGS["is_sink"])


def test_a_terminal_with_and_without_colour() -> None:
    shown = printed(HeatMap(dominated()), force_terminal=True, color_system="truecolor")
    drawn = {text: codes for codes, text in re.findall(r"\x1b\[([\d;]*)m([^\x1b]+)\x1b", shown)}
    red, green, blue = blended(GREY, STRONGEST, (24, 24, 24))
    assert drawn["The"].endswith(f"48;2;{red};{green};{blue}")
    assert drawn["[CLS]"] == "2", "dim"
    assert style_of(1.0, True, COLOURS).split("(")[2].rstrip(")").replace(",", ";") in drawn["keys"]
    assert "beyond the scale" in shown
    assert "scale: largest ordinary token but the first" in shown
    plain = [line.split() for line in printed(dominated(), no_color=True).splitlines()]
    assert plain[1:5] == [
        ["The", "-9", "-" * 16 + "…"],
        ["keys", "+2", "+" * 16],
        ["are", "-1", "-" * 8],
        ["[CLS]", "+40"],
    ]


def test_html() -> None:
    shown = render([dominated()], "html")
    styles = {
        text: style for style, text in re.findall(r'title="[^"]*" style="([^"]*)">([^<]+)<', shown)
    }
    assert styles["The"].startswith(f"background:rgba(136,136,136,{STRONGEST})")
    assert "underline dotted" in styles["The"]
    assert overlay(1.0, True, COLOURS) in styles["keys"]
    assert "background" not in styles["[CLS]"]


def test_svg_and_figures_of_text(tmp_path: Path) -> None:
    boxes = {box.text: box for box in sheet(panels([dominated()])).boxes}
    assert (boxes["The"].fill, boxes["The"].strength) == (GREY, STRONGEST)
    assert (boxes["keys"].fill, boxes["keys"].strength) == (COLOURS.positive, STRONGEST)
    assert boxes["[CLS]"].fill is None
    assert 'fill="#888888"' in render([dominated()], "svg")
    assert has_colour(pixels(plot.text(dominated()), tmp_path), BEYOND)
    tame = made([1.0, 2.0, -1.0, 40.0], tokens=TOKENS, texts=(), offsets=None, segments=None,
                word_ids=None, **FLAGS)  # fmt: skip
    assert not has_colour(pixels(plot.text(tame), tmp_path), BEYOND)


def has_colour(seen: NDArray[np.float64], colour: Rgb) -> bool:
    """Whether a good part of a picture has this colour."""
    return int((np.abs(seen - colour).max(-1) <= 1).sum()) > 200


def test_latex() -> None:
    shown = render([dominated()], "latex")
    grey = ",".join(f"{part / 255:.3f}" for part in BEYOND)
    assert f"\\colorbox[rgb]{{{grey}}}{{\\strut \\underline{{The}}}}" in shown
    strongest = ",".join(f"{part / 255:.3f}" for part in shade(1.0, True, COLOURS))
    assert f"\\colorbox[rgb]{{{strongest}}}{{\\strut keys}}" in shown
    assert "\\textcolor{gray}{[CLS]}" in shown


def test_matrices_of_a_generation() -> None:
    cells = generation_cells(continued())
    assert cells.largest == 2
    assert cells.note == "outside the scale (grey if beyond): special tokens, the first token"
    shown = table(cells)
    assert shown.count("rgba(136,136,136") == 2
    assert overlay(1.0, True, COLOURS) in shown
    text = printed(matrix_table(continued()), no_color=True)
    assert "keys +2  are -1 " in text
    assert "-9" not in text


def test_matrices_of_a_mixing() -> None:
    cells = mixing_cells(mixing())
    assert cells.largest == pytest.approx(2 / 52)
    assert table(cells).count("rgba(136,136,136") == 8
    shown = printed(MatrixMap(mixing()), no_color=True)
    assert cells.note in shown


def test_figures_of_matrices(tmp_path: Path) -> None:
    drawn = {
        "generation": plot.generation(continued()),
        "layers": plot.layers([dominated(options={"layer": 1})]),
        "matrix": plot.matrix(mixing()),
    }
    for kind, figure in drawn.items():
        seen = pixels(figure, tmp_path)
        strongest = shade(1.0, kind != "matrix", COLOURS)
        for column, expected in ((0, BEYOND), (1, strongest), (3, BEYOND)):
            found = colour_at(figure, seen, column + 0.3, 0.3)
            assert found == pytest.approx(expected, abs=3), (kind, column)


def test_the_page() -> None:
    answer = attributed(dominated())
    for view in (answer["pieces"], answer["words"]):
        assert [piece["in_scale"] for piece in view] == [False, True, True, False]
        assert [piece["share"] for piece in view] == [-4.5, 1, -0.5, 20]
        assert [piece["special"] for piece in view] == list(FLAGS["is_special"])
    values, largest = rounded(generation_cells(continued()))
    assert (values, largest) == ([SCORES], 2)
