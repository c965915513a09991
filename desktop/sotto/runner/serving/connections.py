"""HTTP/1.1 connections with limits on waiting time and on the size of requests."""

import asyncio
from collections.abc import Sequence
from http import HTTPStatus
from typing import Any

import h11
import uvicorn
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from uvicorn.protocols.http.h11_impl import H11Protocol
from uvicorn.server import ServerState

from sotto.runner.serving.doorway import Doorway

LARGEST_HEAD = 64 << 10
# Time within which the whole head of a request must arrive, however slowly it comes.
HEAD_SECONDS = 20.0
# Key in the state of each request: whether there are too many to serve it.
CROWDED = "crowded"

# A client answered before it has sent its whole body has so long to read the answer, and may send so many bytes beyond
# the largest body, which are discarded: clients that are writing when a connection closes do not read the answer.
_LAST_SECONDS = 2.0
_LAST_BYTES = 1 << 20
# How long the rest of an answer waits in memory for the client to read it.
_TAKING_SECONDS = 30.0
_QUEUE = 1024


class DoorServer(uvicorn.Server):
    """A server that counts its connections before it accepts many more."""

    async def startup(self, sockets: Sequence[Any] | None = None) -> None:
        """Listen; `backlog` of the configuration is how many are accepted at once."""
        await super().startup(sockets=list(sockets or ()))
        for listening in sockets or ():
            # Further ones wait in the queue of the system.
            listening.listen(_QUEUE)


