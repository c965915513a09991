"""Access to the API: which keys a header can carry, and which web pages may call it."""

import re

from sotto.errors import SottoError
from sotto.store.printable import printable

_MAX_KEY_LENGTH = 1000

KEY_RULE = f"A key can have up to {_MAX_KEY_LENGTH:,} ASCII letters, digits and symbols, without spaces."
_ORIGIN = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://[A-Za-z0-9*._:\[\]-]*/?")


class OriginError(SottoError):
    """A text is not a list of web origins."""


def can_be_sent(key: str) -> bool:
    """Return whether every client can send a key in a header; an empty text stands for no key and passes."""
    return len(key) <= _MAX_KEY_LENGTH and key.isascii() and key.isprintable() and " " not in key


def read_origins(text: str) -> re.Pattern[str] | None:
    """Return a pattern that matches the listed origins, written as in `OLLAMA_ORIGINS`; None for an empty list.

    Args:
        text: Origins separated by commas. `*` stands for any part of a name or port, and alone for every page.

    Raises:
        OriginError: An entry is not an origin.
    """
    patterns = []
    for origin in filter(None, (part.strip() for part in text.split(","))):
        if origin == "*":
            patterns.append(".+")
        elif _ORIGIN.fullmatch(origin) is None:
            raise OriginError(
                f"'{printable(origin)}' is not an origin; it should look like https://example.com or "
                "http://localhost:*, or * for every page."
            )
        else:
            patterns.append(re.escape(origin.rstrip("/").lower()).replace(r"\*", "[^/@]*"))
    return re.compile("|".join(patterns)) if patterns else None
