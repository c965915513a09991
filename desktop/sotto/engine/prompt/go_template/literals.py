"""The constants of a Go template: numbers, texts and characters in Go's notation."""

import math
import re

_ESCAPE = re.compile(r"\\(?:x([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|([0-7]{3})|(.))", re.DOTALL)
_LETTERS = {"a": "\a", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v", "\\": "\\"}
_HALF = re.compile("[\ud800-\udc7f\udd00-\udfff]")
# Go's integers have 64 bits.
_LEAST, _MOST = -(2**63), 2**64 - 1


def number(text: str) -> int | float:
    """Return the number that `text` is.

    Raises:
        ValueError: It is none, or one that Go has no place for.
    """
    plain = text.replace("_", "")
    digits = plain.lstrip("+-").lower()
    if digits.startswith(("0x", "0b", "0o")):
        value: int | float = int(plain, 0)
    elif digits.isdigit():
        # A leading zero makes it octal, as in C.
        value = int(plain, 8 if digits.startswith("0") else 10)
    else:
        value = float(plain)
        if math.isinf(value):
            raise ValueError(f"{text[:40]} is too large")
        return value
    if not _LEAST <= value <= _MOST:
        raise ValueError(f"{text[:40]} is too large")
    return value


def string(text: str) -> str:
    """Return the text that a literal in quotes or backquotes is; bytes that are no UTF-8 become surrogates.

    Raises:
        ValueError: Something escaped is not known.
    """
    if text.startswith("`"):
        return text[1:-1].replace("\r", "")
    return decoded(_unescape(text[1:-1], '"'))


def character(text: str) -> int:
    """Return the code point that a literal in single quotes is.

    Raises:
        ValueError: It is not one character.
    """
    value = decoded(_unescape(text[1:-1], "'"))
    if len(value) != 1:
        raise ValueError(f"{text[:40]} is not one character")
    return ord(value)


def encoded(text: str) -> bytes:
    """Return the bytes of a text, which is what Go counts and cuts; the other way round is `decoded`.

    Halves of surrogate pairs that stand for no byte become U+FFFD, as Go itself reads them in JSON.
    """
    return _HALF.sub("\ufffd", text).encode(errors="surrogateescape")


def decoded(data: bytes) -> str:
    """Return the text that bytes are, with surrogates for those that are no UTF-8."""
    return data.decode(errors="surrogateescape")


def _unescape(text: str, quote: str) -> bytes:
    def replaced(match: re.Match[str]) -> bytes:
        byte, short, long, octal, letter = match.groups()
        if byte or octal:
            value = int(byte, 16) if byte else int(octal, 8)
            if value > 255:
                raise ValueError(f"\\{octal} is no byte")
            return bytes([value])
        if short or long:
            return chr(int(short or long, 16)).encode()
        if letter != quote and letter not in _LETTERS:
            raise ValueError(f"\\{letter} is nothing that Go knows")
        return (quote if letter == quote else _LETTERS[letter]).encode()

    try:
        pieces, place = [], 0
        for match in _ESCAPE.finditer(text):
            pieces += [text[place : match.start()].encode(), replaced(match)]
            place = match.end()
        return b"".join((*pieces, text[place:].encode()))
    except (UnicodeEncodeError, OverflowError) as error:
        raise ValueError("a text has what is no character") from error
