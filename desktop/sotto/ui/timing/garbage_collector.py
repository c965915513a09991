"""Python's cyclic garbage collection, restricted to Qt's thread.

WORKAROUND: Python collects on any thread that happens to allocate, so the engine's thread or one that serves a client
could destroy a widget or a timer that is part of a cycle. Qt crashes when an object is destroyed on a thread other
than its own. Needed as long as PySide6 does not defer such destructions to the object's thread.
"""

import gc

from PySide6.QtCore import QObject, QTimer, Slot

_INTERVAL_MS = 1000
# Objects that exist by then usually live as long as the app. Freezing them saves 50 ms in each full collection.
_FREEZE_TICKS = 5


class GarbageCollector(QObject):
    """Collects garbage on its own thread, about as often as Python would, and disables Python's own collection."""

    def __init__(self, parent: QObject | None = None) -> None:
        """Leave collection to Python until `begin`."""
        super().__init__(parent)
        self._ticks = 0
        self._timer = QTimer(self, interval=_INTERVAL_MS)
        self._timer.timeout.connect(self.collect)

    def begin(self) -> None:
        """Disable Python's collection and start collecting."""
        gc.disable()
        self._timer.start()

    def end(self) -> None:
        """Return collection to Python; to be called when no other thread is left."""
        self._timer.stop()
        gc.unfreeze()
        gc.enable()

    @Slot()
    def collect(self) -> None:
        """Collect the generations that are due."""
        gc.disable()  # other threads that paused collection for a while may have enabled it again
        self._ticks += 1
        if self._ticks == _FREEZE_TICKS:
            gc.collect(1)
            gc.freeze()
        # Newer versions of Python have no threshold for the oldest generation: they collect it in increments.
        due = [
            generation
            for generation, (count, threshold) in enumerate(zip(gc.get_count(), gc.get_threshold(), strict=True))
            if count > threshold > 0
        ]
        if due:
            gc.collect(max(due))
