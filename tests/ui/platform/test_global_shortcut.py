"""Keys of the quick prompt where a system lets a program have none; on an X server they are tested beside the panel."""

import pytest

from sotto.ui.platform.global_shortcut import GlobalShortcut
from sotto.ui.platform.macos import code
from sotto.ui.platform.x11_keys import symbol


def test_nothing_is_wanted_until_it_is_chosen(qapp, around, loop):
    assert around.preferences.values.quick_shortcut == ""
    assert around.shell.shortcut.problem == ""
    assert around.shell.shortcut._keys is None


@pytest.mark.parametrize(
    ("keys", "why"),
    [
        ("Ctrl+Alt+Space", "bind `sotto --toggle` to Ctrl+Alt+Space"),
        ("Ctrl+K, Ctrl+C", "not a key that could be pressed"),
        ("nonsense", "not a key that could be pressed"),
        ("A", "alone would be lost"),
        ("Shift+A", "alone would be lost"),
        ("F9", "bind `sotto --toggle` to F9"),
    ],
)
def test_keys_that_cannot_be_had_are_told_in_a_sentence(qapp, keys, why):
    shortcut = GlobalShortcut()
    told = []
    shortcut.changed.connect(lambda: told.append(shortcut.problem))
    shortcut.set_keys(keys)
    shortcut.set_keys(keys)
    assert len(told) == 1
    assert why in told[0]
    assert shortcut.certain == ""
    shortcut.set_keys("")
    assert told[1:] == [""]


def test_keys_that_cannot_be_had_are_told_where_the_person_is(around, qtbot, loop):
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
def test_keys_have_the_numbers_of_each_system(qapp, keys, on_x11, on_a_mac):
    from PySide6.QtGui import QKeySequence

    key = QKeySequence(keys)[0].key().value
    assert (symbol(key), code(key)) == (on_x11, on_a_mac)
