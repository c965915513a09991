"""The server: a thread with an event loop of its own, on an address that was taken before it starts."""

import asyncio
import errno
import re
import socket
import threading
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import cast

import uvicorn

from sotto.api.access import KEY_RULE, can_be_sent, read_origins
from sotto.api.application import application
from sotto.api.bodies import LARGEST
from sotto.api.guard import is_loopback
from sotto.api.metrics import CountedDesk, Metrics
from sotto.api.protocol import PromptProtocol
from sotto.api.stream import Bridge
from sotto.errors import SottoError
from sotto.runner.host import Host
from sotto.runner.serving.connections import DoorServer
from sotto.runner.serving.doorway import Doorway

_LAST_SECONDS = 2
_LOOK_SECONDS = 0.05


class AddressError(SottoError):
    """The server cannot listen where it was told to."""


@dataclass(frozen=True, slots=True)
class Address:
    """Where to listen, and for whom.

    Attributes:
        host: An address of this machine.
        port: A port; 0 for any that is free.
        key: What every request must name; may be empty where only this machine can reach the server.
        origins: Web pages that may use it, as `sotto.api.access.read_origins` reads them; empty for none.
    """

    host: str
    port: int
    key: str = ""
    origins: str = ""


class ApiServer:
    """Serves a host's models over HTTP from `start` to `stop`."""

    def __init__(self, host: Host, address: Address) -> None:
        """Make a server that does not listen yet."""
        self._host = host
        self._address = address
        self._origins: re.Pattern[str] | None = None
        self._socket: socket.socket | None = None
        self._thread: threading.Thread | None = None
        self._end: Callable[[], None] | None = None
        self._failure: Exception | None = None
        self._ready = threading.Event()

    @property
    def url(self) -> str:
        """Where it listens; empty while it does not."""
        if self._socket is None:
            return ""
        name, port = self._socket.getsockname()[:2]
        return f"http://[{name}]:{port}" if ":" in name else f"http://{name}:{port}"

    def start(self) -> None:
        """Listen and begin to serve.

        Raises:
            AddressError: The address cannot be taken, or may not be without a key, or no client can send the key.
            OriginError: What should be a web page is none.
        """
        self._origins = read_origins(self._address.origins)
        self._socket = _bound(self._address)
        self._thread = threading.Thread(target=self._run, name="api", daemon=True)
        self._thread.start()
        self._ready.wait()
        if self._failure is not None:
            raise self._failure

    def stop(self, seconds: float = 10.0) -> bool:
        """End all connections and stop; return whether that was done in time."""
        if self._thread is None or self._end is None:
            return True
        self._end()
        self._thread.join(seconds)
        return not self._thread.is_alive()

    def _run(self) -> None:
        assert self._socket is not None
        try:
            with self._socket:
                asyncio.run(self._serve(self._socket))
        except Exception as error:
            if self._ready.is_set():
                raise
            self._failure = error
        finally:
            self._socket = None
            self._ready.set()

    async def _serve(self, listening: socket.socket) -> None:
        metrics, doorway = Metrics(self._host), Doorway()
        desk = CountedDesk(self._host, metrics)
        config = uvicorn.Config(
            application(
                desk,
                metrics,
                loopback=is_loopback(self._address.host),
                key=self._address.key,
                origins=self._origins,
            ),
            http=partial(PromptProtocol, doorway=doorway, largest_body=LARGEST),  # type: ignore[arg-type]
            ws="none",
            lifespan="off",
            loop="asyncio",
            log_config=None,
            access_log=False,
            server_header=False,
            proxy_headers=False,
            backlog=doorway.at_once,
            timeout_graceful_shutdown=_LAST_SECONDS,
        )
        server, bridge, ending = DoorServer(config), Bridge(), asyncio.Event()
        self._end = lambda: bridge.call(ending.set)
        self._ready.set()
        serving = asyncio.create_task(server.serve(sockets=[listening]))
        await ending.wait()
        desk.close()
        server.should_exit = True
        connections = cast("set[PromptProtocol]", server.server_state.connections)
        while not serving.done():
            await asyncio.wait({serving}, timeout=_LOOK_SECONDS)
            # Those who were let in at the last moment are not among those whom uvicorn sends away.
            for connection in connections:
                if connection.cycle is None:
                    connection.transport.close()
        for connection in connections:
            connection.transport.abort()
        while connections:
            await asyncio.sleep(0)
        bridge.close()
        await serving


def _bound(address: Address) -> socket.socket:
    if not is_loopback(address.host) and not address.key:
        raise AddressError(f"Other machines can reach {address.host}: set an API key first, or listen on 127.0.0.1.")
    if not can_be_sent(address.key):
        raise AddressError(KEY_RULE)
    where = f"{address.host}:{address.port}"
    try:
        found = socket.getaddrinfo(address.host, address.port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
    except (socket.gaierror, OverflowError, UnicodeError) as error:
        raise AddressError(f"{address.host} is no address to listen on; it should be one of this machine.") from error
    family, kind, protocol, _, target = found[0]
    made = socket.socket(family, kind, protocol)
    try:
        made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        made.bind(target)
        made.listen()
    except OSError as error:
        made.close()
        raise AddressError(_why(where, error)) from error
    return made


def _why(where: str, error: OSError) -> str:
    if error.errno == errno.EADDRINUSE:
        return f"{where} is taken by another program; choose another port."
    if error.errno == errno.EACCES:
        return f"{where} is reserved for the system; choose a port from 1024 on."
    if error.errno == errno.EADDRNOTAVAIL:
        return f"{where} is no address of this machine; use 127.0.0.1."
    return f"{where} cannot be listened on: {error.strerror}."
