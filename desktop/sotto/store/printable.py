"""Text from files and requests made safe to print: escaped, on one line and of bounded length."""

import os
import unicodedata

_NAME_LENGTH = 120
_PATH_LENGTH = 1000


def printable(text: str, limit: int = _NAME_LENGTH) -> str:
    """Return `text` on one line, with control, invisible and direction-changing characters escaped.

    Args:
        text: Any text; lone surrogates, which stand for undecodable bytes of file names, are escaped, too.
        limit: The longest result in characters, before escaping; longer texts lose their middle.
    """
    if len(text) > limit:
        head = limit // 2
        text = f"{text[:head]}…{text[head + 1 - limit :]}"
    if text.isprintable():
        return text
    return "".join(char if char.isprintable() else _escaped(char) for char in text)


def printable_path(path: str | os.PathLike[str]) -> str:
    """Return a path as `printable` text."""
    return printable(os.fspath(path), _PATH_LENGTH)


def with_path(path: str | os.PathLike[str], message: str) -> str:
    """Return a message about a file, with the path put in front unless the message already contains it."""
    name = printable_path(path)
    return message if name in message else f"{name}: {message}"


def format_size(count: int) -> str:
    """Return `count` bytes in decimal units, for example `4.2 MB`."""
    size = float(count)
    for unit in ("B", "kB", "MB", "GB", "TB"):
        if size < 999.5:
            return f"{size:.0f} {unit}" if unit == "B" else f"{size:.3g} {unit}"
        size /= 1000
    return f"{size:.3g} PB"


def _escaped(char: str) -> str:
    if unicodedata.category(char) == "Zs":
        return " "
    code = ord(char)
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"
