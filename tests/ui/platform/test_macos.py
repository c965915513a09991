"""The menu-bar app on macOS: the shortcut, the panel, the Dock, closing and quitting, with a scripted system.

Sotto's own code runs as it does on a Mac. What Carbon, Objective-C and Qt's Cocoa plug-in do there is scripted after
Apple's headers; whether they really do is seen with `packaging/macos/release.sh`.
"""

import ctypes
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from PySide6.QtCore import QEvent
from PySide6.QtGui import QAction, QKeySequence
from PySide6.QtWidgets import QApplication, QSystemTrayIcon

from scripted_objc import Runtime
from sotto.ui.app.tray import TrayAction, TrayEntry
from sotto.ui.platform import mac_keys
from sotto.ui.platform.global_shortcut import GlobalShortcut
from sotto.ui.settings.quick_page import QuickPage

SCRIPT = Path(__file__).resolve().parents[2] / "support" / "ui" / "scripted_carbon.c"
COMMAND, SHIFT, OPTION, CONTROL = 0x100, 0x200, 0x800, 0x1000
# What the keys of French keyboards type, where that is not what is on American ones.
FRENCH = {"a": 12, "q": 0, "z": 13, "w": 6, "&": 18, ",": 46, "m": 41}


@pytest.fixture(scope="session")
def carbon_library(tmp_path_factory):
    compiler = shutil.which("cc") or shutil.which("g++")
    if compiler is None:
        pytest.skip("no C compiler is installed, which builds the scripted Carbon")
    library = tmp_path_factory.mktemp("carbon") / "Carbon"
    command = [compiler, "-x", "c", "-Wall", "-Werror", "-Wno-multichar", "-shared", "-fPIC", SCRIPT, "-o", library]
    subprocess.run(command, check=True)
    return library


@pytest.fixture
def mac(monkeypatch):
    """Let Sotto believe that it runs on a Mac, and return the scripted runtime of Objective-C."""
    runtime = Runtime()
    runtime.install(monkeypatch)
    monkeypatch.setattr(sys, "platform", "darwin")
    monkeypatch.delenv("WAYLAND_DISPLAY", raising=False)
    monkeypatch.setattr(QSystemTrayIcon, "isSystemTrayAvailable", lambda: True)
    # The panel is also created in advance, some time after the start.
    monkeypatch.setattr("sotto.ui.quick.quick_panel.QuickPanel.winId", lambda panel: runtime.VIEW)
    return runtime


@pytest.fixture
def carbon(carbon_library, mac, monkeypatch, tmp_path):
    """Return the scripted Carbon; each test has its own copy, whose variables are new."""
    copy = shutil.copy(carbon_library, tmp_path / "Carbon")
    monkeypatch.setattr(mac_keys, "_CARBON", str(copy))
    return ctypes.CDLL(str(copy))


@pytest.fixture
def shortcut(qapp, carbon):
    found = GlobalShortcut()
    yield found
    found.close()


def test_a_key_reaches_the_app_wherever_it_is_pressed(shortcut, carbon):
    pressed = []
    shortcut.pressed.connect(pressed.append)
    # Qt's Ctrl is the command key of a Mac, its Meta the control key.
    shortcut.set_keys("Ctrl+Alt+Space")
    assert (shortcut.problem, shortcut.certain) == ("", "Ctrl+Alt+Space")
    assert not carbon.press(49, CONTROL | OPTION)
    assert carbon.press(49, COMMAND | OPTION)
    shortcut.set_keys("Meta+Shift+K")
    assert not carbon.press(49, COMMAND | OPTION)
    assert carbon.press(40, CONTROL | SHIFT)
    assert pressed == ["", ""]
    shortcut.set_keys("")
    assert not carbon.press(40, CONTROL | SHIFT)


def test_a_key_of_another_program_is_reported_and_another_one_can_be_chosen(shortcut, carbon):
    carbon.take_elsewhere(49, COMMAND | OPTION)
    shortcut.set_keys("Ctrl+Alt+Space")
    assert shortcut.problem.startswith("Ctrl+Alt+Space is already used by another program")
    assert shortcut.certain == ""
    shortcut.set_keys("Ctrl+Alt+J")
    assert shortcut.problem == ""
    assert carbon.press(38, COMMAND | OPTION)


def test_a_key_that_carbon_has_no_number_for_is_reported(shortcut, carbon):
    shortcut.set_keys("Ctrl+F5")
    assert shortcut.problem.startswith("Ctrl+F5 cannot be taken: choose a letter, a digit or Space")


