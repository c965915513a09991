"""A group of signal connections that are closed together."""

from collections.abc import Callable
from typing import Any

from PySide6.QtCore import QObject, SignalInstance


class Subscription:
    """Connects signals with slots until it is closed, for example because another conversation comes into view."""

    def __init__(self, *connections: tuple[SignalInstance, Callable[..., Any]]) -> None:
        """Connect each signal with its slot."""
        self._connections = [signal.connect(slot) for signal, slot in connections]

    def close(self) -> None:
        """Disconnect all of them; closing again has no effect."""
        connections, self._connections = self._connections, []
        for connection in connections:
            QObject.disconnect(connection)
