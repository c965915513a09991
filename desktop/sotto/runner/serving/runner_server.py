"""In the child process: the private API, on a thread with an event loop of its own.

Everything is on this machine's loopback, and every call must name the token that only whoever started the process
knows (`Authorization: Bearer ...`).

====================== ==============================================================================================
`GET /v1/status`       how the engine stands, without asking the thread that computes
`GET /v1/models`       whether there is an engine at all
`POST /v1/completions` an answer to a raw prompt, as JSON lines; closing the connection cancels it
`POST /v1/embeddings`  the vector of one text, of length 1; 413 where it is too long
`POST /v1/tokenize`    a text's tokens
`POST /v1/detokenize`  a JSON array of tokens, as text
`POST /v1/session`     a host's own: commands of `codec` come in as lines while the request lasts, events go out as
                       lines while the answer lasts. There is one at a time; its end cancels what it asked for
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
    """Serves an engine's loop over HTTP until it is stopped."""

    def __init__(self, loop: EngineLoop, board: Switchboard, token: str, listening: socket.socket) -> None:
        """Serve `loop`, whose events go to `board`, on a socket that listens already."""
        app = application(loop, board, token)
        # Whoever knows the token is never too much.
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
        return JSONResponse(self._board.report.status.to_json())

    async def models(self, request: Request) -> Response:
        """Say that there is an engine."""
        return JSONResponse({"Success": True})

    async def tokenize(self, request: Request) -> Response:
        """Cut a text into tokens."""
        try:
            text = (await read_body(request)).decode()
        except UnicodeDecodeError as error:
            raise InvalidRequestError(f"The text is not UTF-8 at byte {error.start}.") from error
        return JSONResponse(await asyncio.to_thread(self._loop.tokenizer.encode, text))

    async def detokenize(self, request: Request) -> Response:
        """Put tokens together to a text."""
        ids = read_json(await read_body(request))
        if not isinstance(ids, list) or not all(type(one) is int for one in ids):
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