@pytest.mark.parametrize(("letter", "french"), [("A", 12), ("Q", 0), ("Z", 13), ("W", 6), ("K", 40), ("1", 18)])
def test_letters_are_those_of_the_person_s_keyboard(shortcut, carbon, letter, french):
    """Check that the key that says A is taken for A, and where no key alone types a digit, the one it is on."""
    letters = (ctypes.c_uint16 * 128)()
    for number, typed in enumerate(mac_keys._LETTERS):
        letters[number] = 0 if typed.isdigit() else ord(typed)
    for typed, number in FRENCH.items():
        letters[number] = ord(typed)
    carbon.type_with(letters)
    shortcut.set_keys(f"Ctrl+Alt+{letter}")
    assert shortcut.problem == ""
    assert carbon.press(french, COMMAND | OPTION)
    counts = (ctypes.c_int.in_dll(carbon, f"{done}_sources").value for done in ("copied", "released"))
    assert tuple(counts) == (1, 1)


def test_without_a_layout_that_can_be_read_keys_are_those_of_an_american_keyboard(shortcut, carbon):
    carbon.type_with(None)
    shortcut.set_keys("Ctrl+Alt+A")
    assert carbon.press(0, COMMAND | OPTION)


def test_the_shortcut_shows_the_panel_while_another_program_stays_active(around, qtbot, loop, carbon, mac):
    shell = around.shell
    around.preferences.change(quick_shortcut="Ctrl+Alt+Space")
    assert carbon.press(49, COMMAND | OPTION)
    assert shell.quick.visible
    assert mac.style == 1 << 4 | 1 << 7
    assert not shell.has_window
    assert mac.activated == 0
    assert carbon.press(49, COMMAND | OPTION)
    assert not shell.quick.visible


@pytest.fixture
def ended(around):
    found = []
    around.shell.ended.connect(lambda: found.append(True))
    return found


def activate(qapp):
    """Do what Qt does when the Dock icon is clicked, or the app comes to the front in another way."""
    QApplication.sendEvent(qapp, QEvent(QEvent.Type.ApplicationActivate))


def test_the_app_stays_without_a_window_and_the_dock_brings_it_back(around, qtbot, loop, mac, qapp, ended):
    shell = around.shell
    qapp.serve(shell)
    shell.started_at -= 10
    shell.open_window()
    shell.window.close()
    assert not shell.window.isVisible()
    # In the menu bar, and in the Dock, too.
    assert (ended, shell.tray.is_visible, mac.policy) == ([], True, 0)
    assert not around.preferences.values.told_of_tray
    activate(qapp)
    assert shell.window.isVisible()
    shell.window.showMinimized()
    activate(qapp)
    assert shell.window.isMinimized()
    QApplication.sendEvent(qapp, QEvent(QEvent.Type.Quit))
    qapp.shell = None
    assert ended == [True]


def test_quitting_has_the_keys_of_the_system(around, qtbot, loop, mac, ended):
    actions = {action.text(): action for action in around.shell.window.findChildren(QAction)}
    leave, close = actions["Quit Sotto"], actions["Close Window"]
    # The system's own keys, ⌘Q on a Mac, where Qt puts an action of this role into the menu with the app's name.
    assert leave.shortcuts() == QKeySequence.keyBindings(QKeySequence.StandardKey.Quit)
    assert leave.menuRole() is QAction.MenuRole.QuitRole
    assert close.shortcut() == QKeySequence("Ctrl+W")
    around.shell.open_window()
    close.trigger()
    assert (around.shell.window.isVisible(), ended) == (False, [])
    leave.trigger()
    assert ended == [True]


def test_the_menu_bar_opens_the_menu_and_nothing_else(around, qtbot, loop, mac):
    shell = around.shell
    shell.tray.try_to_show()
    shell.tray._activate(QSystemTrayIcon.ActivationReason.Trigger)
    assert not shell.has_window
    assert shell.tray._icon.icon().isMask()
    shell.tray.chosen.emit(TrayEntry("", TrayAction.WINDOW))
    assert shell.window.isVisible()


def test_without_the_dock_the_app_is_there_with_its_window_alone(around, qtbot, loop, mac, ended):
    shell = around.shell
    shell.open_window()
    around.preferences.change(dock_icon=False)
    assert mac.policy == 0
    shell.window.close()
    assert (mac.policy, ended) == (1, [])
    shell.tray.chosen.emit(TrayEntry("", TrayAction.WINDOW))
    # Only once it is activated, the system draws the menus of an app that was not in the Dock.
    assert (mac.policy, mac.activated, shell.window.isVisible()) == (0, 1, True)
    shell.window.close()
    assert mac.policy == 1
    around.preferences.change(dock_icon=True)
    assert mac.policy == 0


def test_the_settings_offer_the_dock_on_a_mac_alone(around, qtbot, tasks, mac, monkeypatch):
    monkeypatch.setattr(sys, "platform", "linux")
    elsewhere = QuickPage(around.preferences, tasks, None)
    qtbot.addWidget(elsewhere)
    assert elsewhere.dock_row.isHidden()
    monkeypatch.setattr(sys, "platform", "darwin")
    page = QuickPage(around.preferences, tasks, None)
    qtbot.addWidget(page)
    assert not page.dock_row.isHidden()
    assert page.dock.isChecked()
    page.dock.setChecked(False)
    assert around.preferences.values.dock_icon is False
    assert not page.dock.isChecked()
