"""A registry on loopback that serves a store's models as Ollama's registry does, and can be made to fail."""

import json
import re
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import MappingProxyType
from typing import Any
from urllib.parse import parse_qsl, urlsplit

from stores import LLAMA, TOKENIZER, Store, safetensors

MANIFEST_TYPE = "application/vnd.docker.distribution.manifest.v2+json"
_MANIFEST = re.compile(r"/v2/([^/]+)/([^/]+)/manifests/([^/]+)")
_BLOB = re.compile(r"/v2/[^/]+/[^/]+/blobs/sha256:([0-9a-f]{64})")
_PIECE = 16 << 10

# A faulty response: called with the handler, the requested content and the first requested byte.
Fault = Callable[["Handler", bytes, int], None]


@dataclass(frozen=True)
class Request:
    """A request: its path with the query, and its headers by lower-case name."""

    path: str
    headers: dict[str, str]


@dataclass
class Registry:
    """A registry.

    Attributes:
        store: The store with its models.
        requests: All requests so far.
        token: The bearer token that it requires; empty for none.
        realm: The URL for tokens in its challenge; empty for its own.
        redirect_to: The URL that requests for blobs are redirected to; empty for no redirect.
        ranges: Whether it supports range requests.
        pause: Seconds between pieces of 16 KiB of a blob.
        max_concurrent: The largest number of blobs that were being sent at once.
        host: Its host and port.
        released: Set when the server stops, to end silent responses.
    """

    store: Store
    requests: list[Request] = field(default_factory=list)
    token: str = ""
    realm: str = ""
    redirect_to: str = ""
    ranges: bool = True
    pause: float = 0.0
    max_concurrent: int = 0
    host: str = ""
    released: threading.Event = field(default_factory=threading.Event)
    _faults: list[tuple[str, list[Fault]]] = field(default_factory=list)
    _busy: int = 0
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def fail(self, part: str, *faults: Fault) -> None:
        """Answer the next requests with `part` in their path with these faults, one per request."""
        self._faults.append((part, list(faults)))

    def forgive(self) -> None:
        """Clear all faults."""
        with self._lock:
            self._faults.clear()

    def fault(self, path: str) -> Fault | None:
        """Return the next fault for a path, or None."""
        with self._lock:
            for part, faults in self._faults:
                if part in path and faults:
                    return faults.pop(0)
        return None

    def paths(self, part: str = "") -> list[str]:
        """Return the requested paths that contain `part`."""
        return [request.path for request in self.requests if part in request.path]

    @contextmanager
    def counted(self) -> Iterator[None]:
        """Count a blob as being sent while the context is open."""
        with self._lock:
            self._busy += 1
            self.max_concurrent = max(self.max_concurrent, self._busy)
        try:
            yield
        finally:
            with self._lock:
                self._busy -= 1


class Handler(BaseHTTPRequestHandler):
    """Handles one connection."""

    protocol_version = "HTTP/1.1"
    registry: Registry

    def do_GET(self) -> None:
        """Answer a request."""
        registry = self.registry
        headers = {name.lower(): value for name, value in self.headers.items()}
        registry.requests.append(Request(self.path, headers))
        content = self._content()
        start = 0
        if registry.ranges and (match := re.fullmatch(r"bytes=(\d+)-", headers.get("range", ""))):
            start = int(match[1])
        if fault := registry.fault(self.path):
            return fault(self, content or b"", start)
        if urlsplit(self.path).path == "/token":
            return self.reply(200, json.dumps({"token": registry.token}).encode())
        if registry.token and headers.get("authorization") != f"Bearer {registry.token}":
            realm = registry.realm or f"http://{registry.host}/token"
            challenge = f'Bearer realm="{realm}",service="registry",scope="repository:library/m:pull other:x:pull"'
            return self.reply(401, b"{}", {"WWW-Authenticate": challenge})
        if content is None:
            return self.reply(404, b"not found")
        if registry.redirect_to and "/blobs/" in self.path:
            return self.reply(307, b"", {"Location": registry.redirect_to + self.path})
        with registry.counted():
            self.send_content(content, start)
        return None

    def send_content(
        self,
        content: bytes,
        start: int = 0,
        end: int | None = None,
        length: int | None = None,
        headers: Mapping[str, str] = MappingProxyType({}),
    ) -> None:
        """Send content in a 200 or 206 response; to a HEAD request, its headers alone.

        Args:
            content: The whole content.
            start: The first byte to send.
            end: One past the last byte to send; None for all.
            length: A false Content-Length; None for the true one.
            headers: More headers.
        """
        if start and start >= len(content):
            return self.reply(416, b"")
        self.send_response(206 if start else 200)
        if start:
            self.send_header("Content-Range", f"bytes {start}-{len(content) - 1}/{len(content)}")
        for name, value in headers.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(content) - start if length is None else length))
        self.end_headers()
        if self.command != "HEAD":
            self.send_pieces(content[start:end])
        return None

    def send_pieces(self, content: bytes) -> None:
        """Send bytes piece by piece."""
        for position in range(0, len(content), _PIECE):
            self.wfile.write(content[position : position + _PIECE])
            if self.registry.pause:
                time.sleep(self.registry.pause)

    def reply(self, status: int, body: bytes, headers: dict[str, str] | None = None) -> None:
        """Send a complete short response."""
        self.send_response(status)
        for name, value in (headers or {}).items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002
        """Do not log."""

    def _content(self) -> bytes | None:
        path = urlsplit(self.path).path
        store = self.registry.store
        if match := _MANIFEST.fullmatch(path):
            file = store.path(f"{match[1]}/{match[2]}:{match[3]}")
        elif match := _BLOB.fullmatch(path):
            file = store.blob_path(match[1])
        else:
            return None
        return file.read_bytes() if file.is_file() else None


