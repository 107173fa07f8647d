"""What the tests ask of every model and every route, and how replies are compared."""

from typing import Any

import numpy as np

TEXT = "a charming but thin plot"

LONG = "the plot of this film is never boring but the story is not very good and they are bad"

QUESTIONS: dict[str, dict[str, Any]] = {
    "sentiment": {"text": "An unbelievably charming (if thin) journey — 10/10 😀!"},
    "classifier": {"text": "a charming film", "pair": "never dull,  but unlovely"},
    "reader": {"text": "who wrote it", "pair": "it was written by mary shelley in london"},
    "filler": {"text": "the film is [MASK] boring"},
    "tagger": {"text": "mary shelley wrote it in london"},
    "writer": {"text": "the keys to the cabinet 😀"},
    "rater": {"text": "a charming and often affecting journey"},
}
"""A question for every model."""


def inputs(question: dict[str, Any]) -> Any:
    return (question["text"], question["pair"]) if "pair" in question else question["text"]


def scores(attributed: dict[str, Any]) -> list[float]:
    return attributed["data"]["scores"]


def near(found: Any, expected: Any) -> None:
    np.testing.assert_allclose(found, expected, rtol=1e-4, atol=2e-6)


ASKED: dict[str, dict[str, Any]] = {
    "explain": {"methods": ["attcat"]},
    "curves": {"methods": ["attcat"]},
    "export": {"methods": ["attcat"]},
    "hide": {"hidden": [1]},
    "heads/off": {"off": [[1, 2]]},
    "layers": {},
    "mix": {},
    "generate": {"model": "writer", "tokens": 2},
}
"""What every route is asked, beside the model and the text."""


def asked(path: str, **changes: Any) -> dict[str, Any]:
    return {"model": "classifier", "text": TEXT, **ASKED[path], **changes}


CHAT = [
    {"role": "system", "content": "be good"},
    {"role": "user", "content": "who wrote it"},
]
PASSAGES = [
    {"name": "library", "text": "it was written by mary shelley in london"},
    {"name": "film", "text": "the film is dull. it is never boring"},
]
ANSWER = " it was mary shelley. the film is bad 😀."


def answering(**changes: Any) -> dict[str, Any]:
    """A question with sources, as a chat."""
    return {"model": "chatter", "prompt": CHAT, "sources": PASSAGES, **changes}


def passages() -> dict[str, str]:
    """The sources as the library takes them."""
    return {each["name"]: each["text"] for each in PASSAGES}
