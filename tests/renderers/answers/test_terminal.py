"""Answers in a terminal, exactly: in numbers and bars, and in colour."""

import re
from dataclasses import replace

import headlight
from headlight.renderers.answers.terminal import AnswerText
from headlight.units import Unit
from tests.renderers.answers.made import answered, long_answer, without_sources
from tests.renderers.test_terminal import printed

ESCAPE = re.compile(r"\x1b\[[0-9;]*m")


def test_a_plain_terminal_shows_citations_and_sources_with_bars() -> None:
    shown = printed(answered(), no_color=True).splitlines()
    assert [line.rstrip() for line in shown] == [
        "attn_lrp · probability 0.125, 0.5 per token · toy",
        "Nora does. [1] Yes! [2]",
        "",
        "sources    score                    share  strength  text",
        "[1] a.txt     +6  ++++++++++++++++   80 %      60 %  Nora owns it.",
        "[2] b.md    +1.5  ++++               20 %      15 %  It rains <b>.",
        "the rest of the prompt, and the answer's own words: +2.5",
        "",
        "sentence  source     share  strength",
        "       1  [1] a.txt  100 %      75 %",
        "       2  [2] b.md   100 %      50 %",
        "cited: sources with at least 20 % of what speaks for a sentence",
        "",
        "note: made up",
    ]


def test_words_are_coloured_in_place_and_keep_their_lines() -> None:
    shown = headlight.render(without_sources(), "terminal")
    assert "\x1b[38;2;255;255;255;48;2;7;89;135mNora\x1b[0m" in shown
    lines = [line.rstrip() for line in ESCAPE.sub("", shown).splitlines()]
    assert lines[1:9] == [
        "Nora does. Yes!",
        "",
        "[a.txt] Nora owns it.",
        "",
        "[b.md] It rains <b>.",
        "",
        "Who?",
        "for  against  scale: largest word",
    ]


def test_words_are_listed_where_there_is_no_colour() -> None:
    shown = printed(AnswerText(without_sources()), no_color=True)
    assert "Nora      +4  ++++++++++++++++  [a.txt] Nora owns it." in shown


def test_sources_are_shown_beside_other_units() -> None:
    shown = ESCAPE.sub("", headlight.render(answered("words"), "terminal"))
    assert shown.index("[1] a.txt") < shown.index("scale: largest word")


def test_of_a_long_prompt_the_largest_words_are_shown() -> None:
    shown = ESCAPE.sub("", headlight.render(long_answer(), "terminal"))
    assert "… and 980 smaller words" in shown
    assert len(shown.splitlines()) < 30


def test_a_narrow_terminal_cuts_texts_and_nothing_else() -> None:
    long = long_answer()
    source = (Unit("all.txt", 0, long.prompt_end),)
    answer = replace(long, units=source, unit="sources", known={"sources": source})
    (line,) = (each for each in printed(answer, no_color=True).splitlines() if "[1] all" in each)
    assert line == (
        "[1] all.txt     +2  ++++++++++++++++  100 %      50 %  w0 w1 w2 w3 w4 w5 w6 w7 …"
    )


def test_hostile_text_stays_text() -> None:
    answer = answered(notes=("\x1b[31m \u202e",), method="[bold]x[/bold]")
    shown = printed(answer, no_color=True)
    assert not {"\x1b", "\u202e"} & set(shown)
    assert "[bold]x[/bold]" in shown


def test_several_answers_stand_one_below_the_other() -> None:
    both = headlight.render([answered(), answered(method="gim")], "terminal")
    assert both.index("attn_lrp · ") < both.index("gim · ")
