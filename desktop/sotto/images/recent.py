"""What was found out about the images that were used last: a chat shows the same ones with every turn."""

import threading
from collections import OrderedDict
from collections.abc import Callable
from typing import Generic, TypeVar

_V = TypeVar("_V")


class Recent(Generic[_V]):
    """Values by the digests of images, the ones used last. For any thread."""

    def __init__(self, most: int, size: Callable[[_V], int] = lambda _: 1) -> None:
        """Start empty.

        Args:
            most: The most that all values may have together.
            size: Returns what a value counts for; each is one if it is not given.
        """
        self._most = most
        self._size = size
        self._held: OrderedDict[str, _V] = OrderedDict()
        self._lock = threading.Lock()

    def find(self, digest: str) -> _V | None:
        """Return the value of an image, and remember that it was used."""
        with self._lock:
            if digest in self._held:
                self._held.move_to_end(digest)
            return self._held.get(digest)

    def add(self, digest: str, value: _V) -> None:
        """Keep the value of an image, and forget the oldest ones beyond the limit."""
        with self._lock:
            self._held[digest] = value
            while self._held and sum(map(self._size, self._held.values())) > self._most:
                self._held.popitem(last=False)
