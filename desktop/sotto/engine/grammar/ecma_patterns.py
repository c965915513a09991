"""Translation of patterns of ECMA-262 with the `u` flag, which JSON Schema has, into llguidance's regular expressions.

Those have Rust's syntax, in which many patterns mean something else. So a pattern is parsed here and written anew in
terms that mean the same in both: characters as ranges of code points, no flags, no inner anchors. The effect of `^` and
`$` is worked out here. What no grammar can guarantee (look-around, word boundaries, backreferences) is refused by name,
as is what ECMA-262 does not know.
"""

import re
from dataclasses import dataclass
from itertools import product

from sotto.engine.grammar.ecma_characters import (
    CONTROLS,
    HALVES,
    LINE_ENDS,
    Characters,
    PatternError,
    Ranges,
    read_class,
    read_escape,
)
from sotto.errors import InvalidRequestError
from sotto.store.printable import printable

_MAX_DEPTH = 100
# Anchors in many alternatives multiply the length of the translation.
_MAX_CHARACTERS = 1 << 17
_SHOWN = 60
_ANY = "(?s:.*)"
_NEVER = Characters().written(HALVES)
_TIMES = re.compile(r"\{([0-9]+)(?:(,)([0-9]*))?\}")
# No text is long enough for a repetition with more digits.
_MAX_DIGITS = 9
_NAME = re.compile(r"([^\W\d]|\$)[\w$]*")
_LOOKS = {"(?=": "look-ahead", "(?!": "look-ahead", "(?<=": "look-behind", "(?<!": "look-behind"}


def search_expression(pattern: str, name: str) -> str:
    """Return an expression, anchored at both ends, for the JSON strings in which a pattern matches somewhere.

    Args:
        pattern: A pattern of JSON Schema.
        name: The name of the schema in error messages.

    Raises:
        InvalidRequestError: It is not a pattern of ECMA-262, or cannot be guaranteed.
    """
    parts = (
        f"{'' if starts else _ANY}(?:{texts.text}){'' if ends else _ANY}"
        for (starts, ends), texts in _ways(pattern, name, (*HALVES, *CONTROLS)).items()
    )
    return f"^(?:{'|'.join(parts)})$"


def match_expression(pattern: str, name: str) -> str:
    """Return an expression without anchors for the texts that a pattern matches as a whole.

    Raises:
        InvalidRequestError: As `search_expression`.
    """
    return f"(?:{'|'.join(texts.text for texts in _ways(pattern, name, HALVES).values())})"


def endless(pattern: str, name: str) -> bool:
    """Return whether any beginning of a text in which a pattern matches can be completed in unlimited ways.

    False if that is not certain.

    Raises:
        InvalidRequestError: As `search_expression`.
    """
    ways = _ways(pattern, name, HALVES)
    # If a match need not begin where the text begins, one may still begin after any text.
    return any(not starts for starts, _ in ways) or all(texts.endless or not ends for (_, ends), texts in ways.items())


_Flags = tuple[bool, bool]
"""Whether a match must begin where the text begins, and whether it must end where the text ends."""
_FREE: _Flags = (False, False)


@dataclass(frozen=True, slots=True)
class _Texts:
    """The texts that a part of a pattern matches.

    Attributes:
        text: An expression for them, which can be concatenated with others.
        empty: Whether the empty text is among them.
        endless: Whether each beginning of one of them can certainly be completed in unlimited ways.
    """

    text: str
    empty: bool = False
    endless: bool = False


_Ways = dict[_Flags, _Texts]
"""What a part of a pattern matches, by where it must begin and end; empty if it never matches."""
_EMPTY = _Texts("(?:)", empty=True)


def _ways(pattern: str, name: str, barred: Ranges) -> _Ways:
    try:
        return _Reader(pattern, barred).read() or {_FREE: _Texts(_NEVER)}
    except PatternError as error:
        advice = f" ({error.instead})" if error.instead else ""
        raise InvalidRequestError(
            f"{name} cannot be guaranteed: the pattern {printable(pattern, _SHOWN)} has {error.what} at character "
            f"{error.at + 1}{advice}."
        ) from error


