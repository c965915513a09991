"""Global shortcuts where only the desktop grants them, as on Wayland: through the desktop portal.

The desktop asks the person, may choose other keys than the preferred ones, and lets them be changed in its own
settings. The interface is `org.freedesktop.portal.GlobalShortcuts`.
"""

import asyncio
import ctypes
import os
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication

from sotto.ui.platform.portal import REPLY_SECONDS, Options, Portal, PortalError, Why, connected
from sotto.ui.platform.shortcut_messages import BIND
from sotto.ui.platform.x11_keys import symbol
from sotto.ui.toolkit.translation import QT_TR_NOOP, tr

if TYPE_CHECKING:
    from sotto.ui.timing.async_tasks import AsyncTasks

_SHORTCUTS = "org.freedesktop.portal.GlobalShortcuts"
_ID, _DESCRIPTION = "quick-prompt", QT_TR_NOOP("Show or hide the quick prompt")
_LIST = "a(sa{sv})"
# How long to wait for the person.
_PERSON_SECONDS = 600.0
_LONGEST_TRIGGER = 100
_Modifier = Qt.KeyboardModifier
# Names from the shortcuts specification, https://specifications.freedesktop.org/shortcuts/latest.
_MODIFIERS = (
    (_Modifier.ControlModifier, "CTRL"),
    (_Modifier.AltModifier, "ALT"),
    (_Modifier.ShiftModifier, "SHIFT"),
    (_Modifier.MetaModifier, "LOGO"),
)
_WAITING = QT_TR_NOOP("Waiting for the desktop to grant the shortcut.")
_PROBLEMS: Mapping[Why, str] = {
    Why.ABSENT: BIND,
    Why.UNSUPPORTED: BIND,
    Why.UNKNOWN_APP: QT_TR_NOOP(
        "The desktop grants shortcuts only to installed apps: install Sotto’s menu entry, app.sotto.desktop, or bind "
        "`sotto --toggle` in the settings of your desktop."
    ),
    Why.DENIED: QT_TR_NOOP(
        "The desktop did not grant {keys}, and will ask again at the next start: choose another shortcut or none, or "
        "bind `sotto --toggle` in the settings of your desktop."
    ),
    Why.SILENT: QT_TR_NOOP(
        "The desktop did not answer the request for {keys}: choose another shortcut, or bind `sotto --toggle` in the "
        "settings of your desktop."
    ),
    Why.GONE: QT_TR_NOOP("The desktop’s shortcut service has stopped; {keys} will work again when it is back."),
    Why.FAILED: QT_TR_NOOP(
        "The desktop could not grant {keys}: choose another shortcut, or bind `sotto --toggle` in the settings of your "
        "desktop."
    ),
}
_TAKEN = QT_TR_NOOP(
    "The desktop has withdrawn the shortcut: choose another one, or bind `sotto --toggle` in the settings of your "
    "desktop."
)


def trigger_of(key: int, modifiers: Qt.KeyboardModifier) -> str:
    """Return a Qt key with modifiers as the specification writes it, as `CTRL+ALT+space`; empty for unknown keys."""
    if not (number := symbol(key)):
        return ""
    name = ctypes.create_string_buffer(64)
    # Qt itself needs this library for its keyboards.
    ctypes.CDLL("libxkbcommon.so.0").xkb_keysym_get_name(ctypes.c_uint32(number), name, ctypes.c_size_t(len(name)))
    return "+".join((*(word for modifier, word in _MODIFIERS if modifiers & modifier), name.value.decode()))


