"""`Guard`: checks every request before it is read, and adds headers to every answer."""

import asyncio
import hmac
import json
from dataclasses import dataclass
from typing import Any
from urllib.parse import SplitResult, urlsplit

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from headlight.web.limits import Limits, Refusal

LOOPBACK = ("localhost", "127.0.0.1", "::1")
HEADERS = {
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; "
    "img-src 'self' data: blob:; connect-src 'self'; base-uri 'none'; form-action 'none'; "
    "frame-ancestors 'none'",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
}


@dataclass(frozen=True)
class Guard:
    """Refuses requests with a wrong host name, from another site, without the token, too large or too slow.

    hosts: the host names that requests may use; any if empty. This stops a page elsewhere whose name points
    to this machine (DNS rebinding). token: what requests to the API must carry, if given.
    """

    app: ASGIApp
    limits: Limits
    hosts: tuple[str, ...] = LOOPBACK
    token: str | None = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, or refuse it."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        started = False

        async def send_with_headers(message: Message) -> None:
            nonlocal started
            if message["type"] == "http.response.start":
                started = True
                cache = "no-store" if scope["path"].startswith("/api/") else "no-cache"
                added = {**HEADERS, "Cache-Control": cache}
                encoded = [(k.lower().encode(), v.encode()) for k, v in added.items()]
                message = {**message, "headers": [*message["headers"], *encoded]}
            await send(message)

        try:
            headers = {k.decode("latin-1"): v.decode("latin-1") for k, v in scope["headers"]}
            self.check_origin(headers)
            if scope["path"].startswith("/api/"):
                self.check_token(headers)
            body = await self.body(receive, headers)
            await self.app(scope, repeated(body, receive), send_with_headers)
        except Refusal as refusal:
            if not started:
                await refuse(refusal, send_with_headers)

    def check_origin(self, headers: dict[str, str]) -> None:
        """Refuse requests to another host name than the server's, and requests from other sites."""
        host = parts_of(f"//{headers.get('host', '')}")
        if self.hosts and host.hostname not in self.hosts:
            raise Refusal(
                421,
                f"this server answers as {' or '.join(self.hosts)}, not as '{host.hostname}'.",
            )
        origin = headers.get("origin")
        if origin is not None and parts_of(origin).netloc != host.netloc:
            raise Refusal(403, "requests from pages of other sites are not allowed.")

    def check_token(self, headers: dict[str, str]) -> None:
        """Refuse requests without the token."""
        given = headers.get("authorization", "").removeprefix("Bearer ").encode()
        if self.token is not None and not hmac.compare_digest(given, self.token.encode()):
            raise Refusal(
                401,
                "this server requires the token that was printed when it started.",
                **{"WWW-Authenticate": "Bearer"},
            )

    async def body(self, receive: Receive, headers: dict[str, str]) -> bytes:
        """The whole body, refused if it is too large or does not arrive in time."""
        declared = headers.get("content-length", "0")
        if declared.isdecimal() and int(declared[:20]) > self.limits.body:
            raise self.too_large()
        try:
            async with asyncio.timeout(self.limits.upload):
                return await self.read(receive)
        except TimeoutError:
            raise Refusal(
                408, f"the request did not arrive within {self.limits.upload:g} seconds."
            ) from None

    async def read(self, receive: Receive) -> bytes:
        """The body, read piece by piece."""
        received = bytearray()
        while True:
            message = await receive()
            if message["type"] == "http.disconnect":
                raise Refusal(400, "the request ended before it was complete.")
            received += message.get("body", b"")
            if len(received) > self.limits.body:
                raise self.too_large()
            if not message.get("more_body"):
                return bytes(received)

    def too_large(self) -> Refusal:
        """The refusal of a request that is too large."""
        return Refusal(
            413, f"the request is larger than {self.limits.body:,} bytes. Send a shorter text."
        )


def parts_of(url: str) -> SplitResult:
    """The parts of a URL; all empty if it is not valid."""
    try:
        return urlsplit(url)
    except ValueError:
        return urlsplit("")


def repeated(body: bytes, receive: Receive) -> Receive:
    """A `receive` that replays the buffered body once, then passes messages through."""
    is_read = False

    async def again() -> Message:
        nonlocal is_read
        if is_read:
            return await receive()
        is_read = True
        return {"type": "http.request", "body": body, "more_body": False}

    return again


def refusal_body(kind: str, sentence: str) -> dict[str, Any]:
    """The JSON body of every refusal and error."""
    return {"error": sentence, "kind": kind}


async def refuse(refusal: Refusal, send: Send) -> None:
    """Answer with a refusal."""
    body = json.dumps(refusal_body("Refusal", str(refusal))).encode()
    headers = {"Content-Type": "application/json", "Content-Length": str(len(body))}
    await send(
        {
            "type": "http.response.start",
            "status": refusal.status,
            "headers": [
                (k.lower().encode(), v.encode()) for k, v in {**headers, **refusal.headers}.items()
            ],
        }
    )
    await send({"type": "http.response.body", "body": body})
