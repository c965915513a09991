"""The global shortcut on a Wayland desktop, with a portal on the test's own session bus."""

import json
import os

import pytest
from PySide6.QtGui import QKeySequence

from session_bus import SessionBus, missing_bus
from sotto.ui.settings.quick_page import QuickPage
from x11_desk import PANEL, Desk, missing_tools, wait_until

pytestmark = pytest.mark.skipif(bool(missing_bus()), reason=missing_bus())

if not missing_bus():
    from sotto.ui.platform import portal_keys
    from sotto.ui.platform.portal_keys import trigger_of

KEYS = "Ctrl+Alt+Space"
BOUND = ["Register", "CreateSession", "BindShortcuts"]


@pytest.fixture
def bus(tmp_path, monkeypatch):
    made = SessionBus(tmp_path)
    monkeypatch.setenv("DBUS_SESSION_BUS_ADDRESS", made.address)
    monkeypatch.setenv("WAYLAND_DISPLAY", "wayland-0")
    monkeypatch.delenv("XDG_ACTIVATION_TOKEN", raising=False)
    monkeypatch.delenv("XDG_CURRENT_DESKTOP", raising=False)
    yield made
    made.close()


@pytest.fixture
def keys(bus, around, qtbot):
    """Return helpers that choose a shortcut and wait for the outcome."""

    class ShortcutHelper:
        shell, quick, shortcut = around.shell, around.shell.quick, around.shell.shortcut

        def choose(self, keys=KEYS):
            around.preferences.change(quick_shortcut=keys)

        def bind(self, trigger="CTRL+ALT+space"):
            self.choose()
            self.wait_for(lambda: f"desktop grants: {trigger}." in self.shortcut.note)

        def refused(self):
            self.choose()
            self.wait_for(lambda: self.shortcut.problem)
            return self.shortcut.problem

        def wait_for(self, condition):
            qtbot.waitUntil(lambda: bool(condition()))

    return ShortcutHelper()


def methods(portal):
    return [method for method, _, _ in portal.received]


def test_keys_are_bound_and_open_the_quick_prompt(bus, keys, loop):
    portal = bus.portal(app_needed=True, trigger="Strg+Alt+Leertaste")
    keys.bind("Strg+Alt+Leertaste")
    assert [(method, signature) for method, signature, _ in portal.received] == [
        ("Register", "sa{sv}"),
        ("CreateSession", "a{sv}"),
        ("BindShortcuts", "oa(sa{sv})sa{sv}"),
    ]
    assert portal.calls("Register")[0][0] == "app.sotto"
    ((_, shortcuts, parent, _),) = portal.calls("BindShortcuts")
    ((name, wish),) = shortcuts
    assert (name, parent) == ("quick-prompt", "")
    assert wish == {"description": ["s", "Show or hide the quick prompt"], "preferred_trigger": ["s", "CTRL+ALT+space"]}
    assert not keys.quick.visible
    portal.do("press")
    keys.wait_for(lambda: keys.quick.visible)
    portal.do("press")
    keys.wait_for(lambda: not keys.quick.visible)
    assert "XDG_ACTIVATION_TOKEN" not in os.environ


def test_the_activation_token_is_passed_on(bus, keys, loop):
    portal = bus.portal()
    keys.bind()
    portal.do("press", "proof")
    keys.wait_for(lambda: keys.quick.visible)
    # No compositor is running here, so the token has not been consumed.
    assert os.environ.pop("XDG_ACTIVATION_TOKEN") == "proof"


@pytest.mark.parametrize("does", [{"early": True}, {"registry": False}])
def test_portal_variants_work(bus, keys, loop, does):
    portal = bus.portal(**does)
    keys.bind()
    portal.do("press")
    keys.wait_for(lambda: keys.quick.visible)


@pytest.mark.parametrize(
    ("does", "asked"),
    [
        # BindShortcuts opens a window in Plasma, so it is not called for keys that Plasma granted before.
        ({"version": 1, "known": True}, ["Get", "ListShortcuts"]),
        ({"version": 1}, ["Get", "ListShortcuts", "BindShortcuts"]),
        ({"version": 1, "unlisted": True}, ["Get", "ListShortcuts", "BindShortcuts", "ListShortcuts"]),
        ({"version": 2, "known": True}, ["Get", "BindShortcuts"]),
    ],
)
def test_plasma_is_asked_in_the_way_its_version_requires(bus, keys, loop, monkeypatch, does, asked):
    monkeypatch.setenv("XDG_CURRENT_DESKTOP", "KDE")
    portal = bus.portal(**does, trigger="Meta+J")
    keys.bind("Meta+J")
    assert methods(portal) == ["Register", "CreateSession", *asked]
    portal.do("press")
    keys.wait_for(lambda: keys.quick.visible)


