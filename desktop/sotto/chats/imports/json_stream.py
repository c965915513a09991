"""Reads the values of a JSON text one after the other, so that memory holds one chat of an export and not all.

Yields the elements of a list, the values of JSON Lines, or one object. Python's parser needs a whole value: it is tried
with more and more of the text until a value is complete.
"""

import json
from collections.abc import Iterator
from typing import IO, Any

from sotto.errors import SottoError

LARGEST_VALUE = 256 * 1024**2
"""Characters of a value: a chat, or an export that is one object."""
_WINDOW = 1 << 20
_SPACE = " \t\n\r"
_AFTER = tuple(",]} \t\n\r")


class JsonStreamError(SottoError):
    """A text is not JSON, or a value in it is too large or too deeply nested."""


def values_in(stream: IO[str]) -> Iterator[Any]:
    """Yield the values of a text.

    Raises:
        JsonStreamError: The text is not JSON from here on; values before were yielded.
    """
    reading = _Reading(stream)
    if reading.next() != "[":
        while reading.next():
            yield reading.value()
        return
    reading.skip()
    if reading.next() == "]":
        return
    while True:
        yield reading.value()
        mark = reading.next()
        if mark not in ("]", ","):
            raise JsonStreamError(f"it is not JSON at character {reading.place:,}")
        reading.skip()
        if mark == "]":
            return


class _Reading:
    """A place in a text, and the text from there on that has been read.

    Attributes:
        place: The number of characters before it.
    """

    def __init__(self, stream: IO[str]) -> None:
        """Begin at the beginning."""
        self._stream = stream
        self._text, self._at, self._ended = "", 0, False
        self._decoder = json.JSONDecoder()
        self._passed = 0

    @property
    def place(self) -> int:
        return self._passed + self._at

    def next(self) -> str:
        """Return the next character that is no space, without passing it; empty at the end."""
        while True:
            while self._at < len(self._text) and self._text[self._at] in _SPACE:
                self._at += 1
            if self._at < len(self._text):
                return self._text[self._at]
            if not self._read(_WINDOW):
                return ""

    def skip(self) -> None:
        """Pass one character."""
        self._at += 1

    def value(self) -> Any:
        """Return the next value, and pass it.

        Raises:
            JsonStreamError: There is none.
        """
        self.next()
        while True:
            rest = len(self._text) - self._at
            try:
                value, end = self._decoder.raw_decode(self._text, self._at)
            except RecursionError as deep:
                raise JsonStreamError(f"it is nested too deeply at character {self.place:,}") from deep
            except ValueError as error:
                if rest > LARGEST_VALUE:
                    raise JsonStreamError(f"it has a value of more than {LARGEST_VALUE:,} characters") from error
                if not self._read(max(_WINDOW, rest)):
                    place = self._passed + (error.pos if isinstance(error, json.JSONDecodeError) else self._at)
                    raise JsonStreamError(f"it is not JSON at character {place:,}") from error
            else:
                # A number may go on in the text that has not been read yet.
                is_open = isinstance(value, int | float) and self._text[end : end + 1] not in _AFTER
                if is_open and self._read(_WINDOW):
                    continue
                self._at = end
                return value

    def _read(self, size: int) -> bool:
        """Read more, and forget what has been passed; return whether there was more."""
        more = "" if self._ended else self._stream.read(size)
        if not more:
            self._ended = True
            return False
        self._passed += self._at
        self._text, self._at = self._text[self._at :] + more, 0
        return True
