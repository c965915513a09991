"""Passes the log of requests to the API on to the window's thread."""

from PySide6.QtCore import QObject, QTimer, Signal, Slot

from sotto.api.request_log import RequestLog, RequestRecord

# However many requests come, the window is told this often at most.
_EVERY_MS = 250


class RequestFeed(QObject):
    """The requests to the API as the window knows them.

    Signals:
        changed: `requests` has changed.

    Attributes:
        log: The log, which the server writes.
        requests: Those under way and then those that have ended, the newest first in each part.
    """

    changed = Signal()
    _logged = Signal()

    def __init__(self, parent: QObject | None = None) -> None:
        """Begin without requests."""
        super().__init__(parent)
        self.requests: tuple[RequestRecord, ...] = ()
        self.log = RequestLog(self._logged.emit)
        self._timer = QTimer(self, singleShot=True, interval=_EVERY_MS)
        self._timer.timeout.connect(self._read)
        # Emitted on the server's thread, and received on this one.
        self._logged.connect(self._wait)

    @property
    def under_way(self) -> int:
        """The number of requests that are under way."""
        return sum(not request.ended for request in self.requests)

    def clear(self) -> None:
        """Forget the requests that have ended."""
        self.log.clear()
        self._read()

    @Slot()
    def _wait(self) -> None:
        self._timer.start()

    @Slot()
    def _read(self) -> None:
        requests = self.log.read()
        if requests != self.requests:
            self.requests = requests
            self.changed.emit()
