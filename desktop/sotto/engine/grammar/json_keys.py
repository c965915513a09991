"""Tracks the keys of JSON that is being written, so that no object gets one twice: no grammar can remember them.

Strings in answers have only one spelling (`sotto.engine.grammar.grammars`), so keys are compared as they are written.
"""

from dataclasses import dataclass, replace

_QUOTE, _BACKSLASH = ord('"'), ord("\\")


@dataclass(frozen=True, slots=True)
class Keys:
    """A position in JSON.

    Attributes:
        open: What is open, from the outside in: the keys of an object, or None for a list.
        text: The string that is being written, so far; None outside of strings.
        is_key: Whether that string, or the next one, is a key.
        escaped: Whether the string ends with a backslash that escapes the next byte.
    """

    open: tuple[frozenset[bytes] | None, ...] = ()
    text: bytes | None = None
    is_key: bool = False
    escaped: bool = False

    @property
    def others(self) -> frozenset[bytes]:
        """The keys that the key being written must differ from; empty if none is being written."""
        return (self.open[-1] or frozenset()) if self.text is not None and self.is_key else frozenset()

    def after(self, data: bytes) -> "Keys | None":
        """Return the position after some bytes that may follow; None if an object then has a key twice."""
        here, at = self, 0
        while at < len(data):
            if here.text is None:
                here, at = _outside(here, data[at]), at + 1
                continue
            end, escaped = _end(data, at, escaped=here.escaped)
            ended, text = end < len(data), here.text + data[at:end] if here.is_key else b""
            if not ended:
                here = replace(here, text=text, escaped=escaped)
            elif not here.is_key:
                here = Keys(here.open)
            elif text in here.others:
                return None
            else:
                here = Keys((*here.open[:-1], here.others | {text}))
            at = end + 1
        return here


NOWHERE = Keys()
"""The position outside of all JSON."""


def _outside(here: Keys, byte: int) -> Keys:
    """Return the position after a byte that is not in a string."""
    match chr(byte):
        case '"':
            return replace(here, text=b"")
        case "{":
            return Keys((*here.open, frozenset()), is_key=True)
        case "[":
            return Keys((*here.open, None))
        case "}" | "]":
            return Keys(here.open[:-1])
        case ",":
            return replace(here, is_key=bool(here.open) and here.open[-1] is not None)
    return here


def _end(data: bytes, at: int, *, escaped: bool) -> tuple[int, bool]:
    """Return where a string's closing quote is, or the end of the data, and whether the byte there is escaped."""
    while at < len(data) and (escaped or data[at] != _QUOTE):
        escaped = not escaped and data[at] == _BACKSLASH
        at += 1
    return at, escaped
