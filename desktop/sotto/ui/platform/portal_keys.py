"""Keys of a program's own where only the desktop may give it any, as on Wayland: through the desktop's portal.

The desktop asks the person, may give other keys than those that were wished for, and lets them be changed in its own
settings; `org.freedesktop.portal.GlobalShortcuts` is the interface.
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

if TYPE_CHECKING:
    from sotto.ui.toolkit.async_tasks import Flows

_SHORTCUTS = "org.freedesktop.portal.GlobalShortcuts"
_ID, _DESCRIPTION = "quick-prompt", "Show or hide the quick prompt"
_LIST = "a(sa{sv})"
# How long a person may think about it.
_PERSON_SECONDS = 600.0
_LONGEST_TRIGGER = 100
_Modifier = Qt.KeyboardModifier
# The names of the specification for shortcuts, https://specifications.freedesktop.org/shortcuts/latest.
_MODIFIERS = (
    (_Modifier.ControlModifier, "CTRL"),
    (_Modifier.AltModifier, "ALT"),
    (_Modifier.ShiftModifier, "SHIFT"),
    (_Modifier.MetaModifier, "LOGO"),
)
_WAITING = "Waiting for the desktop to give it keys."
_OR_BIND = "or bind `sotto --toggle` to keys in the settings of your desktop, which does the same."
_PROBLEMS: Mapping[Why, str] = {
    Why.ABSENT: BIND,
    Why.UNSUPPORTED: BIND,
    Why.UNKNOWN_APP: (
        "The desktop gives keys only to programs that it knows: install Sotto with its menu entry, app.sotto.desktop, "
        + _OR_BIND
    ),
    Why.DENIED: (
        "The quick prompt was not granted {keys} when the desktop asked, as it does at every start until other keys or "
        "none are chosen here: `sotto --toggle`, bound to keys in the settings of your desktop, does the same."
    ),
    Why.SILENT: "The desktop did not answer whether the quick prompt may have {keys}: choose other keys, " + _OR_BIND,
    Why.GONE: "The part of the desktop that gives {keys} to the quick prompt has ended: they work when it is back.",
    Why.FAILED: "The desktop could not give {keys} to the quick prompt: choose other keys, " + _OR_BIND,
}
_TAKEN = "The desktop has taken the keys of the quick prompt back: choose other keys, " + _OR_BIND


def trigger_of(key: int, modifiers: Qt.KeyboardModifier) -> str:
    """Return what the specification calls a key of Qt's with modifiers, as `CTRL+ALT+space`; empty where it cannot."""
    if not (number := symbol(key)):
        return ""
    name = ctypes.create_string_buffer(64)
    # Qt itself needs this library for its keyboards.
    ctypes.CDLL("libxkbcommon.so.0").xkb_keysym_get_name(ctypes.c_uint32(number), name, ctypes.c_size_t(len(name)))
    return "+".join((*(word for modifier, word in _MODIFIERS if modifiers & modifier), name.value.decode()))


class PortalKeys:
    """Keys that the desktop gives, or does not."""

    def __init__(self, flows: "Flows", pressed: Callable[[str], object], told: Callable[[str, str], object]) -> None:
        """Ask for nothing yet.

        Args:
            flows: What waits for the desktop.
            pressed: Called when the keys are, with what proves that to a compositor, or nothing.
            told: Called with why the keys cannot be had, with a place for them, and with what to know about them if
                they can; one of both is empty.
        """
        self._flows = flows
        self._pressed = pressed
        self._told = told
        self._task: asyncio.Task[None] | None = None
        self._turn = asyncio.Lock()

    def take(self, key: int, modifiers: Qt.KeyboardModifier) -> str:
        """Ask the desktop for a key with modifiers; how that ended is told later."""
        self._told("", _WAITING)
        self._task = self._flows.start(self._hold(trigger_of(key, modifiers)))
        return ""

    def release(self) -> None:
        """Give it back."""
        if self._task is not None:
            self._task.cancel()
            self._task = None

    async def _hold(self, trigger: str) -> None:
        """Have the keys as long as nobody gives them back, from every portal that comes."""
        async with self._turn:  # those before are given back first
            try:
                async with connected() as portal:
                    while True:
                        if problem := await self._serve(portal, trigger):
                            self._told(problem, "")
                            await portal.comes()
            except PortalError as error:
                self._told(_PROBLEMS[error.why], "")

    async def _serve(self, portal: Portal, trigger: str) -> str:
        """Have keys from the portal that is there; return why no longer, or nothing if it is to be tried at once."""
        self._told("", _WAITING)
        in_force = False
        try:
            await portal.register(QGuiApplication.desktopFileName())
            async with portal.session(_SHORTCUTS) as session:
                results = await self._bind(portal, session, trigger)
                note = _note(*results.get("shortcuts", ("", [])))
                if note is None:
                    return _PROBLEMS[Why.DENIED]
                in_force = True
                self._told("", note)
                return await self._listen(portal, session)
        except PortalError as error:
            # The one that had given them may be started again by the next call.
            return "" if in_force else _PROBLEMS[error.why]

    async def _bind(self, portal: Portal, session: str, trigger: str) -> Options:
        """Wish for keys, and return what the desktop says of its shortcuts then."""

        async def listed() -> Options:
            return await portal.request(_SHORTCUTS, "ListShortcuts", "oa{sv}", (session,), {}, REPLY_SECONDS)

        if "KDE" in os.environ.get("XDG_CURRENT_DESKTOP", "").split(":") and await portal.version(_SHORTCUTS) < 2:
            # Such a Plasma may open its settings at every wish; keys that it gave once are in force without one.
            known = await listed()
            if _note(*known.get("shortcuts", ("", []))) is not None:
                return known
        wish = {"description": ("s", _DESCRIPTION)}
        if trigger:
            wish["preferred_trigger"] = ("s", trigger)
        body = (session, [(_ID, wish)], "")
        results = await portal.request(_SHORTCUTS, "BindShortcuts", f"o{_LIST}sa{{sv}}", body, {}, _PERSON_SECONDS)
        # Some of them do not list what they have just given.
        return results if "shortcuts" in results else await listed()

    async def _listen(self, portal: Portal, session: str) -> str:
        """Do what the portal says about the session until its end, and return why it ended."""
        while True:
            said = await portal.signal()
            match said.name.rpartition(".")[2], said.signature, said.body:
                case "Closed", _, _ if said.path == session:
                    return _TAKEN
                case "Activated", "osta{sv}", (about, shortcut, _, options) if (about, shortcut) == (session, _ID):
                    kind, token = options.get("activation_token", ("s", ""))
                    self._pressed(token if kind == "s" else "")
                case "ShortcutsChanged", _, (about, shortcuts) if about == session:
                    if (note := _note(said.signature.removeprefix("o"), shortcuts)) is not None:
                        self._told("", note)
                    else:
                        self._told(_TAKEN, "")


def _note(signature: str, shortcuts: Any) -> str | None:
    """Return what to know about the keys that the desktop gave, out of its list of shortcuts; None if it gave none."""
    properties = dict(shortcuts).get(_ID) if signature == _LIST else None
    if properties is None:
        return None
    kind, trigger = properties.get("trigger_description", ("", ""))
    shown = " ".join(trigger.split())[:_LONGEST_TRIGGER] if kind == "s" else ""
    if not shown:
        return f"The desktop knows it as “{_DESCRIPTION}”: which keys do that is chosen in the settings of the desktop."
    return (
        f"What shows and hides it, in the words of the desktop: {shown}. The settings of the desktop can change that."
    )
