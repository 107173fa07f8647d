"""What every request passes before it is read, and what every answer carries."""

import asyncio
from collections.abc import AsyncIterator, Iterator
from typing import Any

import httpx
import pytest

from headlight import Model
from headlight.web import app
from headlight.web.limits import Limits
from tests.web.sites import Site, refused, site

QUESTION = {"model": "tiny", "text": "a charming film", "methods": ["attcat"]}
TOKEN = {"Authorization": "Bearer secret"}
CARRIED = {
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
}


@pytest.fixture(scope="module")
def guarded(classifier: Model) -> Iterator[Site]:
    with site({"tiny": classifier}, limits=Limits(body=2_000, upload=0.1)) as found:
        yield found


@pytest.fixture(scope="module")
def locked(classifier: Model) -> Iterator[Site]:
    with site({"tiny": classifier}, token="secret", hosts=()) as found:
        yield found


def policy(response: httpx.Response) -> dict[str, str]:
    """The content security policy by directive."""
    (whole,) = response.headers.get_list("content-security-policy")
    return dict(part.strip().split(" ", 1) for part in whole.split(";"))


ANSWERS: dict[str, tuple[int, str, str, dict[str, Any]]] = {
    "page": (200, "GET", "/", {}),
    "page for answers": (200, "GET", "/answers", {}),
    "results page": (200, "GET", "/results", {}),
    "static": (200, "GET", "/static/style.css", {}),
    "icon": (200, "GET", "/favicon.ico", {}),
    "api": (200, "GET", "/api/about", {}),
    "explanation": (200, "POST", "/api/explain", {"json": QUESTION}),
    "file": (200, "POST", "/api/export", {"json": QUESTION}),
    "schema": (200, "GET", "/api/openapi.json", {}),
    "mistake": (404, "POST", "/api/explain", {"json": {**QUESTION, "model": "none"}}),
    "no page": (404, "GET", "/nowhere", {}),
    "no file": (404, "GET", "/static/nothing.js", {}),
    "above": (404, "GET", "/static/..%2fguard.py", {}),
    "no call": (404, "GET", "/api/nowhere", {}),
    "wrong verb": (405, "DELETE", "/api/explain", {}),
    "not understood": (422, "POST", "/api/explain", {"json": {}}),
    "too large": (413, "POST", "/api/explain", {"content": b"x" * 2_001}),
    "wrong name": (421, "GET", "/", {"headers": {"Host": "evil.example"}}),
    "foreign": (403, "GET", "/api/about", {"headers": {"Origin": "http://evil.example"}}),
}


@pytest.mark.parametrize("kind", ANSWERS)
def test_every_answer_carries_the_headers(guarded: Site, kind: str) -> None:
    status, verb, path, given = ANSWERS[kind]
    response = guarded.request(verb, path, **given)
    assert response.status_code == status
    check_headers(response)
    kept = "no-store" if path.startswith("/api/") else "no-cache"
    assert response.headers.get_list("cache-control") == [kept]


