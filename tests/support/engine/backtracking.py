"""Regular expressions over a few letters, tried by plain backtracking that counts its steps."""

from dataclasses import dataclass

from hypothesis import strategies as st


@dataclass(frozen=True)
class Letters:
    """One of some letters."""

    letters: str

    def __str__(self):
        return self.letters if len(self.letters) == 1 else f"[{self.letters}]"

    def matches(self, text, place, count):
        """Yield where a match from `place` on can end, the preferred first; `count` is called for each step."""
        count()
        if place < len(text) and text[place] in self.letters:
            yield place + 1


@dataclass(frozen=True)
class Row:
    """One after the other."""

    parts: tuple

    def __str__(self):
        return "".join(map(str, self.parts))

    def matches(self, text, place, count, at=0):
        """Yield where a match can end."""
        if at == len(self.parts):
            yield place
            return
        for end in self.parts[at].matches(text, place, count):
            yield from self.matches(text, end, count, at + 1)


@dataclass(frozen=True)
class Either:
    """One of several."""

    branches: tuple

    def __str__(self):
        return f"(?:{'|'.join(map(str, self.branches))})"

    def matches(self, text, place, count):
        """Yield where a match can end."""
        for branch in self.branches:
            yield from branch.matches(text, place, count)


@dataclass(frozen=True)
class Repeat:
    """Several times the same, as often as possible."""

    inner: object
    least: int
    most: int | None

    def __str__(self):
        return f"(?:{self.inner}){{{self.least},{'' if self.most is None else self.most}}}"

    def matches(self, text, place, count, done=0):
        """Yield where a match can end."""
        count()
        if self.most is None or done < self.most:
            for end in self.inner.matches(text, place, count):
                # As Oniguruma does, another round that takes nothing is not begun.
                if end > place or done < self.least:
                    yield from self.matches(text, end, count, done + 1)
        if done >= self.least:
            yield place


@dataclass(frozen=True)
class Look:
    """What must, or must not, stand behind a place."""

    inner: object
    wanted: bool

    def __str__(self):
        return f"(?{'=' if self.wanted else '!'}{self.inner})"

    def matches(self, text, place, count):
        """Yield the place where it holds."""
        if (next(self.inner.matches(text, place, count), None) is not None) == self.wanted:
            yield place


@dataclass(frozen=True)
class Atomic:
    """What is not tried again."""

    inner: object

    def __str__(self):
        return f"(?>{self.inner})"

    def matches(self, text, place, count):
        """Yield where the first match ends."""
        for end in self.inner.matches(text, place, count):
            yield end
            return


class TooManyStepsError(Exception):
    """A search takes longer than anybody waits."""


def steps(expression, text, most):
    """Return how many steps it takes to find all matches in a text.

    Raises:
        TooManyStepsError: They are more than `most`.
    """
    taken = 0

    def count():
        nonlocal taken
        taken += 1
        if taken > most:
            raise TooManyStepsError

    place = 0
    while place <= len(text):
        end = next(expression.matches(text, place, count), None)
        place = end if end is not None and end > place else place + 1
    return taken


def expressions(depth=3):
    """Return a strategy for expressions over `a`, `b` and `c`, most of which repeat something."""
    letters = st.sampled_from(["a", "b", "ab", "bc"]).map(Letters)
    if not depth:
        return letters
    inner = expressions(depth - 1)
    bounds = st.sampled_from([(0, 1), (0, None), (1, None), (0, 3), (2, 2), (1, 20)])
    repeats = st.builds(lambda one, times: Repeat(one, *times), inner, bounds)
    rows = st.lists(inner, min_size=2, max_size=3).map(lambda parts: Row(tuple(parts)))
    branches = st.lists(inner, min_size=2, max_size=3).map(lambda branches: Either(tuple(branches)))
    return st.one_of(repeats, rows, repeats, branches, st.builds(Look, inner, st.booleans()), st.builds(Atomic, inner))
