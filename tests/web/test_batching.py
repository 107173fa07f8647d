"""Many clients at once: each gets its own answer, from passes that they share."""

import asyncio
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from threading import Event
from typing import Any

import httpx
import numpy as np
import pytest

import headlight
from headlight import InvalidInput, Model
from headlight.methods import METHODS
from headlight.registry.entries import Entry
from headlight.shapes import Scores
from headlight.trace.trace import Trace
from headlight.web.answers import explaining
from headlight.web.limits import Limits
from headlight.web.worker import Ticket, Worker
from tests.conftest import WORDS
from tests.known import known
from tests.web.sites import Site, refused, site


def texts(count: int) -> list[str]:
    """Different texts of different lengths."""
    draw = np.random.default_rng(0)
    plain = [word for word in WORDS if word.isalpha()]
    return [" ".join(draw.choice(plain, 3 + n % 17)) for n in range(count)]


def question(text: str, **more: Any) -> dict[str, Any]:
    return {"model": "tiny", "text": text, "methods": ["attcat"], **more}


@dataclass(eq=False)
class Held:
    """A worker whose first question waits, so that the others gather behind it."""

    queued: list[Ticket[Any, Any]] = field(default_factory=list)
    calls: list[int] = field(default_factory=list)
    begun: Event = field(default_factory=Event)
    may_go_on: Event = field(default_factory=Event)

    async def until_queued(self, count: int) -> None:
        while len(self.queued) < count or not self.begun.is_set():
            await asyncio.sleep(0.001)


@pytest.fixture
def held(monkeypatch: pytest.MonkeyPatch) -> Iterator[Held]:
    made = Held()
    enqueue, explain_all = Worker.enqueue, explaining.explain_all

    def counted(worker: Worker, ticket: Ticket[Any, Any]) -> None:
        enqueue(worker, ticket)
        made.queued.append(ticket)

    def waited(model: Model, questions: Sequence[Any], limits: Limits) -> list[Any]:
        made.calls.append(len(questions))
        made.begun.set()
        assert made.may_go_on.wait(30)
        return explain_all(model, questions, limits)

    monkeypatch.setattr(Worker, "enqueue", counted)
    monkeypatch.setattr(explaining, "explain_all", waited)
    yield made
    made.may_go_on.set()


@pytest.fixture
def served(classifier: Model) -> Iterator[Site]:
    with site({"tiny": classifier}) as found:
        yield found


@pytest.fixture
def passes(classifier: Model) -> Iterator[Callable[[], int]]:
    """How often the network has run."""
    count = 0

    def counted(*_: Any) -> None:
        nonlocal count
        count += 1

    handle = classifier.network.register_forward_hook(counted)
    yield lambda: count
    handle.remove()


def all_at_once(
    page: Site, held: Held, questions: Sequence[dict[str, Any]]
) -> list[httpx.Response]:
    """The answers to questions that all wait before the first is answered."""

    async def scenario() -> list[httpx.Response]:
        async with page.client() as client:
            first, *others = [client.post("/api/explain", json=each) for each in questions]
            tasks = [asyncio.create_task(first)]
            await held.until_queued(1)
            tasks += map(asyncio.create_task, others)
            await held.until_queued(len(questions))
            held.may_go_on.set()
            return await asyncio.gather(*tasks)

    return asyncio.run(scenario())


def check(response: httpx.Response, model: Model, text: str, **more: Any) -> None:
    """An answer is that of the library for this text alone."""
    assert response.status_code == 200, response.text
    (found,) = response.json()["attributions"]
    alone = headlight.explain(model, text, "attcat", **more)
    assert found["data"]["texts"] == [text]
    np.testing.assert_allclose(found["data"]["scores"], alone.scores, rtol=1e-4, atol=1e-6)
    assert response.json()["prediction"]["explained"] == alone.target.label
    assert response.json()["prediction"]["probability"] == pytest.approx(
        alone.target.probability, rel=1e-4
    )


@pytest.mark.slow
def test_forty_texts_get_their_own_answers_from_fewer_passes(
    served: Site, held: Held, classifier: Model, passes: Callable[[], int]
) -> None:
    given = texts(40)
    found = all_at_once(served, held, [question(text) for text in given])
    assert held.calls == [1, 16, 16, 7]
    assert passes() == 2 * len(held.calls)
    for response, text in zip(found, given, strict=True):
        check(response, classifier, text)


def test_texts_with_different_targets_share_passes(
    served: Site, held: Held, classifier: Model
) -> None:
    given = texts(9)
    labels = ["negative", "neutral", "positive"] * 3
    asked = [question(t, target=label) for t, label in zip(given, labels, strict=True)]
    found = all_at_once(served, held, asked)
    assert held.calls == [1, 8]
    for response, text, label in zip(found, given, labels, strict=True):
        check(response, classifier, text, target=label)


def test_questions_of_other_methods_or_masks_go_apart(served: Site, held: Held) -> None:
    mask = [[True] * 4] * 3
    kinds: list[dict[str, Any]] = [
        {},
        {"methods": ["gae"]},
        {"methods": ["mask_lrp"], "mask": mask},
        {"methods": ["mask_lrp"], "mask": [[False] * 4, *mask[1:]]},
    ]
    given = texts(12)
    asked = [question(text, **kinds[n % 4]) for n, text in enumerate(given)]
    found = all_at_once(served, held, asked)
    assert held.calls == [1, 3, 3, 3, 2]
    for one, response in zip(asked, found, strict=True):
        alone = served.answer("explain", **one)["attributions"][0]["data"]
        (together,) = response.json()["attributions"]
        assert together["method"] == one["methods"][0]
        np.testing.assert_allclose(
            together["data"]["scores"], alone["scores"], rtol=1e-4, atol=1e-6
        )