class Connection(H11Protocol):
    """A connection counted by a doorway, with limits on what it may send."""

    def __init__(
        self,
        config: uvicorn.Config,
        server_state: ServerState,
        app_state: dict[str, Any],
        _loop: asyncio.AbstractEventLoop | None = None,
        *,
        doorway: Doorway,
        largest_body: int,
    ) -> None:
        """Make a connection of a server.

        Args:
            config: The server's.
            server_state: The server's.
            app_state: The application's state, copied into each request.
            doorway: Counts the server's connections.
            largest_body: Largest body in bytes; the application refuses larger ones.
        """
        super().__init__(config, server_state, app_state, _loop)
        self.conn: _Http = _Http(h11.SERVER, LARGEST_HEAD)
        self._inner: ASGIApp = self.app
        self.app = self._serve
        self._doorway = doorway
        self._largest_body = largest_body
        self._address = ""
        self._late: asyncio.TimerHandle | None = None
        self._inside = False
        self._served = True
        self._read = 0
        # Bytes still read and discarded after the answer; None before its end.
        self._last_bytes: int | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Wait for the first request."""
        self._wire = transport
        super().connection_made(_Wire(self, transport))
        self._address = self.client[0] if self.client else ""
        self._watch()
        self._expect()

    def data_received(self, data: bytes) -> None:
        """Take data."""
        if self._last_bytes is not None:
            self._last_bytes -= len(data)
            if self._last_bytes < 0:
                self._wire.abort()
            return
        self._read = len(data) + (self._read if self._inside else 0)
        super().data_received(data)
        self._watch()
        self._expect()

    def connection_lost(self, exc: Exception | None) -> None:
        """Stop waiting."""
        self._stop()
        self._doorway.leave(self)
        super().connection_lost(exc)

    def on_response_complete(self) -> None:
        """Wait for the next request."""
        self._inside = False
        super().on_response_complete()
        self._watch()

    def send_400_response(self, msg: str) -> None:
        """Report what is wrong with the request, and close."""
        fault = self.conn.fault
        if fault is not None and self.conn.our_state in (h11.IDLE, h11.SEND_RESPONSE):
            status = HTTPStatus(fault.error_status_hint)
            text = _HEAD_TOO_LARGE if status == HTTPStatus.REQUEST_HEADER_FIELDS_TOO_LARGE else f"{msg} {fault}."
            headers = [("content-type", "text/plain; charset=utf-8"), ("connection", "close")]
            for event in (
                h11.Response(status_code=status, headers=headers, reason=status.phrase.encode()),
                h11.Data(data=text.encode()),
                h11.EndOfMessage(),
            ):
                self.transport.write(self.conn.send(event) or b"")
        self.transport.close()

    def send_away(self) -> None:
        """Close at once."""
        self._wire.abort()

    # Closing

    @property
    def is_ending(self) -> bool:
        """Whether nothing more will be sent."""
        return self._last_bytes is not None or self._wire.is_closing()

    def end(self) -> None:
        """Close once everything is sent; the rest of an unfinished request is read and discarded, within limits."""
        if self.is_ending:
            return
        if self.conn.their_state in (h11.SEND_BODY, h11.ERROR) or self.conn.fault is not None:
            self._last_bytes = max(self._largest_body - self._read, 0) + _LAST_BYTES
            if self.cycle is not None and not self.cycle.response_complete:
                self.cycle.disconnected = True
                self.cycle.message_event.set()
            self._wire.write_eof()
            self._wire.resume_reading()
            self.loop.call_later(_LAST_SECONDS, self._wire.abort)
        else:
            self._wire.close()
            if self._wire.get_write_buffer_size():
                self.loop.call_later(_TAKING_SECONDS, self._wire.abort)
        self._watch()

    # Counting

    async def _serve(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def sending(message: Message) -> None:
            if message["type"] == "http.response.start" and self.conn.their_state is h11.SEND_BODY:
                # The rest of the request will not be read, so no other can follow it.
                message = {**message, "headers": [*message["headers"], (b"connection", b"close")]}
            await send(message)

        scope["state"][CROWDED] = not self._served
        await self._inner(scope, receive, sending)

    def _watch(self) -> None:
        """Report the stage of the request to the doorway."""
        if self.is_ending or self.conn.their_state is h11.IDLE:
            self._doorway.wait(self, self._address)
            return
        if not self._inside:
            self._inside = True
            self._served = self._doorway.come_in(self)
        if self.conn.their_state is not h11.SEND_BODY:
            self._doorway.settle(self)

    def _expect(self) -> None:
        """Limit the wait for a complete head. Between requests, the keep-alive timeout applies instead."""
        if self.is_ending or self.conn.their_state is not h11.IDLE:
            self._stop()
        elif self._late is None:
            self._late = self.loop.call_later(HEAD_SECONDS, self.end)

    def _stop(self) -> None:
        if self._late is not None:
            self._late.cancel()
            self._late = None


class _Http(h11.Connection):
    """Reads heads within limits.

    Attributes:
        fault: The error in the request, if any.
    """

    fault: h11.RemoteProtocolError | None = None

    def next_event(self) -> Any:
        """Return the next event.

        Raises:
            h11.RemoteProtocolError: The request is refused.
        """
        before = len(self.trailing_data[0]) if self.their_state is h11.IDLE else 0
        try:
            event = super().next_event()
            if isinstance(event, h11.Request):
                _check(event, before - len(self.trailing_data[0]))
        except h11.RemoteProtocolError as error:
            self.fault = error
            raise
        return event


_HEAD_TOO_LARGE = f"The head of the request is larger than {LARGEST_HEAD >> 10} KiB; send less."


def _check(request: h11.Request, size: int) -> None:
    """Check that a head is unambiguous and not too large.

    Raises:
        h11.RemoteProtocolError: It is not.
    """
    if size > LARGEST_HEAD:
        status = HTTPStatus.REQUEST_HEADER_FIELDS_TOO_LARGE
        raise h11.RemoteProtocolError(_HEAD_TOO_LARGE, error_status_hint=status)
    names = {name for name, _ in request.headers}
    # Against request smuggling: a proxy may go by the one header and Sotto by the other.
    if {b"content-length", b"transfer-encoding"} <= names:
        raise h11.RemoteProtocolError("Content-Length and Transfer-Encoding exclude each other; send one of them")


class _Wire(asyncio.Transport):
    """A transport that its connection closes."""

    def __init__(self, connection: Connection, wire: asyncio.Transport) -> None:
        super().__init__()
        self._connection = connection
        self._wire = wire

    def get_extra_info(self, name: str, default: Any = None) -> Any:
        return self._wire.get_extra_info(name, default)

    def is_closing(self) -> bool:
        return self._connection.is_ending

    def close(self) -> None:
        self._connection.end()

    def abort(self) -> None:
        self._wire.abort()

    def write(self, data: Any) -> None:
        self._wire.write(data)

    def pause_reading(self) -> None:
        self._wire.pause_reading()

    def resume_reading(self) -> None:
        self._wire.resume_reading()
