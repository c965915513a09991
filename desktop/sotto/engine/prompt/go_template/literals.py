"""Literals of Go templates: numbers, strings and characters in Go's notation."""

import math
import re

_ESCAPE = re.compile(r"\\(?:x([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|([0-7]{3})|(.))", re.DOTALL)
_LETTERS = {"a": "\a", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v", "\\": "\\"}
_HALF = re.compile("[\ud800-\udc7f\udd00-\udfff]")
# Go's integers have 64 bits.
_MIN_INT, _MAX_INT = -(2**63), 2**64 - 1


def number(text: str) -> int | float:
    """Return the value of a numeric literal.

    Raises:
        ValueError: It is not a number, or too large for Go's types.
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
    if not _MIN_INT <= value <= _MAX_INT:
        raise ValueError(f"{text[:40]} is too large")
    return value


def string(text: str) -> str:
    """Return the value of a literal in quotes or backquotes; bytes that are not UTF-8 become surrogates.

    Raises:
        ValueError: It has an invalid escape.
    """
    if text.startswith("`"):
        return text[1:-1].replace("\r", "")
    return decode(_unescape(text[1:-1], '"'))


def character(text: str) -> int:
    """Return the code point of a literal in single quotes.

    Raises:
        ValueError: It is not one character.
    """
    value = decode(_unescape(text[1:-1], "'"))
    if len(value) != 1:
        raise ValueError(f"{text[:40]} is not one character")
    return ord(value)


def encode(text: str) -> bytes:
    """Return the UTF-8 bytes of a text, by which Go measures and slices strings; `decode` is the reverse.

    Lone surrogates that do not stand for a byte become U+FFFD, as Go itself reads them from JSON.
    """
    return _HALF.sub("\ufffd", text).encode(errors="surrogateescape")


def decode(data: bytes) -> str:
    """Return bytes as text, with surrogates for those that are not UTF-8."""
    return data.decode(errors="surrogateescape")


def _unescape(text: str, quote: str) -> bytes:
    def replace(match: re.Match[str]) -> bytes:
        byte, short, long, octal, letter = match.groups()
        if byte or octal:
            value = int(byte, 16) if byte else int(octal, 8)
            if value > 255:
                raise ValueError(f"\\{octal} is not a byte")
            return bytes([value])
        if short or long:
            return chr(int(short or long, 16)).encode()
        if letter != quote and letter not in _LETTERS:
            raise ValueError(f"\\{letter} is nothing that Go knows")
        return (quote if letter == quote else _LETTERS[letter]).encode()

    try:
        pieces, place = [], 0
        for match in _ESCAPE.finditer(text):
            pieces += [text[place : match.start()].encode(), replace(match)]
            place = match.end()
        return b"".join((*pieces, text[place:].encode()))
    except (UnicodeEncodeError, OverflowError) as error:
        raise ValueError("a text has what is not a character") from error
