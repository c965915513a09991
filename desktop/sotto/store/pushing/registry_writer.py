"""An HTTP client that writes blobs and manifests to a registry, by the protocol of container registries.

A blob is sent in parts. After a lost connection the registry is asked how much it has, and the rest is sent. No request
leaves the host of the registry: redirects to other hosts are refused, and nothing invites the registry to make any.
"""

import hashlib
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, Self

import httpx

from sotto import __version__
from sotto.errors import DownloadError
from sotto.store.bounded_json import parse_object
from sotto.store.files import open_regular
from sotto.store.printable import printable, printable_path
from sotto.store.pull.bearer_tokens import token_in, token_url
from sotto.store.pull.pull_errors import REQUEST_ERRORS, TryAgainError, busy_error, connection_error
from sotto.store.pull.terms import Patience
from sotto.store.pushing.registry_key import RegistryKey
from sotto.store.sources.manifest import MANIFEST_MEDIA, Layer
from sotto.store.sources.model_names import ModelName

_PIECE = 256 << 10
# A wait is ended within this time.
_POLL_SECONDS = 0.2
# In bytes: how much of an error page a message quotes, and the most that a token's answer may have.
_QUOTE_LIMIT, _TOKEN_LIMIT = 400, 64 << 10
# How many times longer than other answers the one to the end of a blob may take.
_VERIFYING = 10
_PARTS, _LEAST_PART, _LARGEST_PART = 16, 100_000_000, 1_000_000_000

Sent = Callable[[int], None]
"""Called with how many more bytes of a blob the registry has, below 0 if it lost some; may raise CancelledError."""


