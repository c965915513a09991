"""Who may use the API: which keys can be sent in a header, and which web pages may call it."""

import re

from sotto.errors import SottoError
from sotto.store.printable import printable

_LONGEST_KEY = 1000

KEY_RULE = f"A key has up to {_LONGEST_KEY:,} letters, digits and signs of English, and no blanks."
_ORIGIN = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://[A-Za-z0-9*._:\[\]-]*/?")


class OriginError(SottoError):
    """A text is not a list of web pages."""


def can_be_sent(key: str) -> bool:
    """Return whether every client can send a key in a header; an empty text means no key, and passes."""
    return len(key) <= _LONGEST_KEY and key.isascii() and key.isprintable() and " " not in key


def read_origins(text: str) -> re.Pattern[str] | None:
    """Return which pages a list of origins means, as `OLLAMA_ORIGINS` has it; None for none.

    Args:
        text: Origins with commas between them. `*` stands for any part of a name or port, and alone for every page.

    Raises:
        OriginError: One is none.
    """
    patterns = []
    for origin in filter(None, (part.strip() for part in text.split(","))):
        if origin == "*":
            patterns.append(".+")
        elif _ORIGIN.fullmatch(origin) is None:
            raise OriginError(
                f"'{printable(origin)}' is no origin; it should be such as https://example.com or http://localhost:*, "
                "or * for every page."
            )
        else:
            patterns.append(re.escape(origin.rstrip("/").lower()).replace(r"\*", "[^/@]*"))
    return re.compile("|".join(patterns)) if patterns else None
