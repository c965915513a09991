"""The tray item as a panel sees it: from outside, over the session bus, with the real app and its model."""

import subprocess
import sys

import pytest

from session_bus import SessionBus, missing_bus
from x11_desk import PANEL, Desk, missing_tools, wait_until

MISSING = missing_bus() or ", ".join(missing_tools())

pytestmark = pytest.mark.skipif(bool(MISSING), reason=f"not here: {MISSING}")

if not MISSING:
    from tray_host import TrayHost


@pytest.fixture
def bus(tmp_path):
    made = SessionBus(tmp_path)
    yield made
    made.close()


@pytest.fixture
def host(bus):
    made = TrayHost(bus.address)
    yield made
    made.close()


@pytest.fixture
def desk(bus, tmp_path):
    made = Desk(tmp_path)
    made.env["DBUS_SESSION_BUS_ADDRESS"] = bus.address
    yield made
    made.close()


def labels(host, item):
    return [entry.get("label", "-") for entry in host.menu(item).values()]


def dismissed(desk):
    """Press Escape, which has no effect until the panel has the keyboard, and return whether the panel is gone."""
    desk.tool("xdotool", "key", "Escape")
    return not desk.windows(PANEL)


def test_a_panel_shows_the_item_and_its_menu_does_what_it_says(desk, host):
    app = desk.start("--background")
    (item,) = wait_until(lambda: host.items)
    wait_until(lambda: labels(host, item)[0] == "sotto · ready")
    shown = host.item(item)
    assert (shown["Id"], shown["Title"], shown["Status"]) == ("Sotto", "Sotto", "Active")
    assert shown["ToolTip"][2] == "Sotto: sotto · ready"
    # ARGB pixels of an image that is not empty.
    assert all(len(pixels) == 4 * width * height and any(pixels) for width, height, pixels in shown["IconPixmap"])
    assert labels(host, item) == [
        *("sotto · ready", "Eject Model", "-", "sotto", "-"),
        *("Quick Prompt", "New Chat", "Open Sotto", "-", "Quit Sotto"),
    ]
    entries = host.menu(item)
    assert [entry["enabled"] for entry in entries.values() if "label" in entry] == [False, *[True] * 6]
    assert [entry["label"] for entry in entries.values() if entry.get("toggle-state") == 1] == ["sotto"]
    assert host.menu(item).keys() == entries.keys()

    host.choose(item, "Quick Prompt")
    wait_until(lambda: desk.windows(PANEL))
    wait_until(lambda: dismissed(desk))
    host.activate(item)
    wait_until(lambda: desk.windows("Sotto"))
    host.choose(item, "Eject Model")
    wait_until(lambda: labels(host, item)[:2] == ["sotto · not loaded", "-"])
    host.choose(item, "sotto")
    wait_until(lambda: labels(host, item)[0] == "sotto · ready")
    host.choose(item, "Quit Sotto")
    assert app.wait(30) == 0


@pytest.mark.parametrize("name", ["Q4_K_M", "_a__b_", "R&D", "a_b&c & d", "plain"])
def test_names_are_displayed_literally(desk, host, name):
    code = (
        "import sys\n"
        "from sotto.ui.app.app import Application\n"
        "from sotto.ui.app.tray import Tray, TrayAction, TrayEntry\n"
        "app = Application([])\n"
        "tray = Tray(lambda: (TrayEntry(sys.argv[1], TrayAction.NOTHING),))\n"
        "tray.try_to_show()\n"
        "app.exec()\n"
    )
    shown = subprocess.Popen([sys.executable, "-c", code, name], env=desk.env)
    try:
        (item,) = wait_until(lambda: host.items)
        (label,) = labels(host, item)
    finally:
        shown.kill()
        shown.wait()
    # As the specification of com.canonical.dbusmenu requires.
    assert label.replace("__", "\0").replace("_", "").replace("\0", "_") == name


def test_the_item_appears_in_a_panel_that_starts_later(desk, bus):
    desk.start("--background")
    host = TrayHost(bus.address)
    try:
        (item,) = wait_until(lambda: host.items)
        assert "Quit Sotto" in labels(host, item)
    finally:
        host.close()
