"""In the child process: the private API, on a thread with an event loop of its own.

Everything is on this machine's loopback, and every call must name the token that only whoever started the process
knows (`Authorization: Bearer ...`).

====================== ==============================================================================================
`GET /v1/status`       how the engine stands, without asking the thread that computes
`GET /v1/models`       whether there is an engine at all
`POST /v1/completions` an answer to a raw prompt, as JSON lines; closing the connection cancels it
`POST /v1/tokenize`    a text's tokens
`POST /v1/detokenize`  a JSON array of tokens, as text
`POST /v1/session`     a host's own: commands of `codec` come in as lines while the request lasts, events go out as
                       lines while the answer lasts. There is one at a time; its end cancels what it asked for
====================== ==============================================================================================
"""

import asyncio
import hmac
import json
import secrets
import socket
import threading
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import uvicorn
from starlette.applications import Starlette
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, PlainTextResponse, RedirectResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp, Receive, Scope, Send

from sotto.engine.types import Event, Failed, Finished, GenerateRequest
from sotto.errors import InvalidRequestError, SottoError
from sotto.runner import completions
from sotto.runner.codec import Cancel, CancelLoad, Generate, Lines, Load, Unload, WireError, decoded, encoded
from sotto.runner.loop import EngineLoop
from sotto.runner.switchboard import Stream, Switchboard

_LARGEST_BODY = 64 << 20
_READY, _LOADING, _EMPTY = 0, 3, 1
_JSON_LINES = [(b"content-type", b"application/jsonl")]


class Server:
    """Serves an engine's loop over HTTP until it is stopped."""

    def __init__(self, loop: EngineLoop, board: Switchboard, token: str, listening: socket.socket) -> None:
        """Serve `loop`, whose events go to `board`, on a socket that listens already."""
        app = application(loop, board, token)
        config = uvicorn.Config(
            app, http="h11", ws="none", lifespan="off", loop="asyncio", log_config=None, access_log=False
        )
        self._server = uvicorn.Server(config)
        self._listening = listening
        self._thread = threading.Thread(target=self._run, name="server", daemon=True)

    def start(self) -> None:
        """Begin to serve."""
        self._thread.start()

    def stop(self, seconds: float) -> None:
        """Serve what is under way to its end, for so long at most."""
        self._server.should_exit = True
        self._thread.join(seconds)

    def _run(self) -> None:
        self._server.run(sockets=[self._listening])


def application(loop: EngineLoop, board: Switchboard, token: str) -> ASGIApp:
    """Return the private API of an engine's loop."""
    api = _Api(loop, board)
    routes = [
        Route("/v1/status", api.status),
        Route("/v1/models", api.models, methods=["GET", "POST", "DELETE"]),
        Route("/v1/tokenize", api.tokenize, methods=["POST"]),
        Route("/v1/detokenize", api.detokenize, methods=["POST"]),
        Route("/v1/completions", _Completions(loop, board), methods=["POST"]),
        Route("/v1/session", _Session(loop, board), methods=["POST"]),
        *(
            Route(old, _moved(new), methods=["GET", "POST"])
            for old, new in (("/health", "status"), ("/load", "models"), ("/completion", "completions"))
        ),
    ]
    handlers: dict[Any, Any] = {SottoError: _told, ClientDisconnect: _nobody}
    return _Guard(Starlette(routes=routes, exception_handlers=handlers), token)


class _Guard:
    """Lets those in who know the token."""

    def __init__(self, inner: ASGIApp, token: str) -> None:
        self._inner = inner
        self._right = f"Bearer {token}".encode()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        given = dict(scope["headers"]).get(b"authorization", b"")
        inner: ASGIApp = PlainTextResponse("The token is missing or wrong.", 401)
        if hmac.compare_digest(given, self._right):
            inner = self._inner
        await inner(scope, receive, send)


class _Api:
    """What is answered at once."""

    def __init__(self, loop: EngineLoop, board: Switchboard) -> None:
        self._loop = loop
        self._board = board

    async def status(self, request: Request) -> Response:
        """Say how the engine stands. What memory holds is what the engine said last: nobody waits for it."""
        standing = self._board.standing
        info, progress, figures = standing.info, standing.progress, standing.figures
        share = 100 * progress.done // max(1, progress.total) if progress else 100 if info else 0
        return JSONResponse(
            {
                "Status": _READY if info else _LOADING if progress else _EMPTY,
                "Progress": share,
                "ContextLength": info.context_length if info else 0,
                "Memory": figures.active + figures.pool if figures else 0,
            }
        )

    async def models(self, request: Request) -> Response:
        """Say that there is an engine."""
        return JSONResponse({"Success": True})

    async def tokenize(self, request: Request) -> Response:
        """Cut a text into tokens."""
        try:
            text = (await _body(request)).decode()
        except UnicodeDecodeError as error:
            raise InvalidRequestError(f"The text is not UTF-8 at byte {error.start}.") from error
        return JSONResponse(await asyncio.to_thread(self._loop.tokenizer.encode, text))

    async def detokenize(self, request: Request) -> Response:
        """Put tokens together to a text."""
        ids = _json(await _body(request))
        if not isinstance(ids, list) or not all(type(one) is int and 0 <= one < 1 << 31 for one in ids):
            raise InvalidRequestError("Tokens must be a JSON array of whole numbers from 0 on.")
        return PlainTextResponse(await asyncio.to_thread(self._loop.tokenizer.decode, ids))


