"""Questions with sources that cannot be asked are refused in a sentence."""

import pytest

from tests.web.asking import PASSAGES, answering
from tests.web.sites import Site

LONG = {"name": "long", "text": "film " * 41}


@pytest.mark.parametrize(
    ("changes", "status", "part"),
    [
        ({"sources": PASSAGES * 2}, 413, "4 sources were given; this server takes up to 3."),
        ({"sources": [LONG]}, 413, "source 'long' has 205 characters; this server takes up to 200"),
        ({"sources": PASSAGES[:1] * 2}, 400, "two sources are named 'library'"),
        ({"sources": [{"name": "a", "text": " "}]}, 400, "source 'a' is empty"),
        ({"sources": [{"name": "", "text": "film"}]}, 422, "at least 1 character"),
        ({"prompt": "film " * 400}, 413, "this server reads up to 300"),
        ({"prompt": []}, 422, "not understood"),
        ({"prompt": [{"role": "king", "content": "so"}]}, 422, "not understood"),
        ({"prompt": " ", "sources": []}, 400, "empty"),
        ({"prompt": "a " * 10_001}, 413, "characters"),
        ({"model": "classifier"}, 400, "only a causal language model"),
        ({"model": "none"}, 404, "none"),
    ],
)
@pytest.mark.parametrize("path", ["write", "answer", "without"])
def test_a_question_is_refused(
    asking: Site, path: str, changes: dict[str, object], status: int, part: str
) -> None:
    more: dict[str, object] = {"tokens": 3} if path == "write" else {"answer": " it is"}
    more |= {"without": ["library"]} if path == "without" else {}
    found, sentence = asking.refusal(path, **answering(**more, **changes))
    assert (found, part in sentence) == (status, True), sentence


@pytest.mark.parametrize("path", ["answer", "without"])
@pytest.mark.parametrize(("answer", "status"), [("", 400), (" film" * 300, 413)])
def test_an_answer_is_refused(asking: Site, path: str, answer: str, status: int) -> None:
    more = {"without": ["library"]} if path == "without" else {}
    assert asking.refusal(path, **answering(answer=answer, **more))[0] == status
