"""A registry on loopback that models are uploaded to, which can be made to fail, and to want a signed token."""

import base64
import hashlib
import itertools
import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlsplit

from nacl.signing import VerifyKey

_UPLOADS = re.compile(r"/v2/([^/]+/[^/]+)/blobs/uploads/(\d*)")
_BLOB = re.compile(r"/v2/[^/]+/[^/]+/blobs/sha256:([0-9a-f]{64})")
_MANIFEST = re.compile(r"/v2/([^/]+/[^/]+)/manifests/([^/]+)")


@dataclass
class PushRegistry:
    """A registry.

    Attributes:
        blobs: Its blobs by digest.
        manifests: Its manifests by name and tag.
        tags: The tags that clients gave uploads in parts.
        requests: The method and path of every request.
        token: The bearer token that it requires; empty for none.
        keys: The public keys that signed requests for tokens.
        cuts: For each of the next parts, after how many bytes the connection breaks off; None for not at all.
        forgets: Whether it forgets uploads whose connection broke off.
        statuses: The next answers to requests to begin an upload.
        elsewhere: The address that it wants uploads at; empty for its own.
        host: Its host and port.
    """

    blobs: dict[str, bytes] = field(default_factory=dict)
    manifests: dict[str, bytes] = field(default_factory=dict)
    tags: list[str] = field(default_factory=list)
    requests: list[tuple[str, str]] = field(default_factory=list)
    token: str = ""
    keys: set[bytes] = field(default_factory=set)
    cuts: list[int | None] = field(default_factory=list)
    forgets: bool = False
    statuses: list[int] = field(default_factory=list)
    elsewhere: str = ""
    host: str = ""
    uploads: dict[str, bytearray] = field(default_factory=dict)
    numbers: Iterator[int] = field(default_factory=itertools.count)
    lock: threading.Lock = field(default_factory=threading.Lock)


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    registry: PushRegistry

    def handle_request(self) -> None:
        registry, path = self.registry, urlsplit(self.path).path
        registry.requests.append((self.command, self.path))
        if path == "/token":
            return self.give_token()
        if registry.token and self.headers.get("Authorization") != f"Bearer {registry.token}":
            self.close_connection = True
            challenge = f'Bearer realm="http://{registry.host}/token",service="registry",scope="repository:m:push"'
            return self.reply(401, **{"WWW-Authenticate": challenge})
        if match := _UPLOADS.fullmatch(path):
            return self.upload(match[2])
        if match := _BLOB.fullmatch(path):
            return self.reply(200 if match[1] in registry.blobs else 404)
        if (match := _MANIFEST.fullmatch(path)) and self.command == "PUT":
            registry.manifests[f"{match[1]}:{match[2]}"] = self.body()
            return self.reply(201)
        return self.reply(404)

    do_GET = do_HEAD = do_POST = do_PATCH = do_PUT = handle_request

    def upload(self, number: str) -> None:
        registry = self.registry
        if self.command == "POST":
            if registry.statuses:
                return self.reply(registry.statuses.pop(0))
            with registry.lock:
                number = str(next(registry.numbers))
                registry.uploads[number] = bytearray()
            return self.place(202, number)
        held = registry.uploads.get(number)
        if held is None:
            return self.reply(404)
        if self.command == "GET":
            return self.place(204, number)
        if self.command == "PATCH":
            cut = registry.cuts.pop(0) if registry.cuts else None
            first, _, last = self.headers["Content-Range"].partition("-")
            assert int(first) == len(held), "a part begins where the last one ended"
            assert int(last) - int(first) + 1 == int(self.headers["Content-Length"])
            held += self.body(cut)
            if cut is not None:
                if registry.forgets:
                    del registry.uploads[number]
                self.close_connection = True
                return self.connection.close()
            return self.place(202, number)
        query = parse_qs(urlsplit(self.path).query)
        digest = hashlib.sha256(held).hexdigest()
        if query["digest"] != [f"sha256:{digest}"]:
            return self.reply(400, b"digest invalid")
        registry.tags += query["etag"]
        registry.blobs[digest] = bytes(held)
        return self.reply(201)

    def place(self, status: int, number: str) -> None:
        registry = self.registry
        path = f"{urlsplit(self.path).path.partition('uploads/')[0]}uploads/{number}?_state=x"
        last = max(0, len(registry.uploads[number]) - 1)
        self.reply(status, Location=registry.elsewhere or path, Range=f"0-{last}")

    def give_token(self) -> None:
        registry = self.registry
        blob, _, signature = self.headers["Authorization"].partition(":")
        key = base64.b64decode(blob)[-32:]
        empty = base64.b64encode(hashlib.sha256(b"").hexdigest().encode()).decode()
        VerifyKey(key).verify(f"GET,http://{registry.host}{self.path},{empty}".encode(), base64.b64decode(signature))
        registry.keys.add(key)
        self.reply(200, b'{"token": "%s"}' % registry.token.encode())

    def body(self, most: int | None = None) -> bytes:
        length = int(self.headers.get("Content-Length", 0))
        return self.rfile.read(length if most is None else min(most, length))

    def reply(self, status: int, body: bytes = b"", **headers: str) -> None:
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        if status != 204:
            self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002
        """Do not log."""


@contextmanager
def receiving() -> Iterator[PushRegistry]:
    """Serve an empty registry on loopback."""
    registry = PushRegistry()

    class Server(ThreadingHTTPServer):
        daemon_threads = True

        def handle_error(self, request: Any, client_address: Any) -> None:
            """Do not log errors: connections break off on purpose."""

    server = Server(("127.0.0.1", 0), type("Bound", (_Handler,), {"registry": registry}))
    registry.host = f"127.0.0.1:{server.server_address[1]}"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    try:
        yield registry
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