def test_a_failure_of_the_server_carries_them_too_and_tells_nothing(
    guarded: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(app, "by_layer", lambda *_: dict[str, str]()["the secret of the house"])
    response = guarded.post("layers", model="tiny", text="a film")
    check_headers(response)
    assert refused(response) == (
        500,
        "the server failed; this is not your mistake. The server's log has the reason.",
    )


def check_headers(response: httpx.Response) -> None:
    for name, value in CARRIED.items():
        assert response.headers.get_list(name) == [value]
    directives = policy(response)
    assert directives["default-src"] == "'none'"
    assert directives["script-src"] == "'self'"
    assert directives["frame-ancestors"] == "'none'"
    assert not any("unsafe" in value or "*" in value for value in directives.values())
    assert "set-cookie" not in response.headers
    assert "server" not in response.headers


@pytest.mark.parametrize("kind", [k for k, (status, *_) in ANSWERS.items() if status >= 400])
def test_every_refusal_is_a_sentence(guarded: Site, kind: str) -> None:
    status, verb, path, given = ANSWERS[kind]
    assert refused(guarded.request(verb, path, **given))[0] == status


@pytest.mark.parametrize(
    "host", ["localhost", "127.0.0.1:8000", "LocalHost:1", "[::1]:8000", "localhost:8000"]
)
def test_the_server_answers_to_its_own_names(guarded: Site, host: str) -> None:
    assert guarded.request("GET", "/", headers={"Host": host}).status_code == 200


@pytest.mark.parametrize(
    "host", ["evil.example", "localhost.evil.example", "127.0.0.2", "", "[", "[::1", "a]b", "0"]
)
def test_other_names_are_refused(guarded: Site, host: str) -> None:
    for path in ("/", "/api/about"):
        status, sentence = refused(guarded.request("GET", path, headers={"Host": host}))
        assert status == 421
        assert "localhost" in sentence


@pytest.mark.parametrize(
    "origin",
    ["http://evil.example", "http://localhost:81", "null", "http://[", "", "http://localhost.evil"],
)
def test_pages_of_other_sites_are_refused(guarded: Site, origin: str) -> None:
    response = guarded.request("POST", "/api/explain", json=QUESTION, headers={"Origin": origin})
    assert refused(response) == (403, "requests from pages of other sites are not allowed.")


def test_the_page_itself_may_ask(guarded: Site) -> None:
    headers = {"Host": "localhost:80", "Origin": "http://localhost:80"}
    response = guarded.request("POST", "/api/explain", json=QUESTION, headers=headers)
    assert response.status_code == 200
    assert "access-control-allow-origin" not in response.headers


@pytest.mark.parametrize(
    "given", [None, "", "Bearer", "Bearer ", "Bearer wrong", "Bearer secre", "Basic secret", "é"]
)
def test_without_the_token_nothing_is_told(locked: Site, given: str | None) -> None:
    headers = {} if given is None else {"Authorization": given.encode("latin-1")}
    for verb, path in (("GET", "/api/about"), ("POST", "/api/explain"), ("GET", "/api/nowhere")):
        response = locked.request(verb, path, headers=headers)
        assert refused(response)[0] == 401
        assert response.headers["www-authenticate"] == "Bearer"
        check_headers(response)


def test_with_the_token_everything_is(locked: Site) -> None:
    assert locked.request("GET", "/api/about", headers=TOKEN).status_code == 200
    asked = locked.request("POST", "/api/explain", json=QUESTION, headers=TOKEN)
    assert asked.status_code == 200
    elsewhere = {**TOKEN, "Host": "machine.example:8000"}
    assert locked.request("GET", "/api/about", headers=elsewhere).status_code == 200
    nowhere = locked.request("GET", "/api/nowhere", headers={**TOKEN, "Host": "["})
    assert refused(nowhere)[0] == 404


@pytest.mark.parametrize("path", ["/", "/answers", "/results", "/static/style.css"])
def test_the_page_needs_no_token(locked: Site, path: str) -> None:
    response = locked.get(path)
    assert response.status_code == 200
    assert "secret" not in response.text


@pytest.mark.parametrize("declared", ["2001", "9" * 5_000, "99999999999999999999"])
def test_a_body_that_says_it_is_too_large_is_not_read(guarded: Site, declared: str) -> None:
    async def never() -> AsyncIterator[bytes]:
        raise AssertionError("the body was read")
        yield b""

    response = guarded.request(
        "POST", "/api/explain", content=never(), headers={"Content-Length": declared}
    )
    assert refused(response) == (
        413,
        "the request is larger than 2,000 bytes. Send a shorter text.",
    )


@pytest.mark.parametrize("declared", [None, "5", "²", "-1", "a few"])
def test_a_body_that_turns_out_too_large_is_read_no_further(
    guarded: Site, declared: str | None
) -> None:
    sent = 0

    async def chunks() -> AsyncIterator[bytes]:
        nonlocal sent
        while True:
            sent += 500
            yield b" " * 500

    headers = {} if declared is None else {"Content-Length": declared.encode("latin-1")}
    response = guarded.request("POST", "/api/explain", content=chunks(), headers=headers)
    assert response.status_code == 413
    assert sent == 2_500


def test_a_body_that_comes_too_slowly_is_given_up(guarded: Site) -> None:
    async def drops() -> AsyncIterator[bytes]:
        while True:
            yield b" "
            await asyncio.sleep(0.02)

    status, sentence = refused(guarded.request("POST", "/api/explain", content=drops()))
    assert (status, sentence) == (408, "the request did not arrive within 0.1 seconds.")


@pytest.mark.parametrize("kind", ["text/plain", "application/x-www-form-urlencoded", None])
def test_what_a_form_of_another_site_could_send_is_not_understood(
    guarded: Site, kind: str | None
) -> None:
    body = b'{"model": "tiny", "text": "a film", "methods": ["attcat"]}'
    headers = {} if kind is None else {"Content-Type": kind}
    response = guarded.request("POST", "/api/explain", content=body, headers=headers)
    assert refused(response)[0] == 422
