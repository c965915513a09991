"""A registry on loopback that serves a store's models as Ollama's registry does, and fails as it is told to."""

import json
import re
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, urlsplit

from stores import LLAMA, TOKENIZER, Store, safetensors

MANIFEST_TYPE = "application/vnd.docker.distribution.manifest.v2+json"
_MANIFEST = re.compile(r"/v2/([^/]+)/([^/]+)/manifests/([^/]+)")
_BLOB = re.compile(r"/v2/[^/]+/[^/]+/blobs/sha256:([0-9a-f]{64})")
_PIECE = 16 << 10

# What a request gets instead of what it asks for; told the handler, the content and from which byte on it is wanted.
Fault = Callable[["Handler", bytes, int], None]


@dataclass(frozen=True)
class Asked:
    """One request: its path with the query, and its headers in lower case."""

    path: str
    headers: dict[str, str]


@dataclass
class Registry:
    """A registry.

    Attributes:
        store: The models that it has.
        asked: Every request so far.
        token: What it wants to see before it gives anything; empty for nothing.
        realm: Where it says that tokens are; empty for itself.
        elsewhere: Where it sends those who ask for blobs; empty for nowhere.
        ranges: Whether it understands requests for a part of a file.
        pause: Seconds between two pieces of 16 KiB of a blob.
        most: The most blobs that were on their way at once.
    """

    store: Store
    asked: list[Asked] = field(default_factory=list)
    token: str = ""
    realm: str = ""
    elsewhere: str = ""
    ranges: bool = True
    pause: float = 0.0
    most: int = 0
    host: str = ""
    released: threading.Event = field(default_factory=threading.Event)
    _faults: list[tuple[str, list[Fault]]] = field(default_factory=list)
    _busy: int = 0
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def fail(self, part: str, *faults: Fault) -> None:
        """Let the next requests whose path holds `part` get these, one each, and then what they ask for."""
        self._faults.append((part, list(faults)))

    def forgive(self) -> None:
        """Let all requests get what they ask for."""
        with self._lock:
            self._faults.clear()

    def fault(self, path: str) -> Fault | None:
        """Return what a request gets instead of what it asks for."""
        with self._lock:
            for part, faults in self._faults:
                if part in path and faults:
                    return faults.pop(0)
        return None

    def paths(self, part: str = "") -> list[str]:
        """Return what was asked for so far, of paths that hold `part`."""
        return [asked.path for asked in self.asked if part in asked.path]

    @contextmanager
    def counted(self) -> Iterator[None]:
        """Count a blob that is on its way."""
        with self._lock:
            self._busy += 1
            self.most = max(self.most, self._busy)
        try:
            yield
        finally:
            with self._lock:
                self._busy -= 1


class Handler(BaseHTTPRequestHandler):
    """Answers one connection."""

    protocol_version = "HTTP/1.1"
    registry: Registry

    def do_GET(self) -> None:
        """Answer one request."""
        registry = self.registry
        headers = {name.lower(): value for name, value in self.headers.items()}
        registry.asked.append(Asked(self.path, headers))
        content = self._content()
        start = 0
        if registry.ranges and (match := re.fullmatch(r"bytes=(\d+)-", headers.get("range", ""))):
            start = int(match[1])
        if fault := registry.fault(self.path):
            return fault(self, content or b"", start)
        if urlsplit(self.path).path == "/token":
            return self.say(200, json.dumps({"token": registry.token}).encode())
        if registry.token and headers.get("authorization") != f"Bearer {registry.token}":
            realm = registry.realm or f"http://{registry.host}/token"
            challenge = f'Bearer realm="{realm}",service="registry",scope="repository:library/m:pull other:x:pull"'
            return self.say(401, b"{}", {"WWW-Authenticate": challenge})
        if content is None:
            return self.say(404, b"not found")
        if registry.elsewhere and "/blobs/" in self.path:
            return self.say(307, b"", {"Location": registry.elsewhere + self.path})
        with registry.counted():
            self.give(content, start)
        return None

    def give(self, content: bytes, start: int = 0, end: int | None = None, length: int | None = None) -> None:
        """Send the content from `start` on, only up to `end`, and say another length than it has if one is given."""
        if start and start >= len(content):
            return self.say(416, b"")
        self.send_response(206 if start else 200)
        if start:
            self.send_header("Content-Range", f"bytes {start}-{len(content) - 1}/{len(content)}")
        self.send_header("Content-Length", str(len(content) - start if length is None else length))
        self.end_headers()
        self.pieces(content[start:end])
        return None

    def pieces(self, content: bytes) -> None:
        """Send bytes a piece at a time."""
        for position in range(0, len(content), _PIECE):
            self.wfile.write(content[position : position + _PIECE])
            if self.registry.pause:
                time.sleep(self.registry.pause)

    def say(self, status: int, body: bytes, headers: dict[str, str] | None = None) -> None:
        """Send a whole short answer."""
        self.send_response(status)
        for name, value in (headers or {}).items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002
        """Keep still."""

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
    """Break the connection off after a part of the content."""

    def fault(handler: Handler, content: bytes, start: int) -> None:
        handler.close_connection = True
        handler.give(content, start, start + int((len(content) - start) * part))
        handler.wfile.flush()
        handler.connection.close()

    return fault


