"""Launch at login: off by default, and kept where the system looks for it, nowhere else.

Linux desktops start the entries of the autostart folder, and macOS those of LaunchAgents. A Flatpak has such a folder
of its own, where the desktop does not look: the entry there notes what the desktop has been asked for.
"""

import configparser
import os
import plistlib
import sys
from pathlib import Path
from xml.parsers.expat import ExpatError

import sotto
from sotto.errors import SottoError
from sotto.store.atomic_writing import write_atomically
from sotto.store.printable import printable_path
from sotto.ui.toolkit.translation import tr

_NAME = "app.sotto"


def enabled() -> bool:
    """Return whether the system starts Sotto at login."""
    try:
        content = path().read_bytes()
    except OSError:
        return False
    return _runs_at_load(content) if sys.platform == "darwin" else _is_started(content)


def set_enabled(wanted: bool) -> None:
    """Have the system start Sotto at login, without a window, or no longer.

    Raises:
        SottoError: The file cannot be written or removed, or the desktop does not allow it.
    """
    place = path()
    if os.environ.get("FLATPAK_ID"):
        # Imported here because only Linux has D-Bus.
        from sotto.ui.platform import login_portal

        login_portal.ask(wanted)
    try:
        if wanted:
            write_atomically(place, _launch_agent() if sys.platform == "darwin" else _autostart_entry())
        else:
            place.unlink(missing_ok=True)
    except OSError as error:
        raise SottoError(
            tr("{file} cannot be changed: {reason}.").format(file=printable_path(place), reason=error.strerror)
        ) from error


def path() -> Path:
    """Return the path of the file that the system looks for."""
    if sys.platform == "darwin":
        return Path.home() / "Library" / "LaunchAgents" / f"{_NAME}.plist"
    # The specification says to ignore a value that is not an absolute path.
    folder = Path(os.environ.get("XDG_CONFIG_HOME", ""))
    if not folder.is_absolute():
        folder = Path.home() / ".config"
    return folder / "autostart" / f"{_NAME}.desktop"


def command() -> list[str]:
    """Return the command that starts this installation of Sotto without a window."""
    here = Path(sotto.__file__).resolve()
    bundle = next((folder for folder in here.parents if folder.suffix == ".app"), None)
    if bundle is not None:
        return [str(bundle / "Contents" / "MacOS" / bundle.stem), "--background"]
    image, mounted = os.environ.get("APPIMAGE", ""), os.environ.get("APPDIR", "")
    if image and mounted and Path(sys.executable).is_relative_to(mounted):
        # The file itself: what is in it has another path at each start.
        return [image, "--background"]
    script = Path(sys.executable).with_name("sotto")
    if script.is_file():
        return [str(script), "--background"]
    return [sys.executable, "-m", "sotto", "--background"]


def _autostart_entry() -> str:
    line = " ".join(_quoted(argument) for argument in command())
    return (
        "[Desktop Entry]\n"
        "Type=Application\n"
        "Name=Sotto\n"
        f"Exec={line}\n"
        f"Icon={_NAME}\n"
        "Terminal=false\n"
        "X-GNOME-Autostart-enabled=true\n"
    )


def _quoted(argument: str) -> str:
    """Return an argument of a desktop entry's `Exec`: quoted, and then escaped like every string there."""
    inside = "".join(f"\\{letter}" if letter in '"`$\\' else letter for letter in argument).replace("%", "%%")
    return '"' + inside.replace("\\", "\\\\") + '"'


def _is_started(content: bytes) -> bool:
    """Return whether desktops start an entry; some switch it off inside the file."""
    parser = configparser.RawConfigParser(strict=False)
    parser.optionxform = str  # type: ignore[assignment,method-assign]
    try:
        parser.read_string(content.decode(errors="replace"))
        entry = parser["Desktop Entry"]
    except (configparser.Error, KeyError):
        return False
    return entry.get("Hidden", "false") != "true" and entry.get("X-GNOME-Autostart-enabled", "true") != "false"


def _launch_agent() -> str:
    properties = {
        "Label": _NAME,
        "ProgramArguments": command(),
        "RunAtLoad": True,
        "LimitLoadToSessionType": "Aqua",
        "ProcessType": "Interactive",
    }
    return plistlib.dumps(properties).decode()


def _runs_at_load(content: bytes) -> bool:
    try:
        properties = plistlib.loads(content)
    except (plistlib.InvalidFileException, ExpatError, ValueError, OverflowError):
        return False
    return (
        isinstance(properties, dict) and properties.get("RunAtLoad") is True and properties.get("Disabled") is not True
    )
