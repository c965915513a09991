"""Limits of time and memory for rendering a chat template.

Three things are limited, and each limit grows with the conversation:

- the weight of a single value, about its length in characters when printed; repeated parts count each time;
- the weight of all values built during one rendering;
- this thread's CPU time rather than wall time, so that a busy machine makes no template fail.
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
# Some templates append each turn to the text so far, which builds half the text's length times its number of turns.
_TOTAL_PER_PART = 4
_SECONDS_PER_CHARACTER = 1e-6
# Others go over all turns at each turn: Gemma 4's takes 11 seconds for 2000.
_SECONDS_PER_PAIR = 4e-6
_MAX_DEPTH = 100


class TemplateBoundsError(Exception):
    """A template needs more time or memory than it is allowed."""


@dataclass(slots=True)
class Bounds:
    """What the current rendering may still use.

    Attributes:
        deadline: CPU time of this thread, in seconds, at which the rendering fails.
        weight: Most that a single value may weigh, in characters.
        left: What all further values may weigh together, in characters.
        known: Weights of the lists and mappings that were passed in, by `id`. A template cannot change them, and one
            that takes the length of a long conversation at each turn must not weigh it each time.
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
        """Count a value of `weight` towards the total; raise TemplateBoundsError if that is too much."""
        self.left -= weight
        if self.left < 0:
            raise TemplateBoundsError("it builds too much")

    def take(self, value: Any) -> Any:
        """Account for a value that was just built and return it; an iterator is weighed while it is read."""
        self.check_time()
        if isinstance(value, Iterator) and not isinstance(value, LoopContext):
            return _weigh(self, value)
        self.weigh(value)
        self.spend(len(value) if isinstance(value, Sized) and not isinstance(value, range) else 1)
        return value


current: ContextVar[Bounds] = ContextVar("bounds of the rendering under way")


@contextmanager
def bounded(variables: Mapping[str, Any]) -> Iterator[None]:
    """Run the block with limits that fit the conversation in `variables`."""
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
    """Yield `values`, checking the weight of each and of all together."""
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
        depth: How deeply this value is nested in others.
        record: Whether to add weights to `known`.
    """
    if isinstance(value, str | bytes):
        return len(value) + 2
    if isinstance(value, int):
        return 1 + value.bit_length() // 3
    if isinstance(value, range):
        return 7 * len(value)
    if isinstance(value, Namespace):
        # WORKAROUND: Jinja's namespaces hide their attributes, so this reads a private one. Watch for a rename of it.
        value = object.__getattribute__(value, "_Namespace__attrs")
    if isinstance(value, Mapping):
        parts: Iterable[object] = (part for item in value.items() for part in item)
    elif isinstance(value, Sized) and isinstance(value, Iterable) and not isinstance(value, LoopContext):
        parts = value
    else:
        return 20
    if id(value) in known:
        return known[id(value)]
    if depth == _MAX_DEPTH:
        raise TemplateBoundsError("it builds something nested too deeply")
    total = 2.0
    for part in parts:
        total += 2 + _weight(part, limit - total, known, depth + 1, record=record)
        if total > limit:
            break
    if record:
        known[id(value)] = total
    return total
