"""The application: routes from requests to answers; the models were chosen when the server started."""

import asyncio
import logging
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Annotated, Any

from fastapi import FastAPI, Query, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import FileResponse, JSONResponse, Response
from fastapi.staticfiles import StaticFiles
from starlette.exceptions import HTTPException

from headlight import __version__
from headlight.errors import HeadlightError, UnknownName
from headlight.methods import METHODS
from headlight.renderers.colours import STRONGEST, palette
from headlight.web import answers
from headlight.web.exports import FILES, export
from headlight.web.guard import HEADERS, LOOPBACK, Guard, refusal_body
from headlight.web.limits import Limits, Refusal
from headlight.web.loaded_models import Shelf
from headlight.web.questions import (
    Curves,
    Explain,
    Export,
    Generate,
    Hide,
    Layers,
    Mix,
    Question,
)
from headlight.web.replies import (
    About,
    Disagreements,
    Explanation,
    Fallen,
    Generated,
    HeadMap,
    Hidden,
    Layered,
    MeanCurves,
    Mixed,
    Refused,
    Run,
)
from headlight.web.runs import Runs
from headlight.web.worker import Desk

STATIC = Path(__file__).parent / "static"
LOG = logging.getLogger("headlight.web")


def application(
    shelf: Shelf,
    runs: Runs,
    *,
    limits: Limits | None = None,
    token: str | None = None,
    hosts: tuple[str, ...] = LOOPBACK,
) -> FastAPI:
    """The page and its API over models and runs."""
    limits = limits or Limits()
    desk = Desk(limits)

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        yield
        await asyncio.to_thread(desk.close)

    app = FastAPI(
        title="headlight",
        version=__version__,
        summary="Why a Transformer decided what it decided.",
        docs_url=None,
        redoc_url=None,
        openapi_url="/api/openapi.json",
        responses={"4XX": {"model": Refused, "description": "Refused, with a sentence"}},
        lifespan=lifespan,
    )
    add_pages(app)
    clerk = Clerk(shelf, desk, limits)
    add_answers(app, clerk)
    add_trust(app, clerk)
    add_runs(app, runs)
    add_errors(app)

    @app.get("/api/about", tags=["about"])
    def about() -> About:
        """The models, methods, runs and limits of this server."""
        return {
            "version": __version__,
            "limits": {**vars(limits)},
            "models": [shelf.described[n] for n in shelf.names if n in shelf.described],
            "loading": shelf.loading,
            "failed": shelf.failed,
            "methods": [method_facts(name) for name in METHODS],
            "runs": list(runs.folders),
            "palette": palette_facts(),
        }

    app.add_middleware(Guard, limits=limits, hosts=hosts, token=token)
    return app


def method_facts(name: str) -> dict[str, Any]:
    """What the page is told about a method."""
    entry = METHODS[name]
    return {
        "name": name,
        "summary": entry.summary,
        "signed": entry.signed,
        "paper": entry.paper,
        "cost": "slow" if answers.is_slow(name) else "fast",
    }


def palette_facts() -> dict[str, Any]:
    """The colours of the heat maps, from the one place that knows them."""
    signed, compared = palette("blue_red"), palette("green_red")
    hues = {
        "positive": signed.positive,
        "negative": signed.negative,
        "unsigned": signed.unsigned,
        "more": compared.positive,
        "less": compared.negative,
    }
    shown = {name: f"rgb({red} {green} {blue})" for name, (red, green, blue) in hues.items()}
    return {**shown, "strongest": STRONGEST}


# ------------------------------------------------------------------------------------- routes


def add_pages(app: FastAPI) -> None:
    """The two pages and what they are made of."""

    @app.get("/", include_in_schema=False)
    def page() -> FileResponse:
        return FileResponse(STATIC / "index.html")

    @app.get("/results", include_in_schema=False)
    def results() -> FileResponse:
        return FileResponse(STATIC / "results.html")

    @app.get("/favicon.ico", include_in_schema=False)
    def favicon() -> FileResponse:
        return FileResponse(STATIC / "favicon.svg")

    app.mount("/static", StaticFiles(directory=STATIC), name="static")


@dataclass(frozen=True)
class Clerk:
    """Takes questions to the desk, once they are known to be within the limits."""

    shelf: Shelf
    desk: Desk
    limits: Limits

    async def together(self, request: Request, question: Explain) -> Any:
        """An explanation from a pass that questions of the same methods share."""
        self.check(question)
        work = partial(answers.explain_all, self.shelf[question.model], limits=self.limits)
        mask = None if question.mask is None else tuple(map(tuple, question.mask))
        key = (question.model, tuple(question.methods), mask)
        return await unless_gone(request, self.desk.ask(key, work, question))

    async def alone(
        self, request: Request, question: Question | Generate, answer: Callable[..., Any]
    ) -> Any:
        """An answer of its own."""
        self.check(question)
        model = self.shelf[question.model]

        def work(questions: Sequence[Any]) -> Sequence[Any]:
            return [answer(model, each, self.limits) for each in questions]

        return await unless_gone(request, self.desk.ask(object(), work, question))

    def check(self, question: Question | Generate) -> None:
        """Refuse too long texts, too many methods, and names that do not exist, before anything is computed."""
        parts = (
            question.text,
            getattr(question, "pair", ""),
            getattr(question, "continuation", ""),
        )
        size = sum(len(part) for part in parts if part)
        if size > self.limits.characters:
            raise Refusal(
                413,
                f"the text has {size:,} characters and this server takes {self.limits.characters:,}. "
                "Shorten it.",
            )
        methods = getattr(question, "methods", None) or [getattr(question, "method", None)]
        if len(methods) > self.limits.methods:
            raise Refusal(
                413,
                f"{len(methods)} methods were asked for at once, and this server compares up to "
                f"{self.limits.methods}.",
            )
        for name in methods:
            if name is not None:
                METHODS[name]


