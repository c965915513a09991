"""A virtual X server with another program, to test the app from outside, as a user sees it."""

import contextlib
import ctypes
import os
import shutil
import signal
import sqlite3
import subprocess
import sys
import time
from pathlib import Path

from sotto.ui.platform.single_instance import Show, StartRequest, enter
from sotto.ui.platform.xcb import Server

TOOLS = ("Xvfb", "xdotool", "xwininfo")
# Libraries that Qt needs for windows on X11, missing on most machines without a screen.
LIBRARIES = ("libxcb-cursor.so.0", "libxcb-icccm.so.4", "libxcb-keysyms.so.1", "libxkbcommon-x11.so.0")
PANEL = "Sotto: Quick Prompt"

# A program whose window covers the screen, and which prints its input events.
OTHER = """
import sys
from PySide6.QtWidgets import QApplication, QPlainTextEdit
class Field(QPlainTextEdit):
    def mousePressEvent(self, event):
        print("click", flush=True)
    def keyPressEvent(self, event):
        print("key", event.text(), flush=True)
app = QApplication([])
field = Field()
field.setWindowTitle("Other program")
field.setGeometry(0, 0, 1280, 800)
field.show()
field.activateWindow()
app.exec()
"""


def missing_tools():
    """Return the missing programs and libraries."""
    return [name for name in TOOLS if shutil.which(name) is None] + [
        name for name in LIBRARIES if not _is_installed(name)
    ]


def _is_installed(library):
    try:
        ctypes.CDLL(library)
    except OSError:
        return False
    return True


def wait_until(condition, seconds=60.0):
    """Wait until a condition returns a true value, and return the value."""
    end = time.monotonic() + seconds
    while not (value := condition()):
        assert time.monotonic() < end, "The condition was not met in time."
        time.sleep(0.005)
    return value


class Desk:
    """An X server, another program with the focus, and a home folder for the app."""

    def __init__(self, folder: Path) -> None:
        read, write = os.pipe()
        self._server = subprocess.Popen(
            ["Xvfb", "-displayfd", str(write), "-screen", "0", "1280x800x24", "-nolisten", "tcp"],
            pass_fds=(write,),
            stderr=subprocess.DEVNULL,
        )
        os.close(write)
        with os.fdopen(read) as output:
            self.display = f":{output.readline().strip()}"
        self.home = folder / "home"
        self.home.mkdir()
        inherited = {
            name: os.environ[name] for name in ("PATH", "PYTHONPATH", "LANG", "LD_LIBRARY_PATH") if name in os.environ
        }
        self.env = {**inherited, "HOME": str(self.home), "DISPLAY": self.display, "QT_QPA_PLATFORM": "xcb"}
        self.input_log = folder / "input"
        with self.input_log.open("w") as file:
            self._other = subprocess.Popen([sys.executable, "-c", OTHER], env=self.env, stdout=file)
        os.environ["DISPLAY"], before = self.display, os.environ.get("DISPLAY")
        self.x = Server()
        if before is None:
            del os.environ["DISPLAY"]
        else:
            os.environ["DISPLAY"] = before
        self.other = wait_until(lambda: self.windows("Other program"))[0]
        wait_until(lambda: self.x.focus() == self.other)
        self.apps: list[subprocess.Popen] = []

    @property
    def data(self) -> Path:
        """The app's data folder."""
        return self.home / ".local" / "share" / "Sotto"

    def start(self, *arguments: str) -> subprocess.Popen:
        """Start the app, and wait until it accepts requests from other instances."""
        with (self.home / "stderr").open("w") as file:
            app = subprocess.Popen([sys.executable, "-m", "sotto", *arguments], env=self.env, stderr=file)
        self.apps.append(app)
        wait_until((self.data / "app.socket").exists)
        self.start_again(Show.NOTHING)
        return app

    def start_again(self, show: Show) -> None:
        """Send the app a request as another instance of it would."""
        assert enter(self.data, StartRequest(show)) is None

    def windows(self, name: str) -> list[int]:
        """Return the visible windows with a title."""
        output = self.tool("xdotool", "search", "--onlyvisible", "--name", f"^{name}$", check=False)
        return [int(line) for line in output.split()]

    def stack(self) -> list[str]:
        """Return the titles of all visible windows, the topmost first."""
        lines = self.tool("xwininfo", "-root", "-tree").splitlines()
        top = [line for line in lines if line.startswith("     0x")]
        return [line.partition('"')[2].partition('"')[0] for line in top if self._viewable(line.split()[0])]

    def _viewable(self, window: str) -> bool:
        return "IsViewable" in self.tool("xwininfo", "-id", window)

    def tool(self, *command: str, check: bool = True) -> str:
        """Run a program that inspects windows or simulates input, and return its output."""
        return subprocess.run(command, env=self.env, check=check, capture_output=True, text=True).stdout

    def messages(self) -> list[tuple]:
        """Return the role, text and state of every saved message."""
        file = self.data / "chats.sqlite3"
        if not file.exists():
            return []
        with contextlib.closing(sqlite3.connect(f"file:{file}?mode=ro", uri=True)) as connection:
            try:
                return connection.execute("SELECT role, text, state FROM messages ORDER BY id").fetchall()
            except sqlite3.OperationalError:
                return []  # the database is being created

    def close(self) -> None:
        """End the app, the other program and the X server."""
        for app in self.apps:
            if app.poll() is None:
                app.send_signal(signal.SIGTERM)
                app.wait(30)
            assert app.returncode == 0, (self.home / "stderr").read_text()
        self.x.close()
        self._other.kill()
        self._other.wait()
        self._server.terminate()
        self._server.wait()
