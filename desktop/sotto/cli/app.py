"""Open the window, or talk in the terminal where no window can be."""

import os
import sys
from pathlib import Path

from sotto.cli import qt_libraries


def run(paths: list[Path]) -> int:
    """Open the app with `paths` loaded; without a display, let the model answer in the terminal. Return the status."""
    obstacle = no_window()
    if not obstacle:
        from sotto.ui.app import run as run_app

        return run_app(paths)
    from sotto.cli import chat

    print(f"{obstacle} The model answers here in the terminal instead.", file=sys.stderr)
    return chat.in_terminal(str(paths[0]) if paths else None)


def no_window() -> str:
    """Return one sentence why no window can open here, or nothing."""
    if not sys.platform.startswith("linux"):
        return ""
    drawing_elsewhere = os.environ.get("QT_QPA_PLATFORM", "").split(":")[0] in ("offscreen", "minimal", "vnc")
    if not (drawing_elsewhere or os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY")):
        return "There is no display to open a window on."
    missing = qt_libraries.missing(windows=not drawing_elsewhere)
    if missing:
        line = qt_libraries.install_line(sorted(set(missing.values())))
        return f"The window needs {', '.join(missing)} ({line})."
    return ""
