"""Sending answers, whole or streamed, with errors in the dialect's form, until the client disconnects."""

import asyncio
import json
import logging
from abc import ABC, abstractmethod
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping
from contextlib import aclosing
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route
from starlette.types import Receive, Scope, Send

from sotto.api.error_bodies import ApiError, bad_request, not_implemented
from sotto.api.protocol import INPUT_ENDED
from sotto.api.request_log import current_request
from sotto.errors import InvalidNameError, InvalidRequestError, ModelNotFoundError, SottoError, UnsupportedModelError

_log = logging.getLogger(__name__)

NDJSON, SSE = "application/x-ndjson", "text/event-stream"
# Seconds for which a client may accept no data. Until then its connection holds up only its own answer.
STALL_SECONDS = 60.0

_HALF_CLOSED = "The client closed its side of the connection too early; keep it open until the answer is complete."


class _StalledClientError(Exception):
    """A client has accepted no data for too long."""


@dataclass(frozen=True, slots=True)
class Dialect:
    """How an API dialect reports errors.

    Attributes:
        error_body: Builds the body of an error response.
        stream_error: Builds the last chunk of a stream that failed after it began.
    """

    error_body: Callable[[ApiError], Any]
    stream_error: Callable[[ApiError], bytes]

    def response(self, error: ApiError) -> Response:
        """Return the response that reports an error."""
        headers = {"www-authenticate": "Bearer"} if error.status == HTTPStatus.UNAUTHORIZED else None
        return JSONResponse(self.error_body(error), error.status, headers)


class Answer(ABC):
    """An answer whose computation is cancelled when its client disconnects."""

    def __init__(self, dialect: Dialect) -> None:
        """Report errors in the form of `dialect`."""
        self._dialect = dialect
        self._begun = False

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send the answer, or the error that prevents it."""

        async def send_or_stall(message: Any) -> None:
            self._begun = True
            try:
                async with asyncio.timeout(STALL_SECONDS):
                    await send(message)
            except TimeoutError as error:
                raise _StalledClientError from error

        working = asyncio.ensure_future(self._run_guarded(self.work, scope, receive, send_or_stall))
        disconnected = asyncio.ensure_future(_wait_for_disconnect(receive))
        # A client that closed its sending side may be gone or may still read: only sending to it shows which.
        input_ended = asyncio.ensure_future(_wait_for_input_end(scope))
        try:
            first_done, _ = await asyncio.wait(
                (working, disconnected, input_ended), return_when=asyncio.FIRST_COMPLETED
            )
        finally:
            for task in (working, disconnected, input_ended):
                task.cancel()
            await asyncio.gather(working, disconnected, input_ended, return_exceptions=True)
        if first_done == {input_ended}:
            current_request().cancel()
            await self._run_guarded(_refuse_half_closed, scope, receive, send_or_stall)

    async def _run_guarded(
        self, work: Callable[[Send], Awaitable[None]], scope: Scope, receive: Receive, send: Send
    ) -> None:
        try:
            await work(send)
        except _StalledClientError:
            _log.warning("A client read nothing for %g seconds, so its answer was dropped.", STALL_SECONDS)
        except Exception as error:
            known = as_api_error(error)
            if self._begun:
                current_request().break_off(known.status)
                await send(_body(self._dialect.stream_error(known), more=False))
            else:
                await self._dialect.response(known)(scope, receive, send)

    @abstractmethod
    async def work(self, send: Send) -> None:
        """Send the answer."""


class Whole(Answer):
    """An answer in one piece of JSON."""

    def __init__(self, dialect: Dialect, make: Callable[[], Awaitable[Any]]) -> None:
        """Answer with the JSON value that `make` returns."""
        super().__init__(dialect)
        self._make = make

    async def work(self, send: Send) -> None:
        """Send the answer."""
        body = encode_json(await self._make())
        headers = [(b"content-type", b"application/json"), (b"content-length", str(len(body)).encode())]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        await send(_body(body, more=False))


class Done(Answer):
    """An empty answer with status 200, sent once an action has succeeded."""

    def __init__(self, dialect: Dialect, act: Callable[[], Awaitable[None]]) -> None:
        """Answer once `act` has returned."""
        super().__init__(dialect)
        self._act = act

    async def work(self, send: Send) -> None:
        """Act, then send the empty answer."""
        await self._act()
        await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"0")]})
        await send(_body(b"", more=False))


class Pieces(Answer):
    """A streamed answer. An error before the first piece becomes an ordinary error response."""

    def __init__(self, dialect: Dialect, media_type: str, pieces: AsyncGenerator[bytes, None]) -> None:
        """Stream `pieces`."""
        super().__init__(dialect)
        self.media_type = media_type
        self._pieces = pieces

    async def work(self, send: Send) -> None:
        """Send the answer."""
        headers = [(b"content-type", self.media_type.encode()), (b"cache-control", b"no-cache")]
        begun = False
        async with aclosing(self._pieces) as pieces:
            async for piece in pieces:
                if not begun:
                    begun = True
                    await send({"type": "http.response.start", "status": 200, "headers": headers})
                await send(_body(piece, more=True))
        await send(_body(b"", more=False))


def unsupported_routes(reasons: Mapping[str, str]) -> list[Route]:
    """Return routes that refuse paths not served yet, each with its reason."""

    def refuse(why: str) -> Callable[[Request], Awaitable[Response]]:
        async def answer(request: Request) -> Response:
            raise not_implemented(why)

        answer.__dict__["refusal"] = not_implemented(why)
        return answer

    return [Route(path, refuse(why), methods=["POST"]) for path, why in reasons.items()]


def encode_json(value: Any) -> bytes:
    """Return a value as compact JSON on one line."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()


def line(value: Any) -> bytes:
    """Return a line of NDJSON."""
    return encode_json(value) + b"\n"


def event(value: Any, name: str = "") -> bytes:
    """Return a server-sent event."""
    head = f"event: {name}\n".encode() if name else b""
    return head + b"data: " + encode_json(value) + b"\n\n"


def as_api_error(error: Exception) -> ApiError:
    """Return an error as an `ApiError` with the HTTP status that clients get."""
    if isinstance(error, ApiError):
        return error
    if isinstance(error, InvalidRequestError | InvalidNameError | UnsupportedModelError):
        return ApiError(HTTPStatus.BAD_REQUEST, error.message)
    if isinstance(error, ModelNotFoundError):
        return ApiError(HTTPStatus.NOT_FOUND, error.message)
    if isinstance(error, SottoError):
        return ApiError(HTTPStatus.INTERNAL_SERVER_ERROR, error.message)
    _log.error("A request could not be served.", exc_info=error)
    return ApiError(HTTPStatus.INTERNAL_SERVER_ERROR, f"An internal error occurred ({type(error).__name__}: {error}).")


def _body(content: bytes, *, more: bool) -> dict[str, Any]:
    return {"type": "http.response.body", "body": content, "more_body": more}


async def _refuse_half_closed(send: Send) -> None:
    raise bad_request(_HALF_CLOSED)


async def _wait_for_input_end(scope: Scope) -> None:
    """Wait until the client has closed its side of the connection."""
    await scope["state"][INPUT_ENDED].wait()


async def _wait_for_disconnect(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass
