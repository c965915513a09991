"""A proxy between a client and the server that records every exchange."""

import http.client
import json
import threading
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import urlsplit

_HOP = ("connection", "keep-alive", "transfer-encoding", "content-length", "host")


@dataclass
class Exchange:
    """A request and its response.

    Attributes:
        method: The HTTP method.
        path: The path with its query.
        headers: The request's headers, names in lower case.
        sent: The request's body.
        status: The response's status.
        received: The response's body, or the part of it that was sent before the client disconnected.
    """

    method: str
    path: str
    headers: dict
    sent: bytes
    status: int = 0
    received: bytearray = field(default_factory=bytearray)

    @property
    def body(self):
        """The request's body as JSON, or None."""
        return json.loads(self.sent) if self.sent else None

    @property
    def events(self):
        """The JSON objects of a streamed response."""
        rows = [row.removeprefix("data: ") for row in self.received.decode().splitlines() if row.startswith("data: {")]
        return [json.loads(row) for row in rows]


class Recorder:
    """A running proxy.

    Attributes:
        url: The URL for clients.
        exchanges: The exchanges so far, oldest first.
    """

    def __init__(self, url, exchanges):
        self.url = url
        self.exchanges = exchanges

    def to(self, path):
        """Return the exchanges with a path, ignoring queries."""
        return [exchange for exchange in self.exchanges if exchange.path.partition("?")[0] == path]


@contextmanager
def recording(target):
    """Run a proxy that forwards to the server at the URL `target`."""
    exchanges = []
    address = urlsplit(target)

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def _forward(self):
            length = int(self.headers.get("content-length", 0))
            headers = {name.lower(): value for name, value in self.headers.items()}
            exchange = Exchange(self.command, self.path, headers, self.rfile.read(length))
            exchanges.append(exchange)
            connection = http.client.HTTPConnection(address.hostname, address.port, timeout=120)
            try:
                forwarded = {name: value for name, value in headers.items() if name not in _HOP}
                connection.request(self.command, self.path, exchange.sent or None, forwarded)
                response = connection.getresponse()
                exchange.status = response.status
                self.send_response(response.status)
                for name, value in response.getheaders():
                    if name.lower() not in _HOP:
                        self.send_header(name, value)
                self.send_header("Connection", "close")
                self.end_headers()
                self.close_connection = True
                while piece := response.read1(1 << 16):
                    exchange.received += piece
                    self.wfile.write(piece)
            except (BrokenPipeError, ConnectionResetError):
                # The client has disconnected; closing the connection tells the server.
                self.close_connection = True
            finally:
                connection.close()

        do_GET = do_HEAD = do_POST = do_DELETE = do_PUT = do_OPTIONS = _forward

        def log_message(self, *_):
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield Recorder(f"http://127.0.0.1:{server.server_port}", exchanges)
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
