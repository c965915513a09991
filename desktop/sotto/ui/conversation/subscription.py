"""Connections between signals and slots that end together."""

from collections.abc import Callable
from typing import Any

from PySide6.QtCore import QObject, SignalInstance


class Subscription:
    """What listens to one conversation, until another one takes its place."""

    def __init__(self, *connections: tuple[SignalInstance, Callable[..., Any]]) -> None:
        """Connect each of these signals with its slot."""
        self._connections = [signal.connect(slot) for signal, slot in connections]

    def close(self) -> None:
        """End all of them; nothing happens where that was done before."""
        connections, self._connections = self._connections, []
        for connection in connections:
            QObject.disconnect(connection)
