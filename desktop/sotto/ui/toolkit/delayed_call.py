"""Something that is to be done in a while, on the window's thread."""

from collections.abc import Callable
from math import isinf

from PySide6.QtCore import QObject, QTimer

# Qt counts milliseconds with 31 bits.
_LONGEST_SECONDS = 1_000_000.0


class DelayedCall(QTimer):
    """Calls a function in as many seconds as it is told, in place of what it was told before."""

    def __init__(self, function: Callable[[], None], parent: QObject) -> None:
        """Call `function`, as long as `parent` lives."""
        super().__init__(parent, singleShot=True)
        self.timeout.connect(function)

    def tell(self, seconds: float) -> None:
        """Call it in so many seconds; never where these are infinite."""
        if isinf(seconds):
            self.stop()
        else:
            # Not a moment too early: there would be nothing to do yet.
            self.start(int(min(seconds, _LONGEST_SECONDS) * 1000) + 1)
