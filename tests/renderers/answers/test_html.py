"""Answers on pages and in notebooks: parts that can be reached, links to sources, everything escaped."""

import re
from dataclasses import replace

import headlight
from headlight.renderers.answers.html import LIT, fragment
from headlight.units import Unit
from tests.renderers.answers.made import answered, long_answer, without_sources


def test_sentences_link_to_the_sources_that_carry_them() -> None:
    found = fragment(answered())
    links = re.findall(r'<a href="#([\w-]+)" title="([^"]+)"[^>]*>(\[\d\])</a>', found)
    assert [(title, number) for _, title, number in links] == [
        ("a.txt: share 100 %, strength 75 %", "[1]"),
        ("b.md: share 100 %, strength 50 %", "[2]"),
    ]
    assert re.findall(r'<div id="([\w-]+)" ', found) == [place for place, _, _ in links]


def test_parts_can_be_reached_by_keyboard_and_light_up_their_units() -> None:
    found = fragment(answered())
    assert found.count('tabindex="0"') == 2
    name = re.search(r'class="headlight (headlight-\w+)"', found).group(1)  # type: ignore[union-attr]
    rule = f".{name}:has(.p1:focus) .unit{{background:var(--c1,transparent)!important"
    assert rule in found
    assert found.index(":has(.p1:focus)") < found.index(":has(.p0:hover)")
    assert "--c0:#0072b2b8" in found
    assert "--c1:#0072b2b8" in found
    assert "--n0:'-0.5';--n1:'+2'" in found


def test_negative_scores_of_a_part_are_marked_by_more_than_colour() -> None:
    found = fragment(answered(scores=-answered().scores))
    assert "--c0:#d55e00b8;--d0:underline dotted" in found


def test_one_part_needs_no_pointing_and_too_many_have_none() -> None:
    answer = answered().per("answer")
    for each in (answer, replace_parts(LIT + 1)):
        found = fragment(each)
        assert "tabindex" not in found
        assert "<style>" not in found


def replace_parts(count: int) -> headlight.Answer:
    """The answer with as many parts."""
    answer = answered()
    return replace(
        answer, parts=answer.parts[:1] * count, scores=answer.scores[:1].repeat(count, 0)
    )


def test_words_are_coloured_in_place_and_the_rest_is_faint() -> None:
    found = fragment(without_sources().per("answer"))
    assert (
        'title="Nora: +4" style="background:rgba(0,114,178,0.72);border-radius:.2em">Nora<' in found
    )
    assert '<span title=".: +0" style="opacity:.6">.</span>' in found
    assert "<sup>" not in found


def test_everything_is_escaped_and_nothing_is_fetched() -> None:
    hostile = '<img src=x onerror=alert(1)>"'
    answer = answered(method=hostile, notes=(hostile,), model=hostile)
    source = replace(answer.units[0], name=f"'{hostile}")
    named = replace(answer, units=(source, answer.units[1]))
    page = headlight.render(replace(named, known={"sources": named.units}))
    assert "<img" not in page
    assert "<b>" not in page
    assert "http" not in page
    assert "<script" not in page


def test_long_sources_open_and_long_prompts_are_listed() -> None:
    assert "<details>" not in fragment(answered())
    long = long_answer()
    source = (Unit("all.txt", 0, long.prompt_end),)
    opened = fragment(replace(long, units=source, unit="sources", known={"sources": source}))
    assert re.search(r"<summary[^>]*>w0 w1 w2 [^<]*…</summary><div[^>]*>w0 w1 ", opened)
    assert "and 980 smaller words" in fragment(long)
    assert "<strong>w900</strong>" in fragment(long)


def test_an_answer_is_drawn_alike_every_time_and_unlike_others() -> None:
    assert fragment(answered()) == fragment(answered())
    name = re.compile(r"headlight-\w{10}")
    first, second = (name.search(fragment(a)) for a in (answered(), answered(method="gim")))
    assert first
    assert second
    assert first.group() != second.group()


def test_a_notebook_shows_the_fragment() -> None:
    assert answered()._repr_html_() == fragment(answered())
