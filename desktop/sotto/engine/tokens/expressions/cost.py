"""Upper bounds on the time of a search with a regular expression, for any text.

An expression is tried at each character of a text. The cost depends on how often a part can match in another way, so
that what follows is tried again: never, a fixed number of times, in proportion to the length of the text (so that a
search takes quadratic time), or exponentially often. If nothing that follows can fail, nothing is tried again.
"""

import enum
from collections.abc import Sequence
from dataclasses import dataclass

from sotto.engine.tokens.expressions.characters import ANY, NONE, Characters, python_class
from sotto.engine.tokens.expressions.expression_parser import (
    Anchor,
    Atomic,
    Class,
    Either,
    Look,
    Node,
    NotKnownError,
    Repeat,
    Row,
    parse,
)
from sotto.store.gguf.pre_tokenizers import PRE_TOKENIZERS

# The expressions of tokenizers have some hundred characters, one of DeepSeek's a thousand.
MAX_PATTERN_CHARACTERS = 8192
# At each character of a text.
_MAX_WAYS = 256
_MAX_STEPS = 4096
_MAX_DEGREE = 4
# A repetition that may end at more places than this counts as unbounded.
_MAX_ENDS = 16
# These seem to take quadratic time, but a later alternative consumes all that was looked at: the known pre-tokenizers,
# and the last alternatives of most others.
_LINEAR = frozenset(
    pattern for cutting in PRE_TOKENIZERS.values() for pattern in cutting.patterns if not pattern.endswith("$")
)
_CLOSING = (r"|\s*[\r\n]+|\s+(?!\S)|\s+", r"|\s+(?!\S)|\s+")


class Growth(enum.IntEnum):
    """How the time of a search grows with the length of the text."""

    LINEAR = 0
    SQUARE = 1
    UNKNOWN = 2


@dataclass(frozen=True, slots=True)
class Cost:
    """What searches cost.

    Attributes:
        growth: How their time grows with the length of the text.
        runs: If the time grows with the square of the length of runs of certain characters, the classes of these
            characters in the syntax of `re`.
    """

    growth: Growth = Growth.LINEAR
    runs: frozenset[str] = frozenset()

    def __or__(self, other: "Cost") -> "Cost":
        """Return what both cost together."""
        return Cost(max(self.growth, other.growth), self.runs | other.runs)


# For runs in a text that a normalizer has changed.
ANY_RUNS = frozenset(("[\\S\\s]",))


class EndlessError(ValueError):
    """A short text can keep a search busy for hours."""


@dataclass(frozen=True, slots=True)
class _Bound:
    """At most `times` times the length of a text to the power of `degree`."""

    times: int
    degree: int

    def __mul__(self, other: "_Bound") -> "_Bound":
        return _Bound(self.times * other.times, self.degree + other.degree)

    def __add__(self, other: "_Bound") -> "_Bound":
        return _Bound(self.times + other.times, max(self.degree, other.degree))


_ONE = _Bound(1, 0)
_LENGTH = _Bound(1, 1)


@dataclass(frozen=True, slots=True)
class _Tail:
    """What follows a part.

    Attributes:
        first: What it may begin with.
        fails: Whether it may fail, so that the part is tried in other ways.
    """

    first: Characters
    fails: bool


_END = _Tail(NONE, fails=False)


def cost_of(pattern: str) -> Cost:
    """Return what a search with a pattern costs.

    Raises:
        EndlessError: A short text can keep it busy for hours; the message says why.
    """
    if pattern in _LINEAR:
        return Cost()
    if len(pattern) > MAX_PATTERN_CHARACTERS:
        raise EndlessError(f"it has {len(pattern):,} characters, more than {MAX_PATTERN_CHARACTERS:,}")
    closing = next((end for end in _CLOSING if pattern.endswith(end)), "")
    try:
        node = parse(pattern.removesuffix(closing))
        steps = _bounds(node, _END)[1]
    except NotKnownError:
        return Cost(Growth.UNKNOWN)
    if steps.times > _MAX_STEPS:
        return Cost(Growth.UNKNOWN)
    growth = Growth(min(steps.degree, Growth.UNKNOWN))
    return Cost(growth, frozenset(map(python_class, _runs(node))) if growth is Growth.SQUARE else frozenset())


def _bounds(node: Node, tail: _Tail) -> tuple[_Bound, _Bound]:
    """Return in how many ways a part can match before its tail, and how many steps all of them take."""
    match node:
        case Class() | Anchor():
            return _ONE, _ONE
        case Look():
            # It consumes nothing, so the same text is matched again.
            return _ONE, _bounds(node.inner, _Tail(ANY, fails=True))[1]
        case Atomic():
            steps = _bounds(node.inner, _END)[1]
            return _ONE, steps * _LENGTH if tail.fails and _endless(node.inner) else steps
        case Row():
            return _row(node.parts, tail)
        case Either():
            return _either(node.branches, tail)
        case Repeat():
            return _repeat(node, tail)


