"""Launch at login: off until a person wants it, and what the system has written down is what counts.

Linux desktops start what lies in the autostart folder, macOS what lies in LaunchAgents; nothing else is asked or told.
"""

import configparser
import os
import plistlib
import sys
from pathlib import Path
from xml.parsers.expat import ExpatError

import sotto
from sotto.errors import SottoError
from sotto.store.wording import shown_path
from sotto.store.writing import write_whole

_NAME = "app.sotto"


def enabled() -> bool:
    """Tell whether the system starts Sotto when the person logs in."""
    try:
        content = path().read_bytes()
    except OSError:
        return False
    return _runs_at_load(content) if sys.platform == "darwin" else _is_started(content)


def set_enabled(wanted: bool) -> None:
    """Let the system start Sotto, without a window, when the person logs in; or no longer.

    Raises:
        SottoError: It cannot be written down.
    """
    place = path()
    try:
        if wanted:
            write_whole(place, _launch_agent() if sys.platform == "darwin" else _autostart_entry())
        else:
            place.unlink(missing_ok=True)
    except OSError as error:
        raise SottoError(f"{shown_path(place)} cannot be changed: {error.strerror}.") from error


def path() -> Path:
    """Return where the system looks for it."""
    if sys.platform == "darwin":
        return Path.home() / "Library" / "LaunchAgents" / f"{_NAME}.plist"
    # Whatever is no absolute path is to be taken as not set.
    folder = Path(os.environ.get("XDG_CONFIG_HOME", ""))
    if not folder.is_absolute():
        folder = Path.home() / ".config"
    return folder / "autostart" / f"{_NAME}.desktop"


def command() -> list[str]:
    """Return the line that starts this Sotto, as it is installed here, without a window."""
    here = Path(sotto.__file__).resolve()
    bundle = next((folder for folder in here.parents if folder.suffix == ".app"), None)
    if bundle is not None:
        return [str(bundle / "Contents" / "MacOS" / bundle.stem), "--background"]
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
    """Return an argument as the line of a desktop entry has it: quoted, and then escaped as every text there is."""
    inside = "".join(f"\\{letter}" if letter in '"`$\\' else letter for letter in argument).replace("%", "%%")
    return '"' + inside.replace("\\", "\\\\") + '"'


def _is_started(content: bytes) -> bool:
    """Tell whether desktops start what an entry says: some switch it off in place."""
    parser = configparser.RawConfigParser(strict=False)
    parser.optionxform = str  # type: ignore[assignment,method-assign]
    try:
        parser.read_string(content.decode(errors="replace"))
        entry = parser["Desktop Entry"]
    except (configparser.Error, KeyError):
        return False
    return entry.get("Hidden", "false") != "true" and entry.get("X-GNOME-Autostart-enabled", "true") != "false"


def _launch_agent() -> str:
    said = {
        "Label": _NAME,
        "ProgramArguments": command(),
        "RunAtLoad": True,
        "LimitLoadToSessionType": "Aqua",
        "ProcessType": "Interactive",
    }
    return plistlib.dumps(said).decode()


def _runs_at_load(content: bytes) -> bool:
    try:
        said = plistlib.loads(content)
    except (plistlib.InvalidFileException, ExpatError, ValueError, OverflowError):
        return False
    return isinstance(said, dict) and said.get("RunAtLoad") is True and said.get("Disabled") is not True
