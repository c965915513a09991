"""Runs the application from start to end.

The window is painted before anything that it does not need is imported: asyncio, the readers of the stores and, on the
engine's thread, MLX.
"""

import os
import signal
import sys
from collections.abc import Sequence
from contextlib import AsyncExitStack
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6 import __version__ as pyside_version
from PySide6.QtCore import QEvent, QEventLoop, QObject, QTimer
from PySide6.QtGui import QFileOpenEvent
from PySide6.QtWidgets import QApplication

from sotto.paths import data_dir, preferences_file
from sotto.ui.app.shell import Shell
from sotto.ui.app.start_requests import StartRequests
from sotto.ui.app.uncaught import UncaughtErrors
from sotto.ui.conversation.chat_thread import ChatThread
from sotto.ui.platform.single_instance import Instance, Show, StartRequest
from sotto.ui.preferences.languages import install_translation
from sotto.ui.preferences.preferences import Preferences, PreferenceStore
from sotto.ui.session.api_host import ApiHost
from sotto.ui.session.api_switch import ApiSwitch
from sotto.ui.session.engine_hosts import make_host
from sotto.ui.session.engine_thread import EngineThread
from sotto.ui.session.session import Session
from sotto.ui.state.addresses import is_own_address
from sotto.ui.state.drop_contents import path_from_url
from sotto.ui.timing.garbage_collector import GarbageCollector
from sotto.ui.toolkit import theme
from sotto.ui.window.main_window import MainWindow

if TYPE_CHECKING:
    from sotto.ui.timing.async_tasks import AsyncTasks

SWITCH_INTERVAL_SECONDS = 0.0005
# Long enough for the engine to write its prefix cache to disk.
_CLOSE_MS = 20_000
_FIRST_PAINT_MS = 2000
_DEFAULT_REQUEST = StartRequest()


class Application(QApplication):
    """The Qt application. It keeps what the system asks it to open until there is a shell to open it.

    Attributes:
        shell: Handles the system's requests; None before `serve`.
    """

    def __init__(self, arguments: Sequence[str]) -> None:
        """Start Qt."""
        super().__init__(list(arguments))
        self.setApplicationName("Sotto")
        self.setOrganizationName("Sotto")
        # The name of the menu entry, which is another one in a Flatpak.
        self.setDesktopFileName(os.environ.get("FLATPAK_ID", "app.sotto"))
        self.setQuitOnLastWindowClosed(False)
        self.shell: Shell | None = None
        self._waiting: list[StartRequest] = []

    def serve(self, shell: "Shell") -> None:
        """Pass the system's requests on to `shell`, beginning with those that came before."""
        self.shell = shell
        self.commitDataRequest.connect(shell.save_session)
        waiting, self._waiting = self._waiting, []
        for request in waiting:
            shell.carry_out(request)

    def event(self, event: QEvent) -> bool:
        """Handle the system's requests to open files and addresses, to reactivate the app, and to quit."""
        if isinstance(event, QFileOpenEvent):
            request = _request_of(event)
            if request is not None and self.shell is None:
                self._waiting.append(request)
            elif request is not None and self.shell is not None:
                self.shell.carry_out(request)
            return True
        if self.shell is not None and event.type() == QEvent.Type.ApplicationActivate and sys.platform == "darwin":
            self.shell.reopen()
        if self.shell is not None and event.type() == QEvent.Type.Quit:
            # Not passed on to Qt, which would quit at once, before everything is saved.
            self.shell.quit()
            return True
        return super().event(event)


def _request_of(event: QFileOpenEvent) -> StartRequest | None:
    """Return what the system asks to open; None for nothing that can be opened."""
    url = event.url()
    if is_own_address(url.scheme() + ":"):
        return StartRequest(address=bytes(url.toEncoded().data()).decode("ascii"))
    path = path_from_url(url)
    if path is None and event.file():
        path = Path(event.file())
    return None if path is None else StartRequest(paths=(path,))


def qt_keeps_references() -> bool:
    """Return whether Qt calls leave the reference count of None alone.

    WORKAROUND: PySide6 6.12.0 loses references on Python 3.11; see the pins in pyproject.toml. The 200 references that
    this test may lose do no harm yet.
    """
    target, before = QObject(), sys.getrefcount(None)
    for _ in range(200):
        target.setObjectName("a")
    return abs(sys.getrefcount(None) - before) < 10


def run(request: StartRequest = _DEFAULT_REQUEST, instance: Instance | None = None) -> int:
    """Run the app until it ends, and return the exit status.

    Args:
        request: What to show first, and the models to load; without models, the built-in one is loaded.
        instance: The lock of the data folder; None if it could not be acquired.
    """
    if not qt_keeps_references():
        # Not an ordinary exit, which would lose more references, and abort.
        print(  # noqa: T201
            f"PySide6 {pyside_version} loses references on Python {sys.version.split()[0]} until the process aborts: "
            "use Python 3.12 or newer, or PySide6 older than 6.12.",
            file=sys.stderr,
            flush=True,
        )
        os._exit(1)
    sys.setswitchinterval(SWITCH_INTERVAL_SECONDS)
    known = QApplication.instance()
    app = known if isinstance(known, Application) else Application(sys.argv[:1])
    uncaught = UncaughtErrors()
    uncaught.install()
    try:
        return run_app(app, uncaught, request, instance)
    except Exception as error:
        uncaught.fail(error)
        return 1