class _Reader:
    """Parses one pattern."""

    def __init__(self, pattern: str, barred: Ranges) -> None:
        """Start at the first character; texts contain none of the characters in `barred`."""
        self._pattern, self._barred = pattern, barred
        self._at = self._depth = 0
        self._groups: set[str] = set()

    def read(self) -> _Ways:
        """Return what the pattern matches."""
        ways = self._alternatives()
        if self._at < len(self._pattern):
            raise PatternError("a ) that closes nothing", self._at, "write \\)")
        return ways

    def _alternatives(self) -> _Ways:
        self._depth += 1
        if self._depth > _MAX_DEPTH:
            raise PatternError(f"more than {_MAX_DEPTH} groups within each other", self._at)
        choices = [self._sequence()]
        while self._accept("|"):
            choices.append(self._sequence())
        self._depth -= 1
        return self._either(choices)

    def _sequence(self) -> _Ways:
        ways: _Ways = {_FREE: _EMPTY}
        while self._at < len(self._pattern) and not self._sees("|", ")"):
            ways = self._join(ways, self._term())
        return ways

    def _term(self) -> _Ways:
        begin = self._at
        if self._accept("^"):
            ways: _Ways = {(True, False): _EMPTY}
        elif self._accept("$"):
            ways = {(False, True): _EMPTY}
        else:
            return self._repeat(self._atom(), begin)
        if self._times() is not None:
            raise PatternError("a repeated ^ or $", begin)
        return ways

    def _atom(self) -> _Ways:
        if self._sees("*", "+", "?", "{", "}", "]"):
            sign = self._pattern[self._at]
            raise PatternError(f"a {sign} by itself", self._at, f"write \\{sign}")
        if self._accept("("):
            return self._group()
        if self._accept("["):
            characters, self._at = read_class(self._pattern, self._at)
        elif self._accept("\\"):
            characters, self._at = read_escape(self._pattern, self._at)
        elif self._accept("."):
            characters = Characters(LINE_ENDS, negated=True)
        else:
            code = ord(self._pattern[self._at])
            self._at += 1
            characters = Characters(((code, code),))
        return {_FREE: _Texts(characters.written(self._barred))}

    def _group(self) -> _Ways:
        begin = self._at - 1
        if self._accept("?"):
            for look, kind in _LOOKS.items():
                if self._pattern.startswith(look, begin):
                    raise PatternError(f"a {kind} {look}", begin)
            if self._accept("<"):
                self._group_name()
            elif not self._accept(":"):
                sign = self._pattern[begin : begin + 3]
                raise PatternError(f"{sign}", begin, "the groups that can be used are (?: and (?<name>")
        ways = self._alternatives()
        if not self._accept(")"):
            raise PatternError("an unclosed group", begin)
        return ways

    def _group_name(self) -> None:
        found = _NAME.match(self._pattern, self._at)
        if found is None or not self._pattern.startswith(">", found.end()):
            raise PatternError("a group without a name that ends in >", self._at)
        if found[0] in self._groups:
            raise PatternError(f"a second group called {printable(found[0])}", self._at)
        self._groups.add(found[0])
        self._at = found.end() + 1

    def _repeat(self, ways: _Ways, begin: int) -> _Ways:
        """Return what an atom matches with the quantifier after it, if there is one."""
        times = self._times()
        if times is None:
            return ways
        self._accept("?")  # laziness decides which match comes first, not whether there is one
        behind = self._at
        if self._times() is not None:
            kind = "a possessive quantifier" if self._pattern[behind] == "+" else "a quantifier of a quantifier"
            raise PatternError(kind, behind)
        least, most = times
        if most == 0 or (not ways and least == 0):
            return {_FREE: _EMPTY}
        if any(flags != _FREE for flags in ways) and times != (1, 1):
            if times != (0, 1):
                raise PatternError("^ or $ in what is repeated", begin)
            return self._either([ways, {_FREE: _EMPTY}])
        if not ways or times == (1, 1):
            return ways
        one = ways[_FREE]
        bounds = f"{{{least}}}" if least == most else f"{{{least},{'' if most is None else most}}}"
        sign = {(0, None): "*", (1, None): "+", (0, 1): "?"}.get(times, bounds)
        more = one.endless or (most is None and one not in (_EMPTY, _Texts(_NEVER)))
        return {_FREE: _Texts(f"(?:{one.text}){sign}", one.empty or least == 0, more)}

    def _times(self) -> tuple[int, int | None] | None:
        """Return the least and most repetitions by a quantifier; None without one."""
        for sign, times in (("*", (0, None)), ("+", (1, None)), ("?", (0, 1))):
            if self._accept(sign):
                return times
        found = _TIMES.match(self._pattern, self._at)
        if found is None:
            return None
        least, most = found[1].lstrip("0") or "0", found[3] if found[2] else found[1]
        most = most.lstrip("0") or most[:1]
        if max(len(least), len(most)) > _MAX_DIGITS:
            raise PatternError("a repetition of so many", self._at)
        if most and int(least) > int(most):
            raise PatternError(f"the repetition {found[0]}, whose numbers are in the wrong order", self._at)
        self._at = found.end()
        return int(least), int(most) if most else None

    def _either(self, choices: list[_Ways]) -> _Ways:
        found: dict[_Flags, list[_Texts]] = {}
        for ways in choices:
            for flags, texts in ways.items():
                found.setdefault(flags, []).append(texts)
        return {flags: self._any_of(texts) for flags, texts in found.items()}

    def _join(self, first: _Ways, second: _Ways) -> _Ways:
        """Return what two parts match one after the other.

        If the second must begin the text, the first can only be empty; if the first must end it, so must the second.
        """
        found: dict[_Flags, list[_Texts]] = {}
        for (flags, before), (more, behind) in product(first.items(), second.items()):
            if (more[0] and not before.empty) or (flags[1] and not behind.empty):
                continue
            left, right = _EMPTY if more[0] else before, _EMPTY if flags[1] else behind
            parts = [texts for texts in (left, right) if texts is not _EMPTY]
            joined = "".join(texts.text for texts in parts)
            both = _Texts(joined, left.empty and right.empty, parts[-1].endless) if parts else _EMPTY
            found.setdefault((flags[0] or more[0], flags[1] or more[1]), []).append(both)
        return {flags: self._any_of(texts) for flags, texts in found.items()}

    def _any_of(self, texts: list[_Texts]) -> _Texts:
        if sum(len(part.text) for part in texts) > _MAX_CHARACTERS:
            raise PatternError("too much to be written out", self._at)
        if len(texts) == 1:
            return texts[0]
        text = f"(?:{'|'.join(one.text for one in texts)})"
        return _Texts(text, any(part.empty for part in texts), all(part.endless for part in texts))

    def _sees(self, *texts: str) -> bool:
        return self._pattern.startswith(texts, self._at)

    def _accept(self, text: str) -> bool:
        found = self._pattern.startswith(text, self._at)
        self._at += len(text) if found else 0
        return found
