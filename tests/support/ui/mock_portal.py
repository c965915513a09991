"""A mock of the desktop portal for global shortcuts and launch at login: `mock_portal.py LOG BEHAVIOUR`.

It is written from the documentation, and writes every call as a line to LOG. BEHAVIOUR is JSON, with these keys and
defaults:

- `registry`: whether it has the registry for programs outside of sandboxes (true).
- `shortcuts`: whether it has the shortcuts interface (true).
- `app_needed`: whether only registered programs may create sessions (false).
- `answer`: the response to a request to bind keys: `grant`, `deny`, `fail`, `nothing` (an empty list), `nonsense`,
  `silence` (a reply but no response), or `mute` (not even a reply to the call).
- `version`: the version of the interface (2).
- `known`: whether the keys were granted in an earlier session and apply without being bound again (false).
- `unlisted`: whether it grants keys without listing them (false).
- `early`: whether it sends the response to a request before the reply with its handle (false).
- `astray`: whether it returns wrong session handles (false).
- `trigger`: the description of the granted keys; by default, the keys that the program preferred.

Lines on stdin are JSON lists: `["press"]`, `["press", token]`, `["changed", trigger]`, `["removed"]`, `["close"]`, and
`["forged"]`, a press sent by another program.
"""

import asyncio
import json
import sys
from pathlib import Path

from jeepney import DBusAddress, HeaderFields, MessageType, new_error, new_method_return, new_signal
from jeepney.bus_messages import message_bus
from jeepney.io.asyncio import open_dbus_connection, open_dbus_router

NAME, PATH = "org.freedesktop.portal.Desktop", "/org/freedesktop/portal/desktop"
SHORTCUTS = "org.freedesktop.portal.GlobalShortcuts"
# Methods and the signatures of their arguments, from the interface's documentation.
METHODS = {
    ("org.freedesktop.host.portal.Registry", "Register"): "sa{sv}",
    ("org.freedesktop.portal.Background", "RequestBackground"): "sa{sv}",
    (SHORTCUTS, "CreateSession"): "a{sv}",
    (SHORTCUTS, "BindShortcuts"): "oa(sa{sv})sa{sv}",
    (SHORTCUTS, "ListShortcuts"): "oa{sv}",
    ("org.freedesktop.DBus.Properties", "Get"): "ss",
    ("org.freedesktop.portal.Request", "Close"): "",
    ("org.freedesktop.portal.Session", "Close"): "",
}