def drop(part: float) -> Fault:
    """Return a fault that closes the connection after a fraction of the content."""

    def fault(handler: Handler, content: bytes, start: int) -> None:
        handler.close_connection = True
        handler.send_content(content, start, start + int((len(content) - start) * part))
        handler.wfile.flush()
        handler.connection.close()

    return fault


def silent(part: float | None) -> Fault:
    """Return a fault that stops sending after a fraction of the content; with None, before the headers."""

    def fault(handler: Handler, content: bytes, start: int) -> None:
        handler.close_connection = True
        if part is not None:
            handler.send_content(content, start, start + int((len(content) - start) * part))
            handler.wfile.flush()
        handler.registry.released.wait(60)

    return fault


def status(code: int, body: bytes = b"", **headers: str) -> Fault:
    """Return a fault that replies with a status; `_` in the names of headers stands for `-`."""

    def fault(handler: Handler, content: bytes, start: int) -> None:
        handler.reply(code, body, {name.replace("_", "-"): value for name, value in headers.items()})

    return fault


def corrupt(handler: Handler, content: bytes, start: int) -> None:
    """Send the content with one wrong byte."""
    wrong = bytearray(content)
    wrong[-1] ^= 1
    handler.send_content(bytes(wrong), start)


def longer(handler: Handler, content: bytes, start: int) -> None:
    """Send more bytes than the content has."""
    handler.send_content(content + b"more", start)


def shorter(handler: Handler, content: bytes, start: int) -> None:
    """Send half of the content as if it were complete."""
    handler.send_content(content[: max(start, len(content) // 2)], start)


def endless(handler: Handler, content: bytes, start: int) -> None:
    """Send bytes until the client disconnects."""
    handler.close_connection = True
    handler.send_response(200)
    handler.end_headers()
    try:
        while True:
            handler.wfile.write(b"[" * _PIECE)
    except OSError:
        return


def another_part(handler: Handler, content: bytes, start: int) -> None:
    """Send a different part of the content than was requested."""
    handler.send_response(206)
    handler.send_header("Content-Range", f"bytes 1-{len(content) - 1}/{len(content)}")
    handler.send_header("Content-Length", str(len(content) - 1))
    handler.end_headers()
    handler.wfile.write(content[1:])


@contextmanager
def serving(store: Store, context: Any = None) -> Iterator[Registry]:
    """Serve a store's models on loopback, with TLS if an SSL context is given."""
    registry = Registry(store)
    with running(registry, Handler, context):
        yield registry


@contextmanager
def running(registry: Any, handler: type["Handler"], context: Any = None) -> Iterator[None]:
    """Run a server with such handlers on loopback, with TLS if an SSL context is given."""

    class Server(ThreadingHTTPServer):
        daemon_threads = True

        def handle_error(self, request: Any, client_address: Any) -> None:
            """Do not log errors: tests disconnect before the end on purpose."""

    server = Server(("127.0.0.1", 0), type("Bound", (handler,), {"registry": registry}))
    if context is not None:
        # Each connection does its handshake on its own thread, so that a failing one does not block others.
        server.socket = context.wrap_socket(server.socket, server_side=True, do_handshake_on_connect=False)
    registry.host = f"127.0.0.1:{server.server_address[1]}"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    try:
        yield
    finally:
        registry.released.set()
        server.shutdown()
        server.server_close()
        thread.join()


def large_model(root: Path, name: str = "m", tensors: int = 3, rows: int = 256) -> Store:
    """Write a store with one model of `tensors` tensors of `rows` KiB each."""
    store = Store(root)
    layers = [
        store.layer("tensor", safetensors({f"t{number}": ("F32", (rows, 256))}, fill=number), f"t{number}")
        for number in range(tensors)
    ]
    layers += [
        store.layer("json", json.dumps(LLAMA).encode(), "config.json"),
        store.layer("json", TOKENIZER, "tokenizer.json"),
    ]
    store.manifest(name, layers, mediaType=MANIFEST_TYPE)
    return store


def query_of(path: str) -> list[tuple[str, str]]:
    """Return the parts of a path's query, in order."""
    return parse_qsl(urlsplit(path).query)