def part_size(size: int) -> int:
    """Return the size of the parts of a blob: a sixteenth, but from 100 to 1,000 MB."""
    return max(_LEAST_PART, min(_LARGEST_PART, -(-size // _PARTS)))


class RegistryWriter:
    """A client of one registry, for one model; a context manager, safe to use from several threads."""

    def __init__(
        self,
        name: ModelName,
        patience: Patience,
        *,
        insecure: bool = False,
        part_size: Callable[[int], int] = part_size,
        waiting: Callable[[str], None] = lambda why: None,
    ) -> None:
        """Create a client.

        Args:
            name: The model; its host is the registry.
            patience: Timeouts and numbers of tries.
            insecure: Whether to connect over HTTP without TLS.
            part_size: Returns the size of a blob's parts.
            waiting: Called again and again with the reason for a wait, on any thread; may raise CancelledError.
        """
        self.host = printable(name.host)
        self._name, self._patience, self._part_size, self._waiting = name, patience, part_size, waiting
        try:
            self._base = httpx.URL(f"{'http' if insecure else 'https'}://{name.host}/v2/{name.namespace}/{name.model}/")
            self._client = httpx.Client(
                headers={"User-Agent": f"sotto/{__version__}"}, timeout=patience.answer, follow_redirects=False
            )
        except (httpx.InvalidURL, ImportError, ValueError, OSError) as error:
            raise DownloadError(
                f"'{self.host}' cannot be connected to ({printable(str(error).rstrip('.'))})."
            ) from error
        self._token = ""
        self._renewing = threading.Lock()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._client.close()

    def has_blob(self, layer: Layer) -> bool:
        """Return whether the registry has a blob already.

        Raises:
            DownloadError: The registry cannot be asked, or refuses.
        """
        response = self._patiently(lambda: self._request("HEAD", self._base.join(f"blobs/sha256:{layer.digest}")))
        if response.status_code not in (200, 307, 404):
            raise self._refusal(response)
        return response.status_code != 404

    def send_blob(self, layer: Layer, path: Path, sent: Sent) -> None:
        """Send a blob.

        Raises:
            DownloadError: It cannot be sent, or the registry refuses it.
        """
        failures = 0
        parts = _Parts(path)
        place: httpx.URL | None = None
        while True:
            try:
                place, start = (self._begin(), 0) if place is None else self._resume(place, layer.size)
                sent(start - parts.end)
                parts.go_to(start)
                while parts.end < layer.size:
                    end = min(parts.end + self._part_size(layer.size), layer.size)
                    place = self._send_part(place, parts, end, sent)
                    failures = 0
                query = {"digest": f"sha256:{layer.digest}", "etag": parts.etag}
                finished = self._request("PUT", place.copy_merge_params(query))
                if finished.status_code not in (201, 204):
                    raise self._refusal(finished)
            except TryAgainError as error:
                failures += 1
                self._wait(error, failures)
            else:
                return

    def send_manifest(self, data: bytes) -> None:
        """Send the manifest, which makes the model complete.

        Raises:
            DownloadError: It cannot be sent, or the registry refuses it.
        """
        url, headers = self._base.join(f"manifests/{self._name.tag}"), {"Content-Type": MANIFEST_MEDIA}
        response = self._patiently(lambda: self._request("PUT", url, headers, lambda: data))
        if response.status_code not in (200, 201):
            raise self._refusal(response)

    def _begin(self) -> httpx.URL:
        response = self._request("POST", self._base.join("blobs/uploads/"))
        if response.status_code != 202:
            raise self._refusal(response)
        return self._place(response)

    def _resume(self, place: httpx.URL, size: int) -> tuple[httpx.URL, int]:
        """Return where an upload goes on and how many bytes the registry has; a lost upload begins anew."""
        response = self._request("GET", place)
        if response.status_code == 404:
            return self._begin(), 0
        if response.status_code != 204:
            raise self._refusal(response)
        last = response.headers.get("Range", "").removeprefix("bytes=").partition("-")[2]
        # A registry without a byte answers 0-0, as one with a single byte does.
        have = int(last) + 1 if last.isdigit() and last != "0" else 0
        return (self._place(response), have) if have <= size else (self._begin(), 0)

    def _send_part(self, place: httpx.URL, parts: "_Parts", end: int, sent: Sent) -> httpx.URL:
        start, done = parts.end, 0
        digest = _md5()

        def pieces() -> Iterator[bytes]:
            nonlocal done, digest
            # A part that is sent again after a new token is counted once.
            sent(-done)
            done, digest = 0, _md5()
            for piece in _read(parts.path, start, end):
                digest.update(piece)
                yield piece
                done += len(piece)
                sent(len(piece))

        headers = {
            "Content-Type": "application/octet-stream",
            "Content-Length": str(end - start),
            "Content-Range": f"{start}-{max(start, end - 1)}",
        }
        try:
            response = self._request("PATCH", place, headers, pieces)
            if response.status_code not in (201, 202, 204):
                raise self._refusal(response)
        except DownloadError:
            sent(-done)
            raise
        parts.add(end, digest.digest())
        return self._place(response)

    def _place(self, response: httpx.Response) -> httpx.URL:
        """Return the address for the next part, which must be at the registry itself."""
        location = response.headers.get("Docker-Upload-Location") or response.headers.get("Location", "")
        try:
            url = response.url.join(location)
        except httpx.InvalidURL as error:
            raise DownloadError(
                f"{self.host} wants uploads at '{printable(location)}', which is not an address."
            ) from error
        if (url.scheme, url.netloc) != (self._base.scheme, self._base.netloc):
            raise DownloadError(
                f"{self.host} wants uploads at '{printable(str(url), 80)}'; they should stay at its own address."
            )
        return url

    def _request(
        self,
        method: str,
        url: httpx.URL,
        headers: Mapping[str, str] | None = None,
        body: Callable[[], Any] | None = None,
    ) -> httpx.Response:
        """Send a request, a second time with a new token if the registry wants one.

        Raises:
            TryAgainError: It cannot be reached, or is overloaded.
            DownloadError: It refuses to give a token.
        """
        token = self._token
        for renewed in (False, True):
            own = {"Authorization": f"Bearer {self._token}"} if self._token else {}
            response = self._send(method, url, {**(headers or {}), **own}, body() if body else None)
            if response.status_code != 401 or renewed:
                break
            self._renew(token, response)
        if (busy := busy_error(response, self.host)) is not None:
            raise busy
        return response

    def _send(self, method: str, url: httpx.URL, headers: Mapping[str, str], content: Any) -> httpx.Response:
        try:
            # A registry verifies a whole blob before it answers to its end.
            timeout = self._patience.answer * (_VERIFYING if method == "PUT" else 1)
            return self._client.request(method, url, headers=dict(headers), content=content, timeout=timeout)
        except REQUEST_ERRORS as error:
            raise connection_error(error, self.host, self._patience.answer) from error

    def _renew(self, stale: str, response: httpx.Response) -> None:
        """Request a new token, unless another thread has replaced the stale one meanwhile."""
        with self._renewing:
            if self._token != stale:
                return
            url = token_url(response.headers.get("WWW-Authenticate", ""), response.request.url)
            signed = {"Authorization": RegistryKey.own().authorization("GET", str(url))}
            answer = self._send("GET", url, signed, None)
            if answer.status_code != 200:
                raise self._refusal(answer)
            data = answer.content[: _TOKEN_LIMIT + 1]
            if len(data) > _TOKEN_LIMIT:
                raise DownloadError(f"{self.host} sends far more than a token.")
            self._token = token_in(parse_object(data, f"The token from {self.host}", strict=False), self.host)

    def _patiently(self, request: Callable[[], httpx.Response]) -> httpx.Response:
        failures = 0
        while True:
            try:
                return request()
            except TryAgainError as error:
                failures += 1
                self._wait(error, failures)

    def _wait(self, error: TryAgainError, failures: int) -> None:
        if failures >= self._patience.tries:
            raise DownloadError(error.message)
        until = time.monotonic() + max(self._patience.wait(failures), error.after or 0.0)
        while (left := until - time.monotonic()) > 0:
            self._waiting(error.message)
            time.sleep(min(left, _POLL_SECONDS))

    def _refusal(self, response: httpx.Response) -> DownloadError:
        """Return the error for a response that is not a success."""
        status, short = response.status_code, printable(self._name.short)
        if status in (401, 403):
            return DownloadError(
                f"{self.host} does not let this machine upload {short} ({status}); add its key to your account there: "
                f"{RegistryKey.own().public}"
            )
        quote = printable(" ".join(response.text[:_QUOTE_LIMIT].split()))
        return DownloadError(f"{self.host} answers {status} to the upload of {short}{f': {quote}' if quote else ''}.")


class _Parts:
    """The parts of a blob that a registry has, each with where it ends and its MD5 digest, of which the tag is made.

    Attributes:
        path: The file of the blob.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._parts: list[tuple[int, bytes]] = []

    @property
    def end(self) -> int:
        """How many bytes the registry has."""
        return self._parts[-1][0] if self._parts else 0

    @property
    def etag(self) -> str:
        digest = _md5(b"".join(digest for _, digest in self._parts))
        return f"{digest.hexdigest()}-{len(self._parts)}"

    def add(self, end: int, digest: bytes) -> None:
        self._parts.append((end, digest))

    def go_to(self, end: int) -> None:
        """Take what the registry says it has: perhaps only some of the parts, or a piece of another one."""
        self._parts = [part for part in self._parts if part[0] <= end]
        if self.end < end:
            digest = _md5()
            for piece in _read(self.path, self.end, end):
                digest.update(piece)
            self.add(end, digest.digest())


def _read(path: Path, start: int, end: int) -> Iterator[bytes]:
    with open_regular(path) as (file, _):
        file.seek(start)
        while start < end:
            piece = file.read(min(_PIECE, end - start))
            if not piece:
                raise DownloadError(f"{printable_path(path)} became shorter while it was uploaded.")
            start += len(piece)
            yield piece


def _md5(data: bytes = b"") -> "hashlib._Hash":
    # It is the tag that the protocol asks for; nothing is trusted because of it.
    return hashlib.md5(data, usedforsecurity=False)
