"""Sets of characters that classes and properties in regular expressions stand for.

A set is known by two bounds, each an integer with a bit for each character: which characters some properties have only
Oniguruma knows, and the complement of an upper bound is a lower one.
"""

import functools
import re
import unicodedata
from dataclasses import dataclass

_COUNT = 0x110000
_EVERYTHING = (1 << _COUNT) - 1
# In larger sets, the other case of each character is not looked up one by one.
_MANY = 512
# Characters that case folding turns into ASCII letters: long s, Kelvin sign, sharp s and ligatures.
_FOLDING = "\u017f\u212a\u00df\u1e9e\ufb00\ufb01\ufb02\ufb03\ufb04\ufb05\ufb06"
_LONG_NAMES = {
    "letter": "l", "uppercaseletter": "lu", "lowercaseletter": "ll", "titlecaseletter": "lt", "modifierletter": "lm",
    "otherletter": "lo", "mark": "m", "nonspacingmark": "mn", "spacingmark": "mc", "enclosingmark": "me",
    "number": "n", "decimalnumber": "nd", "letternumber": "nl", "othernumber": "no", "digit": "nd", "punctuation": "p",
    "symbol": "s", "separator": "z", "spaceseparator": "zs", "other": "c", "control": "cc", "cntrl": "cc",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Characters:
    """A set of characters between two bounds.

    Attributes:
        most: All characters that may be in it.
        least: Those that certainly are in it.
    """

    most: int
    least: int

    def __or__(self, other: "Characters") -> "Characters":
        """Return the union."""
        return Characters(self.most | other.most, self.least | other.least)

    def __and__(self, other: "Characters") -> "Characters":
        """Return the intersection."""
        return Characters(self.most & other.most, self.least & other.least)

    def __invert__(self) -> "Characters":
        """Return the complement."""
        return Characters(_EVERYTHING & ~self.least, _EVERYTHING & ~self.most)

    def in_any_case(self) -> "Characters":
        """Return the set with the other cases of its letters."""
        if self.most.bit_count() > _MANY:
            cased = _category("lu") | _category("ll") | _category("lt")
            return Characters(self.most | (cased if self.most & cased else 0), self.least)
        letters = "".join(map(chr, _codes(self.most)))
        if re.search("[A-Za-z]", letters):
            letters += _FOLDING
        variants = letters + letters.lower() + letters.upper() + letters.title() + letters.casefold()
        return Characters(self.most | _mask(variants), self.least)


def _mask(text: str) -> int:
    bits = bytearray((max(map(ord, text), default=0) >> 3) + 1)
    for letter in text:
        bits[ord(letter) >> 3] |= 1 << (ord(letter) & 7)
    return int.from_bytes(bits, "little")


def python_class(characters: Characters) -> str:
    """Return the class, in the syntax of `re`, of all characters that may be in a set."""
    # A bit wherever a range begins, and one past each end.
    bounds = _codes(characters.most ^ (characters.most << 1), _COUNT + 1)
    ranges = zip(bounds[::2], bounds[1::2], strict=True)
    return "[" + "".join(f"\\U{first:08x}-\\U{behind - 1:08x}" for first, behind in ranges) + "]"


def exactly(text: str) -> Characters:
    """Return the set of the characters in a text."""
    mask = _mask(text)
    return Characters(mask, mask)


def between(first: int, last: int) -> Characters:
    """Return the set of the characters from one code point to another."""
    last = min(last, _COUNT - 1)
    mask = ((1 << (last - first + 1)) - 1) << first if first <= last else 0
    return Characters(mask, mask)


ANY = Characters(_EVERYTHING, _EVERYTHING)
NONE = Characters(0, 0)
UNKNOWN = Characters(_EVERYTHING, 0)
_SPACES = exactly("\t\n\v\f\r \x85\xa0\u1680\u2028\u2029\u202f\u205f\u3000") | between(0x2000, 0x200A)
_HEXADECIMAL = exactly("0123456789abcdefABCDEF")


def property_of(name: str) -> Characters:
    """Return the characters that have a property of Unicode or POSIX."""
    name = re.sub(r"[\s_-]", "", name).lower()
    name = _LONG_NAMES.get(name, name)
    if name in ("any", "assigned"):
        return ANY
    if name in ("space", "whitespace"):
        return _SPACES
    if name in ("xdigit", "asciihexdigit"):
        return _HEXADECIMAL
    if name == "word":
        return _word()
    if name == "ascii":
        return between(0, 0x7F)
    return _named(name) if name in _categories() else UNKNOWN


@functools.cache
def _word() -> Characters:
    r"""Return the characters that `\w` stands for; whether circled letters belong to them is not known."""
    sure = _named("l") | _named("m") | _named("nd") | _named("pc")
    return Characters(sure.most | _category("n") | _category("so"), sure.least)


def _named(category: str) -> Characters:
    mask = _category(category)
    return Characters(mask, mask)


def _category(name: str) -> int:
    return _categories()[name]


@functools.cache
def _categories() -> dict[str, int]:
    """Return the characters of each general category and of each group of categories, by name."""
    places: dict[str, bytearray] = {}
    for code in range(_COUNT):
        name = unicodedata.category(chr(code)).lower()
        if name not in places:
            places[name] = bytearray(_COUNT // 8)
        places[name][code >> 3] |= 1 << (code & 7)
    found = {name: int.from_bytes(bits, "little") for name, bits in places.items()}
    for name, mask in list(found.items()):
        found[name[0]] = found.get(name[0], 0) | mask
    return found


def _codes(mask: int, most: int = _MANY) -> list[int]:
    """Return the lowest code points of a mask, at most `most` of them."""
    found: list[int] = []
    while mask and len(found) < most:
        lowest = mask & -mask
        found.append(lowest.bit_length() - 1)
        mask ^= lowest
    return found
