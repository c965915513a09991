"""Ctrl-C as a wish that is granted at the next pause, and as an order when it comes twice."""

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Event
from types import FrameType


@contextmanager
def until_interrupt(interrupted: Event) -> Iterator[None]:
    """Let Ctrl-C set `interrupted` meanwhile; a second one does what it did before, without waiting for a pause."""
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
