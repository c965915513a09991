"""The whole API, put together."""

from http import HTTPStatus
from typing import Any

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import PlainTextResponse, Response
from starlette.types import ASGIApp

from sotto.api import anthropic, ollama, openai
from sotto.api.answers import Dialect, as_api_error
from sotto.api.desk import Desk
from sotto.api.embeddings import Embeddings
from sotto.api.guard import Guard
from sotto.api.ollama_models import OllamaModels
from sotto.errors import SottoError

_PLAIN = {HTTPStatus.NOT_FOUND: "404 page not found", HTTPStatus.METHOD_NOT_ALLOWED: "405 method not allowed"}


def application(desk: Desk, *, loopback: bool, key: str = "") -> ASGIApp:
    """Return what serves the API.

    Args:
        desk: Where the engine is asked.
        loopback: Whether only this machine can reach the server.
        key: What every request must name, if it is not empty.
    """
    parts: tuple[Any, ...] = (
        OllamaModels(desk),
        ollama.OllamaAnswers(desk),
        openai.OpenAI(desk),
        Embeddings(desk),
        anthropic.Anthropic(desk),
    )
    handlers: dict[Any, Any] = {HTTPException: _plain, SottoError: _told, ClientDisconnect: _gone, Exception: _told}
    routes = [route for part in parts for route in part.routes()]
    return Guard(Starlette(routes=routes, exception_handlers=handlers), dialect_of, loopback=loopback, key=key)


def dialect_of(path: str) -> Dialect:
    """Return how errors are said at a path."""
    if path.startswith("/v1/messages"):
        return anthropic.DIALECT
    return openai.DIALECT if path.startswith("/v1/") else ollama.DIALECT


async def _told(request: Request, error: Exception) -> Response:
    return dialect_of(request.url.path).response(as_api_error(error))


async def _plain(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    text = _PLAIN.get(HTTPStatus(error.status_code), error.detail)
    return PlainTextResponse(text, error.status_code, error.headers)


async def _gone(request: Request, error: Exception) -> Response:
    """Answer nobody: the client left while it sent its request."""
    return Response()
