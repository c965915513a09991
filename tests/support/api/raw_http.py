"""HTTP byte by byte, where a client would know better."""

import socket
from contextlib import suppress


def address_of(url):
    """Return where a server listens, for a socket."""
    host, port = url.removeprefix("http://").rsplit(":", 1)
    return host, int(port)


def raw(url, *parts, timeout=10):
    """Send bytes as they are, a part at a time, and return what comes back."""
    with socket.create_connection(address_of(url), timeout=timeout) as connection:
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        with suppress(ConnectionResetError, BrokenPipeError):
            for part in parts:
                connection.sendall(part)
        answer = b""
        with suppress(ConnectionResetError):
            while piece := connection.recv(1 << 16):
                answer += piece
    return answer
