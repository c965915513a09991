"""The ASGI application: all dialects, the guard, metrics and the OpenAPI document."""

import re
from http import HTTPStatus
from typing import Any

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp

from sotto.api.answers import Dialect, as_api_error
from sotto.api.desk import Desk
from sotto.api.dialects import anthropic, llamacpp, ollama, openai
from sotto.api.dialects.lmstudio import LMStudio
from sotto.api.dialects.ollama_models import OllamaModels
from sotto.api.dialects.ollama_store import OllamaStorage
from sotto.api.dialects.responses import Responses
from sotto.api.embeddings import Embeddings
from sotto.api.guard import Guard
from sotto.api.metrics import Metrics, Recording
from sotto.api.openapi import OpenAPI
from sotto.api.request_log import RequestLog
from sotto.errors import SottoError

_PLAIN = {HTTPStatus.NOT_FOUND: "404 page not found", HTTPStatus.METHOD_NOT_ALLOWED: "405 method not allowed"}


def application(
    desk: Desk,
    metrics: Metrics,
    log: RequestLog,
    *,
    loopback: bool,
    key: str = "",
    origins: re.Pattern[str] | None = None,
) -> ASGIApp:
    """Return the ASGI application that serves the API.

    Args:
        desk: Passes requests to the engine.
        metrics: Counts what is served.
        log: Logs each request.
        loopback: Whether only this machine can reach the server.
        key: The API key that every request must send; empty for none.
        origins: Matches the origins of other sites whose pages may use the API; None for none.
    """
    handlers: dict[Any, Any] = {
        HTTPException: _plain_text_error,
        SottoError: _error_response,
        ClientDisconnect: _client_disconnected,
        Exception: _error_response,
    }
    api_routes = _routes(desk)
    routes = [*api_routes, *OpenAPI(api_routes, dialect_of, key=bool(key)).routes(), *metrics.routes()]
    inner = Starlette(routes=routes, exception_handlers=handlers)
    guarded = Guard(inner, dialect_of, loopback=loopback, key=key, origins=origins)
    return Recording(guarded, routes, metrics, log)


def _routes(desk: Desk) -> list[Route]:
    """Return the routes of all dialects."""
    parts = (
        OllamaModels(desk),
        OllamaStorage(desk),
        ollama.OllamaAnswers(desk),
        openai.OpenAI(desk),
        Responses(desk),
        Embeddings(desk),
        anthropic.Anthropic(desk),
        llamacpp.LlamaCpp(desk),
        LMStudio(desk),
    )
    return [route for part in parts for route in part.routes()]


def dialect_of(path: str) -> Dialect:
    """Return the dialect in which errors are reported at a path."""
    if path.startswith("/v1/messages"):
        return anthropic.DIALECT
    if path in llamacpp.PATHS:
        return llamacpp.DIALECT
    return openai.DIALECT if path.startswith(("/v1/", "/api/v0/")) else ollama.DIALECT


async def _error_response(request: Request, error: Exception) -> Response:
    return dialect_of(request.url.path).response(as_api_error(error))


async def _plain_text_error(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    text = _PLAIN.get(HTTPStatus(error.status_code), error.detail)
    return PlainTextResponse(text, error.status_code, error.headers)


async def _client_disconnected(request: Request, error: Exception) -> Response:
    """Return an empty response that nobody receives: the client disconnected while it sent its request."""
    return Response()
