"""Asking a registry for manifests and blobs, over HTTP.

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
from sotto.store.pull.pull_errors import NO_ANSWER, TryAgainError, WrongBytesError, busy, no_answer
from sotto.store.pull.terms import Patience
from sotto.store.sources.manifest import MANIFEST_LIMIT
from sotto.store.sources.model_names import ModelName

_MANIFEST_TYPE = "application/vnd.docker.distribution.manifest.v2+json"
_MOST_REDIRECTS = 10
_TOKEN_LIMIT = 64 << 10
# Of a page that says what is wrong, so much is shown at the most.
_WORDS_LIMIT = 400
_RANGE = re.compile(r"bytes (\d{1,19})-(\d{1,19})/(\d{1,19}|\*)")


@dataclass(frozen=True, slots=True)
class Answer:
    """The bytes of a blob as they come.

    Attributes:
        start: Which byte of the blob the first one is.
        pieces: The bytes; TryAgainError where they break off.
    """

    start: int
    pieces: AsyncIterator[bytes]


class Registry:
    """One registry, asked for one model; an asynchronous context manager."""

    def __init__(self, name: ModelName, patience: Patience, *, insecure: bool = False) -> None:
        """Ask for what a name means; `insecure` does so over HTTP without TLS.

        Raises:
            DownloadError: The name's host is no address, or a proxy that the environment names is none.
        """
        self._name = name
        self._patience = patience
        self._insecure = insecure
        try:
            self._base = httpx.URL(f"{'http' if insecure else 'https'}://{name.host}/v2/{name.namespace}/{name.model}/")
        except httpx.InvalidURL as error:
            raise DownloadError(
                f"'{printable(name.host)}' is no address of a registry; it should be a host, with a port if need be."
            ) from error
        agent = f"sotto/{__version__} ({platform.machine()} {platform.system().lower()})"
        # A compressed blob would have another digest, and could become any size.
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
    def where(self) -> str:
        """The registry's host, as it can be shown."""
        return printable(self._name.host)

    @property
    def manifest_path(self) -> Path:
        """What stands for the manifest in messages, as the file that it is not yet."""
        name = self._name
        return Path(name.host, "v2", name.namespace, name.model, "manifests", name.tag)

    async def manifest(self) -> bytes:
        """Return the manifest's bytes.

        Raises:
            ModelNotFoundError: The registry has no such model.
            TryAgainError: The registry cannot be reached, or not now.
            StoreError: It refuses, or sends more than a manifest can be.
        """
        url = self._base.join(f"manifests/{self._name.tag}")
        async with self._within_time(), self._get(url, {"Accept": _MANIFEST_TYPE}) as response:
            if response.status_code == 404:
                raise ModelNotFoundError(
                    f"{self.where} has no model {printable(self._name.short)}; check its name and tag."
                )
            if response.status_code != 200:
                raise await self._refusal(response)
            data = await self._bounded(response, MANIFEST_LIMIT)
            if len(data) > MANIFEST_LIMIT:
                raise BrokenModelError(
                    f"The manifest that {self.where} sends for {printable(self._name.short)} is larger than "
                    f"{format_size(MANIFEST_LIMIT)}, the most that a manifest can be."
                )
            return data

    @asynccontextmanager
    async def blob(self, digest: str, start: int, size: int) -> AsyncIterator[Answer]:
        """Ask for a blob from byte `start` on; the answer may begin at 0 all the same.

        Raises:
            TryAgainError: The registry cannot be reached, or not now.
            WrongBytesError: It sends another part of the blob, or says that the blob has another size.
            DownloadError: It refuses.
        """
        headers = {"Range": f"bytes={start}-"} if start else {}
        async with self._get(self._base.join(f"blobs/sha256:{digest}"), headers) as response:
            status = response.status_code
            if status == 416 and start:
                raise WrongBytesError(f"{self.where} says that the file ends before byte {start}; it has {size}.")
            if status == 403:
                # Where a redirect leads is open for a while only.
                raise TryAgainError(f"{printable(response.url.host)} refuses the file (403).")
            if status not in (200, 206):
                raise await self._refusal(response)
            begins = _begins(response, start, size, self.where) if status == 206 else 0
            async with aclosing(self._pieces(response)) as pieces:
                yield Answer(begins, pieces)

    @asynccontextmanager
    async def _get(self, url: httpx.URL, headers: dict[str, str]) -> AsyncIterator[httpx.Response]:
        """Ask, with a token where one is wanted, and go where the answer leads."""
        renewed = False
        redirects = 0
        while True:
            at_home = (url.scheme, url.netloc) == (self._base.scheme, self._base.netloc)
            token = self._token
            own = {"Authorization": f"Bearer {token}"} if at_home and token else {}
            response = await self._send(url, headers | own)
            try:
                if response.status_code == 401 and at_home and not renewed:
                    renewed = True
                    await self._renew(token, response)
                elif response.has_redirect_location:
                    redirects += 1
                    if redirects > _MOST_REDIRECTS:
                        raise DownloadError(f"{self.where} leads on more than {_MOST_REDIRECTS} times, and nowhere.")
                    url = self._next(response)
                else:
                    yield response
                    return
            finally:
                await response.aclose()

    async def _send(self, url: httpx.URL, headers: dict[str, str]) -> httpx.Response:
        try:
            async with self._within_time():
                return await self._client.send(self._client.build_request("GET", url, headers=headers), stream=True)
        except NO_ANSWER as error:
            raise self._no_answer(error, url) from error

    async def _pieces(self, response: httpx.Response) -> AsyncGenerator[bytes, None]:
        try:
            async for piece in response.aiter_raw():
                yield piece
        except NO_ANSWER as error:
            raise self._no_answer(error, response.url) from error

    async def _bounded(self, response: httpx.Response, limit: int) -> bytes:
        """Return an answer's bytes, or a few more than `limit` of them if it has more."""
        data = b""
        async with aclosing(self._pieces(response)) as pieces:
            async for piece in pieces:
                data += piece
                if len(data) > limit:
                    break
        return data

    async def _renew(self, stale: str, response: httpx.Response) -> None:
        """Get a token, unless another connection has got one meanwhile."""
        async with self._renewing:
            if self._token != stale:
                return
            url = token_url(response.headers.get("WWW-Authenticate", ""), response.request.url)
            async with self._within_time():
                answer = await self._send(url, {})
                try:
                    if answer.status_code != 200:
                        raise await self._refusal(answer)
                    data = await self._bounded(answer, _TOKEN_LIMIT)
                finally:
                    await answer.aclose()
            if len(data) > _TOKEN_LIMIT:
                raise DownloadError(f"{self.where} answers with far more than a token.")
            self._token = token_in(parse_object(data, f"The token from {self.where}", strict=False), self.where)

    def _next(self, response: httpx.Response) -> httpx.URL:
        location = response.headers["Location"]
        try:
            url = response.url.join(location)
        except httpx.InvalidURL as error:
            raise DownloadError(f"{self.where} leads to '{printable(location)}', which is no address.") from error
        if url.scheme not in (("http", "https") if self._insecure else ("https",)) or not url.host:
            raise DownloadError(f"{self.where} leads to '{printable(str(url))}'; it should be an address with https.")
        return url

    async def _refusal(self, response: httpx.Response) -> StoreError:
        """Return what an answer that is no success means."""
        status, host = response.status_code, printable(response.url.host)
        if (later := busy(response, host)) is not None:
            return later
        if status in (401, 403):
            return DownloadError(
                f"{host} does not give {printable(self._name.short)} to everybody ({status}); Sotto downloads public "
                "models only."
            )
        words = printable(" ".join((await self._bounded(response, _WORDS_LIMIT)).decode(errors="replace").split()))
        return DownloadError(f"{host} answers {status}{f': {words}' if words else ''}.")

    def _no_answer(self, error: Exception, url: httpx.URL) -> DownloadError:
        return no_answer(error, printable(url.host), self._patience.silence)

    @asynccontextmanager
    async def _within_time(self) -> AsyncIterator[None]:
        try:
            async with asyncio.timeout(self._patience.answer):
                yield
        except TimeoutError as error:
            raise TryAgainError(
                f"{self.where} has not answered for {self._patience.answer:g} seconds.", silent=True
            ) from error


def _begins(response: httpx.Response, start: int, size: int, where: str) -> int:
    """Return where a part begins, which an answer 206 must say."""
    said = response.headers.get("Content-Range", "")
    match = _RANGE.fullmatch(said)
    if match is None or int(match[1]) != start or match[3] not in ("*", str(size)):
        raise WrongBytesError(
            f"{where} sends '{printable(said)}'; it should send the bytes from {start} on of a file of {size}."
        )
    return start
