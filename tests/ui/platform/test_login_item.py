"""Launch at login: the entry that is written for the system, and how it is read back."""

import configparser
import plistlib
import re
import sys

import pytest

from session_bus import SessionBus, missing_bus
from sotto.errors import SottoError
from sotto.ui.platform import login_item


@pytest.fixture
def linux(monkeypatch):
    monkeypatch.setattr(sys, "platform", "linux")
    monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)


@pytest.fixture
def mac(monkeypatch):
    monkeypatch.setattr(sys, "platform", "darwin")


def arguments_of(line):
    """Parse a line of a desktop entry as the specification requires: unescape the text, then unquote the arguments."""
    text = line.replace("\\\\", "\\")
    found = re.findall(r'"((?:\\.|[^"\\])*)"', text)
    return [re.sub(r"\\(.)", r"\1", argument).replace("%%", "%") for argument in found]


def test_on_linux_it_is_an_autostart_entry(linux, own_home):
    assert not login_item.enabled()
    login_item.set_enabled(True)
    assert login_item.enabled()
    file = own_home / ".config" / "autostart" / "app.sotto.desktop"
    parser = configparser.RawConfigParser()
    parser.read(file)
    entry = parser["Desktop Entry"]
    assert (entry["Type"], entry["Name"], entry["Terminal"]) == ("Application", "Sotto", "false")
    assert arguments_of(entry["Exec"]) == login_item.command()
    assert login_item.command()[-1] == "--background"
    login_item.set_enabled(False)
    assert not file.exists()
    assert not login_item.enabled()
    login_item.set_enabled(False)


def test_xdg_config_home_is_respected(linux, own_home, monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    login_item.set_enabled(True)
    assert (tmp_path / "autostart" / "app.sotto.desktop").is_file()
    monkeypatch.setenv("XDG_CONFIG_HOME", "relative")
    assert login_item.path() == own_home / ".config" / "autostart" / "app.sotto.desktop"


@pytest.mark.parametrize("line", ["Hidden=true", "X-GNOME-Autostart-enabled=false"])
def test_an_entry_that_the_desktop_disabled_is_off(linux, own_home, line):
    login_item.set_enabled(True)
    file = login_item.path()
    name = line.partition("=")[0]
    kept = [other for other in file.read_text().splitlines() if not other.startswith(name)]
    file.write_text("\n".join([*kept, line]))
    assert not login_item.enabled()
    login_item.set_enabled(True)
    assert login_item.enabled()


@pytest.mark.parametrize("content", [b"", b"\xff\x00", b"[Other]\nExec=x", b"no section", b"[Desktop Entry"])
def test_a_damaged_entry_counts_as_off(linux, own_home, content):
    login_item.path().parent.mkdir(parents=True)
    login_item.path().write_bytes(content)
    assert not login_item.enabled()


def test_odd_paths_are_escaped(linux, own_home, monkeypatch, tmp_path):
    folder = tmp_path / 'a "b" $c `d` \\e 100% f'
    folder.mkdir()
    (folder / "sotto").touch()
    monkeypatch.setattr(sys, "executable", str(folder / "python"))
    login_item.set_enabled(True)
    parser = configparser.RawConfigParser()
    parser.read(login_item.path())
    assert arguments_of(parser["Desktop Entry"]["Exec"]) == [str(folder / "sotto"), "--background"]


def test_on_a_mac_it_is_a_launch_agent(mac, own_home):
    assert not login_item.enabled()
    login_item.set_enabled(True)
    assert login_item.enabled()
    agent = plistlib.loads((own_home / "Library" / "LaunchAgents" / "app.sotto.plist").read_bytes())
    assert agent["Label"] == "app.sotto"
    assert agent["RunAtLoad"] is True
    assert agent["ProgramArguments"] == login_item.command()
    login_item.set_enabled(False)
    assert not login_item.enabled()


@pytest.mark.parametrize(
    "content", [b"", b"<plist>", b"bplist00", plistlib.dumps([1]), plistlib.dumps({"RunAtLoad": False})]
)
def test_an_agent_that_does_not_run_at_login_counts_as_off(mac, own_home, content):
    login_item.path().parent.mkdir(parents=True)
    login_item.path().write_bytes(content)
    assert not login_item.enabled()


def test_a_bundle_starts_itself(mac, own_home, monkeypatch, tmp_path):
    package = tmp_path / "Sotto.app" / "Contents" / "Resources" / "app" / "sotto" / "__init__.py"
    monkeypatch.setattr(login_item.sotto, "__file__", str(package))
    assert login_item.command() == [str(tmp_path / "Sotto.app" / "Contents" / "MacOS" / "Sotto"), "--background"]


def test_an_app_image_starts_itself(linux, own_home, monkeypatch, tmp_path):
    mounted = tmp_path / ".mount_sotto"
    monkeypatch.setattr(sys, "executable", str(mounted / "usr" / "lib" / "sotto" / "sotto"))
    monkeypatch.setenv("APPIMAGE", "/home/person/Sotto.AppImage")
    monkeypatch.setenv("APPDIR", "/tmp/.mount_a_terminal")
    assert login_item.command()[0] != "/home/person/Sotto.AppImage", "another program's image was taken for ours"
    monkeypatch.setenv("APPDIR", str(mounted))
    assert login_item.command() == ["/home/person/Sotto.AppImage", "--background"]


def test_an_entry_that_cannot_be_written_is_reported(linux, own_home):
    (own_home / ".config").write_text("in the way")
    with pytest.raises(SottoError, match=r"app\.sotto\.desktop cannot be changed"):
        login_item.set_enabled(True)


@pytest.fixture
def bus(tmp_path, monkeypatch):
    """Return the session bus of a desktop, for the Flatpak of Sotto."""
    if missing_bus():
        pytest.skip(missing_bus())
    made = SessionBus(tmp_path)
    monkeypatch.setenv("DBUS_SESSION_BUS_ADDRESS", made.address)
    monkeypatch.setenv("FLATPAK_ID", "app.sotto.sotto")
    yield made
    made.close()


def test_a_flatpak_asks_the_desktop(linux, own_home, bus):
    portal = bus.portal()
    for wanted in (True, False):
        login_item.set_enabled(wanted)
        assert login_item.enabled() is wanted
    for (parent, options), wanted in zip(portal.calls("RequestBackground"), (True, False), strict=True):
        assert parent == ""
        assert options["autostart"] == ["b", wanted]
        assert options["commandline"] == ["as", ["sotto", "--background"]]


@pytest.mark.parametrize("behaviour", [{"answer": "deny"}, None])
def test_a_desktop_that_does_not_start_a_flatpak_is_reported(linux, own_home, bus, behaviour):
    if behaviour is not None:
        bus.portal(**behaviour)
    with pytest.raises(SottoError, match=r"^The desktop did not change whether Sotto starts at login\.$"):
        login_item.set_enabled(True)
    assert not login_item.enabled()