@pytest.mark.parametrize(
    ("bad", "status"),
    [
        ({"text": " "}, 400),
        ({"text": "\x00"}, 400),
        ({"target": "unknown"}, 404),
    ],
)
def test_a_bad_question_harms_no_other(
    served: Site, held: Held, classifier: Model, bad: dict[str, Any], status: int
) -> None:
    given = texts(8)
    asked = [question(text) for text in given]
    asked[4] = {**asked[4], **bad}
    found = all_at_once(served, held, asked)
    assert held.calls == [1, 7]
    assert refused(found.pop(4))[0] == status
    given.pop(4)
    for response, text in zip(found, given, strict=True):
        check(response, classifier, text)


def test_a_text_on_which_the_only_method_fails_harms_no_other(
    served: Site, held: Held, classifier: Model, monkeypatch: pytest.MonkeyPatch
) -> None:
    feared: Any = known(classifier.tokenizer).convert_tokens_to_ids("london")

    def fearful(trace: Trace) -> Scores:
        """Fails on texts about London."""
        if (trace.inputs.ids == feared).any():
            raise InvalidInput("not London again.")
        return trace.inputs.present.float()

    monkeypatch.setitem(METHODS.entries, "fearful", Entry("fearful", fearful))
    monkeypatch.setitem(METHODS.spellings, "fearful", "fearful")
    asked = [
        question(f"a film {word}", methods=["fearful"]) for word in ("", "in london", "is bad")
    ]
    found = all_at_once(served, held, [question("the first"), *asked])[1:]
    assert held.calls == [1, 3]
    assert [response.status_code for response in found] == [200, 400, 200]
    assert refused(found[1])[1] == "not London again."


def test_other_routes_answer_many_at_once(served: Site, classifier: Model) -> None:
    given = texts(6)

    async def scenario() -> list[httpx.Response]:
        async with served.client() as client:
            asked = [
                client.post("/api/hide", json={"model": "tiny", "text": t, "hidden": [1]})
                for t in given
            ]
            return await asyncio.gather(*asked)

    for response, text in zip(asyncio.run(scenario()), given, strict=True):
        assert response.json() == served.answer("hide", model="tiny", text=text, hidden=[1])


# ---------------------------------------------------------------------------- going away


def test_a_client_that_gives_up_frees_its_place(classifier: Model, held: Held) -> None:
    async def scenario(page: Site) -> list[int]:
        async with page.client() as client:

            def ask(text: str) -> asyncio.Task[httpx.Response]:
                return asyncio.create_task(client.post("/api/explain", json=question(text)))

            first = ask("the first")
            await held.until_queued(1)
            leaving = ask("the second")
            await held.until_queued(2)
            full = await ask("the third")
            leaving.cancel()
            await asyncio.gather(leaving, return_exceptions=True)
            last = ask("the last")
            await held.until_queued(3)
            held.may_go_on.set()
            return [full.status_code, (await first).status_code, (await last).status_code]

    with site({"tiny": classifier}, limits=Limits(waiting=1)) as page:
        assert asyncio.run(scenario(page)) == [429, 200, 200]
    assert held.calls == [1, 1]
    assert [job.question.text for job in held.queued if not job.answer.cancelled()] == [
        "the first",
        "the last",
    ]


def test_a_connection_that_breaks_frees_its_place(classifier: Model, held: Held) -> None:
    broken = asyncio.Event()

    async def break_off(page: Site) -> list[dict[str, Any]]:
        """A request as a server passes it on, whose client goes away."""
        sent: list[dict[str, Any]] = []
        body = b'{"model": "tiny", "text": "the second", "methods": ["attcat"]}'
        messages = iter([{"type": "http.request", "body": body, "more_body": False}])

        async def receive() -> dict[str, Any]:
            for message in messages:
                return message
            await broken.wait()
            return {"type": "http.disconnect"}

        async def send(message: Any) -> None:
            sent.append(message)

        scope = {
            "type": "http",
            "method": "POST",
            "path": "/api/explain",
            "query_string": b"",
            "headers": [(b"host", b"localhost"), (b"content-type", b"application/json")],
        }
        await page.app(scope, receive, send)
        return sent

    async def scenario(page: Site) -> tuple[int, int, int]:
        async with page.client() as client:
            first = asyncio.create_task(client.post("/api/explain", json=question("the first")))
            await held.until_queued(1)
            leaving = asyncio.create_task(break_off(page))
            await held.until_queued(2)
            broken.set()
            sent = await leaving
            last = asyncio.create_task(client.post("/api/explain", json=question("the last")))
            await held.until_queued(3)
            held.may_go_on.set()
            return sent[0]["status"], (await first).status_code, (await last).status_code

    with site({"tiny": classifier}, limits=Limits(waiting=1)) as page:
        assert asyncio.run(scenario(page)) == (499, 200, 200)
    assert held.calls == [1, 1]
