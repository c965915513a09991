"""What all sources have in common that are reached over HTTP: redirects, time limits, ranges and errors."""

import asyncio
import platform
import re
from collections.abc import AsyncGenerator, AsyncIterator, Mapping
from contextlib import aclosing, asynccontextmanager
from typing import Self, cast

import httpcore
import httpx

from sotto import __version__
from sotto.errors import DownloadError, StoreError
from sotto.store.printable import printable
from sotto.store.pull.model_source import BlobStream
from sotto.store.pull.pull_errors import REQUEST_ERRORS, TryAgainError, WrongBytesError, busy_error, connection_error
from sotto.store.pull.terms import Patience

_MAX_REDIRECTS = 10
# In bytes: how much of a body must be left for reading it from the connection, and how much is read at once.
_LARGE, _READ = 4 << 20, 1 << 20
# In bytes: how much of an error page a message quotes.
_QUOTE_LIMIT = 400
_RANGE = re.compile(r"bytes (\d{1,19})-(\d{1,19})/(\d{1,19}|\*)")


def open_client(headers: Mapping[str, str], seconds: float) -> httpx.AsyncClient:
    """Return a client that sends some headers and waits for so many seconds.

    Raises:
        DownloadError: The environment names a proxy or certificates that cannot be used.
    """
    try:
        return httpx.AsyncClient(headers=dict(headers), timeout=seconds)
    except (ImportError, ValueError, OSError) as error:
        raise DownloadError(
            "The proxy or the certificates that the environment names cannot be used "
            f"({printable(str(error).rstrip('.'))}); check HTTPS_PROXY, ALL_PROXY and SSL_CERT_FILE."
        ) from error


class HttpSource:
    """A client of one host, for one model; an asynchronous context manager."""

    def __init__(self, base: str, host: str, patience: Patience, *, insecure: bool) -> None:
        """Create a client.

        Args:
            base: The address that all others are relative to.
            host: The host, as messages name it.
            patience: The timeouts.
            insecure: Whether redirects may lead to addresses without TLS.

        Raises:
            DownloadError: The address is not valid, or the proxy settings of the environment are invalid.
        """
        self.host = printable(host)
        self._patience = patience
        self._insecure = insecure
        try:
            self._base = httpx.URL(base)
        except httpx.InvalidURL as error:
            raise DownloadError(
                f"'{self.host}' is not an address of a registry; it should be a host, perhaps with a port."
            ) from error
        agent = f"sotto/{__version__} ({platform.machine()} {platform.system().lower()})"
        # A compressed response would have another digest, and could expand to any size.
        headers = {"User-Agent": agent, "Accept-Encoding": "identity"}
        self._client = open_client(headers, patience.silence)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._client.aclose()

    # What sources differ in

    def _credentials(self) -> dict[str, str]:
        """Return the headers with what only the source's own host may receive."""
        return {}

    async def _renewed(self, sent: dict[str, str], response: httpx.Response) -> bool:
        """Return whether a request with these credentials that was answered with 401 should be sent once more."""
        return False

    def _may_have_expired(self, response: httpx.Response) -> bool:
        """Return whether a 403 response may be due to an address of limited duration."""
        return True

    async def _refusal(self, response: httpx.Response) -> StoreError:
        """Return the error for a response that is not a success."""
        status, host = response.status_code, printable(response.url.host)
        if (busy := busy_error(response, host)) is not None:
            return busy
        quote = printable(" ".join((await self._bounded(response, _QUOTE_LIMIT)).decode(errors="replace").split()))
        return DownloadError(f"{host} answers {status}{f': {quote}' if quote else ''}.")

    # What they share

    def _is_own(self, url: httpx.URL) -> bool:
        """Return whether an address is on the source's own host."""
        return (url.scheme, url.netloc) == (self._base.scheme, self._base.netloc)

    @asynccontextmanager
    async def _open(self, url: httpx.URL, start: int, size: int) -> AsyncIterator[BlobStream]:
        """Request a file of `size` bytes from byte `start` on; errors as of `ModelSource.open_blob`."""
        headers = {"Range": f"bytes={start}-"} if start else {}
        async with self._get(url, headers) as response:
            status = response.status_code
            if status == 416 and start:
                raise WrongBytesError(f"{self.host} says that the file ends before byte {start}; it has {size}.")
            if status == 403 and self._may_have_expired(response):
                # The URLs that redirects lead to expire.
                raise TryAgainError(f"{printable(response.url.host)} refuses the file (403).")
            if status not in (200, 206):
                raise await self._refusal(response)
            first = _range_start(response, start, size, self.host) if status == 206 else 0
            async with aclosing(self._pieces(response)) as pieces:
                yield BlobStream(first, pieces)

    @asynccontextmanager
    async def _get(self, url: httpx.URL, headers: dict[str, str]) -> AsyncIterator[httpx.Response]:
        """Send a GET request, with credentials to the source's own host alone, and follow redirects."""
        renewed = False
        redirects = 0
        while True:
            own = self._credentials() if self._is_own(url) else {}
            response = await self._send(url, headers | own)
            try:
                if response.status_code == 401 and self._is_own(url) and not renewed:
                    renewed = True
                    if await self._renewed(own, response):
                        continue
                if response.has_redirect_location:
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
        """Yield the body of a response.

        What is left of a large one after its first piece is read from the connection itself, as taking it apart costs
        httpx twice as much time as everything else: h11 gives away all that it holds with a piece, and a body whose
        length is stated is nothing but bytes.
        """
        left = _stated_length(response)
        connection = response.extensions["network_stream"]
        try:
            # Closing the body closes the connection, which has no use for another request then.
            async with aclosing(cast("AsyncGenerator[bytes, None]", response.aiter_raw())) as body:
                async for piece in body:
                    yield piece
                    left -= len(piece)
                    if left >= _LARGE:
                        break
                else:
                    return
                while left > 0 and (piece := await connection.read(_READ, timeout=self._patience.silence)):
                    yield piece[:left]
                    left -= len(piece)
        except httpcore.TimeoutException as error:
            raise self._connection_error(httpx.ReadTimeout(str(error)), response.url) from error
        except httpcore.NetworkError as error:
            raise self._connection_error(httpx.ReadError(str(error)), response.url) from error
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

    def _connection_error(self, error: Exception, url: httpx.URL) -> DownloadError:
        return connection_error(error, printable(url.host), self._patience.silence)

    @asynccontextmanager
    async def _within_time(self, times: float = 1.0) -> AsyncIterator[None]:
        """Limit the time of a small answer, to some times what is allowed for one."""
        try:
            async with asyncio.timeout(self._patience.answer * times):
                yield
        except TimeoutError as error:
            raise TryAgainError(
                f"{self.host} has not answered for {self._patience.answer * times:g} seconds.", silent=True
            ) from error


def _stated_length(response: httpx.Response) -> int:
    """Return the length of a body that is sent as it is; 0 if it is not stated or sent in another way."""
    text = response.headers.get("Content-Length", "")
    plain = text.isascii() and text.isdigit() and "Transfer-Encoding" not in response.headers
    return int(text) if plain else 0


def _range_start(response: httpx.Response, start: int, size: int, host: str) -> int:
    """Return the offset of a 206 response in the blob; WrongBytesError unless it is `start`."""
    content_range = response.headers.get("Content-Range", "")
    match = _RANGE.fullmatch(content_range)
    if match is None or int(match[1]) != start or match[3] not in ("*", str(size)):
        raise WrongBytesError(
            f"{host} sends '{printable(content_range)}'; it should send the bytes from {start} on of a file of {size}."
        )
    return start
