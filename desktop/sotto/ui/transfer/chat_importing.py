"""Imports chats from files of this and other programs, one choice after the other.

They are read in a process of their own, which hostile files cannot leave, and added on the chats' thread.
"""

from collections import deque
from collections.abc import Sequence
from pathlib import Path
from threading import Event
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QTimer, Signal, Slot

from sotto.errors import CancelledError, SottoError
from sotto.ui.conversation.chat_thread import ChatThread
from sotto.ui.state import wording
from sotto.ui.state.model_state import Problem
from sotto.ui.toolkit.translation import tr

if TYPE_CHECKING:
    from sotto.chats.adding import Added
    from sotto.chats.chat_store import ChatStore
    from sotto.chats.imports.reading_process import ReadChats
    from sotto.ui.timing.async_tasks import AsyncTasks

_PROGRESS_MS = 700


class ChatImporting(QObject):
    """Imports chats off the window's thread.

    Signals:
        progressed: An import takes a while: how far it is.
        imported: Chats were imported (`Added`, a sentence about that, and whether something could not be read).
        stopped: An import was stopped, and nothing was imported.
        problem: Nothing was imported (`Problem`).
    """

    progressed = Signal(str)
    imported = Signal(object, str, bool)
    stopped = Signal()
    problem = Signal(object)

    def __init__(self, chats: ChatThread, parent: QObject | None = None) -> None:
        """Import into the conversations of `chats`."""
        super().__init__(parent)
        self._chats = chats
        self._tasks: AsyncTasks | None = None
        self._waiting: deque[tuple[Path, ...]] = deque()
        self._stop = Event()
        # Set by other threads.
        self._read = self._added = self._count = 0
        self._timer = QTimer(self, interval=_PROGRESS_MS)
        self._timer.timeout.connect(self._tell)

    def begin(self, tasks: "AsyncTasks") -> None:
        """Use `tasks` to read files."""
        self._tasks = tasks
        if self._waiting:
            tasks.start(self._run(tasks))

    @property
    def busy(self) -> bool:
        """Whether anything is being imported."""
        return bool(self._waiting)

    def start(self, paths: Sequence[Path]) -> None:
        """Import the chats in these files and folders, after those that are being imported."""
        if not paths:
            return
        idle = not self._waiting
        self._waiting.append(tuple(paths))
        if idle and self._tasks is not None:
            self._tasks.start(self._run(self._tasks))

    @Slot()
    def stop(self) -> None:
        """Stop the import that is under way, and leave out those that wait; nothing of them is kept."""
        self._stop.set()

    async def _run(self, tasks: "AsyncTasks") -> None:
        self._stop.clear()
        self._timer.start()
        try:
            while self._waiting and not self._stop.is_set():
                await self._import(tasks, self._waiting[0])
                self._waiting.popleft()
        except CancelledError:
            self.stopped.emit()
        finally:
            self._waiting.clear()
            self._timer.stop()

    async def _import(self, tasks: "AsyncTasks", paths: tuple[Path, ...]) -> None:
        from sotto.chats.imports.reading_process import read_chats
        from sotto.ui.transfer.import_summary import summary

        self._read = self._added = self._count = 0
        try:
            found = await tasks.call(read_chats, paths, self._stop.is_set, self._note_read)
        except CancelledError:
            raise
        except SottoError as error:
            self.problem.emit(Problem(tr("Nothing was imported"), error.message))
            return
        try:
            self._count = found.count
            added = await self._add(found)
        finally:
            found.close()
        if isinstance(added, str):
            self.problem.emit(Problem(tr("Nothing was imported"), added))
        else:
            is_partial = bool((added.lost + found.lost).total())
            self.imported.emit(added, summary(added, found.lost), is_partial)

    async def _add(self, found: "ReadChats") -> "Added | str":
        """Add what was found to the chats; return why if that failed.

        Raises:
            CancelledError: It was stopped.
        """
        import asyncio

        done: asyncio.Future[Added | str | None] = asyncio.get_running_loop().create_future()

        def work(store: "ChatStore") -> "Added | str | None":
            import sqlite3

            from sotto.chats.adding import add_chats

            try:
                return add_chats(store.database, found, self._note_added)
            except CancelledError:
                return None
            except sqlite3.Error as error:
                return tr("{file} could not be written: {reason}.").format(file=self._chats.path, reason=error)

        failed = tr("The chats could not be added.")

        def ended(result: "Added | str | None" = failed) -> None:
            if not done.done():
                done.set_result(result)

        self._chats.do(work, ended, ended)
        added = await done
        if added is None:
            raise CancelledError("The import was stopped.")
        return added

    def _note_read(self, count: int) -> None:
        self._read = count

    def _note_added(self, count: int) -> None:
        self._added = count
        if self._stop.is_set():
            raise CancelledError("The import was stopped.")

    @Slot()
    def _tell(self) -> None:
        if self._count:
            line = tr("{added} of 1 chat added|{added} of {count} chats added", "", self._count)
            self.progressed.emit(line.format(added=wording.count(self._added), count=wording.count(self._count)))
        elif self._read:
            line = tr("1 chat read|{count} chats read", "", self._read)
            self.progressed.emit(line.format(count=wording.count(self._read)))
        else:
            self.progressed.emit(tr("Opening the files"))
