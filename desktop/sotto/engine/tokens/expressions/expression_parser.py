"""Parser of regular expressions in the syntax of Oniguruma, which is Ruby's.

What does not affect the time of a search is left out, such as the numbers of groups. What cannot be bounded, such as a
backreference, raises `NotKnownError`.
"""

import re
from dataclasses import dataclass, replace

from sotto.engine.tokens.expressions.characters import (
    ANY,
    NONE,
    Characters,
    between,
    exactly,
    property_of,
)

# The expressions of tokenizers nest three deep.
MAX_DEPTH = 32
_INTERVAL = re.compile(r"\{(?:(\d{1,9})(,(\d{0,9}))?|,(\d{1,9}))\}")
_FLAGS = re.compile(r"\?([imx]*)(?:-([imx]*))?([:)])")
_PROPERTY = re.compile(r"\{(\^?)([^{}]*)\}")
_POSIX = re.compile(r"\[:(\^?)([a-z]+):\]")
_CODE = re.compile(r"x\{\s*([0-9A-Fa-f]{1,8})\s*\}|x([0-9A-Fa-f]{0,2})|u([0-9A-Fa-f]{4})|(0[0-7]{0,2})")
_CONTROL = {"t": "\t", "n": "\n", "r": "\r", "f": "\f", "v": "\v", "a": "\a", "e": "\x1b"}
_LOOKS = ("?=", "?!", "?<=", "?<!")
_NOT_LINE_END = ~exactly("\n")


class NotKnownError(ValueError):
    """An expression has something whose cost is not known."""


@dataclass(frozen=True, slots=True)
class Class:
    """One character of a set."""

    characters: Characters


@dataclass(frozen=True, slots=True)
class Anchor:
    """A condition on a position, such as the beginning of a line or the end of a word."""


@dataclass(frozen=True, slots=True)
class Look:
    """A look-ahead or look-behind, positive or negative."""

    inner: "Node"


@dataclass(frozen=True, slots=True)
class Atomic:
    """A group that is not tried again once it has matched."""

    inner: "Node"


@dataclass(frozen=True, slots=True)
class Row:
    """Parts that follow each other."""

    parts: tuple["Node", ...]


@dataclass(frozen=True, slots=True)
class Either:
    """Alternatives, tried in order."""

    branches: tuple["Node", ...]


@dataclass(frozen=True, slots=True)
class Repeat:
    """A repetition; `most` is None for any number."""

    inner: "Node"
    least: int
    most: int | None


Node = Class | Anchor | Look | Atomic | Row | Either | Repeat


@dataclass(frozen=True, slots=True)
class _Flags:
    any_case: bool = False
    dot_all: bool = False


def parse(pattern: str) -> Node:
    """Return the syntax tree of an expression.

    Raises:
        NotKnownError: It has a part whose cost is not known, or is not an expression.
    """
    reader = _Reader(pattern)
    node = reader.alternatives(_Flags(), 0)
    if reader.place < len(pattern):
        raise NotKnownError(f"a ')' that closes nothing, at character {reader.place + 1}")
    return node


