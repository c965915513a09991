"""The real window for the other scripts: offscreen, with a given chat database and engine."""

import asyncio
import os
import sys
from collections.abc import Callable
from pathlib import Path

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")

import qasync
from PySide6.QtCore import QElapsedTimer, QObject, Qt, QTimer, Slot

from sotto.paths import preferences_file
from sotto.ui.app import app
from sotto.ui.app.shell import Shell
from sotto.ui.conversation.chat_thread import ChatThread
from sotto.ui.preferences.preferences import PreferenceStore
from sotto.ui.session.api_host import ApiHost
from sotto.ui.session.api_switch import ApiSwitch
from sotto.ui.session.engine_thread import EngineThread
from sotto.ui.session.session import Session
from sotto.ui.timing.async_tasks import AsyncTasks
from sotto.ui.window.main_window import MainWindow

INTERVAL_MS = 16


class Lateness(QObject):
    """Records the lateness of each tick of a 16 ms timer in milliseconds, and calls a function in each tick."""

    def __init__(self, each: Callable[[], None] = lambda: None) -> None:
        super().__init__()
        self.late: list[float] = []
        self._each = each
        self._clock = QElapsedTimer()
        self._timer = QTimer(self, timerType=Qt.TimerType.PreciseTimer, interval=INTERVAL_MS)
        self._timer.timeout.connect(self._tick)

    def start(self) -> None:
        self.late = []
        self._clock.start()
        self._timer.start()

    def stop(self) -> None:
        self._timer.stop()

    @Slot()
    def _tick(self) -> None:
        self.late.append(max(0.0, self._clock.nsecsElapsed() / 1e6 - INTERVAL_MS))
        self._clock.restart()
        self._each()

    def figures(self) -> list[float]:
        """Return the median, the 99th percentile and the maximum."""
        ordered = sorted(self.late)
        return [ordered[min(len(ordered) - 1, int(share * len(ordered)))] for share in (0.5, 0.99, 1.0)]


def in_window(script: Callable[[MainWindow], object], chats: Path, thread: EngineThread | None = None) -> None:
    """Run `script`, a coroutine function, with a window over a chat database."""
    sys.setswitchinterval(app.SWITCH_INTERVAL_SECONDS)
    application = app.Application(["sotto"])
    preferences = PreferenceStore(preferences_file())
    app.apply_appearance(preferences)
    thread, keeper = thread or EngineThread(), ChatThread(chats)
    shell = Shell(Session(thread, preferences), keeper, preferences)
    switch = ApiSwitch(ApiHost(shell.session), preferences)
    app.show_window(shell.window)

    async def main() -> None:
        tasks = AsyncTasks(asyncio.get_running_loop())
        shell.begin(tasks)
        try:
            await script(shell.window)
        finally:
            await app.shut_down(shell, thread, switch, tasks)
            keeper.close()
            preferences.close()

    with asyncio.Runner(loop_factory=lambda: qasync.QEventLoop(application)) as runner:
        runner.run(main())


async def until(done: Callable[[], bool], seconds: float = 60.0) -> None:
    """Wait for a condition without blocking the window.

    Raises:
        TimeoutError: The condition did not become true in time.
    """
    for _ in range(round(seconds * 1000)):
        if done():
            return
        await asyncio.sleep(0.001)
    raise TimeoutError(str(done))
