"""A function call that can be postponed again and again, on Qt's thread."""

from collections.abc import Callable
from math import isinf

from PySide6.QtCore import QObject, QTimer

# QTimer takes milliseconds as a 32-bit signed integer.
_LONGEST_SECONDS = 1_000_000.0


class DelayedCall(QTimer):
    """Calls a function after a delay; a new delay replaces the previous one."""

    def __init__(self, function: Callable[[], None], parent: QObject) -> None:
        """Prepare to call `function`, unless `parent` has been destroyed by then."""
        super().__init__(parent, singleShot=True)
        self.timeout.connect(function)

    def schedule(self, seconds: float) -> None:
        """Call the function in `seconds`; infinity cancels the call."""
        if isinf(seconds):
            self.stop()
        else:
            # Rounded up, because nothing would be due yet a moment too early.
            self.start(int(min(seconds, _LONGEST_SECONDS) * 1000) + 1)