@pytest.mark.parametrize(
    ("does", "why"),
    [
        ({"answer": "deny"}, "did not grant Ctrl+Alt+Space, and will ask again"),
        ({"answer": "nothing"}, "did not grant Ctrl+Alt+Space"),
        ({"answer": "nonsense"}, "did not grant Ctrl+Alt+Space"),
        ({"answer": "fail"}, "could not grant Ctrl+Alt+Space"),
        ({"astray": True}, "could not grant Ctrl+Alt+Space"),
        (
            {"shortcuts": False},
            "Apps cannot register shortcuts on this desktop: bind `sotto --toggle` to Ctrl+Alt+Space",
        ),
        ({"app_needed": True, "registry": False}, "install Sotto’s menu entry, app.sotto.desktop"),
    ],
)
def test_a_refusal_of_the_desktop_is_reported_with_a_reason(bus, keys, loop, does, why):
    portal = bus.portal(**does)
    keys.shell.window.show()
    assert why in keys.refused()
    assert keys.shortcut.note == ""
    assert why in keys.shell.window.chat.notice.message.text()
    # The desktop is not asked twice.
    assert methods(portal).count("CreateSession") == 1


@pytest.mark.parametrize("address", ["unix:path=/nowhere/bus", "nonsense", "tcp:host=localhost,port=1"])
def test_without_a_bus_there_are_no_keys(keys, loop, monkeypatch, address):
    monkeypatch.setenv("DBUS_SESSION_BUS_ADDRESS", address)
    assert "Apps cannot register shortcuts on this desktop" in keys.refused()


def test_a_desktop_that_does_not_answer_is_reported_and_asked_no_longer(bus, keys, loop, monkeypatch):
    monkeypatch.setattr(portal_keys, "_PERSON_SECONDS", 0.2)
    portal = bus.portal(answer="silence")
    keys.choose()
    keys.wait_for(lambda: "Waiting for the desktop" in keys.shortcut.note)
    keys.wait_for(lambda: "did not answer" in keys.shortcut.problem)
    # First the request is closed, then its session.
    keys.wait_for(lambda: methods(portal) == [*BOUND, "Close", "Close"])


def test_keys_are_bound_once_a_portal_appears(bus, keys, loop):
    assert "Apps cannot register shortcuts on this desktop" in keys.refused()
    portal = bus.portal()
    keys.wait_for(lambda: "desktop grants" in keys.shortcut.note)
    assert keys.shortcut.problem == ""
    portal.do("press")
    keys.wait_for(lambda: keys.quick.visible)


def test_keys_are_bound_again_when_the_portal_returns(bus, keys, loop):
    first = bus.portal()
    keys.bind()
    first.end()
    keys.wait_for(lambda: keys.shortcut.problem)
    second = bus.portal(trigger="F9")
    keys.wait_for(lambda: "desktop grants: F9" in keys.shortcut.note)
    assert methods(second) == BOUND
    second.do("press")
    keys.wait_for(lambda: keys.quick.visible)


@pytest.mark.parametrize("answer", ["silence", "mute"])
def test_a_portal_that_ends_during_a_request_is_reported(bus, keys, loop, answer):
    portal = bus.portal(answer=answer)
    keys.choose()
    keys.wait_for(lambda: methods(portal) == BOUND)
    portal.end()
    keys.wait_for(lambda: "will work again when it is back" in keys.shortcut.problem)


def test_the_end_of_the_bus_is_reported(bus, keys, loop):
    bus.portal()
    keys.bind()
    bus.close()
    keys.wait_for(lambda: "could not grant" in keys.shortcut.problem)


def test_other_keys_are_bound_after_the_previous_ones_are_released(bus, keys, loop):
    portal = bus.portal()
    keys.bind()
    keys.choose("Meta+F9")
    keys.wait_for(lambda: "desktop grants: LOGO+F9" in keys.shortcut.note)
    assert methods(portal) == [*BOUND, "Close", *BOUND]
    portal.do("press")
    keys.wait_for(lambda: keys.quick.visible)
    keys.choose("")
    assert (keys.shortcut.problem, keys.shortcut.note) == ("", "")
    keys.wait_for(lambda: methods(portal)[-1] == "Close")
    assert methods(portal).count("CreateSession") == 2


