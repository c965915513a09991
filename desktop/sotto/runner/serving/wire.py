"""The parent's end of a session with a child: commands and events on one non-blocking connection.

It is one HTTP request whose body and whose answer both last as long as the session.
"""

import socket
from typing import Any

import h11

from sotto.runner.codec import Lines, WireError, decode, encode
from sotto.runner.commands import Command

_PIECE = 1 << 18
_CONNECT_SECONDS = 5.0


class Wire:
    """An open session.

    Attributes:
        begun: Whether the child has accepted it.
        ended: Whether the child will send no more.
    """

    def __init__(self, port: int, token: str) -> None:
        """Connect to a child on this machine.

        Raises:
            WireError: It cannot be reached.
        """
        try:
            self._socket = socket.create_connection(("127.0.0.1", port), _CONNECT_SECONDS)
        except OSError as error:
            raise WireError(f"The engine's process cannot be reached on port {port} ({error.strerror}).") from error
        self._socket.setblocking(False)
        self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._http = h11.Connection(h11.CLIENT)
        self._lines = Lines()
        self._unsent = bytearray()
        self.begun = False
        self.ended = False
        headers = [
            ("Host", f"127.0.0.1:{port}"),
            ("Authorization", f"Bearer {token}"),
            ("Transfer-Encoding", "chunked"),
        ]
        self._push(h11.Request(method="POST", target="/v1/session", headers=headers))

    def fileno(self) -> int:
        """Return the socket's file descriptor, for selectors."""
        return self._socket.fileno()

    @property
    def behind(self) -> bool:
        """Whether there is unsent data."""
        return bool(self._unsent)

    def send(self, command: Command) -> None:
        """Send a command, as far as the socket accepts it; `flush` sends the rest."""
        self._push(h11.Data(encode(command)))

    def flush(self) -> None:
        """Send more of the unsent data."""
        try:
            while self._unsent:
                del self._unsent[: self._socket.send(self._unsent[:_PIECE])]
        except BlockingIOError:
            pass
        except OSError:
            # The other end is gone, but what it sent before can still be read.
            self._unsent.clear()

    def receive(self) -> list[Any]:
        """Return the events received.

        Raises:
            WireError: The child violates the protocol.
        """
        try:
            data = self._socket.recv(_PIECE)
        except BlockingIOError:
            return []
        except OSError:
            data = b""
        try:
            self._http.receive_data(data)
            return self._events()
        except h11.RemoteProtocolError as error:
            if data:
                raise WireError(f"The answer is not HTTP ({error}).") from error
            self.ended = True
            return []

    def close(self) -> None:
        """End the session."""
        self._socket.close()

    def _push(self, part: h11.Event) -> None:
        self._unsent += self._http.send(part) or b""
        self.flush()

    def _events(self) -> list[Any]:
        events: list[Any] = []
        while True:
            part = self._http.next_event()
            if isinstance(part, h11.Response):
                if part.status_code != 200:
                    raise WireError(f"The engine's process refuses the session (status {part.status_code}).")
                self.begun = True
            if isinstance(part, h11.Data):
                events += map(decode, self._lines.feed(bytes(part.data)))
            elif isinstance(part, h11.EndOfMessage | h11.ConnectionClosed):
                self.ended = True
            if part is h11.NEED_DATA or part is h11.PAUSED or self.ended:
                return events
