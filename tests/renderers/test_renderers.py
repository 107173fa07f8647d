"""Exact output of every renderer, and what it does with hostile and odd text."""

import json
from io import StringIO

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rich.console import Console

import headlight
from headlight import RENDERERS, Answer, Attribution, InvalidInput, Model, UnknownName
from tests.renderers.answers.made import answered
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


def test_answers_have_every_format_of_attributions() -> None:
    for name in RENDERERS:
        found = headlight.render(answered(), name)
        assert "Nora" in found
        assert "made up" in found
    assert Answer.from_dict(json.loads(headlight.render(answered(), "json"))) == answered()
    lines = headlight.render([answered(), answered("words")], "jsonl").splitlines()
    assert Answer.from_dict(json.loads(lines[1])) == answered("words")
    with pytest.raises(UnknownName, match="no format of answers named 'pdf'"):
        headlight.render(answered(), "pdf")
    with pytest.raises(InvalidInput, match="given together"):
        headlight.render([made(), answered()])  # type: ignore[arg-type]


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
