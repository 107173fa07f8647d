"""Explanations as files, which no text can write markup into."""

import json
from html.parser import HTMLParser
from typing import Any
from xml.etree import ElementTree

import pytest

import headlight
from headlight import Attribution, Model
from tests.web.asking import TEXT, near
from tests.web.sites import Site

ATTACK = "<img src=x onerror=alert(1)> a charming film"


class Tags(HTMLParser):
    """The tags and attributes of a page."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.found: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found += [tag, *(name for name, _ in attrs)]


def exported(page: Site, kind: str, **more: Any) -> str:
    """A file, which must come as one."""
    asked = {"model": "sentiment", "text": ATTACK, "methods": ["attcat", "gae"], **more}
    response = page.post("export", **asked, format=kind)
    assert response.status_code == 200, response.text
    assert response.headers["content-disposition"].startswith("attachment; filename=")
    return response.text


@pytest.mark.parametrize("words", [False, True])
@pytest.mark.parametrize("difference", [False, True])
@pytest.mark.parametrize("target", [None, "negative"])
def test_a_text_cannot_write_markup_into_files(
    page: Site, words: bool, difference: bool, target: str | None
) -> None:
    more = {"words": words, "difference": difference, "target": target}
    html = exported(page, "html", **more)
    assert "onerror" in html or not words
    assert not {"img", "script", "iframe", "onerror", "src"} & set(Tags(html).found)
    svg = exported(page, "svg", **more)
    elements = list(ElementTree.fromstring(svg).iter())
    assert "onerror" in "".join(element.text or "" for element in elements) or not words
    names = {element.tag.rpartition("}")[2] for element in elements}
    assert not names & {"img", "image", "script", "foreignObject", "a"}
    assert not any(name.startswith("on") for element in elements for name in element.attrib)


def test_a_json_file_holds_the_attributions(page: Site, sentiment: Model) -> None:
    several = json.loads(exported(page, "json"))
    expected = headlight.explain(sentiment, ATTACK, ["attcat", "gae"])
    for stored, (method, attribution) in zip(several, expected.items(), strict=True):
        read = Attribution.from_dict(stored)
        assert (read.method, read.tokens) == (method, attribution.tokens)
        near(read.scores, attribution.scores)
    whole = json.loads(exported(page, "json", words=True))[0]
    assert whole["unit"] == "word"


def test_files_say_what_they_are(page: Site) -> None:
    asked = {"model": "classifier", "text": TEXT, "methods": ["attcat"]}
    for kind, name, media in (
        ("html", "headlight.html", "text/html; charset=utf-8"),
        ("svg", "headlight.svg", "image/svg+xml"),
        ("json", "headlight.json", "application/json"),
        ("latex", "headlight.tex", "application/x-tex"),
    ):
        response = page.post("export", **asked, format=kind)
        assert response.headers["content-disposition"] == f'attachment; filename="{name}"'
        assert response.headers["content-type"] == media
    assert r"\colorbox" in response.text


def test_a_file_of_nothing_but_failures_is_refused(page: Site) -> None:
    status, sentence = page.refusal("export", model="rater", text=TEXT, methods=["mask_lrp"])
    assert status == 400
    assert "comes without a head mask" in sentence
