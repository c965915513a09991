"""The address of Hugging Face, which `HF_ENDPOINT` can replace by that of a mirror."""

import os
from collections.abc import Mapping
from urllib.parse import urlsplit

from sotto.errors import DownloadError
from sotto.store.printable import printable

_HOME = "https://huggingface.co"
_LOOPBACK = frozenset({"127.0.0.1", "localhost", "::1"})


def endpoint(environ: Mapping[str, str] = os.environ) -> str:
    """Return the address, without a slash at its end.

    Raises:
        DownloadError: `HF_ENDPOINT` is not an address, or one that others on the way can read.
    """
    text = environ.get("HF_ENDPOINT", "").strip().rstrip("/") or _HOME
    try:
        parts = urlsplit(text)
        host = parts.hostname
    except ValueError:
        host = None
    if not host or not (parts.scheme == "https" or (parts.scheme == "http" and host in _LOOPBACK)):
        raise DownloadError(f"HF_ENDPOINT is '{printable(text)}'; it should be an address that begins with https://.")
    return text


def shown_host(environ: Mapping[str, str] = os.environ) -> str:
    """Return the host of the address as text, also of one that cannot be used."""
    text = environ.get("HF_ENDPOINT", "").strip() or _HOME
    return printable(text.partition("://")[2].partition("/")[0] or text)
