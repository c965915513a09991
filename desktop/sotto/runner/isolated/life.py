"""The life of one child process, from start to end: its non-blocking input and output."""

import selectors
import socket
import time
from contextlib import suppress
from typing import Any, Self

from sotto.engine.contract.engine_settings import EngineSettings
from sotto.runner.codec import WireError
from sotto.runner.commands import Command
from sotto.runner.isolated.spawned import Spawned
from sotto.runner.serving.wire import Wire

_START_SECONDS = 60.0
# How often the memory of a limited process is checked.
_LOOK_SECONDS = 0.05


class Life:
    """A child process and the session with it. A context manager: the process has ended on exit.

    Attributes:
        child: The process.
        address: Its port and token; None before it listens.
        gone: Whether it will send no more events.
    """

    def __init__(self, settings: EngineSettings | None, bell: socket.socket) -> None:
        """Start the process.

        Args:
            settings: Those of its engine; None for those stored on this machine.
            bell: Socket that ends a `turn` when it becomes readable.

        Raises:
            WireError: The system cannot start it.
        """
        self.child = Spawned(settings)
        self._bell = bell
        self._wire: Wire | None = None
        self._selector = selectors.DefaultSelector()
        self._answers_by = time.monotonic() + _START_SECONDS
        self.address: tuple[int, str] | None = None
        self.gone = False
        for readable in (bell, self.child.out, self.child.log):
            self._selector.register(readable, selectors.EVENT_READ)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.finish(0)

    @property
    def _begun(self) -> bool:
        return self.gone or (self._wire is not None and self._wire.begun)

    @property
    def connected(self) -> bool:
        """Whether commands can be sent."""
        return self._wire is not None

    def send(self, command: Command) -> None:
        """Send a command."""
        assert self._wire is not None
        self._wire.send(command)
        self._watch_wire()

    def ask_to_end(self) -> None:
        """Ask the process to end cleanly; kill it if it does not serve yet, since it has nothing to save."""
        if self.connected:
            self.child.interrupt()
        else:
            self.child.kill()

    def turn(self, until: float | None) -> list[Any]:
        """Wait for something to happen, and return the events received.

        Checks the process's memory if that is limited, and then returns soon.

        Args:
            until: Latest time to return, by `time.monotonic()`; None to wait indefinitely.

        Raises:
            WireError: The process violates the protocol, or has not started in time.
        """
        events: list[Any] = []
        if not self._begun:
            until = min(self._answers_by, until or self._answers_by)
        if self.child.most_memory is not None:
            self.child.look_at_memory()
            look = time.monotonic() + _LOOK_SECONDS
            until = look if until is None else min(look, until)
        for key, _ in self._selector.select(None if until is None else max(0.0, until - time.monotonic())):
            if key.fileobj is self._bell:
                silence(self._bell)
            elif key.fileobj is self.child.log:
                if self.child.read_log() is None:
                    self._selector.unregister(self.child.log)
            elif key.fileobj is self.child.out:
                self._connect()
            elif self._wire is not None:
                self._wire.flush()
                events += self._wire.receive()
                self.gone = self._wire.ended
                self._watch_wire()
        if not self._begun and time.monotonic() >= self._answers_by:
            raise WireError("The engine's process did not start in time.")
        return events

    def finish(self, seconds: float) -> bool:
        """Wait up to `seconds` for the process to end, then kill it; return whether it ended by itself."""
        self._selector.close()
        if self._wire is not None:
            self._wire.close()
        self.address = None
        return self.child.end(seconds)

    def _connect(self) -> None:
        port = self.child.port()
        if self.child.silent:
            self._selector.unregister(self.child.out)
            self.gone = True
        if port is None:
            return
        self._selector.unregister(self.child.out)
        self._wire = Wire(port, self.child.token)
        self.address = (port, self.child.token)
        self._selector.register(self._wire, selectors.EVENT_READ)
        self._watch_wire()

    def _watch_wire(self) -> None:
        assert self._wire is not None
        wanted = selectors.EVENT_READ | (selectors.EVENT_WRITE if self._wire.behind else 0)
        self._selector.modify(self._wire, wanted)


def silence(bell: socket.socket) -> None:
    """Read everything from a bell."""
    with suppress(BlockingIOError):
        while bell.recv(4096):
            pass
