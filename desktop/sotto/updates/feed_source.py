"""Where the list of versions is, and how it is fetched: one request that says nothing about its sender."""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from sotto.errors import BrokenModelError
from sotto.paths import resources_dir
from sotto.store.bounded_json import read_object
from sotto.updates.minisign import PublicKey
from sotto.updates.update_errors import UpdateError

if TYPE_CHECKING:
    import ssl

    import httpx

LIMIT = 1 << 20
_SECONDS = 30.0
# No version, no system and no language; the answer is not compressed, so that its size is what arrives.
_HEADERS = {"User-Agent": "Sotto", "Accept": "*/*", "Accept-Encoding": "identity"}


@dataclass(frozen=True, slots=True)
class Source:
    """An address, and the key that what is there is signed with.

    Attributes:
        url: The address.
        key: The key.
    """

    url: str
    key: PublicKey


def own_source(path: Path | None = None) -> Source | None:
    """Return where this build looks for updates; None for a build without a release key, which cannot.

    Args:
        path: The file that says so; None for the one that comes along.

    Raises:
        UpdateError: The file is wrong.
    """
    path = path or resources_dir() / "updates.json"
    try:
        fields = read_object(path, strict=True)
    except BrokenModelError as error:
        raise UpdateError(error.message) from error
    url, key = fields.get("url"), fields.get("key")
    if url == key == "":
        return None
    if not isinstance(url, str) or not isinstance(key, str) or not url.startswith("https://"):
        raise UpdateError(f"{path} should have a url that begins with https:// and a key, or neither.")
    return Source(url, PublicKey.parse(key))


def tls() -> "ssl.SSLContext":
    """Return what encrypted connections need; takes a moment, so it is called on another thread."""
    import httpx

    return httpx.create_ssl_context()


async def fetch(url: str, context: "ssl.SSLContext", seconds: float = _SECONDS) -> bytes:
    """Return what is at an address.

    Args:
        url: The address.
        context: From `tls`.
        seconds: How long it may take as a whole.

    Raises:
        UpdateError: It cannot be had, is too large, or is said to be elsewhere.
    """
    import asyncio

    import httpx

    host = httpx.URL(url).host
    try:
        async with (
            asyncio.timeout(seconds),
            httpx.AsyncClient(verify=context, timeout=seconds) as client,
            client.stream("GET", url, headers=_HEADERS) as response,
        ):
            return await _content(response, host)
    except (TimeoutError, httpx.TimeoutException) as error:
        raise UpdateError(f"{host} did not answer within {seconds:.0f} seconds.") from error
    except (httpx.TransportError, OSError) as error:
        raise UpdateError(f"{host} cannot be reached; check the connection to the internet.") from error


async def _content(response: "httpx.Response", host: str) -> bytes:
    if response.has_redirect_location:
        raise UpdateError(f"{host} says that the list of versions is elsewhere, where Sotto does not look.")
    if response.status_code != 200:
        raise UpdateError(f"{host} answers with status {response.status_code} instead of the list of versions.")
    content = bytearray()
    async for piece in response.aiter_raw():
        content += piece
        if len(content) > LIMIT:
            raise UpdateError(f"{host} sends more than a list of versions can be ({LIMIT >> 20} MB).")
    return bytes(content)
