"""Shows a conversation that has just been opened only once its formulas are drawn, so that nothing flashes or moves."""

import time
from collections.abc import Callable

from PySide6.QtCore import QObject, QTimer
from PySide6.QtWidgets import QWidget

_INTERVAL_MS = 20
LONGEST_SECONDS = 1.0
"""How long formulas may keep a conversation from being shown."""


class FormulaVeil(QObject):
    """Keeps what was in view before on the screen while formulas are drawn, for at most a second."""

    def __init__(self, view: QWidget, unfinished: Callable[[], bool]) -> None:
        """Hold back the painting of `view`, which owns this object.

        Args:
            view: What is hidden.
            unfinished: Returns whether formulas are still to be put into it.
        """
        super().__init__(view)
        self._view = view
        self._unfinished = unfinished
        self._began = 0.0
        self._calm = False
        self._timer = QTimer(self, interval=_INTERVAL_MS)
        self._timer.timeout.connect(self._check)

    def lower(self) -> None:
        """Hold painting back if there are formulas to draw."""
        if self._unfinished():
            self._began, self._calm = time.monotonic(), False
            self._view.setUpdatesEnabled(False)
            self._timer.start()

    def _check(self) -> None:
        """Paint again once nothing was left to do twice in a row: in between, new sizes have reached the layout."""
        calm, self._calm = self._calm, not self._unfinished()
        if (calm and self._calm) or time.monotonic() - self._began >= LONGEST_SECONDS:
            self._timer.stop()
            self._view.setUpdatesEnabled(True)
