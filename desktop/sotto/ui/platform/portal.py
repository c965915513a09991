"""The desktop portal of Linux, xdg-desktop-portal, over D-Bus.

Calls, requests (which may wait for a person) and signals are documented at
<https://flatpak.github.io/xdg-desktop-portal/docs/>. They use a connection to the session bus of their own, because the
portal wants programs outside a sandbox to register first on a connection. WORKAROUND: QtDBus cannot be used, because
PySide6 cannot build an array of structures, which shortcuts are; look again with new versions.
"""

import asyncio
import logging
import os
import secrets
from collections import deque
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from enum import Enum, auto
from typing import Any

from jeepney import DBusAddress, HeaderFields, MatchRule, Message, MessageFlag, MessageType, new_method_call
from jeepney.bus_messages import message_bus
from jeepney.io.asyncio import DBusConnection, open_dbus_connection

_log = logging.getLogger(__name__)

_BUS = "org.freedesktop.DBus"
_NAME, _PATH = "org.freedesktop.portal.Desktop", "/org/freedesktop/portal/desktop"
_REGISTRY = "org.freedesktop.host.portal.Registry"
_REQUEST, _SESSION = "org.freedesktop.portal.Request", "org.freedesktop.portal.Session"
# A portal that is started by the first call, at login, may take that long; nothing else waits for it.
REPLY_SECONDS = 120.0
# Desktops that cannot identify a program recognise it by the token of its session, so it is always the same.
_SESSION_TOKEN = "sotto"

# The D-Bus type a{sv}: a signature and a value for each name.
Options = Mapping[str, tuple[str, Any]]


class Why(Enum):
    """Why the portal did not grant something."""

    ABSENT = auto()  # there is no portal
    UNSUPPORTED = auto()  # it has no such interface
    UNKNOWN_APP = auto()  # it refuses programs that it cannot identify
    DENIED = auto()  # the person said no
    SILENT = auto()  # it did not answer in time
    GONE = auto()  # it has left the bus
    FAILED = auto()  # it failed


_ERRORS = {
    # What the bus replies for a program that has left with a call unanswered.
    f"{_BUS}.Error.NoReply": Why.GONE,
    f"{_BUS}.Error.ServiceUnknown": Why.ABSENT,
    f"{_BUS}.Error.UnknownInterface": Why.UNSUPPORTED,
    f"{_BUS}.Error.UnknownMethod": Why.UNSUPPORTED,
    f"{_BUS}.Error.UnknownObject": Why.UNSUPPORTED,
    "org.freedesktop.portal.Error.NotAllowed": Why.UNKNOWN_APP,
}


class PortalError(Exception):
    """The portal did not grant something.

    Attributes:
        why: The reason.
    """

    def __init__(self, why: Why) -> None:
        """Create an error with its reason."""
        super().__init__(why.name)
        self.why = why


@dataclass(frozen=True, slots=True)
class PortalSignal:
    """A signal of the portal.

    Attributes:
        path: The object that emitted it.
        name: Interface and name of the signal, with a dot between them.
        signature: The types of the values.
        body: The values.
    """

    path: str
    name: str
    signature: str
    body: tuple[Any, ...]


@asynccontextmanager
async def connected() -> "AsyncIterator[Portal]":
    """Yield the portal on a new connection to the session bus; sessions and requests end with the connection.

    Raises:
        PortalError: There is no session bus, or it has gone away.
    """
    try:
        connection = await open_dbus_connection(_bus_address())
    except (OSError, EOFError, ValueError, RuntimeError, TimeoutError) as error:
        _log.info("No session bus: %s", error)
        raise PortalError(Why.ABSENT) from error
    try:
        portal = Portal(connection)
        await portal.listen()
        yield portal
    except (ConnectionError, EOFError) as error:
        raise PortalError(Why.FAILED) from error
    finally:
        with suppress(ConnectionError):
            await connection.close()


def _bus_address() -> str:
    return os.environ.get("DBUS_SESSION_BUS_ADDRESS") or f"unix:path={os.environ.get('XDG_RUNTIME_DIR', '')}/bus"


