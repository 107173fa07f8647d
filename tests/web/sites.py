"""The application as a client sees it, in this process."""

import asyncio
import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
from fastapi import FastAPI

from headlight import Model
from headlight.web.app import application
from headlight.web.limits import Limits
from headlight.web.loaded_models import LoadedModels
from headlight.web.runs import Runs


@dataclass(frozen=True, eq=False)
class Site:
    """An application that answers without a network."""

    app: FastAPI

    def client(self) -> httpx.AsyncClient:
        transport = httpx.ASGITransport(self.app, raise_app_exceptions=False)
        return httpx.AsyncClient(
            transport=transport, base_url="http://localhost", trust_env=False, timeout=60
        )

    def request(self, method: str, path: str, **given: Any) -> httpx.Response:
        async def asked() -> httpx.Response:
            async with self.client() as client:
                return await client.request(method, path, **given)

        return asyncio.run(asked())

    def get(self, path: str, **parameters: Any) -> httpx.Response:
        return self.request("GET", path, params=parameters)

    def post(self, path: str, **question: Any) -> httpx.Response:
        return self.post_raw(path, json.dumps(question))

    def post_raw(self, path: str, body: str) -> httpx.Response:
        headers = {"Content-Type": "application/json"}
        return self.request("POST", f"/api/{path}", content=body.encode(), headers=headers)

    def answer(self, path: str, **question: Any) -> Any:
        """What a question that must succeed is answered with."""
        response = self.post(path, **question)
        assert response.status_code == 200, response.text
        return response.json()

    def refusal(self, path: str, **question: Any) -> tuple[int, str]:
        """The status and the sentence of a question that must not."""
        return refused(self.post(path, **question))


def refused(response: httpx.Response) -> tuple[int, str]:
    """The status and the sentence of a refusal."""
    said = response.json()
    assert sorted(said) == ["error", "kind"]
    assert said["error"].rstrip().endswith(".")
    return response.status_code, said["error"]


@contextmanager
def site(
    models: Mapping[str, Model] | None = None,
    runs: Mapping[str, Path] | None = None,
    limits: Limits | None = None,
    **more: Any,
) -> Iterator[Site]:
    """An application over these models and runs, closed in the end."""
    loaded = LoadedModels(tuple(models or ()))
    for name, model in (models or {}).items():
        loaded.add(name, model)
    app = application(loaded, Runs(dict(runs or {})), limits=limits, **more)
    try:
        yield Site(app)
    finally:
        asyncio.run(closed(app))


async def closed(app: FastAPI) -> None:
    """Begin and end, as a server does."""
    async with app.router.lifespan_context(app):
        pass
