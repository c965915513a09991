"""Running calls that may hang on daemon threads: host look-ups, and flushing to slow disks.

The event loop's own executor would not do: the program waits for its threads at exit, however long a name server is
silent.
"""

import asyncio
import socket
import threading
from collections.abc import Callable
from typing import Any, TypeVar
from weakref import WeakSet

_T = TypeVar("_T")


async def run_in_thread(call: Callable[[], _T]) -> _T:
    """Return what a call returns, or raise what it raises; on cancellation the call runs on unobserved."""
    loop = asyncio.get_running_loop()
    outcome: asyncio.Future[_T] = loop.create_future()

    def settle(result: _T | None, error: BaseException | None) -> None:
        if outcome.cancelled():
            return
        if error is None:
            outcome.set_result(result)  # type: ignore[arg-type]
        else:
            outcome.set_exception(error)

    def run() -> None:
        result, error = None, None
        try:
            result = call()
        except Exception as raised:
            error = raised
        try:
            loop.call_soon_threadsafe(settle, result, error)
        except RuntimeError:
            # The loop was closed meanwhile, so nothing awaits the outcome.
            return

    threading.Thread(target=run, daemon=True).start()
    return await outcome


class Loop(asyncio.SelectorEventLoop):
    """An event loop that looks up hosts on daemon threads and tracks its connections."""

    def __init__(self) -> None:
        """Create a loop without connections."""
        super().__init__()
        self._connections: WeakSet[Any] = WeakSet()

    async def create_connection(self, *args: Any, **options: Any) -> Any:
        """Connect; see `asyncio.loop.create_connection`."""
        transport, protocol = await super().create_connection(*args, **options)
        self._connections.add(transport)
        return transport, protocol

    def hang_up(self) -> None:
        """Close every connection, as a task cancelled during a TLS handshake or while closing leaves some open."""
        for transport in tuple(self._connections):
            transport.abort()

    async def getaddrinfo(
        self,
        host: bytes | str | None,
        port: bytes | str | int | None,
        *,
        family: int = 0,
        type: int = 0,  # noqa: A002
        proto: int = 0,
        flags: int = 0,
    ) -> list[Any]:
        """Look up a host; the arguments are those of `asyncio.loop.getaddrinfo`."""
        return await run_in_thread(lambda: socket.getaddrinfo(host, port, family, type, proto, flags))
