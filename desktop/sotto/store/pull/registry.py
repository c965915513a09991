"""An HTTP client that requests manifests and blobs from a registry.

The protocol is that of container registries, as Ollama's registry speaks it: `/v2/<namespace>/<model>/manifests/<tag>`
and `/v2/<namespace>/<model>/blobs/<digest>`, the latter usually by a redirect to another host.
"""

import asyncio
import platform
import re
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import httpx

from sotto import __version__
from sotto.errors import BrokenModelError, DownloadError, ModelNotFoundError, StoreError
from sotto.store.bounded_json import parse_object
from sotto.store.printable import format_size, printable
from sotto.store.pull.bearer_tokens import token_in, token_url
from sotto.store.pull.pull_errors import REQUEST_ERRORS, TryAgainError, WrongBytesError, busy_error, connection_error
from sotto.store.pull.terms import Patience
from sotto.store.sources.manifest import MANIFEST_LIMIT
from sotto.store.sources.model_names import ModelName

_MANIFEST_TYPE = "application/vnd.docker.distribution.manifest.v2+json"
_MAX_REDIRECTS = 10
_TOKEN_LIMIT = 64 << 10
# In bytes: how much of an error page a message quotes.
_QUOTE_LIMIT = 400
_RANGE = re.compile(r"bytes (\d{1,19})-(\d{1,19})/(\d{1,19}|\*)")


@dataclass(frozen=True, slots=True)
class BlobStream:
    """The bytes of a blob as they are received.

    Attributes:
        start: Offset of the first byte in the blob.
        pieces: The bytes; raises TryAgainError if the connection breaks off.
    """

    start: int
    pieces: AsyncIterator[bytes]


