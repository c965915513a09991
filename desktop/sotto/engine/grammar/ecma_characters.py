"""Escapes and classes in patterns of ECMA-262 with the `u` flag, translated into code points.

Beyond what that flag allows, a backslash before any punctuation is accepted: without the flag it means the same.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass

from sotto.engine.grammar.ecma_properties import property_item

Ranges = tuple[tuple[int, int], ...]
LAST = 0x10FFFF
LINE_ENDS: Ranges = ((0x0A, 0x0A), (0x0D, 0x0D), (0x2028, 0x2029))

HALVES: Ranges = ((0xD800, 0xDFFF),)
"""Surrogates, which no text contains."""
CONTROLS: Ranges = ((0x00, 0x07), (0x0B, 0x0B), (0x0E, 0x1F), (0x7F, 0x7F))
"""Control characters for which JSON has no short escape, and which answers do not contain. llguidance drops them."""

_SPACE: Ranges = (
    (0x09, 0x0D), (0x20, 0x20), (0xA0, 0xA0), (0x1680, 0x1680), (0x2000, 0x200A), (0x2028, 0x2029), (0x202F, 0x202F),
    (0x205F, 0x205F), (0x3000, 0x3000), (0xFEFF, 0xFEFF),
)  # fmt: skip
_CLASSES: dict[str, Ranges] = {
    "d": ((0x30, 0x39),),
    "w": ((0x30, 0x39), (0x41, 0x5A), (0x5F, 0x5F), (0x61, 0x7A)),
    "s": _SPACE,
}
_CONTROLS = {"f": 0x0C, "n": 0x0A, "r": 0x0D, "t": 0x09, "v": 0x0B}
_BACKSPACE = 0x08
# What follows the backslash; a pair of surrogates is one character.
_PAIR = re.compile(r"u([dD][89abAB][0-9A-Fa-f]{2})\\u([dD][c-fC-F][0-9A-Fa-f]{2})")
_NUMBER = re.compile(r"x([0-9A-Fa-f]{2})|u([0-9A-Fa-f]{4})|u\{0*([0-9A-Fa-f]{1,6})\}")
_CONTROL = re.compile(r"c([A-Za-z])")
_NUL = re.compile(r"0(?![0-9])")
_PROPERTY = re.compile(r"[pP]\{([A-Za-z0-9_=]+)\}")


class PatternError(Exception):
    """A pattern contains something that ECMA-262 does not know, or that cannot be guaranteed."""

    def __init__(self, what: str, at: int, instead: str = "") -> None:
        """Store what the pattern contains, at which character, and what to write instead, if that is known."""
        super().__init__(what)
        self.what, self.at, self.instead = what, at, instead


@dataclass(frozen=True, slots=True)
class Characters:
    """A set of characters, of which one may stand at a place.

    Attributes:
        ranges: First and last code points, in any order.
        items: Unicode properties, in the syntax of llguidance's classes.
        negated: Whether the set is all other characters.
    """

    ranges: Ranges = ()
    items: tuple[str, ...] = ()
    negated: bool = False

    @property
    def single(self) -> int | None:
        """The only code point in the set; None if there are more or none."""
        ((first, last),) = self.ranges if len(self.ranges) == 1 else ((0, 1),)
        return first if first == last and not self.items else None

    def written(self, barred: Ranges) -> str:
        """Return an expression for one of the characters, except those in `barred`."""
        if self.negated and self.items:
            return f"[^{_listed(self.ranges, HALVES)}{''.join(self.items)}]"
        ranges = without(self.ranges) if self.negated else self.ranges
        parts = _listed(ranges, barred) + "".join(self.items)
        return f"[{parts}]" if parts else f"[^{_range(0, LAST)}]"


def read_class(pattern: str, at: int) -> tuple[Characters, int]:
    """Return the class whose opening bracket stands before `at`, and where it ends.

    Raises:
        PatternError: It is not a valid class.
    """
    begin = at - 1
    negated = pattern.startswith("^", at)
    at += negated
    ranges: list[tuple[int, int]] = []
    items: list[str] = []
    while not pattern.startswith("]", at):
        if at >= len(pattern):
            raise PatternError("an unclosed class", begin)
        first, after = _read_atom(pattern, at)
        if pattern.startswith("-", after) and pattern[after + 1 : after + 2] not in ("]", ""):
            last, after = _read_atom(pattern, after + 1)
            if first.single is None or last.single is None:
                raise PatternError("a range between classes", at, "write the - last, or as \\-")
            if first.single > last.single:
                raise PatternError("a range in the wrong order", at)
            first = Characters(((first.single, last.single),))
        ranges += first.ranges
        items += first.items
        at = after
    return Characters(tuple(ranges), tuple(items), negated), at + 1


def read_escape(pattern: str, at: int, *, inside: bool = False) -> tuple[Characters, int]:
    """Return what the escape stands for whose backslash is before `at`, and where it ends.

    Args:
        pattern: The whole pattern.
        at: The index after the backslash.
        inside: Whether the escape is in a class.

    Raises:
        PatternError: It is not an escape of ECMA-262, or does not stand for one character.
    """
    sign = pattern[at : at + 1]
    if sign and sign in "dwsDWS":
        ranges = _CLASSES[sign.lower()]
        return Characters(ranges if sign.islower() else without(ranges)), at + 1
    if found := _PROPERTY.match(pattern, at):
        item = property_item(found[1])
        if item is None:
            raise PatternError(f"\\{found[0]}, which is not a known property of characters", at - 1)
        return Characters(items=(f"\\{sign}{{{item}}}",)), found.end()
    if sign == "b" and inside:
        return _one(_BACKSPACE), at + 1
    if sign in _CONTROLS:
        return _one(_CONTROLS[sign]), at + 1
    if found := _PAIR.match(pattern, at):
        high, low = (int(half, 16) for half in found.groups())
        return _one(0x10000 + ((high - 0xD800) << 10) + low - 0xDC00), found.end()
    if (found := _NUMBER.match(pattern, at)) and (code := int(found[found.lastindex or 0], 16)) <= LAST:
        return _one(code), found.end()
    if found := _CONTROL.match(pattern, at):
        return _one(ord(found[1]) % 32), found.end()
    if found := _NUL.match(pattern, at):
        return _one(0), found.end()
    if " " <= sign <= "~" and not sign.isalnum():
        return _one(ord(sign)), at + 1
    if sign and sign in "bB":
        raise PatternError(f"a word boundary \\{sign}", at - 1)
    if (sign.isdigit() and sign != "0") or (sign == "k" and not inside):
        raise PatternError(f"a reference \\{sign} to a group", at - 1)
    raise PatternError(f"\\{sign}, which is not an escape of ECMA-262", at - 1)


def without(ranges: Iterable[tuple[int, int]]) -> Ranges:
    """Return the complement of some ranges."""
    found, at = [], 0
    for first, last in sorted(ranges):
        if first > at:
            found.append((at, first - 1))
        at = max(at, last + 1)
    return (*found, (at, LAST)) if at <= LAST else tuple(found)


def _one(code: int) -> Characters:
    return Characters(((code, code),))


def _read_atom(pattern: str, at: int) -> tuple[Characters, int]:
    if pattern.startswith("\\", at):
        return read_escape(pattern, at + 1, inside=True)
    return _one(ord(pattern[at])), at + 1


def _listed(ranges: Ranges, barred: Ranges) -> str:
    """Return the text of ranges in a class, without the barred characters."""
    left: list[tuple[int, int]] = []
    for first, last in ranges:
        for barred_first, barred_last in sorted(barred):
            if first < barred_first <= last:
                left.append((first, barred_first - 1))
            if first <= barred_last and last >= barred_first:
                first = barred_last + 1
        if first <= last:
            left.append((first, last))
    return "".join(_range(first, last) for first, last in left)


def _range(first: int, last: int) -> str:
    return _character(first) if first == last else f"{_character(first)}-{_character(last)}"


def _character(code: int) -> str:
    return chr(code) if code < 0x80 and chr(code).isalnum() else f"\\x{{{code:X}}}"