def silent(part: float | None) -> Fault:
    """Send nothing any more after a part of the content, or not even the head of an answer for None."""

    def fault(handler: Handler, content: bytes, start: int) -> None:
        handler.close_connection = True
        if part is not None:
            handler.give(content, start, start + int((len(content) - start) * part))
            handler.wfile.flush()
        handler.registry.released.wait(60)

    return fault


def status(code: int, body: bytes = b"", **headers: str) -> Fault:
    """Answer with a status; `_` in the name of a header stands for `-`."""

    def fault(handler: Handler, content: bytes, start: int) -> None:
        handler.say(code, body, {name.replace("_", "-"): value for name, value in headers.items()})

    return fault


def corrupt(handler: Handler, content: bytes, start: int) -> None:
    """Send the content with one wrong byte."""
    wrong = bytearray(content)
    wrong[-1] ^= 1
    handler.give(bytes(wrong), start)


def longer(handler: Handler, content: bytes, start: int) -> None:
    """Send more than there is."""
    handler.give(content + b"more", start)


def shorter(handler: Handler, content: bytes, start: int) -> None:
    """Send less than there is, as if that were all."""
    handler.give(content[: max(start, len(content) // 2)], start)


def endless(handler: Handler, content: bytes, start: int) -> None:
    """Send bytes until nobody reads them any more."""
    handler.close_connection = True
    handler.send_response(200)
    handler.end_headers()
    try:
        while True:
            handler.wfile.write(b"[" * _PIECE)
    except OSError:
        return


def another_part(handler: Handler, content: bytes, start: int) -> None:
    """Send a part of the content, but not the one that was asked for."""
    handler.send_response(206)
    handler.send_header("Content-Range", f"bytes 1-{len(content) - 1}/{len(content)}")
    handler.send_header("Content-Length", str(len(content) - 1))
    handler.end_headers()
    handler.wfile.write(content[1:])


@contextmanager
def serving(store: Store, context: Any = None) -> Iterator[Registry]:
    """Serve a store's models on loopback meanwhile, with TLS if a context for that is given."""
    registry = Registry(store)

    class Server(ThreadingHTTPServer):
        daemon_threads = True

        def handle_error(self, request: Any, client_address: Any) -> None:
            """Keep still: that somebody goes away before the end is what is tested."""

    server = Server(("127.0.0.1", 0), type("Bound", (Handler,), {"registry": registry}))
    if context is not None:
        # The handshake is for each connection's own thread: one that fails must not be in the way of others.
        server.socket = context.wrap_socket(server.socket, server_side=True, do_handshake_on_connect=False)
    registry.host = f"127.0.0.1:{server.server_address[1]}"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    try:
        yield registry
    finally:
        registry.released.set()
        server.shutdown()
        server.server_close()
        thread.join()


def large_model(root: Path, name: str = "m", tensors: int = 3, rows: int = 256) -> Store:
    """Write a store with one model of some tensors, each of `rows` KiB."""
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
