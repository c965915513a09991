"""The settings of Hugging Face's own library that count here as well: its address, its tokens and its cache.

https://huggingface.co/docs/huggingface_hub/package_reference/environment_variables
"""

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import httpx

from sotto.errors import BrokenModelError, DownloadError
from sotto.store.files import read_all
from sotto.store.printable import printable, printable_path
from sotto.store.roots import hugging_face_cache, hugging_face_token

_ENDPOINT = "https://huggingface.co"
_TOKEN_LIMIT = 16 << 10
_TOKEN = re.compile(r"[\x21-\x7e]+")
_YES = frozenset({"1", "on", "yes", "true"})


@dataclass(frozen=True, slots=True)
class Token:
    """A token, and where it was found, for error messages."""

    value: str
    place: str


def endpoint(*, insecure: bool, environ: Mapping[str, str] = os.environ) -> str:
    """Return the address of Hugging Face or of the mirror in `HF_ENDPOINT`, without a slash at its end.

    Raises:
        DownloadError: It is not an address, or one without TLS although that was not allowed.
    """
    text = environ.get("HF_ENDPOINT", "").strip().rstrip("/") or _ENDPOINT
    try:
        url = httpx.URL(text)
    except httpx.InvalidURL:
        url = httpx.URL("")
    if url.scheme not in (("http", "https") if insecure else ("https",)) or not url.host:
        raise DownloadError(f"HF_ENDPOINT is '{printable(text)}'; it should be an address that begins with https://.")
    return text


def find_token(environ: Mapping[str, str] = os.environ) -> Token | None:
    """Return the token that the user has for Hugging Face, or None.

    Raises:
        DownloadError: What should be a token is none.
    """
    if environ.get("HF_HUB_DISABLE_IMPLICIT_TOKEN", "").strip().lower() in _YES:
        return None
    for variable in ("HF_TOKEN", "HUGGING_FACE_HUB_TOKEN"):
        if text := environ.get(variable, "").strip():
            return _checked(text, variable)
    path = hugging_face_token(environ)
    if not path.is_file():
        return None
    try:
        text = read_all(path, _TOKEN_LIMIT, "a token").decode("ascii", "replace").strip()
    except BrokenModelError as error:
        raise DownloadError(error.message) from error
    return _checked(text, printable_path(path)) if text else None


def cached_file(owner: str, model: str, name: str) -> Path | None:
    """Return a blob of Hugging Face's cache; None if the cache does not have it.

    Args:
        owner: The owner of the repository.
        model: The repository.
        name: What the cache names the file by: the sha256 of a large file, the git object id of a small one.
    """
    path = hugging_face_cache() / f"models--{owner}--{model}" / "blobs" / name
    return path if path.is_file() and not path.is_symlink() else None


def _checked(text: str, place: str) -> Token:
    if not _TOKEN.fullmatch(text):
        raise DownloadError(f"{place} should hold a token of Hugging Face; it holds other characters than such have.")
    return Token(text, place)
