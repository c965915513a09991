"""The app, offscreen, with the real engine; if wanted, with figures that are the same on every machine."""

import asyncio
import threading
import time
from collections.abc import Awaitable, Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sotto.engine.contract.events import Event
    from sotto.runner.loop import EngineLoop
    from sotto.store.pull.progress import PullProgress
    from sotto.ui.timing.async_tasks import AsyncTasks

_GIB = 1 << 30
_PATIENCE_SECONDS = 30.0
# Durations of an answer, in nanoseconds: those of the machine would change the pictures with each run.
_PROMPT, _STEP = 120_000_000, 8_000_000


class Registry:
    """A download queue without a network, whose progress the scenes report."""

    def open(self, report: "Callable[[PullProgress], None]") -> "Registry":
        """Return itself as the queue that the window opens."""
        self.tell = report
        return self

    def unfinished(self) -> "tuple[PullProgress, ...]":
        """Return no downloads of earlier runs."""
        return ()

    def add(self, name: str) -> None:
        """Ignore the command."""

    pause = resume = cancel = add

    def limit(self, bytes_per_second: int | None) -> None:
        """Ignore the limit."""

    def close(self) -> None:
        """Do nothing."""


class Stage:
    """The app's windows; a load or an answer can be held while a picture is taken.

    Attributes:
        held: Called with each event of the engine, which waits after those for which this returns True.
    """

    def __init__(self, tasks: "AsyncTasks", *, same_figures: bool) -> None:
        """Create the app's windows and show none.

        Args:
            tasks: Runs what is asynchronous in the windows.
            same_figures: Whether to show fixed memory and durations instead of this machine's.
        """
        from sotto.paths import config_dir, data_dir
        from sotto.ui.app.shell import Shell
        from sotto.ui.conversation.chat_thread import ChatThread
        from sotto.ui.models import downloads
        from sotto.ui.preferences.preferences import PreferenceStore
        from sotto.ui.session.api_host import ApiHost
        from sotto.ui.session.api_switch import ApiSwitch
        from sotto.ui.session.engine_thread import EngineThread
        from sotto.ui.session.session import Session
        from sotto.ui.state import memory_estimate

        if same_figures:
            sample = memory_estimate.MemorySample(32 * _GIB, 24 * _GIB, 1 * _GIB)
            memory_estimate.sample_memory = lambda: sample
        self._same_figures = same_figures
        self.tasks = tasks
        self.registry = Registry()
        downloads.open_queue = self.registry.open
        self._go_on = threading.Event()
        self.held: Callable[[object], bool] = lambda event: False
        self.thread = EngineThread(make_loop=self._loop)
        self.keeper = ChatThread(data_dir() / "chats.sqlite3")
        self.preferences = PreferenceStore(config_dir() / "app.json")
        self.session = Session(self.thread, self.preferences)
        self.shell = Shell(self.session, self.keeper, self.preferences)
        # It is off, as it is at first in the app.
        self.shell.api = ApiSwitch(ApiHost(self.session), self.preferences)
        self.window = self.shell.window

    def _loop(self, emit: "Callable[[Event], None]") -> "EngineLoop":
        """Return the engine's loop, which waits after events that `held` accepts."""
        from sotto.engine.contract.events import Finished
        from sotto.runner.loop import EngineLoop

        def pass_on(event: "Event") -> None:
            if self._same_figures and isinstance(event, Finished):
                eval_duration = _STEP * len(event.token_ids)
                total = _PROMPT + eval_duration
                event = replace(event, prompt_duration=_PROMPT, eval_duration=eval_duration, total_duration=total)
            emit(event)
            if self.held(event):
                self._go_on.wait()

        return EngineLoop(pass_on)

    def begin(self) -> None:
        """Search for models, and load the built-in one."""
        self.shell.begin(self.tasks)

    def release(self) -> None:
        """Let the engine continue."""
        self.held = lambda event: False
        self._go_on.set()
        self._go_on = threading.Event()

    def drag(self, path: Path) -> None:
        """Show what dropping a file would do."""
        from sotto.ui.state.drop_contents import DropContents

        self.window.overlay.show_drop(DropContents((path,), ()))

    async def until(self, condition: Callable[[], bool], interval: float = 0.02) -> None:
        """Wait until `condition` holds, for at most half a minute.

        Args:
            condition: What to wait for.
            interval: Seconds between two looks.

        Raises:
            TimeoutError: It does not.
        """
        end = time.monotonic() + _PATIENCE_SECONDS
        while time.monotonic() < end:
            if condition():
                return
            await asyncio.sleep(interval)
        raise TimeoutError("The window did not get where the picture is to be taken.")

    async def until_measured(self) -> None:
        """Wait until all models in the list have been measured, for at most half a minute for each.

        Raises:
            TimeoutError: One of them is not.
        """
        models = self.window.models

        def missing() -> int:
            runnable = (row.record for row in models.panel.rows if row.record.runnable)
            return sum(models.planner.measured(record) is None for record in runnable)

        def fewer_missing_than(count: int) -> bool:
            return missing() < count

        while before := missing():
            await self.until(partial(fewer_missing_than, before))

    def close(self) -> None:
        """Close the app.

        Raises:
            SystemExit: The engine does not stop.
        """
        self.release()
        self.shell.close()
        if not self.thread.close():
            raise SystemExit("The engine did not stop.")
        self.keeper.close()
        self.preferences.close()


def play(scenes: Callable[[Stage], Awaitable[None]], *, same_figures: bool, language: tuple[str, Path | None]) -> None:
    """Create the app in a language, of a folder if it is not a bundled one, and let `scenes` take pictures of it.

    For `same_figures` see `Stage`.
    """
    import qasync
    from PySide6.QtGui import QFont, QFontDatabase

    from sotto.ui.app.app import Application
    from sotto.ui.preferences.languages import install_translation
    from sotto.ui.timing.async_tasks import AsyncTasks
    from sotto.ui.toolkit import theme

    app = Application(["sotto"])
    app.setCursorFlashTime(0)
    families = QFontDatabase.families()
    family = next((name for name in ("Inter", "Noto Sans", "DejaVu Sans") if name in families), app.font().family())
    font = QFont(family)
    font.setPointSizeF(10)
    app.setFont(font)
    install_translation(language[0], folder=language[1])
    theme.current()

    async def run() -> None:
        tasks = AsyncTasks(asyncio.get_running_loop())
        stage = Stage(tasks, same_figures=same_figures)
        try:
            stage.window.show()
            await scenes(stage)
        finally:
            await tasks.close()
            stage.close()

    with asyncio.Runner(loop_factory=lambda: qasync.QEventLoop(app)) as runner:
        runner.run(run())