class Portal:
    def __init__(self, connection, log, behaviour):
        self.connection, self.log, self.behaviour = connection, log, behaviour
        self.names, self.sessions, self.bound = {}, {}, set()
        self.requested = {"quick-prompt": {"description": ("s", "Known")}} if behaviour.get("known") else {}
        self.lock = asyncio.Lock()  # held while a call is answered, so that no signal is sent in between

    async def answer(self, call):
        fields = call.header.fields
        sender, member = fields[HeaderFields.sender], fields[HeaderFields.member]
        signature = fields.get(HeaderFields.signature, "")
        wanted = METHODS.get((fields.get(HeaderFields.interface), member))
        with self.log.open("a") as log:
            log.write(json.dumps([member, signature, call.body]) + "\n")
        if wanted is None or not self.has(fields[HeaderFields.interface]):
            await self.refuse(call, "org.freedesktop.DBus.Error.UnknownMethod", "No such interface")
        elif signature != wanted:
            await self.refuse(call, "org.freedesktop.DBus.Error.InvalidArgs", f"Expected {wanted}")
        elif member == "Register":
            if sender in self.names or sender in self.sessions.values():
                await self.refuse(call, "org.freedesktop.portal.Error.Failed", "Connection already associated")
            else:
                self.names[sender] = call.body[0]
                await self.connection.send(new_method_return(call))
        elif member == "Close":
            self.sessions.pop(fields[HeaderFields.path], None)
        elif member == "Get":
            if call.body == (SHORTCUTS, "version"):
                await self.connection.send(new_method_return(call, "v", (("u", self.behaviour.get("version", 2)),)))
            else:  # Qt reads other properties
                await self.refuse(call, "org.freedesktop.DBus.Error.InvalidArgs", "No such property")
        elif member == "ListShortcuts":
            listed = self.shortcuts(self.behaviour.get("trigger"))
            await self.respond(call, call.body[1], 0, {"shortcuts": ("a(sa{sv})", listed)})
        elif member == "RequestBackground":
            granted = self.behaviour.get("answer", "grant") == "grant"
            autostart = ("b", granted and call.body[1]["autostart"][1])
            await self.respond(
                call, call.body[1], 0 if granted else 1, {"background": ("b", True), "autostart": autostart}
            )
        elif member == "CreateSession":
            await self.create(call, sender)
        else:
            await self.bind(call, sender)

    def has(self, interface):
        if interface == SHORTCUTS:
            return self.behaviour.get("shortcuts", True)
        return self.behaviour.get("registry", True) or not interface.startswith("org.freedesktop.host")

    async def create(self, call, sender):
        if self.behaviour.get("app_needed") and sender not in self.names:
            await self.refuse(call, "org.freedesktop.portal.Error.NotAllowed", "An app id is required")
            return
        options = call.body[0]
        session = f"{PATH}/session/{plain(sender)}/{options['session_handle_token'][1]}"
        assert session not in self.sessions
        self.sessions[session] = sender
        handle = "/no/such/session" if self.behaviour.get("astray") else session
        await self.respond(call, options, 0, {"session_handle": ("s", handle)})

    async def bind(self, call, sender):
        session, requested, _, options = call.body
        if self.sessions.get(session) != sender or session in self.bound:
            await self.refuse(call, "org.freedesktop.DBus.Error.AccessDenied", "Invalid session")
            return
        self.bound.add(session)
        self.requested = dict(requested)
        answer = self.behaviour.get("answer", "grant")
        if answer == "mute":
            return
        if answer == "silence":
            await self.handle(call, options)
        else:
            granted = self.shortcuts(self.behaviour.get("trigger")) if answer == "grant" else []
            shortcuts = ("as", ["quick-prompt"]) if answer == "nonsense" else ("a(sa{sv})", granted)
            code = {"deny": 1, "fail": 2}.get(answer, 0)
            listed = code == 0 and not self.behaviour.get("unlisted")
            await self.respond(call, options, code, {"shortcuts": shortcuts} if listed else {})

    def shortcuts(self, trigger):
        """Return the list of shortcuts for the program."""
        shortcuts = []
        for name, request in self.requested.items():
            given = trigger if trigger is not None else request.get("preferred_trigger", ("s", ""))[1]
            shortcuts.append((name, {"description": request["description"], "trigger_description": ("s", given)}))
        return shortcuts

    async def handle(self, call, options):
        await self.connection.send(new_method_return(call, "o", (request_of(call, options),)))

    async def respond(self, call, options, code, results):
        emitter = DBusAddress(request_of(call, options), interface="org.freedesktop.portal.Request")
        response = new_signal(emitter, "Response", "ua{sv}", (code, results))
        if self.behaviour.get("early"):
            await self.connection.send(response)
        await self.handle(call, options)
        if not self.behaviour.get("early"):
            await self.connection.send(response)

    async def refuse(self, call, name, message):
        await self.connection.send(new_error(call, name, "s", (message,)))

    async def do(self, what, *values):
        (session,) = list(self.sessions)[-1:]
        emitter = DBusAddress(PATH, interface=SHORTCUTS)
        if what in ("press", "forged"):
            options = {"activation_token": ("s", values[0])} if values else {}
            signal = new_signal(emitter, "Activated", "osta{sv}", (session, next(iter(self.requested)), 1, options))
            if what == "forged":
                signal.header.fields[HeaderFields.destination] = self.sessions[session]
                async with open_dbus_router() as other:
                    await other.send(signal)
                    await other.send_and_get_reply(message_bus.GetId())  # the bus has forwarded the signal by then
                return
        elif what in ("changed", "removed"):
            shortcuts = self.shortcuts(values[0]) if values else []
            signal = new_signal(emitter, "ShortcutsChanged", "oa(sa{sv})", (session, shortcuts))
        else:
            assert what == "close"
            self.sessions.pop(session)
            signal = new_signal(DBusAddress(session, interface="org.freedesktop.portal.Session"), "Closed", "", ())
        await self.connection.send(signal)


def request_of(call, options):
    return f"{PATH}/request/{plain(call.header.fields[HeaderFields.sender])}/{options['handle_token'][1]}"


def plain(sender):
    return sender[1:].replace(".", "_")


async def main(log, behaviour):
    connection = await open_dbus_connection()
    portal = Portal(connection, log, behaviour)
    await connection.send(message_bus.RequestName(NAME))
    reply = await connection.receive()
    while reply.header.message_type is not MessageType.method_return:
        reply = await connection.receive()
    print("ready", flush=True)

    stdin = asyncio.StreamReader()
    await asyncio.get_running_loop().connect_read_pipe(lambda: asyncio.StreamReaderProtocol(stdin), sys.stdin)

    async def run_commands():
        while line := await stdin.readline():
            async with portal.lock:
                await portal.do(*json.loads(line))

    commands = asyncio.create_task(run_commands())
    while not commands.done():
        call = await connection.receive()
        if call.header.message_type is MessageType.method_call:
            async with portal.lock:
                await portal.answer(call)


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1]), json.loads(sys.argv[2])))
