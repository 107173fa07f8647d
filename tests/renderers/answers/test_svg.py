"""Answers as SVG: well-formed, whole, in the colours of the scores."""

import xml.etree.ElementTree as ElementTree

import pytest

import headlight
from headlight import UnknownName
from headlight.renderers.answers.svg import answer_sheet, svg
from tests.renderers.answers.made import answered, long_answer, without_sources
from tests.renderers.test_svg import NAMESPACE


def words(found: str) -> list[str]:
    """The texts of a drawing in order."""
    tree = ElementTree.fromstring(found)
    return [str(each.text) for each in tree.iterfind(".//svg:text", NAMESPACE)]


def test_the_drawing_has_the_answer_its_citations_and_its_sources() -> None:
    found = headlight.render(answered(), "svg")
    shown = words(found)
    assert shown[0] == "attn_lrp · probability 0.125, 0.5 per token · toy"
    assert shown[1:7] == ["Nora", "does.", "[1]", "Yes!", "[2]", "for"]
    assert "[1] a.txt" in shown
    assert "+6, share 80 %, strength 60 %: Nora owns it." in shown
    assert shown[-1] == "note: made up"
    assert "Nora does. Yes! (attn_lrp · " in found.splitlines()[0]


def test_words_have_their_colours_and_line_breaks_stay() -> None:
    sheet = answer_sheet([without_sources()])
    boxes = {box.text: box for box in sheet.boxes if box.size == 16 and box.hover}
    assert boxes["Nora"].strength == 0.72
    assert boxes["owns"].y == boxes["Nora"].y < boxes["rains"].y < boxes["Who"].y


def test_lines_of_an_answer_are_lines_of_the_drawing() -> None:
    answer = answered()
    broken = answered(text=answer.text.replace(" Yes!", "\nYes!"))
    boxes = {box.text: box for box in answer_sheet([broken]).boxes}
    assert boxes["Nora"].y < boxes["Yes!"].y


def test_long_prompts_are_listed() -> None:
    assert "… and 980 smaller words" in words(svg([long_answer()]))


def test_papers_are_those_of_heat_maps() -> None:
    assert 'fill="#181818"/>' in svg([answered()], paper="dark")
    with pytest.raises(UnknownName, match="no paper named 'pink'"):
        svg([answered()], paper="pink")
