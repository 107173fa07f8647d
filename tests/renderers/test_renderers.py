"""Exact output of every renderer, and what it does with hostile and odd text."""

import json
import re
import shutil
import subprocess
from dataclasses import replace
from io import StringIO
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rich.console import Console

import headlight
from headlight import RENDERERS, Attribution, Model, UnknownName
from headlight.renderers import html
from headlight.renderers.colours import PALETTES, opacity, palette
from headlight.renderers.comparison import differences
from headlight.renderers.pieces import headline, pieces, scaled, token_pieces
from headlight.renderers.terminal import HeatMap, comparison, difference_maps, matrix_table
from tests.test_attribution import made


def printed(thing: object, **console: object) -> str:
    stream = StringIO()
    Console(file=stream, width=80, **console).print(thing)  # type: ignore[arg-type]
    return stream.getvalue()


@pytest.mark.parametrize("name", list(RENDERERS))
def test_every_renderer_shows_every_word_the_target_and_the_notes(name: str) -> None:
    text = headlight.render(made(notes=("cut short",)).words(), name)
    for word in ("film", "unbelievable", "positive", "attcat", "cut short"):
        assert word in text


def test_unknown_formats_are_named() -> None:
    with pytest.raises(UnknownName, match="no renderer named 'pdf'"):
        headlight.render(made(), "pdf")


def test_pieces_follow_the_text_and_leave_specials_out_of_the_scale() -> None:
    found = pieces(made())
    assert "".join(p.before + p.text for p in found) == "[CLS] film, unbelievable film [SEP]"
    assert max(abs(p.share) for p in found if not p.is_special) == 1
    assert found[0].share == pytest.approx(1.8)


def test_tokens_that_share_a_character_are_one_piece() -> None:
    answer = made(
        [0.1, 0.2, 0.3, 0.4],
        tokens=("good", "ð", "Ł", "film"),
        texts=("good🎬film",),
        offsets=((0, 4), (4, 5), (4, 5), (5, 9)),
        segments=(0, 0, 0, 0),
        word_ids=(0, 1, 1, 2),
        is_special=(False,) * 4,
    )
    assert [(p.text, round(p.score, 3)) for p in pieces(answer)] == [
        ("good", 0.1),
        ("🎬", 0.5),
        ("film", 0.4),
    ]


def test_headline_tells_what_was_explained() -> None:
    assert headline(made()) == "attcat · positive (logit 1.5, probability 0.8) · toy"


def test_plain_terminal_shows_numbers_and_bars() -> None:
    assert printed(made().words(), no_color=True).splitlines()[:7] == [
        "attcat · positive (logit 1.5, probability 0.8) · toy",
        "       [CLS]  +0.9  ++++++++++++++++",
        "        film  +0.1  ++++            ",
        "           ,    +0                  ",
        "unbelievable  -0.2  --------        ",
        "        film  -0.4  ----------------",
        "       [SEP]  +0.3  ++++++++++++    ",
    ]


def test_show_prints_the_heat_map(capsys: pytest.CaptureFixture[str]) -> None:
    made().words().show()
    assert "unbelievable  -0.2" in capsys.readouterr().out


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


def test_html_exactly() -> None:
    answer = made(
        [0.5, -0.25],
        tokens=("<b>", "&"),
        texts=("<b> &",),
        offsets=((0, 3), (4, 5)),
        segments=(0, 0),
        word_ids=(0, 1),
        is_special=(False, False),
        notes=("cut <here>",),
    )
    assert html.fragment([answer]) == (
        '<div class="headlight" style="line-height:1.9">\n'
        '<div style="min-width:0">'
        '<p style="margin:.8em 0 .2em;font-size:.85em"><strong>attcat · positive (logit 1.5, '
        "probability 0.8) · toy</strong> &nbsp; "
        '<span style="background:rgba(0,114,178,0.72);border-radius:.2em;padding:0 .4em">for</span> '
        '<span style="background:rgba(213,94,0,0.72);border-radius:.2em;text-decoration:underline '
        'dotted;padding:0 .4em">against</span></p>\n'
        '<p dir="auto" style="margin:0;white-space:pre-wrap;overflow-wrap:anywhere;'
        'unicode-bidi:plaintext;text-align:start">'
        '<span title="&lt;b&gt;: +0.5" style="background:rgba(0,114,178,0.72);border-radius:.2em">'
        "&lt;b&gt;</span> "
        '<span title="&amp;: -0.25" style="background:rgba(213,94,0,0.36);border-radius:.2em;'
        'text-decoration:underline dotted">&amp;</span></p>\n'
        '<p style="margin:.2em 0;font-size:.85em"><em>note: cut &lt;here&gt;</em></p></div>\n</div>'
    )
    assert answer._repr_html_() == html.fragment([answer])


