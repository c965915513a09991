"""A server on loopback that speaks Hugging Face's API as `huggingface_hub` expects it, and can be made to fail.

Large files are redirected to a second server, as Hugging Face stores them on another host. Small ones are redirected
to another path of the same host, as it does.
"""

import hashlib
import json
import re
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

from registry_server import Fault, Handler, Request, running

_API = re.compile(r"/api/models/([^/]+/[^/]+?)(?:/revision/([^/]+))?")
_TREE = re.compile(r"/api/models/([^/]+/[^/]+)/tree/([^/]+)")
_FILE = re.compile(r"/([^/]+/[^/]+)/resolve/([^/]+)/(.+)")
_CACHED = re.compile(r"/api/resolve-cache/models/([^/]+/[^/]+)/([^/]+)/(.+)")
_LARGE = (".safetensors", ".gguf", ".bin")


@dataclass
class HubRepository:
    """A repository.

    Attributes:
        commits: The files of each commit, by path.
        refs: The commits that branches and tags name.
        card: The metadata in its card, for example `license`.
        gated: The tokens of those who were admitted; None if it is open.
        gguf: What the API says of its GGUF files.
        moved_to: The name that it has now; empty if it has kept its own.
    """

    commits: dict[str, dict[str, bytes]] = field(default_factory=dict)
    refs: dict[str, str] = field(default_factory=dict)
    card: Mapping[str, Any] = field(default_factory=dict)
    gated: frozenset[str] | None = None
    gguf: Mapping[str, Any] | None = None
    moved_to: str = ""

    def commit(self, files: Mapping[str, bytes], ref: str = "main") -> str:
        """Add a commit with these files, and have a branch or tag name it; return its 40 digits."""
        text = json.dumps(sorted((path, hashlib.sha1(content).hexdigest()) for path, content in files.items()))
        name = hashlib.sha1(f"{ref}{len(self.commits)}{text}".encode()).hexdigest()
        self.commits[name] = dict(files)
        self.refs[ref] = name
        return name


@dataclass
class Hub:
    """The server.

    Attributes:
        repositories: The repositories by name, `org/name`.
        requests: All requests so far.
        tokens: The tokens that exist.
        ranges: Whether it supports range requests.
        pause: Seconds between pieces of 16 KiB of a file.
        page: How many entries of a tree are sent at once.
        storage: The host and port that large files are redirected to; empty for itself.
        large: The large files of all repositories by sha256.
        host: Its host and port.
        released: Set when the server stops, to end silent responses.
    """

    repositories: dict[str, HubRepository] = field(default_factory=dict)
    requests: list[Request] = field(default_factory=list)
    tokens: set[str] = field(default_factory=set)
    ranges: bool = True
    pause: float = 0.0
    page: int = 1000
    storage: str = ""
    large: dict[str, bytes] = field(default_factory=dict)
    host: str = ""
    released: threading.Event = field(default_factory=threading.Event)
    _faults: list[tuple[str, list[Fault]]] = field(default_factory=list)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    @property
    def endpoint(self) -> str:
        """Its address, for `HF_ENDPOINT`."""
        return f"http://{self.host}"

    def add(self, name: str, files: Mapping[str, bytes], **more: Any) -> HubRepository:
        """Add a repository with one commit."""
        repository = HubRepository(**more)
        repository.commit(files)
        self.repositories[name] = repository
        return repository

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
            return next((faults.pop(0) for part, faults in self._faults if part in path and faults), None)

    def paths(self, part: str = "") -> list[str]:
        """Return the requested paths that contain `part`."""
        return [request.path for request in self.requests if part in request.path]


