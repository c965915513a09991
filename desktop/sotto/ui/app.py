"""Open the window, and end well.

The window is painted before anything is imported that it does not need: the event loop of asyncio, the readers of the
stores and, on the engine's own thread, MLX.
"""

import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6 import __version__ as pyside_version
from PySide6.QtCore import QEvent, QEventLoop, QObject, QTimer
from PySide6.QtGui import QFileOpenEvent
from PySide6.QtWidgets import QApplication

from sotto.paths import config_dir, data_dir
from sotto.ui import theme
from sotto.ui.api_host import ApiHost
from sotto.ui.api_switch import ApiSwitch
from sotto.ui.chat_keeper import ChatKeeper
from sotto.ui.drops import Dropped, path_of
from sotto.ui.engine_thread import EngineThread
from sotto.ui.hosts import make_host
from sotto.ui.preferences import PreferenceKeeper, Preferences
from sotto.ui.session import Session
from sotto.ui.window import MainWindow

if TYPE_CHECKING:
    from sotto.ui.flows import Flows

_SWITCH_SECONDS = 0.0005
# What was computed last is written to the disk meanwhile.
_CLOSE_MS = 20_000
_FIRST_PAINT_MS = 2000


class Application(QApplication):
    """The application; files that the system asks it to open wait until there is a window."""

    def __init__(self, arguments: Sequence[str]) -> None:
        """Start Qt."""
        super().__init__(list(arguments))
        self.setApplicationName("Sotto")
        self.setOrganizationName("Sotto")
        self.setDesktopFileName("app.sotto")
        self.setQuitOnLastWindowClosed(False)
        self._window: MainWindow | None = None
        self._waiting: list[Path] = []

    def serve(self, window: MainWindow) -> None:
        """Open files in `window` from now on, first those that came before."""
        self._window = window
        waiting, self._waiting = tuple(self._waiting), []
        if waiting:
            window.session.open(Dropped(waiting, ()))

    def event(self, event: QEvent) -> bool:
        """Take files that the system asks to open."""
        if isinstance(event, QFileOpenEvent):
            path = path_of(event.url())
            if path is None and event.file():
                path = Path(event.file())
            if path is not None and self._window is None:
                self._waiting.append(path)
            elif path is not None and self._window is not None:
                self._window.session.open(Dropped((path,), ()))
            return True
        return super().event(event)


def qt_keeps_none() -> bool:
    """Tell whether Qt calls leave the reference count of None alone; 200 lost references do no harm yet."""
    target, before = QObject(), sys.getrefcount(None)
    for _ in range(200):
        target.setObjectName("a")
    return abs(sys.getrefcount(None) - before) < 10


def run(paths: Sequence[Path] = ()) -> int:
    """Open the window with the first model of `paths`, or with the built-in one; return the exit status."""
    if not qt_keeps_none():
        # An ordinary exit would abort once more references are lost.
        print(  # noqa: T201
            f"PySide6 {pyside_version} loses references on Python {sys.version.split()[0]} until the process aborts: "
            "use Python 3.12 or newer, or PySide6 older than 6.12.",
            file=sys.stderr,
            flush=True,
        )
        os._exit(1)
    sys.setswitchinterval(_SWITCH_SECONDS)
    known = QApplication.instance()
    app = known if isinstance(known, Application) else Application(sys.argv[:1])
    preferences = PreferenceKeeper(config_dir() / "app.json")
    _dress(preferences)
    thread, keeper = make_host(), ChatKeeper(data_dir() / "chats.sqlite3")
    window = MainWindow(Session(thread), keeper, preferences)
    switch = ApiSwitch(ApiHost(window.session), preferences)
    app.serve(window)
    closed: list[bool] = []
    window.closed.connect(lambda: closed.append(True))
    _paint(window)
    try:
        return _live(app, window, thread, switch, tuple(paths), closed)
    finally:
        keeper.close()
        preferences.close()


def _dress(preferences: PreferenceKeeper) -> None:
    """Let the window look as was chosen, now and whenever that changes."""
    look = theme.current()

    def wear(values: Preferences) -> None:
        look.wear(values.appearance, values.zoom)

    wear(preferences.values)
    preferences.changed.connect(wear)


def _paint(window: MainWindow) -> None:
    """Show the window and wait until it has been painted."""
    waiting = QEventLoop()
    window.painted.connect(waiting.quit)
    QTimer.singleShot(_FIRST_PAINT_MS, waiting.quit)  # a window that starts minimized is never painted
    window.show()
    waiting.exec()


def _live(
    app: Application,
    window: MainWindow,
    thread: EngineThread,
    switch: ApiSwitch,
    paths: tuple[Path, ...],
    closed: list[bool],
) -> int:
    """Run the event loop until the window is closed."""
    import asyncio

    import qasync

    from sotto.ui.flows import Flows

    async def main() -> None:
        flows = Flows(asyncio.get_running_loop())
        ended = asyncio.Event()
        window.closed.connect(ended.set)
        if closed:
            ended.set()
        QTimer.singleShot(0, thread, thread.start)
        window.begin(flows, paths)
        switch.begin()
        try:
            await ended.wait()
        finally:
            await _end(window, thread, switch, flows)

    try:
        with asyncio.Runner(loop_factory=lambda: qasync.QEventLoop(app)) as runner:
            runner.run(main())
    except KeyboardInterrupt:
        return 130
    return 0


async def _end(window: MainWindow, thread: EngineThread, switch: ApiSwitch, flows: "Flows") -> None:
    """End the API, flows and the engine, in that order, with the window out of sight."""
    window.hide()
    switch.close()
    window.dialogue.close()
    window.session.close()
    await flows.close()
    if not thread.close(_CLOSE_MS):
        # Qt aborts when a thread that runs is destroyed.
        print("The engine did not stop in time.", file=sys.stderr, flush=True)  # noqa: T201
        os._exit(1)
