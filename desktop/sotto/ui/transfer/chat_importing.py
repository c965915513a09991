"""Imports chats from files of this and other programs, one choice after the other.

They are read in a process of their own, which hostile files cannot leave, and added on the chats' thread in short
steps, so that a question asked meanwhile is saved between two of them.
"""

from collections import deque
from collections.abc import Callable, Sequence
from pathlib import Path
from threading import Event
from typing import TYPE_CHECKING, TypeVar

from PySide6.QtCore import QObject, QTimer, Signal, Slot

from sotto.errors import CancelledError, SottoError
from sotto.ui.conversation.chat_thread import ChatThread
from sotto.ui.state import wording
from sotto.ui.state.model_state import Problem
from sotto.ui.state.names import join_sentences
from sotto.ui.toolkit.translation import tr

if TYPE_CHECKING:
    from sotto.chats.adding import Adding
    from sotto.chats.chat_store import ChatStore
    from sotto.ui.timing.async_tasks import AsyncTasks

_T = TypeVar("_T")
_PROGRESS_MS = 700


class ChatImporting(QObject):
    """Imports chats off the window's thread.

    Signals:
        progressed: An import takes a while: how far it is.
        imported: Chats were imported (`Added`, a sentence about that, and whether something could not be read).
        stopped: An import was stopped (a sentence about the messages that chats have got all the same; empty for none).
        problem: An import failed (`Problem`).
    """

    progressed = Signal(str)
    imported = Signal(object, str, bool)
    stopped = Signal(str)
    problem = Signal(object)

    def __init__(self, chats: ChatThread, parent: QObject | None = None) -> None:
        """Import into the conversations of `chats`."""
        super().__init__(parent)
        self._chats = chats
        self._tasks: AsyncTasks | None = None
        self._waiting: deque[tuple[Path, ...]] = deque()
        self._running = False
        self._stop = Event()
        self._added = self._count = 0
        # Set by another thread.
        self._read = 0
        self._timer = QTimer(self, interval=_PROGRESS_MS)
        self._timer.timeout.connect(self._tell)

    def begin(self, tasks: "AsyncTasks") -> None:
        """Use `tasks` to read files."""
        self._tasks = tasks
        tasks.start(self._run(tasks))

    @property
    def busy(self) -> bool:
        """Whether anything is being imported."""
        return bool(self._waiting)

    def start(self, paths: Sequence[Path]) -> None:
        """Import the chats in these files and folders, after those that are being imported."""
        if not paths:
            return
        if not self._waiting:
            self._stop.clear()
        self._waiting.append(tuple(paths))
        if self._tasks is not None and not self._running:
            self._tasks.start(self._run(self._tasks))

    @Slot()
    def stop(self) -> None:
        """Stop the import that is under way, and leave out those that wait; no chat is added."""
        self._stop.set()

    async def _run(self, tasks: "AsyncTasks") -> None:
        self._running = True
        try:
            # The app may have ended during an import.
            await self._erase_pending()
            while self._waiting:
                self._timer.start()
                await self._import(tasks, self._waiting[0])
                self._timer.stop()
                if self._stop.is_set():
                    self._waiting.clear()
                else:
                    self._waiting.popleft()
                await self._erase_pending()
        finally:
            self._waiting.clear()
            self._timer.stop()
            self._running = False

    async def _import(self, tasks: "AsyncTasks", paths: tuple[Path, ...]) -> None:
        from sotto.chats.adding import Adding
        from sotto.chats.imports.reading_process import read_chats
        from sotto.ui.transfer.import_summary import summary

        self._read = self._added = self._count = 0
        try:
            found = await tasks.call(read_chats, paths, self._stop.is_set, self._note_read)
        except CancelledError:
            self.stopped.emit("")
            return
        except SottoError as error:
            self.problem.emit(Problem(tr("Nothing was imported"), error.message))
            return
        self._count = found.count
        try:
            adding = await self._do(lambda store: Adding(store.database, found), None)
            why = await self._add(adding) if adding is not None else _failed()
        finally:
            # After the last step, which may still be under way if the app is about to end.
            self._chats.do(lambda store: found.close())
        if adding is not None and adding.done:
            is_partial = bool((adding.added.lost + found.lost).total())
            self.imported.emit(adding.added, summary(adding.added, found.lost), is_partial)
        else:
            self._report_end(why, len(set(adding.added.grown) - set(adding.added.new)) if adding is not None else 0)

    def _report_end(self, why: str, grown: int) -> None:
        """Report that an import was stopped, or why it failed, and what it leaves.

        Args:
            why: Why it failed; empty if it was stopped.
            grown: How many chats that were there before have got new messages.
        """
        from sotto.ui.transfer.import_summary import grown_sentence

        kept = grown_sentence(grown) if grown else ""
        if not why:
            self.stopped.emit(kept)
        elif kept:
            self.problem.emit(Problem(tr("Not everything was imported"), join_sentences((why, kept))))
        else:
            self.problem.emit(Problem(tr("Nothing was imported"), why))

    async def _add(self, adding: "Adding") -> str:
        """Add what was found to the chats; return why that failed, or nothing if it was done or stopped."""
        import sqlite3

        def step(store: "ChatStore") -> str:
            try:
                adding.step()
            except sqlite3.Error as error:
                return tr("{file} could not be written: {reason}.").format(file=self._chats.path, reason=error)
            return ""

        why = ""
        while not (adding.done or why or self._stop.is_set()):
            why = await self._do(step, _failed())
            self._added = adding.count
        return why

    async def _erase_pending(self) -> None:
        """Erase what an import has added that did not end."""

        def step(store: "ChatStore") -> bool:
            from sotto.chats.pending_chats import erase_some

            return store.database.writable and erase_some(store.database)

        while await self._do(step, False):
            pass

    async def _do(self, work: Callable[["ChatStore"], _T], failed: _T) -> _T:
        """Do work on the chats' thread, and return its result, or `failed` if it failed."""
        import asyncio

        done: asyncio.Future[_T] = asyncio.get_running_loop().create_future()

        def ended(result: _T = failed) -> None:
            if not done.done():
                done.set_result(result)

        self._chats.do(work, ended, ended)
        return await done

    def _note_read(self, count: int) -> None:
        self._read = count

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


def _failed() -> str:
    """Return why an import failed that was reported already in another place."""
    return tr("The chats could not be added.")
