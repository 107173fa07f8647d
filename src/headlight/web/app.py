"""The application: the routes of the page and the API. The models are chosen when the server starts."""

import asyncio
import logging
from collections.abc import AsyncIterator, Callable, Coroutine, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Annotated, Any, TypeVar

from fastapi import FastAPI, Query, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import FileResponse, JSONResponse, Response, StreamingResponse
from fastapi.staticfiles import StaticFiles
from pydantic import TypeAdapter
from starlette.exceptions import HTTPException

from headlight import __version__
from headlight.errors import HeadlightError, UnknownName
from headlight.methods import METHODS
from headlight.models.model import Model
from headlight.web.about import add_about
from headlight.web.answers import explaining
from headlight.web.answers.answering import answer as explained_answer
from headlight.web.answers.curves import curves as deletion_curves
from headlight.web.answers.generation import generate as generated
from headlight.web.answers.heads import head_map
from headlight.web.answers.hiding import hide as probability_change
from headlight.web.answers.layers import layers as by_layer
from headlight.web.answers.mixing import mixing
from headlight.web.answers.switching import switch_off
from headlight.web.answers.without import without as probability_without
from headlight.web.answers.writing import write as written
from headlight.web.exports import FILES, export
from headlight.web.guard import HEADERS, LOOPBACK, Guard, refusal_body
from headlight.web.limits import Limits, Refusal
from headlight.web.loaded_models import LoadedModels
from headlight.web.questions import (
    Ask,
    Curves,
    Explain,
    ExplainAnswer,
    Export,
    Generate,
    Hide,
    Layers,
    Mix,
    Question,
    SwitchOff,
    Without,
    Write,
)
from headlight.web.replies import (
    AnswerChange,
    DeletionCurves,
    Disagreements,
    ExplainedAnswer,
    Explanation,
    Generated,
    HeadMap,
    Layered,
    MeanCurves,
    Mixed,
    ProbabilityChange,
    Refused,
    Run,
    WithoutHeads,
    WrittenSoFar,
)
from headlight.web.runs import Runs
from headlight.web.streaming import LINES, Say, lines_of, streamed
from headlight.web.worker import Worker

STATIC = Path(__file__).parent / "static"
LOG = logging.getLogger("headlight.web")
Asked = Question | Generate | Ask
Q = TypeVar("Q", bound=Asked)
Reply = TypeVar("Reply")


def application(
    models: LoadedModels,
    runs: Runs,
    *,
    limits: Limits | None = None,
    token: str | None = None,
    hosts: tuple[str, ...] = LOOPBACK,
) -> FastAPI:
    """The page and its API for these models and runs."""
    limits = limits or Limits()
    worker = Worker(limits)

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        yield
        await asyncio.to_thread(worker.close)

    app = FastAPI(
        title="headlight",
        version=__version__,
        summary="Why a Transformer decided what it decided.",
        docs_url=None,
        redoc_url=None,
        openapi_url="/api/openapi.json",
        responses={"4XX": {"model": Refused, "description": "Refused; the body says why"}},
        lifespan=lifespan,
    )
    add_pages(app)
    requests = Requests(models, worker, limits)
    add_about(app, models, runs, limits)
    add_answers(app, requests)
    add_language(app, requests)
    add_trust(app, requests)
    add_runs(app, runs)
    add_errors(app)
    app.add_middleware(Guard, limits=limits, hosts=hosts, token=token)
    return app


# ------------------------------------------------------------------------------------- routes


def add_pages(app: FastAPI) -> None:
    """Add the three pages and their files."""

    @app.get("/", include_in_schema=False)
    def page() -> FileResponse:
        return FileResponse(STATIC / "index.html")

    @app.get("/answers", include_in_schema=False)
    def answers() -> FileResponse:
        return FileResponse(STATIC / "answers.html")

    @app.get("/results", include_in_schema=False)
    def results() -> FileResponse:
        return FileResponse(STATIC / "results.html")

    @app.get("/favicon.ico", include_in_schema=False)
    def favicon() -> FileResponse:
        return FileResponse(STATIC / "favicon.svg")

    app.mount("/static", StaticFiles(directory=STATIC), name="static")


@dataclass(frozen=True)
class Requests:
    """Checks questions against the limits and passes them to the worker."""

    models: LoadedModels
    worker: Worker
    limits: Limits

    async def together(self, request: Request, question: Explain) -> Explanation:
        """An explanation from a pass that is shared with questions of the same methods."""
        self.check(question)
        work = partial(explaining.explain_all, self.models[question.model], limits=self.limits)
        mask = None if question.mask is None else tuple(map(tuple, question.mask))
        key = (question.model, tuple(question.methods), mask)
        return await unless_gone(request, self.worker.ask(key, work, question))

    async def alone(
        self, request: Request, question: Q, answer: Callable[[Model, Q, Limits], Reply]
    ) -> Reply:
        """An answer from passes of its own."""
        self.check(question)
        model = self.models[question.model]

        def work(questions: Sequence[Q]) -> Sequence[Reply]:
            return [answer(model, each, self.limits) for each in questions]

        return await unless_gone(request, self.worker.ask(object(), work, question))

    async def by_and_by(
        self, request: Request, question: Q, answer: Callable[[Model, Q, Limits, Say[Reply]], Reply]
    ) -> StreamingResponse:
        """An answer that is told while it is made. A refusal before its first line has its own status."""
        self.check(question)
        model = self.models[question.model]
        lines = streamed(self.worker, lambda say: answer(model, question, self.limits, say))

        async def first_line() -> Reply:
            return await anext(lines)

        first = await unless_gone(request, first_line())
        return StreamingResponse(lines_of(first, lines), media_type=LINES)

    def check(self, question: Asked) -> None:
        """Refuse texts that are too long, too many methods, and unknown names, before anything is computed."""
        size = sum(map(len, question.texts))
        if size > self.limits.characters:
            raise Refusal(
                413,
                f"the text has {size:,} characters; this server takes up to {self.limits.characters:,}. "
                "Shorten it.",
            )
        methods = getattr(question, "methods", None) or [getattr(question, "method", None)]
        if len(methods) > self.limits.methods:
            raise Refusal(
                413,
                f"{len(methods)} methods were asked for at once; this server compares up to "
                f"{self.limits.methods}. Choose fewer.",
            )
        for name in methods:
            if name is not None:
                METHODS[name]


