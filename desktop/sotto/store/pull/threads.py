"""Calls that may hang, on threads that nobody waits for: the look-up of a host, or a disk that takes its time.

Those of the loop's own executor are waited for at the end of the program, however long a name server is silent.
"""

import asyncio
import socket
import threading
from collections.abc import Callable
from typing import Any, TypeVar
from weakref import WeakSet

_T = TypeVar("_T")


async def in_thread(call: Callable[[], _T]) -> _T:
    """Return what a call returns, or raise what it raises; cancelled, leave it to itself."""
    loop = asyncio.get_running_loop()
    answer: asyncio.Future[_T] = loop.create_future()

    def settle(result: _T | None, error: BaseException | None) -> None:
        if answer.cancelled():
            return
        if error is None:
            answer.set_result(result)  # type: ignore[arg-type]
        else:
            answer.set_exception(error)

    def run() -> None:
        result, error = None, None
        try:
            result = call()
        except Exception as raised:
            error = raised
        try:
            loop.call_soon_threadsafe(settle, result, error)
        except RuntimeError:
            # The loop was closed meanwhile: nobody wants to know any more.
            return

    threading.Thread(target=run, daemon=True).start()
    return await answer


class Loop(asyncio.SelectorEventLoop):
    """An event loop that looks hosts up on such threads, and knows its connections."""

    def __init__(self) -> None:
        """Make a loop without connections."""
        super().__init__()
        self._connections: WeakSet[Any] = WeakSet()

    async def create_connection(self, *args: Any, **options: Any) -> Any:
        """Connect; see `asyncio.loop.create_connection`."""
        transport, protocol = await super().create_connection(*args, **options)
        self._connections.add(transport)
        return transport, protocol

    def hang_up(self) -> None:
        """Close every connection: who is stopped while he makes one secure, or closes several, leaves some open."""
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
        """Look a host up."""
        return await in_thread(lambda: socket.getaddrinfo(host, port, family, type, proto, flags))
