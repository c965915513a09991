"""Returns the input focus to the program that had it before.

A window manager or compositor does that by itself when a window is hidden. An X server without one leaves the focus
with no window; then it is given back here.
"""

import logging

from PySide6.QtCore import QObject, QTimer, Slot
from PySide6.QtGui import QGuiApplication

from sotto.ui.platform.xcb import Server

_log = logging.getLogger(__name__)

# Time for a window manager to notice that a window is gone.
_SETTLE_MS = 60


class InputFocus(QObject):
    """Remembers which window of any program has the input focus."""

    def __init__(self, parent: QObject | None = None) -> None:
        """Start without a window to remember."""
        super().__init__(parent)
        self._server: Server | None = None
        self._before = 0
        self._settle = QTimer(self, singleShot=True, interval=_SETTLE_MS)
        self._settle.timeout.connect(self._look)

    @property
    def rounds(self) -> bool:
        """Whether windows can have round corners; without transparency, what is outside them would be black."""
        server = self._connected()
        return server is None or server.composited

    def remember(self, taker: int) -> None:
        """Record the focused window before the window `taker` takes the focus.

        Where no window has it, or still `taker` because it was hidden and shown at once, the last record stays.
        """
        self._settle.stop()
        server = self._connected()
        if server is not None and (window := server.focus()) not in (0, taker):
            self._before = window

    def give_back(self) -> None:
        """Return the focus to that window, once the window that took it is gone."""
        if self._server is not None and self._before:
            self._settle.start()

    @Slot()
    def _look(self) -> None:
        if self._server is not None and not self._server.focus():
            self._server.set_focus(self._before)

    def _connected(self) -> Server | None:
        """Return the connection to the X server; None where there is no server."""
        if self._server is None and QGuiApplication.platformName() == "xcb":
            try:
                self._server = Server()
            except OSError as error:
                _log.info("The X server cannot be asked: %s", error)
        return self._server
