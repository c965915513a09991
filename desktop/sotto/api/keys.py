"""Which API keys there can be."""

_LONGEST = 1000

KEY_RULE = f"A key has up to {_LONGEST:,} letters, digits and signs of English, and no blanks."


def can_be_sent(key: str) -> bool:
    """Tell whether a key is one that every client can send in a header; an empty one is none, and passes."""
    return len(key) <= _LONGEST and key.isascii() and key.isprintable() and " " not in key
