"""Raw HTTP over a socket, for requests that no client would send."""

import socket
from contextlib import suppress


def address_of(url):
    """Return the host and port of a URL."""
    host, port = url.removeprefix("http://").rsplit(":", 1)
    return host, int(port)


def send_raw(url, *parts, timeout=10):
    """Send bytes unchanged, one part after another, and return the response."""
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
