"""The private API in the child process, on a thread with its own event loop.

It listens on the loopback interface only, and every call must carry the token that only the parent knows
(`Authorization: Bearer ...`).

====================== ==============================================================================================
`GET /v1/status`       the engine's status, without asking the thread that computes
`GET /v1/models`       confirms that there is an engine
`POST /v1/completions` an answer to a raw prompt, as JSON lines; closing the connection cancels it
`POST /v1/embeddings`  the normalised vector of one text; 413 if it is too long
`POST /v1/tokenize`    a text's tokens
`POST /v1/detokenize`  a JSON array of tokens, as text
`POST /v1/session`     for a host: the request body is a stream of commands, the answer one of events, both as lines
                       of `codec`. There is one session at a time; its end cancels its requests
====================== ==============================================================================================
"""

import asyncio
import hmac
import socket
import threading
from collections.abc import Awaitable, Callable
from functools import partial
from typing import Any

import uvicorn
from starlette.applications import Starlette
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, PlainTextResponse, RedirectResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp, Receive, Scope, Send

from sotto.errors import InvalidRequestError, SottoError
from sotto.runner.loop import EngineLoop
from sotto.runner.serving.connections import Connection, DoorServer
from sotto.runner.serving.doorway import Doorway
from sotto.runner.serving.embedding_endpoint import Embeddings
from sotto.runner.serving.streams import LARGEST_BODY, Completions, Session, read_body, read_json
from sotto.runner.serving.switchboard import Switchboard


class Server:
    """Serves an engine loop over HTTP until it is stopped."""

    def __init__(self, loop: EngineLoop, board: Switchboard, token: str, listening: socket.socket) -> None:
        """Make a server.

        Args:
            loop: The loop that serves the requests.
            board: Receives the events of the loop.
            token: Required in every call.
            listening: A socket that is listening already.
        """
        app = application(loop, board, token)
        # Callers that know the token are trusted.
        doorway = Doorway(limits_requests=False)
        config = uvicorn.Config(
            app,
            http=partial(Connection, doorway=doorway, largest_body=LARGEST_BODY),  # type: ignore[arg-type]
            ws="none",
            lifespan="off",
            loop="asyncio",
            log_config=None,
            access_log=False,
            backlog=doorway.at_once,
        )
        self._server = DoorServer(config)
        self._listening = listening
        self._thread = threading.Thread(target=self._run, name="server", daemon=True)

    def start(self) -> None:
        """Begin to serve."""
        self._thread.start()

    def stop(self, seconds: float) -> None:
        """Finish the requests under way, within `seconds`."""
        self._server.should_exit = True
        self._thread.join(seconds)

    def _run(self) -> None:
        self._server.run(sockets=[self._listening])


def application(loop: EngineLoop, board: Switchboard, token: str) -> ASGIApp:
    """Return the private API of an engine loop."""
    api = _Api(loop, board)
    routes = [
        Route("/v1/status", api.status),
        Route("/v1/models", api.models, methods=["GET", "POST", "DELETE"]),
        Route("/v1/tokenize", api.tokenize, methods=["POST"]),
        Route("/v1/detokenize", api.detokenize, methods=["POST"]),
        Route("/v1/completions", Completions(loop, board), methods=["POST"]),
        Route("/v1/embeddings", Embeddings(loop, board), methods=["POST"]),
        Route("/v1/session", Session(loop, board), methods=["POST"]),
        *(
            Route(old, _redirect_to(new), methods=["GET", "POST"])
            for old, new in (("/health", "status"), ("/load", "models"), ("/completion", "completions"))
        ),
    ]
    handlers: dict[Any, Any] = {SottoError: _bad_request, ClientDisconnect: _client_disconnected}
    return _Guard(Starlette(routes=routes, exception_handlers=handlers), token)


class _Guard:
    """Refuses calls without the token."""

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
    """The endpoints that answer at once."""

    def __init__(self, loop: EngineLoop, board: Switchboard) -> None:
        self._loop = loop
        self._board = board

    async def status(self, request: Request) -> Response:
        """Return the engine's status, as last reported."""
        return JSONResponse(self._board.report.status.to_json())

    async def models(self, request: Request) -> Response:
        """Confirm that there is an engine."""
        return JSONResponse({"Success": True})

    async def tokenize(self, request: Request) -> Response:
        """Tokenize a text."""
        try:
            text = (await read_body(request)).decode()
        except UnicodeDecodeError as error:
            raise InvalidRequestError(f"The text is not UTF-8 at byte {error.start}.") from error
        return JSONResponse(await asyncio.to_thread(self._loop.tokenizer.encode, text))

    async def detokenize(self, request: Request) -> Response:
        """Return the text of tokens."""
        ids = read_json(await read_body(request))
        if not isinstance(ids, list) or not all(type(token_id) is int for token_id in ids):
            raise InvalidRequestError("Tokens must be a JSON array of whole numbers from 0 on.")
        return PlainTextResponse(await asyncio.to_thread(self._loop.tokenizer.decode, ids))


def _redirect_to(name: str) -> Callable[[Request], Awaitable[Response]]:
    async def redirect(_: Request) -> Response:
        return RedirectResponse(f"/v1/{name}", 308)

    return redirect


async def _bad_request(_: Request, error: Exception) -> Response:
    return PlainTextResponse(str(error), 400)


async def _client_disconnected(_: Request, error: Exception) -> Response:
    return Response(status_code=400)
