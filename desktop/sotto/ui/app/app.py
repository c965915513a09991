"""Open the window, and end well.

The window is painted before anything is imported that it does not need: the event loop of asyncio, the readers of the
stores and, on the engine's own thread, MLX.
"""

import os
import signal
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6 import __version__ as pyside_version
from PySide6.QtCore import QEvent, QEventLoop, QObject, QTimer
from PySide6.QtGui import QFileOpenEvent
from PySide6.QtWidgets import QApplication

from sotto.paths import data_dir, preferences_file
from sotto.ui.app.shell import Shell
from sotto.ui.app.start_requests import Door
from sotto.ui.conversation.chat_thread import ChatThread
from sotto.ui.platform.single_instance import Instance, Show, Wish
from sotto.ui.preferences.preferences import Preferences, PreferenceStore
from sotto.ui.session.api_host import ApiHost
from sotto.ui.session.api_switch import ApiSwitch
from sotto.ui.session.engine_hosts import make_host
from sotto.ui.session.engine_thread import EngineThread
from sotto.ui.session.session import Session
from sotto.ui.state.drop_contents import path_from_url
from sotto.ui.toolkit import theme
from sotto.ui.toolkit.garbage_collector import Collector
from sotto.ui.window.main_window import MainWindow

if TYPE_CHECKING:
    from sotto.ui.toolkit.async_tasks import Flows

_SWITCH_SECONDS = 0.0005
# What was computed last is written to the disk meanwhile.
_CLOSE_MS = 20_000
_FIRST_PAINT_MS = 2000
_USUAL = Wish()


class Application(QApplication):
    """The application; files that the system asks it to open wait until there is somebody to open them."""

    def __init__(self, arguments: Sequence[str]) -> None:
        """Start Qt."""
        super().__init__(list(arguments))
        self.setApplicationName("Sotto")
        self.setOrganizationName("Sotto")
        self.setDesktopFileName("app.sotto")
        self.setQuitOnLastWindowClosed(False)
        self._shell: Shell | None = None
        self._waiting: list[Path] = []

    def serve(self, shell: "Shell") -> None:
        """Pass on to `shell` what the system asks for from now on, first the files that came before."""
        self._shell = shell
        self.commitDataRequest.connect(shell.save)
        waiting, self._waiting = tuple(self._waiting), []
        if waiting:
            shell.open_paths(waiting)

    def event(self, event: QEvent) -> bool:
        """Take files that the system asks to open, a click on the app's icon, and the wish that it ends."""
        if isinstance(event, QFileOpenEvent):
            path = path_from_url(event.url())
            if path is None and event.file():
                path = Path(event.file())
            if path is not None and self._shell is None:
                self._waiting.append(path)
            elif path is not None and self._shell is not None:
                self._shell.open_paths((path,))
            return True
        if self._shell is not None and event.type() == QEvent.Type.ApplicationActivate and sys.platform == "darwin":
            self._shell.reopen()
        if self._shell is not None and event.type() == QEvent.Type.Quit:
            # Not at once: what is on its way to the disk gets there first.
            self._shell.quit()
            return True
        return super().event(event)


def qt_keeps_none() -> bool:
    """Return whether Qt calls leave the reference count of None alone; 200 lost references do no harm yet."""
    target, before = QObject(), sys.getrefcount(None)
    for _ in range(200):
        target.setObjectName("a")
    return abs(sys.getrefcount(None) - before) < 10


def run(wish: Wish = _USUAL, instance: Instance | None = None) -> int:
    """Be the app, and begin with `wish`; return the exit status.

    Args:
        wish: What is to be seen, and models to load; without any, the built-in one is loaded.
        instance: The right to be the app of the data folder; None where that cannot be had.
    """
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
    collector = Collector()
    collector.begin()
    preferences = PreferenceStore(preferences_file())
    _dress(preferences)
    thread, keeper = make_host(preferences.values.engine_host), ChatThread(data_dir() / "chats.sqlite3")
    shell = Shell(Session(thread, preferences), keeper, preferences)
    switch = shell.api = ApiSwitch(ApiHost(shell.session), preferences)
    app.serve(shell)
    door = Door(instance.listener, shell) if instance is not None else None
    if door is not None:
        door.wished.connect(shell.grant)
    if wish.show in (Show.WINDOW, Show.NEW_CHAT):
        _paint(shell.window)
    else:
        shell.show(wish.show)
    try:
        return _live(app, shell, thread, switch, wish, door)
    finally:
        keeper.close()
        preferences.close()
        if instance is not None:
            instance.close()
        collector.end()


def _dress(preferences: PreferenceStore) -> None:
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
    app: Application, shell: Shell, thread: EngineThread, switch: ApiSwitch, wish: Wish, door: Door | None
) -> int:
    """Run the event loop until the app is to end."""
    import asyncio

    import qasync

    from sotto.ui.toolkit.async_tasks import Flows

    async def main() -> None:
        loop = asyncio.get_running_loop()
        flows = Flows(loop)
        ended = asyncio.Event()
        # A log-out that knows nothing of sessions ends programs like this.
        loop.add_signal_handler(signal.SIGTERM, shell.quit)
        shell.ended.connect(ended.set)
        if shell.over:
            ended.set()
        QTimer.singleShot(0, thread, thread.start)
        shell.begin(flows, wish)
        switch.begin()
        try:
            await ended.wait()
        finally:
            if door is not None:
                door.close()
            await _end(shell, thread, switch, flows)

    try:
        with asyncio.Runner(loop_factory=lambda: qasync.QEventLoop(app)) as runner:
            runner.run(main())
    except KeyboardInterrupt:
        return 130
    return 0


async def _end(shell: Shell, thread: EngineThread, switch: ApiSwitch, flows: "Flows") -> None:
    """End the API, flows and the engine, in that order, with everything out of sight."""
    shell.hide()
    switch.close()
    shell.close()
    await flows.close()
    if not thread.close(_CLOSE_MS):
        # Qt aborts when a thread that runs is destroyed.
        print("The engine did not stop in time.", file=sys.stderr, flush=True)  # noqa: T201
        os._exit(1)
