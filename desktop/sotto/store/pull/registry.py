"""Registries as a source of models.

The protocol is that of container registries, as Ollama's registry speaks it: `/v2/<namespace>/<model>/manifests/<tag>`
and `/v2/<namespace>/<model>/blobs/<digest>`, the latter usually by a redirect to another host.
"""

import asyncio
from contextlib import AbstractAsyncContextManager
from pathlib import Path

import httpx

from sotto.errors import BrokenModelError, DownloadError, ModelNotFoundError, StoreError
from sotto.store.bounded_json import parse_object
from sotto.store.printable import format_size, printable
from sotto.store.pull.bearer_tokens import token_in, token_url
from sotto.store.pull.http_source import HttpSource
from sotto.store.pull.model_source import BlobStream, Offer, Present
from sotto.store.pull.terms import Patience
from sotto.store.sources.hugging_face_names import HUGGING_FACE
from sotto.store.sources.manifest import MANIFEST_LIMIT, Layer
from sotto.store.sources.model_names import DEFAULT_HOST, DEFAULT_NAMESPACE, ModelName

_MANIFEST_TYPE = "application/vnd.docker.distribution.manifest.v2+json"
_TOKEN_LIMIT = 64 << 10


class Registry(HttpSource):
    """A client of one registry, for one model."""

    def __init__(self, name: ModelName, patience: Patience, *, insecure: bool = False) -> None:
        """Create a client for the model of a name; `insecure` connects over HTTP without TLS.

        Raises:
            DownloadError: The name's host is not a valid address, or the proxy settings of the environment are invalid.
        """
        base = f"{'http' if insecure else 'https'}://{name.host}/v2/{name.namespace}/{name.model}/"
        super().__init__(base, name.host, patience, insecure=insecure)
        self._name = name
        self._token = ""
        self._renewing = asyncio.Lock()

    @property
    def manifest_path(self) -> Path:
        """A path that stands for the manifest in error messages until it is a file."""
        name = self._name
        return Path(name.host, "v2", name.namespace, name.model, "manifests", name.tag)

    async def resolve(self, present: Present) -> Offer:
        """Return the manifest; see `ModelSource.resolve`."""
        url = self._base.join(f"manifests/{self._name.tag}")
        async with self._within_time(), self._get(url, {"Accept": _MANIFEST_TYPE}) as response:
            if response.status_code == 404:
                raise ModelNotFoundError(
                    f"{self.host} has no model {printable(self._name.short)}; check its name and tag{self._hint()}."
                )
            if response.status_code != 200:
                raise await self._refusal(response)
            data = await self._bounded(response, MANIFEST_LIMIT)
            if len(data) > MANIFEST_LIMIT:
                raise BrokenModelError(
                    f"The manifest that {self.host} sends for {printable(self._name.short)} is larger than "
                    f"{format_size(MANIFEST_LIMIT)}, the most that a manifest can be."
                )
            return Offer(data)

    def local_file(self, layer: Layer) -> Path | None:
        """Return None, as the blobs of registries are only in stores."""
        return None

    def open_blob(self, layer: Layer, start: int) -> AbstractAsyncContextManager[BlobStream]:
        """Request a blob; see `ModelSource.open_blob`."""
        return self._open(self._base.join(f"blobs/sha256:{layer.digest}"), start, layer.size)

    def _hint(self) -> str:
        """Return the end of a sentence about an unknown name that may be one of Hugging Face's."""
        name = self._name
        if name.host != DEFAULT_HOST or name.namespace == DEFAULT_NAMESPACE:
            return ""
        return f", or write {HUGGING_FACE}/{name.namespace}/{name.model} for a model of Hugging Face"

    def _credentials(self) -> dict[str, str]:
        return {"Authorization": f"Bearer {self._token}"} if self._token else {}

    async def _renewed(self, sent: dict[str, str], response: httpx.Response) -> bool:
        """Request a new token, unless another connection has replaced the stale one meanwhile."""
        async with self._renewing:
            if self._credentials() != sent:
                return True
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
        return True

    async def _refusal(self, response: httpx.Response) -> StoreError:
        if response.status_code in (401, 403):
            return DownloadError(
                f"{printable(response.url.host)} does not give {printable(self._name.short)} to the public "
                f"({response.status_code}); Sotto downloads only public models."
            )
        return await super()._refusal(response)