def add_answers(app: FastAPI, requests: Requests) -> None:
    """Add the routes that explain."""

    @app.post("/api/explain", tags=["explain"])
    async def explain(request: Request, question: Explain) -> Explanation:
        """Predict and explain a text with one or more methods."""
        return await requests.together(request, question)

    @app.post("/api/layers", tags=["explain"])
    async def layers(request: Request, question: Layers) -> Layered:
        """Explain a text with one method, layer by layer."""
        return await requests.alone(request, question, by_layer)

    @app.post("/api/mix", tags=["explain"])
    async def mix(request: Request, question: Mix) -> Mixed:
        """Show how much of every input token is in every output token."""
        return await requests.alone(request, question, mixing)

    @app.post("/api/generate", tags=["explain"])
    async def generate(request: Request, question: Generate) -> Generated:
        """Continue a text, and explain each new token."""
        return await requests.alone(request, question, generated)

    @app.post(
        "/api/export",
        tags=["explain"],
        response_class=Response,
        responses={200: {"content": {kind.split(";")[0]: {} for _, kind in FILES.values()}}},
    )
    async def exported(request: Request, question: Export) -> Response:
        """Download an explanation as a file."""
        made = await requests.alone(request, question, explaining.attributions)
        return await asyncio.to_thread(export, made, question)

    @app.get("/api/heads", tags=["explain"])
    def heads(model: str) -> HeadMap:
        """The head mask that comes with a model, and what its heads do."""
        return head_map(requests.models[model])

    @app.post("/api/heads/off", tags=["explain"])
    async def heads_off(request: Request, question: SwitchOff) -> WithoutHeads:
        """How the answer moves when attention heads are switched off while the model runs."""
        return await requests.alone(request, question, switch_off)


def add_language(app: FastAPI, requests: Requests) -> None:
    """Add the routes of the page for answers."""

    @app.post(
        "/api/write",
        tags=["answers"],
        response_class=StreamingResponse,
        responses={200: {"content": {LINES: {"schema": TypeAdapter(WrittenSoFar).json_schema()}}}},
    )
    async def write(request: Request, question: Write) -> StreamingResponse:
        """Let a language model answer a question; each line of the reply is what it has written so far."""
        return await requests.by_and_by(request, question, written)

    @app.post("/api/answer", tags=["answers"])
    async def answer(request: Request, question: ExplainAnswer) -> ExplainedAnswer:
        """Explain each sentence or token of an answer by what the model read."""
        return await requests.alone(request, question, explained_answer)

    @app.post("/api/without", tags=["answers"])
    async def without(request: Request, question: Without) -> AnswerChange:
        """How probable the same answer is without some of its sources."""
        return await requests.alone(request, question, probability_without)


def add_trust(app: FastAPI, requests: Requests) -> None:
    """Add the routes that remove tokens."""

    @app.post("/api/hide", tags=["trust"])
    async def hide(request: Request, question: Hide) -> ProbabilityChange:
        """The probability with some tokens removed."""
        return await requests.alone(request, question, probability_change)

    @app.post("/api/curves", tags=["trust"])
    async def curves(request: Request, question: Curves) -> DeletionCurves:
        """Deletion curves of methods and of random orders."""
        return await requests.alone(request, question, deletion_curves)


def add_runs(app: FastAPI, runs: Runs) -> None:
    """Add the routes of the results page."""

    @app.get("/api/runs/{name}", tags=["runs"])
    def overview(name: str) -> Run:
        """What was run, and the value of every metric for every method."""
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
        """Examples on which two methods rank the tokens most differently, first."""
        return runs.examples(name, first, second, offset, limit)


async def unless_gone(request: Request, answer: Coroutine[Any, Any, Reply]) -> Reply:
    """The answer; it is cancelled when the client disconnects."""

    async def gone() -> None:
        while (await request.receive())["type"] != "http.disconnect":
            pass

    working, leaving = asyncio.ensure_future(answer), asyncio.ensure_future(gone())
    try:
        await asyncio.wait({working, leaving}, return_when=asyncio.FIRST_COMPLETED)
        if not working.done():
            raise Refusal(499, "the client disconnected.")
        return working.result()
    finally:
        working.cancel()
        leaving.cancel()


def add_errors(app: FastAPI) -> None:
    """Answer every error with a sentence."""

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
        # Starlette answers this outside the guard, so the headers are added here.
        LOG.error("%s failed", request.scope["path"], exc_info=error)
        sentence = "the server failed; this is not your mistake. The server's log has the reason."
        headers = {**HEADERS, "Cache-Control": "no-store"}
        return JSONResponse(refusal_body("InternalError", sentence), 500, headers)
