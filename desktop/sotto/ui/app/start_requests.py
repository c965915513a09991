"""Receives the requests of later starts of the app, on the socket of `sotto.ui.platform.single_instance`."""

import socket

from PySide6.QtCore import QObject, QSocketNotifier, QTimer, Signal, Slot

from sotto.ui.platform.single_instance import LONGEST, TAKEN, StartRequest

_PATIENCE_MS = 5000
_CHUNK = 1 << 16
_Read = QSocketNotifier.Type.Read


class StartRequests(QObject):
    """Listens for requests.

    Signals:
        received: A request has arrived (`StartRequest`).
    """

    received = Signal(object)

    def __init__(self, listener: socket.socket, parent: QObject | None = None) -> None:
        """Accept connections to `listener`, including those that are already waiting."""
        super().__init__(parent)
        listener.setblocking(False)
        self._listener = listener
        self._notifier = QSocketNotifier(listener.fileno(), _Read, self)
        self._notifier.activated.connect(self._accept)

    def close(self) -> None:
        """Stop listening. Starts that are still waiting are disconnected, and try to become the app themselves."""
        self._notifier.setEnabled(False)
        self._listener.close()
        for request in self.findChildren(_Request):
            request.leave()

    @Slot()
    def _accept(self) -> None:
        try:
            connection, _ = self._listener.accept()
        except OSError:
            return  # the other side has already disconnected
        request = _Request(connection, self)
        request.received.connect(self.received)


class _Request(QObject):
    """The connection from another start, until its one line has been read and answered."""

    received = Signal(object)

    def __init__(self, connection: socket.socket, parent: QObject) -> None:
        super().__init__(parent)
        connection.setblocking(False)
        self._connection = connection
        self._received = b""
        self._notifier = QSocketNotifier(connection.fileno(), _Read, self)
        self._notifier.activated.connect(self._read)
        QTimer.singleShot(_PATIENCE_MS, self, self.leave)

    @Slot()
    def _read(self) -> None:
        try:
            chunk = self._connection.recv(_CHUNK)
        except BlockingIOError:
            return
        except OSError:
            chunk = b""
        self._received += chunk
        if b"\n" in self._received:
            self._answer(self._received.partition(b"\n")[0])
        elif not chunk or len(self._received) > LONGEST:
            self.leave()

    def _answer(self, line: bytes) -> None:
        try:
            request = StartRequest.of_line(line)
        except ValueError as error:
            self._send(f"{error}\n".encode())
        else:
            self._send(TAKEN)
            self.received.emit(request)
        self.leave()

    def _send(self, answer: bytes) -> None:
        try:
            self._connection.sendall(answer)
        except OSError:
            return  # the other side has already disconnected

    @Slot()
    def leave(self) -> None:
        """Close the connection."""
        self._notifier.setEnabled(False)
        self._connection.close()
        self.deleteLater()
