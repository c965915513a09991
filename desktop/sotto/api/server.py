"""The HTTP server of the API, which runs an event loop on its own thread."""

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
from sotto.api.bodies import MAX_BODY_BYTES
from sotto.api.guard import is_loopback
from sotto.api.metrics import CountedDesk, Metrics
from sotto.api.protocol import PromptProtocol
from sotto.api.request_log import RequestLog
from sotto.api.stream import Bridge
from sotto.errors import SottoError
from sotto.reports.scrubbing import keep_secret
from sotto.runner.host import Host
from sotto.runner.serving.connections import DoorServer
from sotto.runner.serving.doorway import Doorway

_SHUTDOWN_SECONDS = 2
_POLL_SECONDS = 0.05


class AddressError(SottoError):
    """The server cannot listen on the given address."""


@dataclass(frozen=True, slots=True)
class Address:
    """The address to listen on, and who may use it.

    Attributes:
        host: An address or name of this machine.
        port: A port; 0 for any free one.
        key: The API key that every request must send; may be empty if only this machine can reach the server.
        origins: Web pages that may use it, as `sotto.api.access.read_origins` reads them; empty for none.
    """

    host: str
    port: int
    key: str = ""
    origins: str = ""


class ApiServer:
    """Serves a host's models over HTTP from `start` to `stop`."""

    def __init__(self, host: Host, address: Address, log: RequestLog | None = None) -> None:
        """Create a server that does not listen yet; it logs its requests in `log`, or else in a log of its own."""
        self._host = host
        self._address = address
        keep_secret(address.key)
        self._log = log or RequestLog()
        self._origins: re.Pattern[str] | None = None
        self._socket: socket.socket | None = None
        self._thread: threading.Thread | None = None
        self._end: Callable[[], None] | None = None
        self._failure: Exception | None = None
        self._ready = threading.Event()

    @property
    def url(self) -> str:
        """The URL of the server; empty while it does not listen."""
        if self._socket is None:
            return ""
        name, port = self._socket.getsockname()[:2]
        return f"http://[{name}]:{port}" if ":" in name else f"http://{name}:{port}"

    def start(self) -> None:
        """Listen and begin to serve.

        Raises:
            AddressError: The address cannot be bound or needs a key, or some clients cannot send the key.
            OriginError: An allowed origin is invalid.
        """
        self._origins = read_origins(self._address.origins)
        self._socket = _bind(self._address)
        self._thread = threading.Thread(target=self._run, name="api", daemon=True)
        self._thread.start()
        self._ready.wait()
        if self._failure is not None:
            raise self._failure

    def stop(self, seconds: float = 10.0) -> bool:
        """Close all connections and stop; return whether the thread ended within `seconds`."""
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
                self._log,
                loopback=is_loopback(self._address.host),
                key=self._address.key,
                origins=self._origins,
            ),
            http=partial(PromptProtocol, doorway=doorway, largest_body=MAX_BODY_BYTES),  # type: ignore[arg-type]
            ws="none",
            lifespan="off",
            loop="asyncio",
            log_config=None,
            access_log=False,
            server_header=False,
            proxy_headers=False,
            backlog=doorway.at_once,
            timeout_graceful_shutdown=_SHUTDOWN_SECONDS,
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
            await asyncio.wait({serving}, timeout=_POLL_SECONDS)
            # WORKAROUND: at shutdown, uvicorn does not close connections that were accepted at the last moment and have
            # no request yet. At an upgrade of uvicorn, see whether `test_late_connections_are_closed` needs this loop.
            for connection in connections:
                if connection.cycle is None:
                    connection.transport.close()
        for connection in connections:
            connection.transport.abort()
        while connections:
            await asyncio.sleep(0)
        bridge.close()
        await serving


def _bind(address: Address) -> socket.socket:
    if not is_loopback(address.host) and not address.key:
        raise AddressError(f"{address.host} is open to other machines: set an API key first, or use 127.0.0.1.")
    if not can_be_sent(address.key):
        raise AddressError(KEY_RULE)
    try:
        found = socket.getaddrinfo(address.host, address.port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
    except (socket.gaierror, OverflowError, UnicodeError) as error:
        raise AddressError(
            f"{address.host} cannot be resolved; use an address of this machine, such as 127.0.0.1."
        ) from error
    family, kind, protocol, _, target = found[0]
    made = socket.socket(family, kind, protocol)
    try:
        made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        made.bind(target)
        made.listen()
    except OSError as error:
        made.close()
        raise AddressError(_bind_failure(address, error)) from error
    return made


def _bind_failure(address: Address, error: OSError) -> str:
    """Return a sentence that says why the server cannot listen on an address."""
    if error.errno == errno.EADDRINUSE:
        return f"Port {address.port} is in use by another program; choose another port."
    if error.errno == errno.EACCES:
        return f"Port {address.port} is reserved for the system; choose one from 1024 up."
    if error.errno == errno.EADDRNOTAVAIL:
        return f"{address.host} is not an address of this machine; use 127.0.0.1."
    return f"The server cannot listen on {address.host}:{address.port}: {error.strerror}."
