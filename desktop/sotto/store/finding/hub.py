"""A client of the part of Hugging Face's API that finds models. It sends what is searched for, and nothing else.

No token is sent: what can be found is public. An answer comes from the host that was asked, and has a bounded size.
"""

import asyncio
from dataclasses import replace
from typing import Self
from urllib.parse import quote

import httpx

from sotto import __version__
from sotto.errors import DownloadError, SottoError
from sotto.store.bounded_json import parse_object
from sotto.store.finding.gguf_shapes import BEGINNING, gguf_shapes
from sotto.store.finding.hub_records import FIELDS, FoundModel, HubKind, parse_page, parse_search
from sotto.store.printable import format_size, printable
from sotto.store.pull.http_source import open_client
from sotto.store.pull.pull_errors import REQUEST_ERRORS, busy_error, connection_error

RESULTS = 20
"""The most models of each kind that a search returns."""

_SECONDS = 15.0
_LIMIT = 8 << 20
_CONFIG_LIMIT = 1 << 20
_MAX_REDIRECTS = 3


class Hub:
    """A client; an asynchronous context manager."""

    def __init__(self, address: str, seconds: float = _SECONDS) -> None:
        """Create a client of an address from `hub_address`; `seconds` is how long an answer may take as a whole.

        Raises:
            DownloadError: The proxy or the certificates that the environment names cannot be used.
        """
        self._base, self._seconds = httpx.URL(address), seconds
        self.host = printable(self._base.host)
        headers = {"User-Agent": f"sotto/{__version__}", "Accept-Encoding": "identity"}
        self._client = open_client(headers, seconds)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._client.aclose()

    async def search(self, words: str) -> list[FoundModel]:
        """Return models that are called like `words`, the most downloaded first.

        Raises:
            DownloadError: Hugging Face cannot be reached, or refuses.
            BrokenModelError: Its answer makes no sense.
        """
        # A failure of one does not leave the others running.
        found = await asyncio.gather(*(self._search(words, kind) for kind in HubKind), return_exceptions=True)
        once: dict[str, FoundModel] = {}
        for models in found:
            if isinstance(models, BaseException):
                raise models
            once |= {model.id: model for model in models}
        return sorted(once.values(), key=lambda model: (-model.downloads, model.id))

    async def _search(self, words: str, kind: HubKind) -> list[FoundModel]:
        parameters = [("search", words), ("filter", kind.value), ("sort", "downloads"), ("limit", str(RESULTS))]
        fields = [("expand[]", name) for name in FIELDS]
        url = self._base.join("/api/models").copy_merge_params([*parameters, *fields])
        return parse_search(await self._fetch(url, _LIMIT), kind, self.host)

    async def complete(self, found: FoundModel) -> FoundModel:
        """Return a found model with the sizes of its files and, as far as they are told, its shapes.

        Raises:
            DownloadError: Hugging Face cannot be reached, or refuses.
            BrokenModelError: Its answer makes no sense.
        """
        url = self._base.join(f"/api/models/{found.id}").copy_merge_params([("blobs", "true")])
        page = parse_page(await self._fetch(url, _LIMIT), found, self.host)
        config = dict(page.config)
        try:
            if page.kind is HubKind.MLX:
                data = await self._fetch(self._file(page.id, "config.json"), _CONFIG_LIMIT)
                config |= parse_object(data, "config.json", strict=False)
            elif page.file:
                config |= gguf_shapes(await self._fetch(self._file(page.id, page.file), BEGINNING, cut=True))
        except SottoError:
            # Without its shapes, only the size of a model is known.
            return replace(page, complete=True)
        return replace(page, config=config, complete=True)

    def _file(self, name: str, path: str) -> httpx.URL:
        return self._base.join(f"/{name}/resolve/main/{quote(path)}")

    async def _fetch(self, url: httpx.URL, limit: int, *, cut: bool = False) -> bytes:
        """Return what is at an address.

        Args:
            url: The address.
            limit: The most bytes.
            cut: Whether to return the beginning of something longer, which is asked for.
        """
        headers = {"Range": f"bytes=0-{limit - 1}"} if cut else {}
        try:
            async with asyncio.timeout(self._seconds):
                for _ in range(_MAX_REDIRECTS + 1):
                    async with self._client.stream("GET", url, headers=headers) as response:
                        if not response.has_redirect_location:
                            return await self._content(response, limit, cut)
                        url = self._redirected(response, files=cut)
        except TimeoutError as error:
            raise DownloadError(f"{self.host} has not answered for {self._seconds:g} seconds.") from error
        except REQUEST_ERRORS as error:
            raise connection_error(error, self.host, self._seconds) from error
        raise DownloadError(f"{self.host} redirects more than {_MAX_REDIRECTS} times.")

    def _redirected(self, response: httpx.Response, *, files: bool) -> httpx.URL:
        """Return where a redirect leads: to the same host, or, for files, to another one by TLS."""
        url = response.url.join(response.headers["Location"])
        if (url.scheme, url.netloc) == (self._base.scheme, self._base.netloc) or (files and url.scheme == "https"):
            return url
        raise DownloadError(f"{self.host} leads to {printable(url.host)}, where Sotto does not look for models.")

    async def _content(self, response: httpx.Response, limit: int, cut: bool) -> bytes:
        if (busy := busy_error(response, self.host)) is not None:
            raise busy
        if response.status_code not in (200, 206):
            raise DownloadError(f"{self.host} answers {response.status_code} instead of what was asked for.")
        data = bytearray()
        async for piece in response.aiter_raw():
            data += piece
            if len(data) > limit and not cut:
                raise DownloadError(f"{self.host} sends more than {format_size(limit)}, which is too much to show.")
            if cut and len(data) >= limit:
                break
        return bytes(data[:limit])
