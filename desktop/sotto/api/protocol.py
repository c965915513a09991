"""Connections whose clients must stay to hear the answer."""

import asyncio

import h11

from sotto.runner.serving.connections import Connection

# In the state of each request: an `asyncio.Event` that is set once its client has ended its side of the connection.
SAID_ALL = "said_all"


class PromptProtocol(Connection):
    """A connection that tells the handler when its client has sent everything."""

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Begin to wait."""
        self._said_all = asyncio.Event()
        self.app_state = {**self.app_state, SAID_ALL: self._said_all}
        super().connection_made(transport)

    def eof_received(self) -> bool:  # type: ignore[override]
        """Tell the handler that the client has sent everything; return whether it may still be answered."""
        if self.is_ending or self.conn.their_state is not h11.DONE or self.cycle.response_complete:
            return False
        self.cycle.keep_alive = False
        self._said_all.set()
        return True