class PortalKeys:
    """Keys that the desktop gives, or does not."""

    def __init__(
        self, tasks: "AsyncTasks", pressed: Callable[[str], object], changed: Callable[[str, str], object]
    ) -> None:
        """Start without a shortcut.

        Args:
            tasks: Run the calls to the desktop.
            pressed: Called when the shortcut is pressed, with the activation token for the compositor, or empty.
            changed: Called with a problem, with the placeholder `{keys}`, and a note; at least one of them is empty.
        """
        self._tasks = tasks
        self._pressed = pressed
        self._changed = changed
        self._task: asyncio.Task[None] | None = None
        self._turn = asyncio.Lock()

    def take(self, key: int, modifiers: Qt.KeyboardModifier) -> str:
        """Ask the desktop for a key with modifiers; the outcome is reported later."""
        self._changed("", tr(_WAITING))
        self._task = self._tasks.start(self._hold(trigger_of(key, modifiers)))
        return ""

    def release(self) -> None:
        """Release the shortcut."""
        if self._task is not None:
            self._task.cancel()
            self._task = None

    async def _hold(self, trigger: str) -> None:
        """Hold the shortcut until it is released, across restarts of the portal."""
        async with self._turn:  # the previous shortcut is released first
            try:
                async with connected() as portal:
                    while True:
                        if problem := await self._serve(portal, trigger):
                            self._changed(problem, "")
                            await portal.comes()
            except PortalError as error:
                self._changed(tr(_PROBLEMS[error.why]), "")

    async def _serve(self, portal: Portal, trigger: str) -> str:
        """Hold the shortcut with the running portal; return why that ended, or empty to try again at once."""
        self._changed("", tr(_WAITING))
        in_force = False
        try:
            await portal.register(QGuiApplication.desktopFileName())
            async with portal.session(_SHORTCUTS) as session:
                results = await self._bind(portal, session, trigger)
                note = _note(*results.get("shortcuts", ("", [])))
                if note is None:
                    return tr(_PROBLEMS[Why.DENIED])
                in_force = True
                self._changed("", note)
                return await self._listen(portal, session)
        except PortalError as error:
            # The next call may start the portal again that had granted it.
            return "" if in_force else tr(_PROBLEMS[error.why])

    async def _bind(self, portal: Portal, session: str, trigger: str) -> Options:
        """Ask for the shortcut, and return the desktop's list of shortcuts."""

        async def listed() -> Options:
            return await portal.request(_SHORTCUTS, "ListShortcuts", "oa{sv}", (session,), {}, REPLY_SECONDS)

        if "KDE" in os.environ.get("XDG_CURRENT_DESKTOP", "").split(":") and await portal.version(_SHORTCUTS) < 2:
            # WORKAROUND: older versions of Plasma may open their settings at every request, and shortcuts that they
            # granted once work without one.
            known = await listed()
            if _note(*known.get("shortcuts", ("", []))) is not None:
                return known
        properties = {"description": ("s", tr(_DESCRIPTION))}
        if trigger:
            properties["preferred_trigger"] = ("s", trigger)
        body = (session, [(_ID, properties)], "")
        results = await portal.request(_SHORTCUTS, "BindShortcuts", f"o{_LIST}sa{{sv}}", body, {}, _PERSON_SECONDS)
        # Some portals do not list what they have just granted.
        return results if "shortcuts" in results else await listed()

    async def _listen(self, portal: Portal, session: str) -> str:
        """Handle the signals of a session until its end, and return why it ended."""
        while True:
            signal = await portal.signal()
            match signal.name.rpartition(".")[2], signal.signature, signal.body:
                case "Closed", _, _ if signal.path == session:
                    return tr(_TAKEN)
                case "Activated", "osta{sv}", (about, shortcut, _, options) if (about, shortcut) == (session, _ID):
                    kind, token = options.get("activation_token", ("s", ""))
                    self._pressed(token if kind == "s" else "")
                case "ShortcutsChanged", _, (about, shortcuts) if about == session:
                    if (note := _note(signal.signature.removeprefix("o"), shortcuts)) is not None:
                        self._changed("", note)
                    else:
                        self._changed(tr(_TAKEN), "")


def _note(signature: str, shortcuts: Any) -> str | None:
    """Return a sentence about the granted keys from the desktop's list of shortcuts; None if it granted none."""
    properties = dict(shortcuts).get(_ID) if signature == _LIST else None
    if properties is None:
        return None
    kind, trigger = properties.get("trigger_description", ("", ""))
    shown = " ".join(trigger.split())[:_LONGEST_TRIGGER] if kind == "s" else ""
    if not shown:
        return tr("Your desktop calls it “{description}”. Choose its shortcut in the settings of your desktop.").format(
            description=tr(_DESCRIPTION)
        )
    return tr("Your desktop grants: {keys}. You can change it in the settings of your desktop.").format(keys=shown)
