"""Answers that are told while they are written."""

import json
from typing import Any

import headlight
from headlight import Model
from headlight.answer import Answer
from tests.web.asking import CHAT, answering, passages
from tests.web.sites import Site


def lines(site: Site, **asked: Any) -> list[dict[str, Any]]:
    response = site.post("write", **asked)
    assert response.status_code == 200, response.text
    assert response.headers["content-type"].startswith("application/x-ndjson")
    return [json.loads(line) for line in response.text.splitlines()]


def test_an_answer_grows_to_what_the_library_writes(asking: Site, chatter: Model) -> None:
    found = lines(asking, **answering(tokens=5))
    made = headlight.explain_answer(chatter, CHAT, sources=passages(), max_new_tokens=5)
    assert isinstance(made, Answer)
    assert found[-1] == {"answer": made.answer, "is_done": True}
    assert len(found) == 6
    for line in found[:-1]:
        assert line["is_done"] is False
        assert made.answer.startswith(line["answer"])


def test_more_tokens_than_the_server_writes_are_refused(asking: Site) -> None:
    status, sentence = asking.refusal("write", **answering(tokens=25))
    assert (status, "this server writes up to 24" in sentence) == (413, True)
