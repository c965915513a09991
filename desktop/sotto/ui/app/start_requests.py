"""Takes what later starts of the app ask for, on the socket of `sotto.ui.platform.single_instance`."""

import socket

from PySide6.QtCore import QObject, QSocketNotifier, QTimer, Signal, Slot

from sotto.ui.platform.single_instance import LONGEST, TAKEN, Wish

_PATIENCE_MS = 5000
_CHUNK = 1 << 16
_Read = QSocketNotifier.Type.Read


class Door(QObject):
    """Listens for other starts.

    Signals:
        wished: One has come (`Wish`).
    """

    wished = Signal(object)

    def __init__(self, listener: socket.socket, parent: QObject | None = None) -> None:
        """Take those that come to `listener`, and first those that wait there already."""
        super().__init__(parent)
        listener.setblocking(False)
        self._listener = listener
        self._notifier = QSocketNotifier(listener.fileno(), _Read, self)
        self._notifier.activated.connect(self._accept)

    def close(self) -> None:
        """Take nobody any more; whoever waits is turned away, and tries to become the app itself."""
        self._notifier.setEnabled(False)
        self._listener.close()
        for visitor in self.findChildren(_Visitor):
            visitor.leave()

    @Slot()
    def _accept(self) -> None:
        try:
            connection, _ = self._listener.accept()
        except OSError:
            return  # it has gone again
        visitor = _Visitor(connection, self)
        visitor.wished.connect(self.wished)


class _Visitor(QObject):
    """One other start, until it has said its line."""

    wished = Signal(object)

    def __init__(self, connection: socket.socket, parent: QObject) -> None:
        super().__init__(parent)
        connection.setblocking(False)
        self._connection = connection
        self._said = b""
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
        self._said += chunk
        if b"\n" in self._said:
            self._answer(self._said.partition(b"\n")[0])
        elif not chunk or len(self._said) > LONGEST:
            self.leave()

    def _answer(self, line: bytes) -> None:
        try:
            wish = Wish.of_line(line)
        except ValueError as error:
            self._send(f"{error}\n".encode())
        else:
            self._send(TAKEN)
            self.wished.emit(wish)
        self.leave()

    def _send(self, answer: bytes) -> None:
        try:
            self._connection.sendall(answer)
        except OSError:
            return  # nobody waits for it any more

    @Slot()
    def leave(self) -> None:
        """Close the connection."""
        self._notifier.setEnabled(False)
        self._connection.close()
        self.deleteLater()