def run_app(app: Application, uncaught: UncaughtErrors, request: StartRequest, instance: Instance | None) -> int:
    """Create everything and run the event loop; return the exit status.

    Args:
        app: The application.
        uncaught: Shows uncaught errors.
        request: What to show first, and the models to load.
        instance: The lock of the data folder; None if it could not be acquired.
    """
    collector = GarbageCollector()
    collector.begin()
    preferences = PreferenceStore(preferences_file())
    install_translation(preferences.values.language)
    apply_appearance(preferences)
    thread, chats = make_host(preferences.values.engine_host), ChatThread(data_dir() / "chats.sqlite3")
    thread.event_received.connect(uncaught.take_of_engine)
    shell = Shell(Session(thread, preferences), chats, preferences)
    switch = shell.api = ApiSwitch(ApiHost(shell.session), preferences)
    app.serve(shell)
    # The event loop handles it once it runs, but later starts are answered as soon as the window is shown.
    signal.signal(signal.SIGTERM, lambda *_: shell.quit())
    requests = StartRequests(instance.listener, shell) if instance is not None else None
    if requests is not None:
        requests.received.connect(shell.carry_out)
    if request.show in (Show.WINDOW, Show.NEW_CHAT):
        show_window(shell.window)
    else:
        shell.show(request.show)
    try:
        return run_event_loop(app, shell, thread, switch, request, requests, uncaught)
    finally:
        chats.close()
        preferences.close()
        if instance is not None:
            instance.close()
        collector.end()


def apply_appearance(preferences: PreferenceStore) -> None:
    """Apply the appearance and zoom of the preferences, now and whenever they change."""
    look = theme.current()

    def apply(values: Preferences) -> None:
        look.set_appearance(values.appearance, values.zoom)

    apply(preferences.values)
    preferences.changed.connect(apply)


def show_window(window: MainWindow) -> None:
    """Show the window and wait until it has been painted."""
    loop = QEventLoop()
    window.painted.connect(loop.quit)
    QTimer.singleShot(_FIRST_PAINT_MS, loop.quit)  # a window that starts minimized is never painted
    window.show()
    loop.exec()


def run_event_loop(
    app: Application,
    shell: Shell,
    thread: EngineThread,
    switch: ApiSwitch,
    request: StartRequest,
    requests: StartRequests | None,
    uncaught: UncaughtErrors,
) -> int:
    """Run the event loop until the shell wants to end; return the exit status.

    Args:
        app: The application.
        shell: Begins once the loop runs, and ends it.
        thread: The engine's thread, which is started in the loop.
        switch: Starts and stops the API.
        request: What to show first, and the models to load.
        requests: Receives the requests of later starts; None if it cannot.
        uncaught: Shows uncaught errors.
    """
    import asyncio

    import qasync

    from sotto.ui.timing.async_tasks import AsyncTasks

    async def main() -> None:
        loop = asyncio.get_running_loop()
        loop.set_exception_handler(uncaught.take_of_loop)
        tasks = AsyncTasks(loop)
        ended = asyncio.Event()
        # Desktops without session management end programs with this signal at log-out.
        loop.add_signal_handler(signal.SIGTERM, shell.quit)
        shell.ended.connect(ended.set)
        if shell.ending:
            ended.set()
        QTimer.singleShot(0, thread, thread.start)
        shell.begin(tasks, request)
        switch.begin()
        if request.show is not Show.NOTHING:
            uncaught.show_unseen()
        try:
            await ended.wait()
        finally:
            uncaught.quiet = True
            if requests is not None:
                requests.close()
            await shut_down(shell, thread, switch, tasks)

    try:
        with asyncio.Runner(loop_factory=lambda: qasync.QEventLoop(app)) as runner:
            runner.run(main())
    except KeyboardInterrupt:
        return 130
    return 0


async def shut_down(shell: Shell, thread: EngineThread, switch: ApiSwitch, tasks: "AsyncTasks") -> None:
    """Hide everything, then stop the API, the asynchronous tasks and the engine, in this order.

    Args:
        shell: Hides and saves everything.
        thread: The engine's thread.
        switch: Stops the API.
        tasks: The asynchronous tasks.
    """
    # In reverse, and each even if one before it fails, so that everything is saved.
    async with AsyncExitStack() as steps:
        steps.callback(stop_engine, thread)
        steps.push_async_callback(tasks.close)
        steps.callback(shell.close)
        steps.callback(switch.close)
        steps.callback(shell.hide)


def stop_engine(thread: EngineThread) -> None:
    """Stop the engine, or end the process if it does not stop."""
    if not thread.close(_CLOSE_MS):
        # Not an ordinary exit, because Qt aborts when a running thread is destroyed.
        print("The engine did not stop in time.", file=sys.stderr, flush=True)  # noqa: T201
        os._exit(1)