class HubHandler(Handler):
    """Handles one connection."""

    registry: Hub  # type: ignore[assignment]

    def do_HEAD(self) -> None:
        """Answer a request for headers."""
        self.do_GET()

    def do_GET(self) -> None:
        """Answer a request."""
        hub = self.registry
        headers = {name.lower(): value for name, value in self.headers.items()}
        hub.requests.append(Request(self.path, headers))
        path = unquote(urlsplit(self.path).path)
        if path.startswith("/lfs/"):
            return self._send_large(path.removeprefix("/lfs/"), headers)
        if fault := hub.fault(self.path):
            return fault(self, b"", 0)
        token = headers.get("authorization", "").removeprefix("Bearer ")
        if token and token not in hub.tokens:
            return self._refuse(401, "", "Invalid credentials in Authorization header")
        if match := _TREE.fullmatch(path):
            return self._send_tree(*match.groups())
        if match := _API.fullmatch(path):
            return self._send_info(match[1], match[2] or "main")
        if match := _CACHED.fullmatch(path) or _FILE.fullmatch(path):
            return self._send_file(*match.groups(), token, cached=path.startswith("/api/"))
        return self._refuse(404, "", "Not found")

    def _refuse(self, status: int, code: str, message: str) -> None:
        headers = {"X-Error-Code": code} if code else {}
        self.reply(status, json.dumps({"error": message}).encode(), headers | {"X-Error-Message": message})

    def _find(self, name: str, revision: str) -> tuple[HubRepository, str] | None:
        """Return a repository and the commit of a revision, or refuse and return None."""
        repository = self.registry.repositories.get(name)
        if repository is None:
            # Whether a private repository exists is not told.
            self._refuse(401, "RepoNotFound", "Repository not found")
        elif repository.moved_to:
            self.reply(307, b"", {"Location": self.path.replace(name, repository.moved_to)})
        elif (commit := repository.refs.get(revision, revision)) not in repository.commits:
            self._refuse(404, "RevisionNotFound", f"Invalid rev id: {revision}")
        else:
            return repository, commit
        return None

    def _send_info(self, name: str, revision: str) -> None:
        if (found := self._find(name, revision)) is None:
            return
        repository, commit = found
        blobs = "blobs" in parse_qs(urlsplit(self.path).query)
        info = {
            "_id": "0" * 24,
            "id": name,
            "modelId": name,
            "author": name.partition("/")[0],
            "sha": commit,
            "private": False,
            "disabled": False,
            "gated": "manual" if repository.gated is not None else False,
            "downloads": 0,
            "likes": 0,
            "tags": [],
            "cardData": dict(repository.card),
            "siblings": [
                {"rfilename": path} | (_blob_entry(path, content) if blobs else {})
                for path, content in repository.commits[commit].items()
            ],
        }
        if repository.gguf is not None:
            info["gguf"] = dict(repository.gguf)
        self.reply(200, json.dumps(info).encode(), {"Content-Type": "application/json"})

    def _send_tree(self, name: str, revision: str) -> None:
        if (found := self._find(name, revision)) is None:
            return
        repository, commit = found
        first = int(parse_qs(urlsplit(self.path).query).get("cursor", ["0"])[0])
        entries = [_tree_entry(path, content) for path, content in sorted(repository.commits[commit].items())]
        headers = {"Content-Type": "application/json"}
        if first + self.registry.page < len(entries):
            address = f"{self.registry.endpoint}/api/models/{name}/tree/{revision}?recursive=true"
            headers["Link"] = f'<{address}&cursor={first + self.registry.page}>; rel="next"'
        self.reply(200, json.dumps(entries[first : first + self.registry.page]).encode(), headers)

    def _send_file(self, name: str, revision: str, path: str, token: str, *, cached: bool) -> None:
        if (found := self._find(name, revision)) is None:
            return None
        repository, commit = found
        if repository.gated is not None and token not in repository.gated:
            message = f"Access to model {name} is restricted and you are not in the authorized list."
            return self._refuse(403 if token else 401, "GatedRepo", message)
        content = repository.commits[commit].get(path)
        if content is None:
            return self._refuse(404, "EntryNotFound", "Entry not found")
        headers = {"X-Repo-Commit": commit, "Accept-Ranges": "bytes"}
        if is_large(path):
            sha256 = hashlib.sha256(content).hexdigest()
            self.registry.large[sha256] = content
            storage = self.registry.storage or self.registry.host
            headers |= {"X-Linked-Etag": f'"{sha256}"', "X-Linked-Size": str(len(content))}
            return self.reply(302, b"", headers | {"Location": f"http://{storage}/lfs/{sha256}", "ETag": '"0"'})
        if not cached:
            place = f"/api/resolve-cache/models/{name}/{commit}/{path}"
            return self.reply(307, b"", headers | {"Location": place, "X-Linked-Etag": f'"{git_id(content)}"'})
        return self.send_content(content, headers=headers | {"ETag": f'"{git_id(content)}"'})

    def _send_large(self, sha256: str, headers: Mapping[str, str]) -> None:
        hub = self.registry
        content = hub.large[sha256]
        match = re.fullmatch(r"bytes=(\d+)-(\d*)", headers.get("range", "")) if hub.ranges else None
        start = int(match[1]) if match else 0
        if fault := hub.fault(self.path):
            return fault(self, content, start)
        return self.send_content(content, start, headers={"ETag": f'"{sha256}"'})


def is_large(path: str) -> bool:
    """Return whether a file is in the large storage, judged by its name."""
    return path.endswith(_LARGE)


def git_id(content: bytes) -> str:
    """Return the sha1 that git names a file by."""
    return hashlib.sha1(b"blob %d\0" % len(content) + content, usedforsecurity=False).hexdigest()


def _blob_entry(path: str, content: bytes) -> dict[str, Any]:
    sha256 = hashlib.sha256(content).hexdigest()
    large = {"lfs": {"sha256": sha256, "size": len(content), "pointerSize": 130}} if is_large(path) else {}
    return {"size": len(content), "blobId": git_id(content)} | large


def _tree_entry(path: str, content: bytes) -> dict[str, Any]:
    sha256 = hashlib.sha256(content).hexdigest()
    large = {"lfs": {"oid": sha256, "size": len(content), "pointerSize": 130}} if is_large(path) else {}
    return {"type": "file", "oid": git_id(content), "size": len(content), "path": path} | large


@contextmanager
def hub_serving() -> Iterator[tuple[Hub, Hub]]:
    """Serve repositories on loopback; yield the server, and the one of another origin that has its large files."""
    hub = Hub()
    storage = Hub(large=hub.large)
    with running(storage, HubHandler), running(hub, HubHandler):
        hub.storage = storage.host
        yield hub, storage