class Portal:
    """A connection to the portal that waits for one thing at a time, and queues what else arrives meanwhile.

    Every method may raise `ConnectionError` or `EOFError` once the bus has gone.
    """

    def __init__(self, connection: DBusConnection) -> None:
        """Use `connection`; call `listen` first."""
        self._connection = connection
        self._early: deque[Message] = deque()
        # The owner of the portal's name: any program could send the same signals.
        self._owner = ""
        self._mine = str(connection.unique_name).removeprefix(":").replace(".", "_")

    async def listen(self) -> None:
        """Subscribe to the portal's signals.

        Raises:
            PortalError: The bus refused.
        """
        for rule in (
            MatchRule(type="signal", sender=_NAME, interface="org.freedesktop.portal.GlobalShortcuts"),
            *(
                MatchRule(
                    type="signal", sender=_NAME, interface=interface, path_namespace=f"{_PATH}/{kind}/{self._mine}"
                )
                for interface, kind in ((_REQUEST, "request"), (_SESSION, "session"))
            ),
            _changes_of_owner(),
        ):
            await self._ask(message_bus.AddMatch(rule))

    async def register(self, app: str) -> None:
        """Register this app by the name of its menu entry; must come before every other call.

        Raises:
            PortalError: There is no portal.
        """
        try:
            await self.call(_REGISTRY, "Register", "sa{sv}", (app, {}))
        except PortalError as error:
            # An older portal has no registry, and one that finds no such menu entry refuses. They use the systemd scope
            # that the program was started in, and the first request tells whether that is enough.
            if error.why in (Why.ABSENT, Why.SILENT):
                raise

    async def call(self, interface: str, method: str, signature: str, body: tuple[Any, ...]) -> tuple[Any, ...]:
        """Call a method of the portal, and return its results.

        Args:
            interface: The interface of the method.
            method: The method.
            signature: The types of its arguments.
            body: Its arguments.

        Raises:
            PortalError: The call failed, or the portal did not answer.
        """
        return await self._ask(new_method_call(DBusAddress(_PATH, _NAME, interface), method, signature, body))

    async def version(self, interface: str) -> int:
        """Return the version of an interface of the portal.

        Raises:
            PortalError: The portal has no such interface, or did not answer.
        """
        match await self.call(f"{_BUS}.Properties", "Get", "ss", (interface, "version")):
            case (("u", int(version)),):
                return version
        raise PortalError(Why.FAILED)

    async def request(
        self, interface: str, method: str, signature: str, body: tuple[Any, ...], options: Options, seconds: float
    ) -> Options:
        """Make a request, which may ask the person, and return its results.

        Args:
            interface: The interface of the method.
            method: The method.
            signature: The types of its arguments, the options included.
            body: Its arguments without the options, which come last.
            options: The options without the token of the request.
            seconds: How long to wait for the answer.

        Raises:
            PortalError: It was denied, failed, or was not answered in time.
        """
        token = f"sotto_{secrets.token_hex(16)}"
        handle = f"{_PATH}/request/{self._mine}/{token}"
        returned = await self.call(interface, method, signature, (*body, {**options, "handle_token": ("s", token)}))
        if returned != (handle,):
            raise PortalError(Why.FAILED)
        try:
            async with asyncio.timeout(seconds):
                answer = await self.signal()
                while (answer.path, answer.name, answer.signature) != (handle, f"{_REQUEST}.Response", "ua{sv}"):
                    answer = await self.signal()
        except TimeoutError as error:
            await self._close(handle, _REQUEST)
            raise PortalError(Why.SILENT) from error
        code, results = answer.body
        if code != 0:
            raise PortalError(Why.DENIED if code == 1 else Why.FAILED)
        return dict(results)

    @asynccontextmanager
    async def session(self, interface: str) -> AsyncIterator[str]:
        """Yield the path of a new session of an interface.

        Raises:
            PortalError: The portal did not open one.
        """
        options = {"session_handle_token": ("s", _SESSION_TOKEN)}
        results = await self.request(interface, "CreateSession", "a{sv}", (), options, REPLY_SECONDS)
        path = f"{_PATH}/session/{self._mine}/{_SESSION_TOKEN}"
        if results.get("session_handle", ("", ""))[1] != path:
            raise PortalError(Why.FAILED)
        try:
            yield path
        finally:
            await self._close(path, _SESSION)

    async def signal(self) -> PortalSignal:
        """Wait for the next signal of the portal.

        Raises:
            PortalError: The portal has left the bus.
        """
        while True:
            message = await self._next()
            fields = message.header.fields
            if (change := _change(message)) is not None:
                old, new = change
                if self._owner and old == self._owner != new:
                    self._owner = ""
                    raise PortalError(Why.GONE)
            elif message.header.message_type is MessageType.signal and fields.get(HeaderFields.sender) == self._owner:
                name = f"{fields.get(HeaderFields.interface)}.{fields[HeaderFields.member]}"
                signature = fields.get(HeaderFields.signature, "")
                return PortalSignal(fields[HeaderFields.path], name, signature, message.body)

    async def comes(self) -> None:
        """Wait until a new portal appears on the bus."""
        while True:
            change = _change(await self._next())
            if change is not None and change[1] and change[1] != self._owner:
                return

    async def _next(self) -> Message:
        return self._early.popleft() if self._early else await self._connection.receive()

    async def _ask(self, message: Message) -> tuple[Any, ...]:
        serial = next(self._connection.outgoing_serial)
        try:
            async with asyncio.timeout(REPLY_SECONDS):
                await self._connection.send(message, serial=serial)
                reply = await self._connection.receive()
                while reply.header.fields.get(HeaderFields.reply_serial) != serial:
                    self._early.append(reply)
                    reply = await self._connection.receive()
        except TimeoutError as error:
            raise PortalError(Why.SILENT) from error
        sender = str(reply.header.fields.get(HeaderFields.sender))
        if sender != _BUS:
            self._owner = sender
        if reply.header.message_type is MessageType.error:
            name = str(reply.header.fields.get(HeaderFields.error_name))
            _log.info("%s: %.200s", name, reply.body)
            raise PortalError(_ERRORS.get(name, Why.FAILED))
        return tuple(reply.body)

    async def _close(self, path: str, interface: str) -> None:
        """Close a request or a session; one that is gone already does not matter."""
        message = new_method_call(DBusAddress(path, _NAME, interface), "Close")
        message.header.flags |= MessageFlag.no_reply_expected | MessageFlag.no_auto_start
        await self._connection.send(message)


def _changes_of_owner() -> MatchRule:
    rule = MatchRule(type="signal", sender=_BUS, interface=_BUS, member="NameOwnerChanged")
    rule.add_arg_condition(0, _NAME)
    return rule


def _change(message: Message) -> tuple[str, str] | None:
    """Return the old and the new owner of the portal's name, if that is what a message is about; else None."""
    fields = message.header.fields
    if fields.get(HeaderFields.sender) != _BUS or fields.get(HeaderFields.member) != "NameOwnerChanged":
        return None
    name, old, new = message.body
    return (old, new) if name == _NAME else None
