"""What a template may use while it is rendered: time, and the size of what it builds.

Three things are bounded, each growing with the conversation that is given:

- what one value would take to be written out, with parts that it holds several times counted each time;
- what all values built in one rendering take together;
- this thread's computing time, so a busy machine refuses nothing.
"""

import time
from collections.abc import Iterable, Iterator, Mapping, Sized
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any

from jinja2.runtime import LoopContext
from jinja2.utils import Namespace

SECONDS = 1.5
BASE_WEIGHT = 2**18
_GROWTH = 8
_TOTAL = 128
# Some templates append each turn to all that came before, which builds half as much as the text times its turns.
_TOTAL_PER_PART = 4
_SECONDS_PER_CHARACTER = 1e-6
# And some look back over all turns at each of them: Gemma 4's takes 11 seconds for 2000.
_SECONDS_PER_PAIR = 4e-6
_DEEPEST = 100


class TemplateBoundsError(Exception):
    """A template asks for more time or memory than it is given."""


@dataclass(slots=True)
class Bounds:
    """What the rendering under way may still use.

    Attributes:
        deadline: Computing time of this thread, in seconds, at which it ends.
        weight: Most that one value may weigh.
        left: What all further values may weigh.
        known: Weights of the lists and mappings that were given, by `id`. They cannot be changed, and asking for the
            length of a long conversation at each of its turns must not weigh it each time.
    """

    deadline: float
    weight: float
    left: float
    known: dict[int, float]

    def check_time(self) -> None:
        """Raise TemplateBoundsError if the time is up."""
        if time.thread_time() > self.deadline:
            raise TemplateBoundsError("it takes too long")

    def check(self, weight: float) -> None:
        """Raise TemplateBoundsError if `weight` is too much for one value."""
        if weight > self.weight:
            raise TemplateBoundsError("it builds something too large")

    def weigh(self, value: object) -> None:
        """Raise TemplateBoundsError if `value` weighs too much."""
        self.check(self.weight_of(value))

    def weight_of(self, value: object) -> float:
        """Return about how many characters `value` takes when it is written out."""
        return _weight(value, self.weight, self.known)

    def spend(self, weight: float) -> None:
        """Raise TemplateBoundsError if all values, with one more of `weight`, are too much."""
        self.left -= weight
        if self.left < 0:
            raise TemplateBoundsError("it builds too much")

    def take(self, value: Any) -> Any:
        """Account for a value that was just built and return it, an iterator so that it is weighed while it is read."""
        self.check_time()
        if isinstance(value, Iterator) and not isinstance(value, LoopContext):
            return _weigh(self, value)
        self.weigh(value)
        self.spend(len(value) if isinstance(value, Sized) and not isinstance(value, range) else 1)
        return value


current: ContextVar[Bounds] = ContextVar("bounds of the rendering under way")


@contextmanager
def bounded(variables: Mapping[str, Any]) -> Iterator[None]:
    """Give the block inside bounds that fit the conversation in `variables`."""
    known: dict[int, float] = {}
    given = _weight(variables, float("inf"), known, record=True)
    weight = BASE_WEIGHT + _GROWTH * given
    seconds = SECONDS + _SECONDS_PER_CHARACTER * given + _SECONDS_PER_PAIR * len(known) ** 2
    token = current.set(
        Bounds(
            deadline=time.thread_time() + seconds,
            weight=weight,
            left=_TOTAL * weight + _TOTAL_PER_PART * given * len(known),
            known=known,
        )
    )
    try:
        yield
    finally:
        current.reset(token)


def _weigh(bounds: Bounds, values: Iterator[Any]) -> Iterator[Any]:
    """Weigh what `values` yields, each value and all together."""
    total = 0.0
    for value in values:
        bounds.check_time()
        total += bounds.weight_of(value)
        bounds.check(total)
        bounds.spend(1)
        yield value


def _weight(value: object, limit: float, known: dict[int, float], depth: int = 0, *, record: bool = False) -> float:
    """Return about how many characters `value` takes when it is written out.

    Args:
        value: Anything that a template may hold.
        limit: Weight at which to stop counting.
        known: Weights by `id` of values that need not be counted again.
        depth: How many values this one is inside of.
        record: Whether to put weights into `known`.
    """
    if isinstance(value, str | bytes):
        return len(value) + 2
    if isinstance(value, int):
        return 1 + value.bit_length() // 3
    if isinstance(value, range):
        return 7 * len(value)
    if isinstance(value, Namespace):
        # A namespace hides its attributes from everything but its own methods.
        value = object.__getattribute__(value, "_Namespace__attrs")
    if isinstance(value, Mapping):
        parts: Iterable[object] = (part for item in value.items() for part in item)
    elif isinstance(value, Sized) and isinstance(value, Iterable) and not isinstance(value, LoopContext):
        parts = value
    else:
        return 20
    if id(value) in known:
        return known[id(value)]
    if depth == _DEEPEST:
        raise TemplateBoundsError("it builds something nested too deeply")
    total = 2.0
    for part in parts:
        total += 2 + _weight(part, limit - total, known, depth + 1, record=record)
        if total > limit:
            break
    if record:
        known[id(value)] = total
    return total
