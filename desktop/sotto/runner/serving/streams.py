"""The streaming endpoints of the private API, completions and sessions, in the child process."""

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
from sotto.runner.codec import Lines, WireError, decode, encode
from sotto.runner.commands import Cancel, Command, Embed, Generate
from sotto.runner.loop import EngineLoop
from sotto.runner.serving import completions
from sotto.runner.serving.switchboard import Stream, Switchboard

LARGEST_BODY = 64 << 20
_JSON_LINES = [(b"content-type", b"application/jsonl")]


async def read_body(request: Request) -> bytes:
    """Return a whole body.

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
    """Return the value of a JSON body.

    Raises:
        InvalidRequestError: It is not JSON.
    """
    with suppress(ValueError, RecursionError):
        return json.loads(body)
    raise InvalidRequestError("Bad Request")


@asynccontextmanager
async def request_events(
    loop: EngineLoop, board: Switchboard, request_id: str, receive: Receive
) -> AsyncIterator[Callable[[], Awaitable[list[Any] | None]]]:
    """Yield a function that waits for the next events of a request, and returns None once the client has disconnected.

    On exit, the request is cancelled if it has not ended.
    """
    stream = board.begin_request(request_id)
    disconnected = asyncio.create_task(_wait_for_disconnect(receive))

    async def take() -> list[Any] | None:
        taking = asyncio.create_task(stream.take())
        await asyncio.wait((taking, disconnected), return_when=asyncio.FIRST_COMPLETED)
        if disconnected.done():
            taking.cancel()
            return None
        return taking.result()

    try:
        yield take
    finally:
        disconnected.cancel()
        loop.send(Cancel(request_id))
        board.end_request(request_id)


class Completions:
    """`POST /v1/completions`."""

    def __init__(self, loop: EngineLoop, board: Switchboard) -> None:
        """Send requests to `loop`, whose events go to `board`."""
        self._loop = loop
        self._board = board

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        # Random, so that it cannot be an id of the session.
        request_id = f"completion {secrets.token_hex(16)}"
        request = completions.parse_request(read_json(await read_body(Request(scope, receive))), request_id)
        answer = _Answer(send)
        async with request_events(self._loop, self._board, request_id, receive) as take:
            self._loop.send(Generate(request))
            while (events := await take()) is not None:
                if not answer.begun and events and isinstance(events[0], Failed):
                    # Nothing has been sent, so the status can still report the failure.
                    await answer.refuse(PlainTextResponse(events[0].message, 500 if events[0].bug else 400))
                    return
                await answer.send(b"".join(map(completions.encode_event, events)))
                if not events or completions.is_last(events[-1]):
                    await answer.end()
                    return


class Session:
    """`POST /v1/session`."""

    def __init__(self, loop: EngineLoop, board: Switchboard) -> None:
        """Send requests to `loop`, whose events go to `board`."""
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
        receiving = asyncio.create_task(self._receive_commands(receive, unanswered))
        sending = asyncio.create_task(self._send_events(stream, answer, unanswered))
        try:
            ended, _ = await asyncio.wait((receiving, sending), return_when=asyncio.FIRST_COMPLETED)
            for task in ended:
                task.result()  # raises the task's exception
        except WireError as error:
            # The parent notices that the answer breaks off; the log says why.
            print(f"error: {error.message}", flush=True)  # noqa: T201
        finally:
            receiving.cancel()
            sending.cancel()
            self._board.end_session()
            for request_id in unanswered:
                self._loop.send(Cancel(request_id))

    async def _receive_commands(self, receive: Receive, unanswered: set[str]) -> None:
        lines = Lines()
        while True:
            message = await receive()
            for line in lines.feed(message.get("body", b"")):
                self._carry_out(decode(line), unanswered)
            if message["type"] == "http.disconnect" or not message.get("more_body"):
                return

    async def _send_events(self, stream: Stream, answer: "_Answer", unanswered: set[str]) -> None:
        await answer.send(b"")
        while events := await stream.take():
            unanswered.difference_update(_ended_request_id(event) for event in events)
            await answer.send(b"".join(map(encode, events)))
        await answer.end()

    def _carry_out(self, command: Any, unanswered: set[str]) -> None:
        if not isinstance(command, Command):
            raise WireError(f"{type(command).__name__} is not a command.")
        if isinstance(command, Generate | Embed):
            unanswered.add(command.request.id)
        self._loop.send(command)


class _Answer:
    """The answer to one request, sent in parts."""

    def __init__(self, send: Send) -> None:
        self._send = send
        self.begun = False

    async def send(self, data: bytes) -> None:
        """Send a part; the first also sends the head."""
        if not self.begun:
            self.begun = True
            await self._send({"type": "http.response.start", "status": 200, "headers": _JSON_LINES})
            await self._send({"type": "http.response.body", "body": data, "more_body": True})
        elif data:
            await self._send({"type": "http.response.body", "body": data, "more_body": True})

    async def end(self) -> None:
        """End the answer."""
        await self._send({"type": "http.response.body", "body": b"", "more_body": False})

    async def refuse(self, response: Response) -> None:
        """Send another response instead, if nothing has been sent yet."""
        await response({"type": "http"}, _receive_nothing, self._send)


def _ended_request_id(event: Event) -> str:
    """Return the id of the request that ends with `event`, or an empty string."""
    return event.request_id if isinstance(event, RequestEnd) else ""


async def _receive_nothing() -> Any:
    """Receive no body, because it has been read."""
    return {"type": "http.disconnect"}


async def _wait_for_disconnect(receive: Receive) -> None:
    """Return once the client has disconnected."""
    while (await receive())["type"] != "http.disconnect":
        pass