class Registry:
    """A client of one registry, for one model; an asynchronous context manager."""

    def __init__(self, name: ModelName, patience: Patience, *, insecure: bool = False) -> None:
        """Create a client for the model of a name; `insecure` connects over HTTP without TLS.

        Raises:
            DownloadError: The name's host is not a valid address, or the proxy settings of the environment are invalid.
        """
        self._name = name
        self._patience = patience
        self._insecure = insecure
        try:
            self._base = httpx.URL(f"{'http' if insecure else 'https'}://{name.host}/v2/{name.namespace}/{name.model}/")
        except httpx.InvalidURL as error:
            raise DownloadError(
                f"'{printable(name.host)}' is not an address of a registry; it should be a host, perhaps with a port."
            ) from error
        agent = f"sotto/{__version__} ({platform.machine()} {platform.system().lower()})"
        # A compressed response would have another digest, and could expand to any size.
        headers = {"User-Agent": agent, "Accept-Encoding": "identity"}
        try:
            self._client = httpx.AsyncClient(headers=headers, timeout=patience.silence)
        except (ImportError, ValueError, OSError) as error:
            raise DownloadError(
                "The proxy or the certificates that the environment names cannot be used "
                f"({printable(str(error).rstrip('.'))}); check HTTPS_PROXY, ALL_PROXY and SSL_CERT_FILE."
            ) from error
        self._token = ""
        self._renewing = asyncio.Lock()

    async def __aenter__(self) -> "Registry":
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._client.aclose()

    @property
    def host(self) -> str:
        """The registry's host, as printable text."""
        return printable(self._name.host)

    @property
    def manifest_path(self) -> Path:
        """A path that stands for the manifest in error messages until it is a file."""
        name = self._name
        return Path(name.host, "v2", name.namespace, name.model, "manifests", name.tag)

    async def fetch_manifest(self) -> bytes:
        """Return the manifest's bytes.

        Raises:
            ModelNotFoundError: The registry has no such model.
            TryAgainError: The registry cannot be reached, or is overloaded.
            StoreError: It refuses, or sends more than `MANIFEST_LIMIT` bytes.
        """
        url = self._base.join(f"manifests/{self._name.tag}")
        async with self._within_time(), self._get(url, {"Accept": _MANIFEST_TYPE}) as response:
            if response.status_code == 404:
                raise ModelNotFoundError(
                    f"{self.host} has no model {printable(self._name.short)}; check its name and tag."
                )
            if response.status_code != 200:
                raise await self._refusal(response)
            data = await self._bounded(response, MANIFEST_LIMIT)
            if len(data) > MANIFEST_LIMIT:
                raise BrokenModelError(
                    f"The manifest that {self.host} sends for {printable(self._name.short)} is larger than "
                    f"{format_size(MANIFEST_LIMIT)}, the most that a manifest can be."
                )
            return data

    @asynccontextmanager
    async def open_blob(self, digest: str, start: int, size: int) -> AsyncIterator[BlobStream]:
        """Request a blob from byte `start` on; the response may begin at byte 0 instead.

        Args:
            digest: 64 hex digits.
            start: Offset of the first byte wanted.
            size: Size of the whole blob in bytes.

        Raises:
            TryAgainError: The registry cannot be reached, or is overloaded.
            WrongBytesError: It sends another part of the blob, or reports another size.
            DownloadError: It refuses.
        """
        headers = {"Range": f"bytes={start}-"} if start else {}
        async with self._get(self._base.join(f"blobs/sha256:{digest}"), headers) as response:
            status = response.status_code
            if status == 416 and start:
                raise WrongBytesError(f"{self.host} says that the file ends before byte {start}; it has {size}.")
            if status == 403:
                # The URLs that redirects lead to expire.
                raise TryAgainError(f"{printable(response.url.host)} refuses the file (403).")
            if status not in (200, 206):
                raise await self._refusal(response)
            first = _range_start(response, start, size, self.host) if status == 206 else 0
            async with aclosing(self._pieces(response)) as pieces:
                yield BlobStream(first, pieces)

    @asynccontextmanager
    async def _get(self, url: httpx.URL, headers: dict[str, str]) -> AsyncIterator[httpx.Response]:
        """Send a GET request, with a token if one is required, and follow redirects."""
        renewed = False
        redirects = 0
        while True:
            same_origin = (url.scheme, url.netloc) == (self._base.scheme, self._base.netloc)
            token = self._token
            own = {"Authorization": f"Bearer {token}"} if same_origin and token else {}
            response = await self._send(url, headers | own)
            try:
                if response.status_code == 401 and same_origin and not renewed:
                    renewed = True
                    await self._renew(token, response)
                elif response.has_redirect_location:
                    redirects += 1
                    if redirects > _MAX_REDIRECTS:
                        raise DownloadError(f"{self.host} redirects more than {_MAX_REDIRECTS} times.")
                    url = self.redirect_target(response)
                else:
                    yield response
                    return
            finally:
                await response.aclose()

    async def _send(self, url: httpx.URL, headers: dict[str, str]) -> httpx.Response:
        try:
            async with self._within_time():
                return await self._client.send(self._client.build_request("GET", url, headers=headers), stream=True)
        except REQUEST_ERRORS as error:
            raise self._connection_error(error, url) from error

    async def _pieces(self, response: httpx.Response) -> AsyncGenerator[bytes, None]:
        try:
            async for piece in response.aiter_raw():
                yield piece
        except REQUEST_ERRORS as error:
            raise self._connection_error(error, response.url) from error

    async def _bounded(self, response: httpx.Response, limit: int) -> bytes:
        """Return a response's body, or a little more than `limit` bytes of a longer one."""
        data = b""
        async with aclosing(self._pieces(response)) as pieces:
            async for piece in pieces:
                data += piece
                if len(data) > limit:
                    break
        return data

    async def _renew(self, stale: str, response: httpx.Response) -> None:
        """Request a new token, unless another connection has replaced the stale one meanwhile."""
        async with self._renewing:
            if self._token != stale:
                return
            url = token_url(response.headers.get("WWW-Authenticate", ""), response.request.url)
            async with self._within_time():
                token_response = await self._send(url, {})
                try:
                    if token_response.status_code != 200:
                        raise await self._refusal(token_response)
                    data = await self._bounded(token_response, _TOKEN_LIMIT)
                finally:
                    await token_response.aclose()
            if len(data) > _TOKEN_LIMIT:
                raise DownloadError(f"{self.host} sends far more than a token.")
            self._token = token_in(parse_object(data, f"The token from {self.host}", strict=False), self.host)

    def redirect_target(self, response: httpx.Response) -> httpx.URL:
        """Return where a redirect leads.

        Raises:
            DownloadError: Its location is not a valid address, or not secure.
        """
        location = response.headers["Location"]
        try:
            url = response.url.join(location)
        except httpx.InvalidURL as error:
            raise DownloadError(f"{self.host} leads to '{printable(location)}', which is not an address.") from error
        if url.scheme not in (("http", "https") if self._insecure else ("https",)) or not url.host:
            raise DownloadError(f"{self.host} leads to '{printable(str(url))}'; it should be an address with https.")
        return url

    async def _refusal(self, response: httpx.Response) -> StoreError:
        """Return the error for a response that is not a success."""
        status, host = response.status_code, printable(response.url.host)
        if (busy := busy_error(response, host)) is not None:
            return busy
        if status in (401, 403):
            return DownloadError(
                f"{host} does not give {printable(self._name.short)} to the public ({status}); Sotto downloads only "
                "public models."
            )
        quote = printable(" ".join((await self._bounded(response, _QUOTE_LIMIT)).decode(errors="replace").split()))
        return DownloadError(f"{host} answers {status}{f': {quote}' if quote else ''}.")

    def _connection_error(self, error: Exception, url: httpx.URL) -> DownloadError:
        return connection_error(error, printable(url.host), self._patience.silence)

    @asynccontextmanager
    async def _within_time(self) -> AsyncIterator[None]:
        try:
            async with asyncio.timeout(self._patience.answer):
                yield
        except TimeoutError as error:
            raise TryAgainError(
                f"{self.host} has not answered for {self._patience.answer:g} seconds.", silent=True
            ) from error


def _range_start(response: httpx.Response, start: int, size: int, host: str) -> int:
    """Return the offset of a 206 response in the blob; WrongBytesError unless it is `start`."""
    content_range = response.headers.get("Content-Range", "")
    match = _RANGE.fullmatch(content_range)
    if match is None or int(match[1]) != start or match[3] not in ("*", str(size)):
        raise WrongBytesError(
            f"{host} sends '{printable(content_range)}'; it should send the bytes from {start} on of a file of {size}."
        )
    return start
