"""Room for bodies of requests that are on their way, of all of them together."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from sotto.api.errors import busy


class Room:
    """So many bytes, for all who read on one event loop."""

    def __init__(self, size: int) -> None:
        """Begin with all of it free."""
        self._free = size

    @contextmanager
    def some(self) -> Iterator[Callable[[int], None]]:
        """Give what takes more of it, all of which is free again in the end; it raises ApiError where none is left."""
        taken = 0

        def take(count: int) -> None:
            nonlocal taken
            if count > self._free:
                raise busy()
            self._free -= count
            taken += count

        try:
            yield take
        finally:
            self._free += taken
