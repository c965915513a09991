"""Where in an answer JSON stands, so that its keys can be followed: all of it, behind a thought, or within calls.

Everything around JSON is written in one way only, so it is found by what stands in front of it.
"""

from dataclasses import dataclass, replace
from typing import Protocol

from sotto.engine.grammar.json_keys import NOWHERE, Keys


class Place(Protocol):
    """Where an answer is. Never changes."""

    @property
    def keys(self) -> Keys | None:
        """Where the JSON is that the answer is in; None outside of any."""

    def after(self, data: bytes) -> "Place | None":
        """Return where the answer is behind some bytes; None where an object has a key twice then."""


@dataclass(frozen=True, slots=True)
class InJson:
    """An answer that is JSON from here on."""

    keys: Keys = NOWHERE

    def after(self, data: bytes) -> "InJson | None":
        """Return where the answer is behind some bytes; None where an object has a key twice then."""
        keys = self.keys.after(data)
        return None if keys is None else InJson(keys)


@dataclass(frozen=True, slots=True)
class Sign:
    """What tells that something begins behind it.

    Attributes:
        text: How it is written.
        ends: What ends the text that stands behind it as it is; empty where none does.
        signs: What its arguments begin with; None where JSON stands behind it.
    """

    text: bytes
    ends: bytes = b""
    signs: "tuple[Sign, ...] | None" = None


@dataclass(frozen=True, slots=True)
class InCalls:
    """An answer that is calls.

    Attributes:
        calls: What each call begins with.
        signs: What each argument begins with in the call that it is in.
        seen: What may belong to the next sign.
        ends: What ends the text that it is in, which stands as it is; empty outside of one.
        keys: Where the JSON is that it is in.
    """

    calls: tuple[Sign, ...]
    signs: tuple[Sign, ...] = ()
    seen: bytes = b""
    ends: bytes = b""
    keys: Keys | None = None

    def after(self, data: bytes) -> "InCalls | None":
        """Return where the answer is behind some bytes; None where an object has a key twice then."""
        here = self
        for byte in data:
            keys = here.keys
            if keys is None:
                here = _outside(here, byte)
            elif keys == NOWHERE and chr(byte) not in '{["':
                # Neither an object nor a list nor a text: nothing says where it ends, and nothing has to.
                here = _outside(replace(here, keys=None), byte)
            elif (keys := keys.after(bytes((byte,)))) is None:
                return None
            else:
                here = replace(here, seen=b"", keys=None if keys == NOWHERE else keys)
        return here


def _outside(here: InCalls, byte: int) -> InCalls:
    """Return where calls are behind a byte that is in no JSON."""
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
    """An answer that may begin with a thought.

    Attributes:
        rest: What follows then.
        opens: What begins a thought.
        closes: What ends it, with all up to the rest.
        instead: What stands there where there is no thought.
        thinking: Whether it is in the thought.
        seen: What there is that may belong to one of these.
    """

    rest: Place
    opens: bytes
    closes: bytes
    instead: bytes
    thinking: bool = False
    seen: bytes = b""

    @property
    def keys(self) -> None:
        """Nothing: there is no JSON yet."""

    def after(self, data: bytes) -> Place | None:
        """Return where the answer is behind some bytes; None where an object has a key twice then."""
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
