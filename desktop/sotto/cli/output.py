"""Printing for people: sizes, counts, and text that a model wrote."""

import sys
import unicodedata


def human_bytes(count: int) -> str:
    """Return `count` bytes in powers of ten, with three digits at most."""
    size = float(count)
    for unit in ("B", "kB", "MB", "GB"):
        if size < 999.5:
            return f"{size:.0f} {unit}" if unit == "B" or size >= 99.5 else f"{size:.1f} {unit}"
        size /= 1000
    return f"{size:.1f} TB"


def human_count(count: int) -> str:
    """Return a number of parameters as people write it: `8.0B`, `260K`."""
    size = float(count)
    for unit in ("", "K", "M", "B"):
        if size < 999.5:
            return f"{size:.0f}{unit}" if not unit or size >= 99.5 else f"{size:.1f}{unit}"
        size /= 1000
    return f"{size:.1f}T"


def printable(text: str) -> str:
    """Return `text` without control characters, except line breaks and tabs: a model must not drive the terminal."""
    return "".join(char for char in text if char in "\n\t" or unicodedata.category(char) != "Cc")


def write_answer(text: str) -> None:
    """Write a piece of an answer to stdout at once; to a terminal only what cannot drive it."""
    sys.stdout.write(printable(text) if sys.stdout.isatty() else text)
    sys.stdout.flush()
