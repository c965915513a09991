"""Regular expressions over a few letters, matched by plain backtracking that counts its steps."""

from dataclasses import dataclass

from hypothesis import strategies as st


@dataclass(frozen=True)
class Letters:
    """One of some letters."""

    letters: str

    def __str__(self):
        return self.letters if len(self.letters) == 1 else f"[{self.letters}]"

    def matches(self, text, start, count):
        """Yield the positions where matches from `start` can end, in order of preference; call `count` at each step."""
        count()
        if start < len(text) and text[start] in self.letters:
            yield start + 1


@dataclass(frozen=True)
class Row:
    """A sequence of expressions."""

    parts: tuple

    def __str__(self):
        return "".join(map(str, self.parts))

    def matches(self, text, start, count, index=0):
        """Yield the positions where matches of the parts from `index` on can end."""
        if index == len(self.parts):
            yield start
            return
        for end in self.parts[index].matches(text, start, count):
            yield from self.matches(text, end, count, index + 1)


@dataclass(frozen=True)
class Either:
    """An alternation."""

    branches: tuple

    def __str__(self):
        return f"(?:{'|'.join(map(str, self.branches))})"

    def matches(self, text, start, count):
        """Yield the positions where matches can end."""
        for branch in self.branches:
            yield from branch.matches(text, start, count)


@dataclass(frozen=True)
class Repeat:
    """A greedy repetition, from `minimum` to `maximum` times."""

    inner: object
    minimum: int
    maximum: int | None

    def __str__(self):
        return f"(?:{self.inner}){{{self.minimum},{'' if self.maximum is None else self.maximum}}}"

    def matches(self, text, start, count, done=0):
        """Yield the positions where matches can end after `done` repetitions."""
        count()
        if self.maximum is None or done < self.maximum:
            for end in self.inner.matches(text, start, count):
                # Like Oniguruma, stop repeating after an empty match.
                if end > start or done < self.minimum:
                    yield from self.matches(text, end, count, done + 1)
        if done >= self.minimum:
            yield start


@dataclass(frozen=True)
class Look:
    """A positive or negative lookahead."""

    inner: object
    wanted: bool

    def __str__(self):
        return f"(?{'=' if self.wanted else '!'}{self.inner})"

    def matches(self, text, start, count):
        """Yield `start` if the lookahead succeeds."""
        if (next(self.inner.matches(text, start, count), None) is not None) == self.wanted:
            yield start


@dataclass(frozen=True)
class Atomic:
    """An atomic group."""

    inner: object

    def __str__(self):
        return f"(?>{self.inner})"

    def matches(self, text, start, count):
        """Yield the position where the first match ends."""
        for end in self.inner.matches(text, start, count):
            yield end
            return


class TooManyStepsError(Exception):
    """A search takes more steps than allowed."""


def steps(expression, text, limit):
    """Return the number of steps that finding all matches in a text takes.

    Raises:
        TooManyStepsError: It takes more than `limit`.
    """
    taken = 0

    def count():
        nonlocal taken
        taken += 1
        if taken > limit:
            raise TooManyStepsError

    start = 0
    while start <= len(text):
        end = next(expression.matches(text, start, count), None)
        start = end if end is not None and end > start else start + 1
    return taken


def expressions(depth=3):
    """Return a strategy for expressions over `a`, `b` and `c`, most of them with repetitions."""
    letters = st.sampled_from(["a", "b", "ab", "bc"]).map(Letters)
    if not depth:
        return letters
    inner = expressions(depth - 1)
    bounds = st.sampled_from([(0, 1), (0, None), (1, None), (0, 3), (2, 2), (1, 20)])
    repeats = st.builds(lambda part, times: Repeat(part, *times), inner, bounds)
    rows = st.lists(inner, min_size=2, max_size=3).map(lambda parts: Row(tuple(parts)))
    branches = st.lists(inner, min_size=2, max_size=3).map(lambda branches: Either(tuple(branches)))
    return st.one_of(repeats, rows, repeats, branches, st.builds(Look, inner, st.booleans()), st.builds(Atomic, inner))
