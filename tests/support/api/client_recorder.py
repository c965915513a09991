"""What stands between a client and the server, passes everything on, and keeps it."""

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
    """A request and its answer.

    Attributes:
        method: Of the request.
        path: With its query.
        headers: Of the request, their names in small letters.
        sent: Its body.
        status: Of the answer.
        told: The answer's body; what came of it, where the client left.
    """

    method: str
    path: str
    headers: dict
    sent: bytes
    status: int = 0
    told: bytearray = field(default_factory=bytearray)

    @property
    def body(self):
        """The request's JSON."""
        return json.loads(self.sent) if self.sent else None

    @property
    def events(self):
        """The objects of a streamed answer."""
        rows = [row.removeprefix("data: ") for row in self.told.decode().splitlines() if row.startswith("data: {")]
        return [json.loads(row) for row in rows]


class Recorder:
    """Keeps what passes.

    Attributes:
        url: Where clients are to ask.
        exchanges: What they asked, oldest first.
    """

    def __init__(self, url, exchanges):
        self.url = url
        self.exchanges = exchanges

    def to(self, path):
        """Return what was asked of a path, whatever its query."""
        return [one for one in self.exchanges if one.path.partition("?")[0] == path]


@contextmanager
def recording(target):
    """Pass on to `target` what comes."""
    exchanges = []
    where = urlsplit(target)

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def _pass(self):
            length = int(self.headers.get("content-length", 0))
            headers = {name.lower(): value for name, value in self.headers.items()}
            one = Exchange(self.command, self.path, headers, self.rfile.read(length))
            exchanges.append(one)
            on = http.client.HTTPConnection(where.hostname, where.port, timeout=120)
            try:
                kept = {name: value for name, value in headers.items() if name not in _HOP}
                on.request(self.command, self.path, one.sent or None, kept)
                answer = on.getresponse()
                one.status = answer.status
                self.send_response(answer.status)
                for name, value in answer.getheaders():
                    if name.lower() not in _HOP:
                        self.send_header(name, value)
                self.send_header("Connection", "close")
                self.end_headers()
                self.close_connection = True
                while piece := answer.read1(1 << 16):
                    one.told += piece
                    self.wfile.write(piece)
            except (BrokenPipeError, ConnectionResetError):
                # The client has left; the server is told by that its connection ends.
                self.close_connection = True
            finally:
                on.close()

        do_GET = do_HEAD = do_POST = do_DELETE = do_PUT = do_OPTIONS = _pass

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
