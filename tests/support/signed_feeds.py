"""Signed lists of versions, and servers that send them or something else."""

import base64
import hashlib
import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from nacl.signing import SigningKey

from sotto.updates.minisign import PublicKey

Answer = Callable[[BaseHTTPRequestHandler], None]


class Signer:
    """A key pair that signs as minisign does."""

    def __init__(self, seed: bytes = b"\x01" * 32, number: bytes = b"12345678") -> None:
        self.secret, self.number = SigningKey(seed), number

    @property
    def line(self) -> str:
        """The public key, as `minisign -P` takes it."""
        return base64.b64encode(b"Ed" + self.number + bytes(self.secret.verify_key)).decode()

    @property
    def public(self) -> PublicKey:
        return PublicKey.parse(self.line)

    def sign(self, text: bytes, *, hashed: bool = True, comment: str = "timestamp:1") -> bytes:
        """Return a text with its signature before it."""
        content = hashlib.blake2b(text).digest() if hashed else text
        own = self.secret.sign(content).signature
        whole = self.secret.sign(own + comment.encode()).signature
        first = base64.b64encode((b"ED" if hashed else b"Ed") + self.number + own).decode()
        lines = (
            "untrusted comment: from a test",
            first,
            f"trusted comment: {comment}",
            base64.b64encode(whole).decode(),
        )
        return "".join(f"{line}\n" for line in lines).encode() + text


def moment(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def release(version: str = "9.0.0", **changes: Any) -> dict[str, Any]:
    page = f"https://example.org/{version}"
    fields = {"version": version, "date": "2027-01-31", "changes": ["Better."], "page": page, "files": {}}
    return fields | changes


def feed(now: float, releases: list[dict[str, Any]] | None = None, **changes: Any) -> bytes:
    """Return a list of versions that was signed a minute ago and expires tomorrow."""
    listed = [release()] if releases is None else releases
    fields = {
        "sotto-updates": 1,
        "signed": moment(now - 60),
        "expires": moment(now + 86_400),
        "releases": listed,
    }
    return json.dumps(fields | changes).encode()


@contextmanager
def serving(answer: Answer) -> Iterator[tuple[str, list[dict[str, str]]]]:
    """Answer requests to a port of this machine; yield the address, and the headers of the requests so far."""
    requests: list[dict[str, str]] = []

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            requests.append({"path": self.path, **dict(self.headers)})
            self.close_connection = True
            answer(self)

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/updates", requests
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def sends(content: bytes, status: int = 200, **headers: str) -> Answer:
    """Return an answer with this content."""

    def answer(request: BaseHTTPRequestHandler) -> None:
        request.send_response(status)
        for name, value in headers.items():
            request.send_header(name, value)
        request.send_header("Content-Length", str(len(content)))
        request.end_headers()
        request.wfile.write(content)

    return answer