def _row(parts: Sequence[Node], tail: _Tail) -> tuple[_Bound, _Bound]:
    tails = []
    for part in reversed(parts):
        tails.append(tail)
        tail = _before(part, tail)
    ways, steps = _ONE, _Bound(0, 0)
    for part, behind in zip(parts, reversed(tails), strict=True):
        leaving, taken = _bounds(part, behind)
        steps += ways * taken
        ways = _checked(ways * leaving)
    return ways, steps


def _either(branches: Sequence[Node], tail: _Tail) -> tuple[_Bound, _Bound]:
    found = [_bounds(branch, tail) for branch in branches]
    steps = sum((taken for _, taken in found), _Bound(0, 0))
    if not tail.fails:
        return _ONE, steps
    ways = _ONE
    for branch, (leaving, _) in zip(branches, found, strict=True):
        beside = leaving
        for other, (others, _) in zip(branches, found, strict=True):
            if other is not branch and not _apart(branch, other):
                beside += others
        ways = _Bound(max(ways.times, beside.times), max(ways.degree, beside.degree))
    return _checked(ways), steps


def _repeat(node: Repeat, tail: _Tail) -> tuple[_Bound, _Bound]:
    if node.most == 0:
        return _ONE, _ONE
    first = _first(node.inner)[0]
    again = _Tail(first | tail.first, fails=tail.fails or node.least > 1)
    leaving, taken = _bounds(node.inner, again)
    parts = not tail.fails or not first.most & tail.first.most
    if node.most is None:
        if leaving != _ONE:
            raise EndlessError("what it repeats without end can match the same text in several ways")
        if not tail.fails:
            return _ONE, taken
        return (_ONE if parts else _LENGTH), taken * _LENGTH
    ways = _ONE
    if leaving != _ONE:
        for _ in range(node.most):
            ways = _checked(ways * leaving)
    ends = 1 if parts else node.most - node.least + 1
    steps = taken * ways * _Bound(min(node.most, _MAX_ENDS), int(node.most > _MAX_ENDS))
    return _checked(ways * (_Bound(ends, 0) if ends <= _MAX_ENDS else _LENGTH)), steps


def _checked(ways: _Bound) -> _Bound:
    if ways.times > _MAX_WAYS or ways.degree > _MAX_DEGREE:
        raise EndlessError(f"it can match the same text in more than {_MAX_WAYS} ways")
    return ways


def _before(part: Node, tail: _Tail) -> _Tail:
    """Return the tail that consists of a part and another tail."""
    first, may_be_empty = _first(part)
    return _Tail(first | tail.first if may_be_empty else first, tail.fails or not _always(part))


def _first(node: Node) -> tuple[Characters, bool]:
    """Return what a part may begin with, and whether it may match the empty text."""
    match node:
        case Class():
            return node.characters, False
        case Anchor() | Look():
            return ANY, True
        case Atomic():
            return _first(node.inner)
        case Repeat():
            first, empty = _first(node.inner)
            return first, empty or node.least == 0
        case Either():
            firsts = [_first(branch) for branch in node.branches]
        case Row():
            firsts = []
            for part in node.parts:
                firsts.append(_first(part))
                if not firsts[-1][1]:
                    break
            else:
                firsts.append((NONE, True))
            found = NONE
            for first, _ in firsts:
                found |= first
            return found, firsts[-1][1]
    found = NONE
    for first, _ in firsts:
        found |= first
    return found, any(empty for _, empty in firsts)


def _always(node: Node) -> bool:
    """Return whether a part matches anywhere."""
    match node:
        case Repeat():
            return node.least == 0 or _always(node.inner)
        case Atomic():
            return _always(node.inner)
        case Row():
            return all(map(_always, node.parts))
        case Either():
            return any(map(_always, node.branches))
    return False


def _apart(one: Node, other: Node) -> bool:
    """Return whether no text can match both parts."""
    for mine, yours in zip(_fixed(one), _fixed(other), strict=False):
        if not mine.most & yours.most:
            return True
    mine_first, mine_empty = _first(one)
    your_first, your_empty = _first(other)
    return not (mine_empty or your_empty or mine_first.most & your_first.most)


def _fixed(node: Node) -> list[Characters]:
    """Return the classes that a part always begins with."""
    found = []
    for part in node.parts if isinstance(node, Row) else (node,):
        if not isinstance(part, Class):
            break
        found.append(part.characters)
    return found


def _endless(node: Node) -> bool:
    """Return whether a part may match any number of characters."""
    match node:
        case Repeat():
            return node.most is None or _endless(node.inner)
        case Atomic():
            return _endless(node.inner)
        case Row():
            return any(map(_endless, node.parts))
        case Either():
            return any(map(_endless, node.branches))
    return False


def _runs(node: Node, *, within: bool = False) -> list[Characters]:
    """Return the characters of each part that may match any number of them."""
    match node:
        case Class():
            return [node.characters] if within else []
        case Anchor():
            return []
        case Look() | Atomic():
            return _runs(node.inner, within=within)
        case Repeat():
            if within or (node.most is not None and node.most <= _MAX_ENDS):
                return _runs(node.inner, within=within)
            taken = NONE
            for characters in _runs(node.inner, within=True):
                taken |= characters
            return [taken]
        case Row():
            parts = node.parts
        case Either():
            parts = node.branches
    return [characters for part in parts for characters in _runs(part, within=within)]