def test_hostile_text_stays_text(classifier: Model) -> None:
    text = '<img src=x onerror=alert(1)> " \x1b[31m \u202e good'
    answer = headlight.explain(classifier, text, "rollout")
    page = headlight.render(answer)
    assert "<img" not in page
    for shown in (headlight.render(answer, "terminal"), printed(answer, no_color=True)):
        assert "\x1b[31m" not in shown
        assert "\u202e" not in shown


@given(st.text(st.characters(exclude_categories=["Cs"]), min_size=1).filter(str.strip))
@settings(max_examples=100, deadline=None)
def test_any_text_is_rendered_whole(text: str) -> None:
    answer = Attribution(
        tokens=("x",),
        scores=np.ones(1),
        target=made().target,
        method="m",
        model="m",
        signed=True,
        is_special=(False,),
        texts=(text,),
        offsets=((0, len(text)),),
        segments=(0,),
        word_ids=(0,),
    )
    for name in RENDERERS:
        assert headlight.render(answer, name)
    assert json.loads(headlight.render(answer, "json"))["texts"] == [text]


def test_latex_escapes_commands() -> None:
    answer = made(
        [0.5],
        tokens=("x",),
        texts=("\\input{a_b} 100%",),
        offsets=((0, 16),),
        segments=(0,),
        word_ids=(0,),
        is_special=(False,),
    )
    text = headlight.render(answer, "latex")
    assert r"\strut \textbackslash{}input\{a\_b\} 100\%" in text
    assert r"\colorbox[rgb]{0.278,0.600,0.784}" in text


@pytest.mark.skipif(shutil.which("pdflatex") is None, reason="no LaTeX on this machine")
def test_latex_compiles_as_it_is(tmp_path: Path) -> None:
    body = headlight.render([made(), made().words()], "latex").replace("−", "-")
    head = (
        "\\documentclass{article}\\usepackage[T1]{fontenc}\\usepackage{xcolor}\\begin{document}\n"
    )
    (tmp_path / "a.tex").write_text(head + body + "\\end{document}\n")
    subprocess.run(
        ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "a.tex"],
        cwd=tmp_path,
        check=True,
        capture_output=True,
    )


def test_json_lines_can_be_read_back() -> None:
    lines = headlight.render([made(), made().words()], "jsonl").splitlines()
    assert [Attribution.from_dict(json.loads(line)) for line in lines] == [made(), made().words()]


def test_differences_are_of_shares_without_specials() -> None:
    other = made([5.0, 0.4, 0.0, 0.0, 0.0, 0.0, 0.4, 0.0], method="rollout", signed=False)
    (found,) = differences([made(), other])
    assert found.scores[1] == pytest.approx(0.1 / 1.3 - 0.5)
    text = printed(difference_maps([made(), other]), no_color=True)
    assert "attcat − rollout" in text
    assert "film   -0.808" in text
    assert printed(comparison([made(), other])).count("·") == 4


def test_generations_show_the_strongest_inputs(writer: Model) -> None:
    made_up = headlight.explain_generation(writer, "the keys", max_new_tokens=2)
    text = printed(matrix_table(made_up), no_color=True)
    assert "strongest inputs" in text
    assert "output" in printed(made_up, no_color=True)


def test_scales_are_in_one_place_and_bounded() -> None:
    assert opacity(0) == 0
    assert opacity(7) == opacity(-1) == 0.72
    assert set(PALETTES) == {"blue_red", "green_red", "difference"}
    with pytest.raises(UnknownName, match="no palette named 'rainbow'"):
        palette("rainbow")


def test_pieces_of_several_maps_share_a_scale() -> None:
    one, other = pieces(made()), pieces(made())
    doubled = [replace(piece, score=2 * piece.score) for piece in other]
    together = scaled([*one, *doubled])
    assert [piece.share for piece in together[: len(one)]] == [piece.share / 2 for piece in one]
    assert [piece.share for piece in together[len(one) :]] == [piece.share for piece in other]
    assert scaled([]) == []


def test_tokens_without_their_text_are_pieces_too() -> None:
    shown = token_pieces(
        ["[CLS]", "un", "##loved", "film"], [9.0, -1.0, 0.5, 2.0], [True, *[False] * 3]
    )
    assert [(p.before, p.text, p.share, p.segment) for p in shown] == [
        ("", "[CLS]", 4.5, None),
        (" ", "un", -0.5, 0),
        ("", "loved", 0.25, 0),
        (" ", "film", 1.0, 0),
    ]
    (alone,) = token_pieces(["[SEP]"], [3.0], [True])
    assert alone.share == 1.0
