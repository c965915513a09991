"""Give the keyboard back to the program that had it.

Where there is a window manager or compositor, it does that by itself once a window is gone. An X server without one
leaves the keyboard with nobody; then it goes to whoever had it before.
"""

import logging

from PySide6.QtCore import QObject, QTimer, Slot
from PySide6.QtGui import QGuiApplication

from sotto.ui.platform.xcb import Server

_log = logging.getLogger(__name__)

# Until a window manager has noticed that a window is gone.
_SETTLE_MS = 60


class InputFocus(QObject):
    """Remembers which window has the keyboard, whichever program it belongs to."""

    def __init__(self, parent: QObject | None = None) -> None:
        """Remember none yet."""
        super().__init__(parent)
        self._server: Server | None = None
        self._before = 0
        self._settle = QTimer(self, singleShot=True, interval=_SETTLE_MS)
        self._settle.timeout.connect(self._look)

    @property
    def rounds(self) -> bool:
        """Whether the corners of a window can be round: what is outside them is black where nothing is see-through."""
        server = self._connected()
        return server is None or server.composited

    def remember(self, taker: int) -> None:
        """Take note of the window that has the keyboard before the window `taker` takes it.

        Where that is nobody's, or still `taker`'s, because it went and comes again at once, what was noted stays.
        """
        self._settle.stop()
        server = self._connected()
        if server is not None and (window := server.focus()) not in (0, taker):
            self._before = window

    def give_back(self) -> None:
        """Let that window have it again, as soon as the one that took it is gone."""
        if self._server is not None and self._before:
            self._settle.start()

    @Slot()
    def _look(self) -> None:
        if self._server is not None and not self._server.focus():
            self._server.set_focus(self._before)

    def _connected(self) -> Server | None:
        """Return a connection to the X server; None where there is none."""
        if self._server is None and QGuiApplication.platformName() == "xcb":
            try:
                self._server = Server()
            except OSError as error:
                _log.info("The X server cannot be asked: %s", error)
        return self._server
