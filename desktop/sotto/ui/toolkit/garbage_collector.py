"""Python's search for unreachable objects, kept on Qt's thread.

Python collects on whichever thread happens to allocate, so the engine's or one that serves a client could be the one
to destroy a widget or a timer that was part of a cycle. Qt allows that on the thread the object lives on alone, and
otherwise crashes.
"""

import gc

from PySide6.QtCore import QObject, QTimer, Slot

_INTERVAL_MS = 1000
# What is there by then stays as long as the app, and is left out of every later search, which takes 50 ms otherwise.
_STARTED_TICKS = 5


class GarbageCollector(QObject):
    """Collects on the thread that it lives on, as often as Python would have, and keeps other threads from it."""

    def __init__(self, parent: QObject | None = None) -> None:
        """Leave everything to Python until `begin`."""
        super().__init__(parent)
        self._ticks = 0
        self._timer = QTimer(self, interval=_INTERVAL_MS)
        self._timer.timeout.connect(self.collect)

    def begin(self) -> None:
        """Take over from Python."""
        gc.disable()
        self._timer.start()

    def end(self) -> None:
        """Hand back to Python; for when no other thread is left."""
        self._timer.stop()
        gc.unfreeze()
        gc.enable()

    @Slot()
    def collect(self) -> None:
        """Search the generations that are due."""
        gc.disable()  # whoever paused it for a while on another thread may have resumed it since
        self._ticks += 1
        if self._ticks == _STARTED_TICKS:
            gc.collect(1)
            gc.freeze()
        # Newer Pythons have no threshold for the oldest: they search a part of it along with the one before.
        due = [
            generation
            for generation, (count, threshold) in enumerate(zip(gc.get_count(), gc.get_threshold(), strict=True))
            if count > threshold > 0
        ]
        if due:
            gc.collect(max(due))
