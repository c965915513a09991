"""Handling of Ctrl-C: the first one ends the work at its next step, a second one at once."""

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Event
from types import FrameType


@contextmanager
def until_interrupt(interrupted: Event) -> Iterator[None]:
    """Have the first Ctrl-C set `interrupted`, and restore the previous handler for the second."""
    interrupted.clear()
    previous = signal.getsignal(signal.SIGINT)

    def interrupt(number: int, frame: FrameType | None) -> None:
        interrupted.set()
        signal.signal(signal.SIGINT, previous)

    signal.signal(signal.SIGINT, interrupt)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, previous)
