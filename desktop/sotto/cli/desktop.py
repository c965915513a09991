"""Opening the window, or a conversation in the terminal if no window can open."""

import gc
import os
import sys
from pathlib import Path

from sotto.cli import linux_packages
from sotto.errors import SottoError
from sotto.paths import data_dir
from sotto.ui.platform import desktop_message
from sotto.ui.platform.single_instance import Show, StartRequest, enter


def run(show: Show = Show.WINDOW, paths: tuple[Path, ...] = (), address: str = "") -> int:
    """Open the app, in the running instance if there is one; return the exit status.

    Where no window can open, the model answers in the terminal; where there is none, as after a double-click, a program
    of the desktop shows the reason.

    Args:
        show: What to show.
        paths: Models to load.
        address: An address of Sotto's own to open; empty for none.

    Raises:
        SottoError: No window can open, and the desktop has shown why, or more than the main window is asked for.
    """
    obstacle = no_window()
    if not obstacle:
        return _open(StartRequest(show, paths, os.environ.get("XDG_ACTIVATION_TOKEN", ""), address))
    if desktop_message.is_useful() and desktop_message.show(f"Sotto cannot open its window. {obstacle}"):
        raise SottoError(obstacle)
    if show is not Show.WINDOW or address:
        raise SottoError(obstacle)
    from sotto.cli import chat

    print(f"{obstacle} The chat opens here in the terminal instead.", file=sys.stderr)
    return chat.in_terminal(str(paths[0]) if paths else None)


def _open(request: StartRequest) -> int:
    try:
        instance = enter(data_dir(), request)
        if instance is None:
            return 0
    except OSError as error:
        # A full or read-only disk; the app itself reports the consequences.
        print(f"Could not check whether Sotto is already running: {error}.", file=sys.stderr)
        instance = None
    # The app collects garbage itself (`GarbageCollector`); what it imports lives as long as it does.
    gc.disable()
    from sotto.ui.app.app import run as run_app

    return run_app(request, instance)


def no_window() -> str:
    """Return one sentence why no window can open here, or an empty text."""
    if not sys.platform.startswith("linux"):
        return ""
    drawing_elsewhere = os.environ.get("QT_QPA_PLATFORM", "").split(":")[0] in ("offscreen", "minimal", "vnc")
    if not (drawing_elsewhere or os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY")):
        return "There is no display to open a window on."
    missing = linux_packages.missing(windows=not drawing_elsewhere)
    if missing:
        line = linux_packages.install_line(sorted(set(missing.values())))
        return f"The window needs {', '.join(missing)} ({line})."
    return ""
