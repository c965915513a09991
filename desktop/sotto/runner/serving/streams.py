"""In the child process: answers of the private API that last, as JSON lines."""

import asyncio
import json
import secrets
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from typing import Any

from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.types import Receive, Scope, Send

from sotto.engine.contract.events import Event, Failed, RequestEnd
from sotto.errors import InvalidRequestError
from sotto.runner.codec import Lines, WireError, decoded, encoded
from sotto.runner.commands import Cancel, Command, Embed, Generate
from sotto.runner.loop import EngineLoop
from sotto.runner.serving import completions
from sotto.runner.serving.switchboard import Stream, Switchboard

LARGEST_BODY = 64 << 20
_JSON_LINES = [(b"content-type", b"application/jsonl")]


async def read_body(request: Request) -> bytes:
    """Return all of a body.

    Raises:
        InvalidRequestError: It is too large.
    """
    parts, size = [], 0
    async for part in request.stream():
        size += len(part)
        if size > LARGEST_BODY:
            raise InvalidRequestError(f"The body is larger than {LARGEST_BODY} bytes.")
        parts.append(part)
    return b"".join(parts)


def read_json(body: bytes) -> Any:
    """Return what a body's JSON means.

    Raises:
        InvalidRequestError: It is none.
    """
    with suppress(ValueError, RecursionError):
        return json.loads(body)
    raise InvalidRequestError("Bad Request")


@asynccontextmanager
async def listening(
    loop: EngineLoop, board: Switchboard, request_id: str, receive: Receive
) -> AsyncIterator[Callable[[], Awaitable[list[Any] | None]]]:
    """Give what waits for the next events of a request, and returns None once whoever asked is gone.

    What has not ended by itself then is cancelled.
    """
    stream = board.begin_request(request_id)
    gone = asyncio.create_task(_disconnected(receive))

    async def take() -> list[Any] | None:
        taking = asyncio.create_task(stream.take())
        await asyncio.wait((taking, gone), return_when=asyncio.FIRST_COMPLETED)
        if gone.done():
            taking.cancel()
            return None
        return taking.result()

    try:
        yield take
    finally:
        gone.cancel()
        loop.send(Cancel(request_id))
        board.end_request(request_id)


class Completions:
    """`POST /v1/completions`."""

    def __init__(self, loop: EngineLoop, board: Switchboard) -> None:
        """Ask `loop`, whose events go to `board`."""
        self._loop = loop
        self._board = board

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        # No id that a session may have chosen.
        request_id = f"completion {secrets.token_hex(16)}"
        request = completions.asked(read_json(await read_body(Request(scope, receive))), request_id)
        answer = _Answer(send)
        async with listening(self._loop, self._board, request_id, receive) as take:
            self._loop.send(Generate(request))
            while (events := await take()) is not None:
                if not answer.begun and events and isinstance(events[0], Failed):
                    # Nothing was said yet, so the status can still tell.
                    await answer.refuse(PlainTextResponse(events[0].message, 500 if events[0].bug else 400))
                    return
                await answer.send(b"".join(map(completions.line, events)))
                if not events or completions.ends(events[-1]):
                    await answer.end()
                    return


class Session:
    """`POST /v1/session`."""

    def __init__(self, loop: EngineLoop, board: Switchboard) -> None:
        """Ask `loop`, whose events go to `board`."""
        self._loop = loop
        self._board = board

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Hold a session."""
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
                self._loop.send(Cancel(request_id))

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
        if not isinstance(command, Command):
            raise WireError(f"{type(command).__name__} is no command.")
        if isinstance(command, Generate | Embed):
            unanswered.add(command.request.id)
        self._loop.send(command)


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
    return event.request_id if isinstance(event, RequestEnd) else ""


async def _never() -> Any:
    """Receive nothing: what was sent has been read."""
    return {"type": "http.disconnect"}


async def _disconnected(receive: Receive) -> None:
    """Return when whoever asked has gone."""
    while (await receive())["type"] != "http.disconnect":
        pass
