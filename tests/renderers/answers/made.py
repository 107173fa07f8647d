"""A small answer that no model wrote, with two sources and two sentences."""

import re
from dataclasses import replace
from math import log

import numpy as np

from headlight import Answer
from headlight.answer import Part
from headlight.units import Unit, prompt_units

PROMPT = "[a.txt] Nora owns it.\n\n[b.md] It rains <b>.\n\nWho?"
WRITTEN = " Nora does. Yes!"
SCORES = (
    (0.0, 4.0, 1.0, 1.0, 0.0, -1.0, 0.5, 0.0, 0.5, 0.0, 0.0, 0.0),
    (0.5, 0.0, 0.0, 0.0, 0.5, 1.0, 1.0, 0.0, 0.0, 0.5, 0.5, 0.0),
)
"""Of each sentence: one number per word of the prompt and the answer."""


def answered(units: str = "sources", **changes: object) -> Answer:
    """Two sentences: the first from a source, the second against it, with the same numbers every time."""
    text = PROMPT + WRITTEN
    spans = tuple(match.span() for match in re.finditer(r"\s*\S+", text))
    sources = (known(text, "a.txt", "Nora owns it."), known(text, "b.md", "It rains <b>."))
    start, middle = len(PROMPT), text.index(" Yes!")
    facts = {
        "text": text,
        "prompt_end": start,
        "tokens": tuple(text[a:b].replace(" ", "Ġ").replace("\n", "Ċ") for a, b in spans),
        "offsets": spans,
        "is_special": (False,) * len(spans),
        "is_sink": (False,) * len(spans),
        "parts": (
            Part(start, middle, 6.0, log(0.25)),
            Part(middle, len(text), 4.0, log(0.5)),
        ),
        "scores": np.array(SCORES),
        "units": sources,
        "unit": "sources",
        "method": "attn_lrp",
        "model": "toy",
        "signed": True,
        "known": {"sources": sources},
        "notes": ("made up",),
    }
    found = Answer(**{**facts, **changes})  # type: ignore[arg-type]
    return found if units == "sources" else found.by(units)


def known(text: str, name: str, source: str) -> Unit:
    """A source in the text."""
    start = text.index(source)
    return Unit(name, start, start + len(source))


def without_sources(**changes: object) -> Answer:
    """The same answer of a prompt whose sources are not known."""
    return replace(answered("words", **changes), known={})


def long_answer(count: int = 1000) -> Answer:
    """The answer to a prompt of many words, of which two matter."""
    words = [f"w{number}" for number in range(count)]
    text = " ".join(words) + " yes"
    spans = tuple(match.span() for match in re.finditer(r"\s*\S+", text))
    scores = np.full((1, len(spans)), 0.001)
    scores[0, [7, 900]] = 2.0, -1.0
    flags = (False,) * len(spans)
    prompt = text[:-4]
    return Answer(
        text=text,
        prompt_end=len(prompt),
        tokens=tuple(text[a:b] for a, b in spans),
        offsets=spans,
        is_special=flags,
        is_sink=flags,
        parts=(Part(len(prompt), len(text), 1.0, -1.0),),
        scores=scores,
        units=prompt_units(prompt, "words", {}, spans, flags),
        unit="words",
        method="attn_lrp",
        model="toy",
        signed=True,
    )


def many_sources(count: int) -> Answer:
    """Two sentences after many sources; the first source speaks for one of them and against the other."""
    long = long_answer()
    spans = long.offsets[:count]
    sources = tuple(Unit(f"{n}.txt", a + (n > 0), b) for n, (a, b) in enumerate(spans))
    scores = np.repeat(np.full(long.scores.shape, 0.01), 2, 0)
    scores[:, 0] = 5.0, -5.0
    text = f"{long.text[: long.prompt_end]} a. b."
    first = Part(long.prompt_end, long.prompt_end + 3, 1.0, -1.0)
    second = replace(first, start=first.end, end=len(text))
    return replace(
        long,
        text=text,
        parts=(first, second),
        scores=scores,
        units=sources,
        unit="sources",
        known={"sources": sources},
    )
