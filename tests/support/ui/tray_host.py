"""A mock of a desktop panel that shows tray items: `org.kde.StatusNotifierWatcher` and `com.canonical.dbusmenu`.

The watcher runs in its own process, `tray_host.py`; `TrayHost` examines the items registered there.
"""

import os
import subprocess
import sys
from pathlib import Path

from jeepney import DBusAddress, HeaderFields, MessageType, Properties, new_error, new_method_call, new_method_return
from jeepney.bus_messages import message_bus
from jeepney.io.blocking import open_dbus_connection

WATCHER = "org.kde.StatusNotifierWatcher"
ITEM, MENU = "org.kde.StatusNotifierItem", "com.canonical.dbusmenu"


class TrayHost:
    """A panel's view of the tray items registered on a bus."""

    def __init__(self, address) -> None:
        self._watcher = subprocess.Popen(
            [sys.executable, str(Path(__file__))],
            stdout=subprocess.PIPE,
            text=True,
            env={**os.environ, "DBUS_SESSION_BUS_ADDRESS": address},
        )
        assert self._watcher.stdout.readline() == "ready\n"
        self._connection = open_dbus_connection(address)

    def _call(self, message):
        reply = self._connection.send_and_get_reply(message, timeout=10)
        assert reply.header.message_type is MessageType.method_return, reply.body
        return reply.body

    @property
    def items(self):
        """The bus names of the registered items."""
        watcher = DBusAddress("/StatusNotifierWatcher", WATCHER, WATCHER)
        ((_, items),) = self._call(Properties(watcher).get("RegisteredStatusNotifierItems"))
        return items

    def item(self, name):
        """Return the properties of an item."""
        (properties,) = self._call(Properties(DBusAddress("/StatusNotifierItem", name, ITEM)).get_all())
        return {key: value for key, (_, value) in properties.items()}

    def activate(self, name) -> None:
        """Click on an item."""
        self._call(new_method_call(DBusAddress("/StatusNotifierItem", name, ITEM), "Activate", "ii", (0, 0)))

    def menu(self, name):
        """Open the menu of an item, and return its entries by id."""
        menu = DBusAddress(self.item(name)["Menu"], name, MENU)
        self._call(new_method_call(menu, "AboutToShow", "i", (0,)))
        _, (_, _, children) = self._call(new_method_call(menu, "GetLayout", "iias", (0, -1, [])))
        entries = {}
        for _, (number, properties, _) in children:
            entries[number] = {key: value for key, (_, value) in properties.items()}
        return entries

    def choose(self, name, label) -> None:
        """Choose the menu entry with a label."""
        (number,) = [number for number, entry in self.menu(name).items() if entry.get("label") == label]
        menu = DBusAddress(self.item(name)["Menu"], name, MENU)
        self._call(new_method_call(menu, "Event", "isvu", (number, "clicked", ("s", ""), 0)))

    def close(self) -> None:
        """Disconnect from the bus and end the watcher."""
        self._connection.close()
        self._watcher.terminate()
        self._watcher.wait()
        self._watcher.stdout.close()


def watch():
    """Run the watcher, which claims that a host is registered."""
    items, owners = [], []
    with open_dbus_connection() as connection:
        connection.send_and_get_reply(message_bus.RequestName(WATCHER))
        print("ready", flush=True)
        while True:
            call = connection.receive()
            fields = call.header.fields
            if call.header.message_type is not MessageType.method_call:
                continue
            member, sender = fields[HeaderFields.member], fields[HeaderFields.sender]
            properties = {
                "IsStatusNotifierHostRegistered": ("b", True),
                "ProtocolVersion": ("i", 0),
                "RegisteredStatusNotifierItems": ("as", items),
            }
            if member == "RegisterStatusNotifierItem":
                items.append(sender if call.body[0].startswith("/") else call.body[0])
                owners.append(sender)
                answer = new_method_return(call)
            elif member == "Get":
                answer = new_method_return(call, "v", (properties[call.body[1]],))
            elif member == "GetAll":
                answer = new_method_return(call, "a{sv}", (properties,))
            else:
                answer = new_error(call, "org.freedesktop.DBus.Error.UnknownMethod")
            connection.send(answer)


if __name__ == "__main__":
    watch()
