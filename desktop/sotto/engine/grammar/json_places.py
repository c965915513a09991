"""Tracks where JSON is in an answer, so that its keys can be checked: all of it, after reasoning, or within tool calls.

Everything around the JSON has only one spelling, so the JSON is found by what precedes it.
"""

from dataclasses import dataclass, replace
from typing import Protocol

from sotto.engine.grammar.json_keys import NOWHERE, Keys


class Place(Protocol):
    """A position in an answer. Immutable."""

    @property
    def keys(self) -> Keys | None:
        """The position within JSON; None outside of any."""

    def after(self, data: bytes) -> "Place | None":
        """Return the position after some bytes; None if an object then has a key twice."""


@dataclass(frozen=True, slots=True)
class InJson:
    """An answer that is JSON from here on."""

    keys: Keys = NOWHERE

    def after(self, data: bytes) -> "InJson | None":
        """Return the position after some bytes; None if an object then has a key twice."""
        keys = self.keys.after(data)
        return None if keys is None else InJson(keys)


@dataclass(frozen=True, slots=True)
class Sign:
    """A text after which an argument or a call begins.

    Attributes:
        text: The text itself.
        ends: What ends the literal text that follows; empty if no literal text does.
        signs: What the arguments of the call begin with; None if JSON follows.
    """

    text: bytes
    ends: bytes = b""
    signs: "tuple[Sign, ...] | None" = None


@dataclass(frozen=True, slots=True)
class InCalls:
    """An answer that consists of tool calls.

    Attributes:
        calls: What each call begins with.
        signs: What each argument of the current call begins with.
        seen: The last bytes, which may belong to the next sign.
        ends: What ends the current literal text; empty outside of one.
        keys: The position within JSON; None outside of any.
    """

    calls: tuple[Sign, ...]
    signs: tuple[Sign, ...] = ()
    seen: bytes = b""
    ends: bytes = b""
    keys: Keys | None = None

    def after(self, data: bytes) -> "InCalls | None":
        """Return the position after some bytes; None if an object then has a key twice."""
        here = self
        for byte in data:
            keys = here.keys
            if keys is None:
                here = _outside(here, byte)
            elif keys == NOWHERE and chr(byte) not in '{["':
                # A number, true, false or null: it cannot hold keys, so its end does not matter.
                here = _outside(replace(here, keys=None), byte)
            elif (keys := keys.after(bytes((byte,)))) is None:
                return None
            else:
                here = replace(here, seen=b"", keys=None if keys == NOWHERE else keys)
        return here


def _outside(here: InCalls, byte: int) -> InCalls:
    """Return the position after a byte that is not in JSON."""
    seen = here.seen + bytes((byte,))
    if here.ends:
        ended = seen.endswith(here.ends)
        return replace(here, seen=b"" if ended else seen[-len(here.ends) :], ends=b"" if ended else here.ends)
    signs = (*here.calls, *here.signs)
    seen = seen[-max(len(sign.text) for sign in signs) :]
    found = max((sign for sign in signs if seen.endswith(sign.text)), key=_length, default=None)
    if found is None:
        return replace(here, seen=seen)
    if found.ends:
        return replace(here, seen=b"", ends=found.ends)
    if found.signs is not None:
        return replace(here, seen=b"", signs=found.signs)
    return replace(here, seen=seen, keys=NOWHERE)


def _length(sign: Sign) -> int:
    return len(sign.text)


@dataclass(frozen=True, slots=True)
class InLead:
    """An answer that may begin with reasoning.

    Attributes:
        rest: The position where the answer proper begins.
        opens: What begins the reasoning.
        closes: What ends it, with everything up to the answer proper.
        instead: What precedes the answer if there is no reasoning.
        thinking: Whether the position is within the reasoning.
        seen: The last bytes, which may belong to one of these.
    """

    rest: Place
    opens: bytes
    closes: bytes
    instead: bytes
    thinking: bool = False
    seen: bytes = b""

    @property
    def keys(self) -> None:
        """None: there is not JSON yet."""

    def after(self, data: bytes) -> Place | None:
        """Return the position after some bytes; None if an object then has a key twice."""
        seen = self.seen + data
        if not self.thinking:
            if seen.startswith(self.opens):
                return replace(self, thinking=True, seen=b"").after(seen[len(self.opens) :])
            if self.opens.startswith(seen) or len(seen) < len(self.instead):
                return replace(self, seen=seen)
            return self.rest.after(seen[len(self.instead) :])
        if (end := seen.find(self.closes)) >= 0:
            return self.rest.after(seen[end + len(self.closes) :])
        return replace(self, seen=seen[-len(self.closes) :])
