"""The global shortcut on systems that do not let programs have one; `test_x11.py` tests it on an X server."""

import pytest

from sotto.ui.platform.global_shortcut import GlobalShortcut
from sotto.ui.platform.mac_keys import code
from sotto.ui.platform.x11_keys import symbol


def test_no_shortcut_is_requested_until_one_is_chosen(qapp, around, loop):
    assert around.preferences.values.quick_shortcut == ""
    assert around.shell.shortcut.problem == ""
    assert around.shell.shortcut.certain == ""


@pytest.mark.parametrize(
    ("keys", "why"),
    [
        ("Ctrl+Alt+Space", "bind `sotto --toggle` to Ctrl+Alt+Space"),
        ("Ctrl+K, Ctrl+C", "not a key that could be pressed"),
        ("nonsense", "not a key that could be pressed"),
        ("A", "alone would stop working"),
        ("Shift+A", "alone would stop working"),
        ("F9", "bind `sotto --toggle` to F9"),
    ],
)
def test_an_unavailable_shortcut_is_reported_with_a_reason(qapp, keys, why):
    shortcut = GlobalShortcut()
    problems = []
    shortcut.changed.connect(lambda: problems.append(shortcut.problem))
    shortcut.set_keys(keys)
    shortcut.set_keys(keys)
    assert len(problems) == 1
    assert why in problems[0]
    assert shortcut.certain == ""
    shortcut.set_keys("")
    assert problems[1:] == [""]


def test_an_unavailable_shortcut_is_reported_in_the_window(around, qtbot, loop):
    window = around.shell.window
    window.show()
    around.preferences.change(quick_shortcut="Ctrl+Alt+Space")
    assert "sotto --toggle" in window.chat.notice.message.text()


# From Xlib's keysymdef.h and Apple's HIToolbox/Events.h.
@pytest.mark.parametrize(
    ("keys", "on_x11", "on_a_mac"),
    [
        ("Space", 0x20, 0x31),
        ("A", 0x61, 0x00),
        ("K", 0x6B, 0x28),
        ("9", 0x39, 0x19),
        (";", 0x3B, 0x29),
        ("Return", 0xFF0D, 0x24),
        ("Tab", 0xFF09, 0x30),
        ("F12", 0xFFC9, None),
        ("Del", 0xFFFF, None),
        ("Media Play", 0, None),
    ],
)
def test_keys_are_translated_to_the_codes_of_each_system(qapp, keys, on_x11, on_a_mac):
    from PySide6.QtGui import QKeySequence

    key = QKeySequence(keys)[0].key().value
    assert (symbol(key), code(key)) == (on_x11, on_a_mac)