class _Reader:
    def __init__(self, pattern: str) -> None:
        self.pattern = pattern
        self.place = 0

    def alternatives(self, flags: _Flags, depth: int) -> Node:
        """Read up to the end of a group."""
        if depth > MAX_DEPTH:
            raise NotKnownError(f"groups more than {MAX_DEPTH} deep")
        branches: list[Node] = []
        parts: list[Node] = []
        while self.place < len(self.pattern) and self.pattern[self.place] != ")":
            if self._take("|"):
                branches.append(_row(parts))
                parts = []
            elif (changed := self._switch(flags)) is not None:
                # What follows, further alternatives included, forms its own group.
                flags, ended = changed
                if not ended:
                    parts.append(self.alternatives(flags, depth + 1))
            else:
                parts.append(self._repeat(self._atom(flags, depth)))
        return Either((*branches, _row(parts))) if branches else _row(parts)

    def _switch(self, flags: _Flags) -> tuple[_Flags, bool] | None:
        """Read `(?i)`; return the flags from there on, and whether nothing follows."""
        match = _FLAGS.match(self.pattern, self.place + 1) if self.pattern[self.place] == "(" else None
        if match is None or match[3] == ":":
            return None
        self.place = match.end()
        return self._changed(flags, match), self.place >= len(self.pattern) or self.pattern[self.place] == ")"

    @staticmethod
    def _changed(flags: _Flags, match: re.Match[str]) -> _Flags:
        on, off = match[1], match[2] or ""
        if "x" in on + off:
            raise NotKnownError("the flag 'x'")
        return replace(
            flags,
            any_case=(flags.any_case or "i" in on) and "i" not in off,
            dot_all=(flags.dot_all or "m" in on) and "m" not in off,
        )

    def _take(self, text: str) -> bool:
        found = self.pattern.startswith(text, self.place)
        self.place += len(text) if found else 0
        return found

    def _atom(self, flags: _Flags, depth: int) -> Node:
        letter = self.pattern[self.place]
        if letter == "(":
            return self._group(flags, depth)
        self.place += 1
        if letter == "[":
            return self._cased(self._class(0), flags)
        if letter == "\\":
            return self._escape(flags)
        if letter == ".":
            return Class(ANY if flags.dot_all else _NOT_LINE_END)
        if letter in "^$":
            return Anchor()
        if letter in "*+?":
            raise NotKnownError(f"a '{letter}' that repeats nothing, at character {self.place}")
        return self._cased(exactly(letter), flags)

    @staticmethod
    def _cased(characters: Characters, flags: _Flags) -> Class:
        return Class(characters.in_any_case() if flags.any_case else characters)

    def _group(self, flags: _Flags, depth: int) -> Node:
        self.place += 1
        if (match := _FLAGS.match(self.pattern, self.place)) is not None:
            self.place = match.end()
            return self._closed(self._changed(flags, match), depth)
        look = next((mark for mark in _LOOKS if self._take(mark)), None)
        if look is not None:
            return Look(self._closed(flags, depth))
        if self._take("?>"):
            return Atomic(self._closed(flags, depth))
        if (name := re.compile(r"\?(?:<\w+>|'\w+')").match(self.pattern, self.place)) is not None:
            self.place = name.end()
        elif self.pattern.startswith(("?", "*"), self.place):
            raise NotKnownError(f"the group '({self.pattern[self.place : self.place + 3]}'")
        return self._closed(flags, depth)

    def _closed(self, flags: _Flags, depth: int) -> Node:
        node = self.alternatives(flags, depth + 1)
        if not self._take(")"):
            raise NotKnownError("a group that is not closed")
        return node

    def _repeat(self, node: Node) -> Node:
        for _ in range(MAX_DEPTH):
            if (match := _INTERVAL.match(self.pattern, self.place)) is not None:
                self.place = match.end()
                least = int(match[1] or 0)
                upper = match[4] if match[1] is None else (match[3] if match[2] else match[1])
                most = int(upper) if upper else None
                if most is not None and most < least:
                    raise NotKnownError("a repetition of more times than at most")
                node = Repeat(node, least, most)
                # After an interval, `+` repeats the whole; after a single number, `?` makes it optional.
                if self._take("?") and match[2] is None:
                    node = Repeat(node, 0, 1)
                continue
            sign = self.pattern[self.place : self.place + 1]
            if not sign or sign not in "*+?":
                return node
            self.place += 1
            node = Repeat(node, int(sign == "+"), 1 if sign == "?" else None)
            if self._take("+"):
                node = Atomic(node)
            else:
                self._take("?")
        raise NotKnownError(f"more than {MAX_DEPTH} repetitions of each other")

    def _escape(self, flags: _Flags) -> Node:
        letter = self.pattern[self.place : self.place + 1]
        if letter and letter in "bBAZzGyY":
            self.place += 1
            return Anchor()
        if letter and letter in "NO":
            self.place += 1
            return Class(_NOT_LINE_END if letter == "N" else ANY)
        if not letter or letter in "RXKkg123456789":
            raise NotKnownError(f"'\\{letter}'")
        return self._cased(self._one(), flags)

    def _one(self) -> Characters:
        """Read what stands behind a backslash for characters, in a class or not."""
        letter = self.pattern[self.place : self.place + 1]
        if letter and letter in "dwshDWSH":
            self.place += 1
            found = property_of({"d": "digit", "w": "word", "s": "space", "h": "xdigit"}[letter.lower()])
            return ~found if letter.isupper() else found
        if letter and letter in "pP" and (match := _PROPERTY.match(self.pattern, self.place + 1)) is not None:
            self.place = match.end()
            found = property_of(match[2])
            return ~found if (letter == "P") != bool(match[1]) else found
        return between(code := self._code(), code)

    def _code(self) -> int:
        """Read what stands behind a backslash for one character."""
        if (match := _CODE.match(self.pattern, self.place)) is not None:
            self.place = match.end()
            return int(match[4], 8) if match[4] else int(match[1] or match[2] or match[3] or "0", 16)
        letter = self.pattern[self.place : self.place + 1]
        if not letter or letter in "cCMP123456789":
            raise NotKnownError(f"'\\{letter}'")
        self.place += 1
        return ord(_CONTROL.get(letter, letter))

    def _class(self, depth: int) -> Characters:
        """Read a class, behind its bracket."""
        if depth > MAX_DEPTH:
            raise NotKnownError(f"classes more than {MAX_DEPTH} deep")
        negated = self._take("^")
        if self.pattern.startswith("]", self.place):
            raise NotKnownError("a class without characters")
        found, both = NONE, ANY
        while not self._take("]"):
            if self.place >= len(self.pattern):
                raise NotKnownError("a class that is not closed")
            if self._take("&&"):
                found, both = NONE, both & found
            elif (posix := _POSIX.match(self.pattern, self.place)) is not None:
                self.place = posix.end()
                named = property_of({"alpha": "letter", "punct": "unknown"}.get(posix[2], posix[2]))
                found |= ~named if posix[1] else named
            elif self._take("["):
                found |= self._class(depth + 1)
            else:
                found |= self._range()
        found &= both
        return ~found if negated else found

    def _range(self) -> Characters:
        begin = self.place
        first = self._member()
        if first.most.bit_count() != 1 or not self.pattern.startswith("-", self.place):
            return first
        after = self.pattern[self.place + 1 : self.place + 2]
        if after in ("]", "["):
            return first
        self.place += 1
        last = self._member()
        if last.most.bit_count() != 1 or last.most < first.most:
            raise NotKnownError(f"the range '{self.pattern[begin : self.place]}'")
        return between(first.most.bit_length() - 1, last.most.bit_length() - 1)

    def _member(self) -> Characters:
        if self.place >= len(self.pattern):
            raise NotKnownError("a class that is not closed")
        if self._take("\\"):
            return self._one() if not self._take("b") else exactly("\b")
        self.place += 1
        return exactly(self.pattern[self.place - 1])


def _row(parts: list[Node]) -> Node:
    return parts[0] if len(parts) == 1 else Row(tuple(parts))
