"""The keys of JSON that is being written, so that no object gets one of them twice: no grammar can remember them.

Texts in answers are spelled in one way only (`sotto.engine.grammar.grammars`), so keys are compared as they are
written.
"""

from dataclasses import dataclass, replace

_QUOTE, _BACKSLASH = ord('"'), ord("\\")


@dataclass(frozen=True, slots=True)
class Keys:
    """Where some JSON is.

    Attributes:
        open: What is open, from the outside in: the keys of an object, or None for a list.
        text: What there is of the text that is being written; None outside of one.
        is_key: Whether that text is a key, or the next one will be.
        escaped: Whether it ends with a backslash that belongs to the next byte.
    """

    open: tuple[frozenset[bytes] | None, ...] = ()
    text: bytes | None = None
    is_key: bool = False
    escaped: bool = False

    @property
    def others(self) -> frozenset[bytes]:
        """The keys that the one which is being written must not be; none where none is."""
        return (self.open[-1] or frozenset()) if self.text is not None and self.is_key else frozenset()

    def after(self, data: bytes) -> "Keys | None":
        """Return where it is behind some bytes that may follow; None where an object has a key twice then."""
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
"""Outside of all JSON."""


def _outside(here: Keys, byte: int) -> Keys:
    """Return where JSON is behind a byte that is in no text."""
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
    """Return where a text's last quote is, or where the data end, and whether a backslash is the last before."""
    while at < len(data) and (escaped or data[at] != _QUOTE):
        escaped = not escaped and data[at] == _BACKSLASH
        at += 1
    return at, escaped
