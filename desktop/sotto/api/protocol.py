"""The HTTP protocol of the API's connections, which detects clients that close their sending side early."""

import asyncio

import h11

from sotto.runner.serving.connections import Connection

# The key in each request's state of an `asyncio.Event` that is set once the client has closed its sending side.
INPUT_ENDED = "input_ended"


class PromptProtocol(Connection):
    """A connection that tells the handler when its client closes its sending side."""

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Give the requests of this connection an event for the end of their client's input."""
        self._input_ended = asyncio.Event()
        self.app_state = {**self.app_state, INPUT_ENDED: self._input_ended}
        super().connection_made(transport)

    def eof_received(self) -> bool:  # type: ignore[override]
        """Tell the handler that the client has closed its sending side; return whether it may still be answered."""
        if self.is_ending or self.conn.their_state is not h11.DONE or self.cycle.response_complete:
            return False
        self.cycle.keep_alive = False
        self._input_ended.set()
        return True