def test_keys_chosen_while_the_desktop_is_asked_take_precedence(bus, keys, loop):
    portal = bus.portal(answer="silence")
    keys.choose()
    keys.wait_for(lambda: methods(portal) == BOUND)
    keys.choose("Meta+F9")
    keys.wait_for(lambda: methods(portal) == [*BOUND, "Close", *BOUND])
    assert portal.calls("BindShortcuts")[1][1][0][1]["preferred_trigger"] == ["s", "LOGO+F9"]


def test_changes_in_the_desktops_settings_are_shown(bus, keys, loop):
    portal = bus.portal()
    window = keys.shell.window
    window.dialogs.show_settings("quick")
    page = window.dialogs.settings.page(QuickPage)
    keys.bind()
    assert page.keys_row.hint.text() == (
        "Your desktop grants: CTRL+ALT+space. You can change it in the settings of your desktop."
    )
    portal.do("changed", " Alt + {keys}\n" + "x" * 1000)
    keys.wait_for(lambda: "Alt + {keys} xxx" in page.keys_row.hint.text())
    assert len(page.keys_row.hint.text()) < 300
    portal.do("changed", "")
    keys.wait_for(lambda: "Choose its shortcut in the settings of your desktop" in page.keys_row.hint.text())
    portal.do("press")
    keys.wait_for(lambda: keys.quick.visible)
    portal.do("removed")
    keys.wait_for(lambda: "has withdrawn the shortcut" in page.keys_row.error.text())
    assert page.keys_row.hint.isHidden()
    portal.do("changed", "F9")
    keys.wait_for(lambda: "desktop grants: F9." in page.keys_row.hint.text())
    assert page.keys_row.error.isHidden()


def test_keys_revoked_by_the_desktop_are_reported(bus, keys, loop):
    portal = bus.portal()
    keys.bind()
    portal.do("close")
    keys.wait_for(lambda: "has withdrawn the shortcut" in keys.shortcut.problem)
    assert methods(portal).count("CreateSession") == 1


def test_signals_forged_by_others_are_ignored(bus, keys, loop):
    portal = bus.portal()
    keys.bind()
    portal.do("forged")
    portal.do("changed", "F9")
    keys.wait_for(lambda: "desktop grants: F9." in keys.shortcut.note)
    assert not keys.quick.visible


def test_the_tray_names_only_keys_that_are_certain(bus, keys, loop):
    bus.portal()
    keys.bind()
    assert [entry.keys for entry in keys.shell.tray_entries() if entry.text == "Quick Prompt"] == [""]


# From xkbcommon-keysyms.h, without XKB_KEY_.
@pytest.mark.parametrize(
    ("keys", "trigger"),
    [
        ("Ctrl+Alt+Space", "CTRL+ALT+space"),
        ("Meta+Shift+A", "SHIFT+LOGO+a"),
        ("Ctrl+;", "CTRL+semicolon"),
        ("Ctrl+9", "CTRL+9"),
        ("F12", "F12"),
        ("Alt+Return", "ALT+Return"),
        ("Ctrl+PgUp", "CTRL+Prior"),
        ("Ctrl+Ä", "CTRL+adiaeresis"),
        ("Ctrl+Media Play", ""),
    ],
)
def test_keys_are_named_as_in_the_specification(qapp, keys, trigger):
    pressed = QKeySequence(keys)[0]
    assert trigger_of(pressed.key().value, pressed.keyboardModifiers()) == trigger


@pytest.mark.skipif(bool(missing_tools()), reason=f"not installed here: {', '.join(missing_tools())}")
def test_the_real_app_opens_the_quick_prompt_over_another_program(bus, tmp_path):
    portal = bus.portal()
    desk = Desk(tmp_path)
    try:
        desk.env |= {name: os.environ[name] for name in ("DBUS_SESSION_BUS_ADDRESS", "WAYLAND_DISPLAY")}
        folder = desk.home / ".config" / "Sotto"
        folder.mkdir(parents=True)
        (folder / "app.json").write_text(json.dumps({"quick_shortcut": KEYS}))
        app = desk.start("--background")
        wait_until(lambda: methods(portal) == BOUND)
        portal.do("press")
        wait_until(lambda: desk.windows(PANEL) and desk.x.focus() not in (0, desk.other))
        portal.do("press")
        wait_until(lambda: not desk.windows(PANEL) and desk.x.focus() == desk.other)
        assert app.poll() is None
    finally:
        desk.close()
    # The shortcut is released at the end.
    assert methods(portal) == [*BOUND, "Close"]