class _Completions:
    """`POST /v1/completions`."""

    def __init__(self, loop: EngineLoop, board: Switchboard) -> None:
        self._loop = loop
        self._board = board

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        # No id that a session may have chosen.
        request_id = f"completion {secrets.token_hex(16)}"
        request = completions.asked(_json(await _body(Request(scope, receive))), request_id)
        stream = self._board.begin_request(request.id)
        gone = asyncio.create_task(_disconnected(receive))
        try:
            self._loop.generate(request)
            await self._answer(stream, gone, _Answer(send))
        finally:
            gone.cancel()
            self._loop.cancel(request.id)
            self._board.end_request(request.id)

    async def _answer(self, stream: Stream, gone: "asyncio.Task[None]", answer: "_Answer") -> None:
        while True:
            taking = asyncio.create_task(stream.take())
            await asyncio.wait((taking, gone), return_when=asyncio.FIRST_COMPLETED)
            if gone.done():
                taking.cancel()
                return
            events: list[Any] = taking.result()
            if not answer.begun and events and isinstance(events[0], Failed):
                # Nothing was said yet, so the status can still tell.
                await answer.refuse(PlainTextResponse(events[0].message, 500 if events[0].bug else 400))
                return
            await answer.send(b"".join(map(completions.line, events)))
            if not events or completions.ends(events[-1]):
                await answer.end()
                return


class _Session:
    """`POST /v1/session`."""

    def __init__(self, loop: EngineLoop, board: Switchboard) -> None:
        self._loop = loop
        self._board = board

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        stream = self._board.begin_session()
        answer = _Answer(send)
        if stream is None:
            await answer.refuse(PlainTextResponse("There is a session already.", 409))
            return
        unanswered: set[str] = set()
        hearing = asyncio.create_task(self._hear(receive, unanswered))
        speaking = asyncio.create_task(self._speak(stream, answer, unanswered))
        try:
            ended, _ = await asyncio.wait((hearing, speaking), return_when=asyncio.FIRST_COMPLETED)
            for task in ended:
                task.result()  # raises what went wrong
        except WireError as error:
            # An answer that breaks off, and a line in the log, say that it did not end well.
            print(f"error: {error.message}", flush=True)  # noqa: T201
        finally:
            hearing.cancel()
            speaking.cancel()
            self._board.end_session()
            for request_id in unanswered:
                self._loop.cancel(request_id)

    async def _hear(self, receive: Receive, unanswered: set[str]) -> None:
        lines = Lines()
        while True:
            message = await receive()
            for line in lines.feed(message.get("body", b"")):
                self._do(decoded(line), unanswered)
            if message["type"] == "http.disconnect" or not message.get("more_body"):
                return

    async def _speak(self, stream: Stream, answer: "_Answer", unanswered: set[str]) -> None:
        await answer.send(b"")
        while events := await stream.take():
            unanswered.difference_update(_ended(event) for event in events)
            await answer.send(b"".join(map(encoded, events)))
        await answer.end()

    def _do(self, command: Any, unanswered: set[str]) -> None:
        if isinstance(command, Load):
            self._loop.load(command.record, command.num_ctx)
        elif isinstance(command, Unload):
            self._loop.unload()
        elif isinstance(command, Generate):
            self._generate(command.request, unanswered)
        elif isinstance(command, Cancel):
            self._loop.cancel(command.request_id)
        elif isinstance(command, CancelLoad):
            self._loop.cancel_load()
        else:
            raise WireError(f"{type(command).__name__} is no command.")

    def _generate(self, request: GenerateRequest, unanswered: set[str]) -> None:
        unanswered.add(request.id)
        self._loop.generate(request)


class _Answer:
    """The answer to one request, said bit by bit."""

    def __init__(self, send: Send) -> None:
        self._send = send
        self.begun = False

    async def send(self, data: bytes) -> None:
        """Send some of it; the first time, also that it has begun."""
        if not self.begun:
            self.begun = True
            await self._send({"type": "http.response.start", "status": 200, "headers": _JSON_LINES})
            await self._send({"type": "http.response.body", "body": data, "more_body": True})
        elif data:
            await self._send({"type": "http.response.body", "body": data, "more_body": True})

    async def end(self) -> None:
        """Send that this was all."""
        await self._send({"type": "http.response.body", "body": b"", "more_body": False})

    async def refuse(self, response: Response) -> None:
        """Send another answer instead; nothing has been said yet."""
        await response({"type": "http"}, _never, self._send)


def _ended(event: Event) -> str:
    """Return the id of the request that ends with `event`, or nothing."""
    return event.request_id if isinstance(event, Finished | Failed) else ""


async def _never() -> Any:
    """Receive nothing: what was sent has been read."""
    return {"type": "http.disconnect"}


async def _disconnected(receive: Receive) -> None:
    """Return when whoever asked has gone."""
    while (await receive())["type"] != "http.disconnect":
        pass


async def _body(request: Request) -> bytes:
    """Return all of a body.

    Raises:
        InvalidRequestError: It is too large.
    """
    parts, size = [], 0
    async for part in request.stream():
        size += len(part)
        if size > _LARGEST_BODY:
            raise InvalidRequestError(f"The body is larger than {_LARGEST_BODY} bytes.")
        parts.append(part)
    return b"".join(parts)


def _json(body: bytes) -> Any:
    with suppress(ValueError, RecursionError):
        return json.loads(body)
    raise InvalidRequestError("Bad Request")


def _moved(name: str) -> Callable[[Request], Response]:
    def redirect(_: Request) -> Response:
        return RedirectResponse(f"/v1/{name}", 308)

    return redirect


async def _told(_: Request, error: Exception) -> Response:
    return PlainTextResponse(str(error), 400)


async def _nobody(_: Request, error: Exception) -> Response:
    return Response(status_code=400)
