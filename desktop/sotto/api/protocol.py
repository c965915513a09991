"""HTTP/1.1, whose clients must say soon what they want, and stay to hear the answer."""

import asyncio

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

# Whoever connects has this long for the head of a request, however it trickles in: connections are few.
HEAD_SECONDS = 20.0
# In the state of each request: an `asyncio.Event` that is set once its client has ended its side of the connection.
SAID_ALL = "said_all"


class PromptProtocol(H11Protocol):
    """Hangs up on whoever connects, or begins a request, and then keeps still."""

    _late: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Begin to wait."""
        self._said_all = asyncio.Event()
        self.app_state = {**self.app_state, SAID_ALL: self._said_all}
        super().connection_made(transport)
        self._watch()

    def data_received(self, data: bytes) -> None:
        """Take what came."""
        super().data_received(data)
        self._watch()

    def eof_received(self) -> bool:  # type: ignore[override]
        """Tell whoever answers that the client says no more; return whether it may still be answered."""
        if self.conn.their_state is not h11.DONE or self.cycle.response_complete:
            return False
        self.cycle.keep_alive = False
        self._said_all.set()
        return True

    def connection_lost(self, exc: Exception | None) -> None:
        """Wait no more."""
        self._stop()
        super().connection_lost(exc)

    def _watch(self) -> None:
        """Wait while a head is not complete. Between requests, the time that a connection may rest is counted."""
        if self.conn.their_state is not h11.IDLE:
            self._stop()
        elif self._late is None:
            self._late = self.loop.call_later(HEAD_SECONDS, self.transport.close)

    def _stop(self) -> None:
        if self._late is not None:
            self._late.cancel()
            self._late = None