def add_answers(app: FastAPI, clerk: Clerk) -> None:
    """The routes that explain."""

    @app.post("/api/explain", tags=["explain"])
    async def explain(request: Request, question: Explain) -> Explanation:
        """Prediction and attributions."""
        found: Explanation = await clerk.together(request, question)
        return found

    @app.post("/api/layers", tags=["explain"])
    async def layers(request: Request, question: Layers) -> Layered:
        """One method, layer by layer."""
        found: Layered = await clerk.alone(request, question, answers.layers)
        return found

    @app.post("/api/mix", tags=["explain"])
    async def mix(request: Request, question: Mix) -> Mixed:
        """How much of every token is in every other."""
        found: Mixed = await clerk.alone(request, question, answers.mixing)
        return found

    @app.post("/api/generate", tags=["explain"])
    async def generate(request: Request, question: Generate) -> Generated:
        """A continuation, and what made each of its tokens."""
        found: Generated = await clerk.alone(request, question, answers.generate)
        return found

    @app.post(
        "/api/export",
        tags=["explain"],
        response_class=Response,
        responses={200: {"content": {kind.split(";")[0]: {} for _, kind in FILES.values()}}},
    )
    async def exported(request: Request, question: Export) -> Response:
        """An explanation as a file."""
        made = await clerk.alone(request, question, answers.export_all)
        return await asyncio.to_thread(export, made, question)

    @app.get("/api/heads", tags=["explain"])
    def heads(model: str) -> HeadMap:
        """A model's own head mask, and what the heads do."""
        return answers.head_map(clerk.shelf[model])


def add_trust(app: FastAPI, clerk: Clerk) -> None:
    """The routes that take tokens away."""

    @app.post("/api/hide", tags=["trust"])
    async def hide(request: Request, question: Hide) -> Hidden:
        """The probability with some tokens taken away."""
        found: Hidden = await clerk.alone(request, question, answers.hide)
        return found

    @app.post("/api/curves", tags=["trust"])
    async def curves(request: Request, question: Curves) -> Fallen:
        """Deletion curves of methods, and of random orders."""
        found: Fallen = await clerk.alone(request, question, answers.curves)
        return found


def add_runs(app: FastAPI, runs: Runs) -> None:
    """The routes of the results page."""

    @app.get("/api/runs/{name}", tags=["runs"])
    def overview(name: str) -> Run:
        """What was run, and every metric of every method."""
        return runs.overview(name)

    @app.get("/api/runs/{name}/curves", tags=["runs"])
    def curves(name: str, metric: str) -> MeanCurves:
        """The mean curve of a metric for every method."""
        return runs.curves(name, metric)

    @app.get("/api/runs/{name}/examples", tags=["runs"])
    def examples(
        name: str,
        first: str,
        second: str,
        offset: Annotated[int, Query(ge=0)] = 0,
        limit: Annotated[int, Query(ge=1, le=100)] = 20,
    ) -> Disagreements:
        """Examples in the order of how differently two methods rank their tokens."""
        return runs.examples(name, first, second, offset, limit)


async def unless_gone(request: Request, answer: Any) -> Any:
    """The answer, given up when the client goes away."""

    async def gone() -> None:
        while (await request.receive())["type"] != "http.disconnect":
            pass

    working, leaving = asyncio.ensure_future(answer), asyncio.ensure_future(gone())
    try:
        await asyncio.wait({working, leaving}, return_when=asyncio.FIRST_COMPLETED)
        if not working.done():
            raise Refusal(499, "the client has gone.")
        return working.result()
    finally:
        working.cancel()
        leaving.cancel()


def add_errors(app: FastAPI) -> None:
    """Every error as a sentence."""

    @app.exception_handler(HeadlightError)
    def mistake(_: Request, error: HeadlightError) -> JSONResponse:
        status = 404 if isinstance(error, UnknownName) else 400
        return JSONResponse(refusal_body(type(error).__name__, str(error)), status)

    @app.exception_handler(Refusal)
    def refusal(_: Request, error: Refusal) -> JSONResponse:
        return JSONResponse(refusal_body("Refusal", str(error)), error.status, error.headers)

    @app.exception_handler(RequestValidationError)
    def invalid(_: Request, error: RequestValidationError) -> JSONResponse:
        said = "; ".join(
            f"{'.'.join(map(str, each['loc'][1:])) or 'the body'}: {each['msg']}"
            for each in error.errors()[:5]
        )
        sentence = f"the request is not understood: {said}. See /api/openapi.json."
        return JSONResponse(refusal_body("InvalidRequest", sentence), 422)

    @app.exception_handler(HTTPException)
    def unroutable(request: Request, error: HTTPException) -> JSONResponse:
        sentence = (
            f"{request.method} {request.scope['path']}: {error.detail}. See /api/openapi.json."
        )
        return JSONResponse(
            refusal_body("InvalidRequest", sentence), error.status_code, error.headers
        )

    @app.exception_handler(Exception)
    def failure(request: Request, error: Exception) -> JSONResponse:
        # Starlette answers this outside of the guard, so the headers are given here.
        LOG.error("%s failed", request.scope["path"], exc_info=error)
        sentence = "this failed for a reason that is not yours; the server's log has it."
        headers = {**HEADERS, "Cache-Control": "no-store"}
        return JSONResponse(refusal_body("InternalError", sentence), 500, headers)
