"""The embeddings endpoint of the private API, in the child process."""

import secrets
from typing import Any

from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.types import Receive, Scope, Send

from sotto.engine.contract.events import Embedded, Failed
from sotto.engine.contract.failure_events import TEXT_TOO_LONG
from sotto.engine.contract.requests import EmbedRequest
from sotto.errors import InvalidRequestError
from sotto.runner.commands import Embed
from sotto.runner.loop import EngineLoop
from sotto.runner.serving.streams import read_body, read_json, request_events
from sotto.runner.serving.switchboard import Switchboard

_KNOWN = ("content", "dimensions", "media")


class Embeddings:
    """`POST /v1/embeddings`."""

    def __init__(self, loop: EngineLoop, board: Switchboard) -> None:
        """Send requests to `loop`, whose events go to `board`."""
        self._loop = loop
        self._board = board

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request, unless the client disconnects."""
        request_id = f"embedding {secrets.token_hex(16)}"
        request = _parse_request(read_json(await read_body(Request(scope, receive))), request_id)
        async with request_events(self._loop, self._board, request_id, receive) as take:
            self._loop.send(Embed(request))
            if (events := await take()) is not None:
                await _response(events)(scope, receive, send)


def _parse_request(read: Any, request_id: str) -> EmbedRequest:
    """Return the request in a JSON body.

    Raises:
        InvalidRequestError: It is not a valid request.
    """
    if not isinstance(read, dict) or not isinstance(read.get("content"), str):
        raise InvalidRequestError("Bad Request")
    if read.get("media"):
        raise InvalidRequestError("this model does not support media input")
    if unknown := sorted(read.keys() - set(_KNOWN)):
        raise InvalidRequestError(f"{unknown[0][:60]!r} is not a field of an embedding: {', '.join(_KNOWN)} are.")
    dimensions = read.get("dimensions") or None
    if dimensions is not None and (type(dimensions) is not int or not 0 < dimensions < 1 << 31):
        raise InvalidRequestError("dimensions must be a whole number from 0 on.")
    return EmbedRequest(request_id, (read["content"],), truncate=False, dimensions=dimensions, normalise=True)


def _response(events: list[Any]) -> Response:
    end = events[-1] if events else None
    if isinstance(end, Embedded):
        return JSONResponse({"embedding": end.vectors[0], "prompt_eval_count": end.prompt_tokens})
    if isinstance(end, Failed):
        too_long = end.message.startswith(TEXT_TOO_LONG)
        return PlainTextResponse(end.message, 500 if end.bug else 413 if too_long else 400)
    return PlainTextResponse("The engine was stopped.", 503)
