"""A message on the screen where Qt cannot draw one: shown by whatever program the desktop has for that."""

import os
import shutil
import subprocess
import textwrap

# For xmessage, which does not wrap lines.
_WIDTH = 80
_IN_TERMINAL = ("sh", "-c", 'printf "%s\\n" "$0"; read -r _')
# How each is called before the text. A terminal shows it until Enter is pressed.
_PROGRAMS = {
    "zenity": ("--error", "--no-markup", "--title=Sotto", "--text"),
    "kdialog": ("--title", "Sotto", "--error"),
    "xmessage": ("-center", "-name", "Sotto"),
    "notify-send": ("--app-name=Sotto", "--urgency=critical", "Sotto"),
    "x-terminal-emulator": ("-e", *_IN_TERMINAL),
    "gnome-terminal": ("--wait", "--", *_IN_TERMINAL),
    "konsole": ("-e", *_IN_TERMINAL),
    "xterm": ("-e", *_IN_TERMINAL),
}


def is_useful() -> bool:
    """Return whether there is a screen, and no terminal that shows what is printed."""
    return bool(os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY")) and not os.isatty(2)


def show(text: str) -> bool:
    """Show a text until it is closed; return whether there was a program that could."""
    for name, arguments in _PROGRAMS.items():
        if program := shutil.which(name):
            shown = textwrap.fill(text, _WIDTH) if name == "xmessage" else text
            # Their output, such as warnings of GTK, is not ours; their status also tells how the message was closed.
            status = subprocess.run(
                [program, *arguments, shown],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
            ).returncode
            # Without a service for notifications, this shows nothing.
            if name != "notify-send" or status == 0:
                return True
    return False
