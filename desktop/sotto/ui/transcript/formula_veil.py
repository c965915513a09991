"""Shows a conversation that has just been opened only once its formulas are drawn, so that nothing flashes or moves."""

import time

from PySide6.QtCore import QObject, QTimer
from PySide6.QtWidgets import QWidget

from sotto.ui.markdown.formula_placer import painter

_INTERVAL_MS = 20
# After the last formula is drawn, the texts need this long to put the pictures in and to be laid out.
_SETTLING_SECONDS = 0.06
LONGEST_SECONDS = 1.0
"""How long formulas may keep a conversation from being shown."""


class FormulaVeil(QObject):
    """Keeps what was in view before on the screen while formulas are drawn, for at most a second."""

    def __init__(self, view: QWidget) -> None:
        """Hold back the painting of `view`, which owns this object."""
        super().__init__(view)
        self._view = view
        self._began = self._busy_until = 0.0
        self._timer = QTimer(self, interval=_INTERVAL_MS)
        self._timer.timeout.connect(self._check)

    def lower(self) -> None:
        """Hold painting back if there are formulas to draw."""
        if painter().busy:
            self._began = self._busy_until = time.monotonic()
            self._view.setUpdatesEnabled(False)
            self._timer.start()

    def raise_(self) -> None:
        """Paint again at once."""
        self._timer.stop()
        self._view.setUpdatesEnabled(True)

    def _check(self) -> None:
        now = time.monotonic()
        if painter().busy:
            self._busy_until = now
        if now - self._busy_until >= _SETTLING_SECONDS or now - self._began >= LONGEST_SECONDS:
            self.raise_()
