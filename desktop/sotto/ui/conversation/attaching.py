"""Files on their way to become attachments. Draws nothing itself.

They are read one after the other, off the window's thread, for the conversation that was in view when they were given,
wherever the person is when one of them has been read.
"""

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from threading import Event
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal, Slot

from sotto.chats.records import Attachment
from sotto.errors import CancelledError, SottoError
from sotto.ui.conversation.chat_thread import ChatKeeper
from sotto.ui.conversation.draft_state import DraftState
from sotto.ui.conversation.row_ids import ChatRowId
from sotto.ui.state import wording
from sotto.ui.state.model_state import Problem

if TYPE_CHECKING:
    from sotto.ui.toolkit.async_tasks import Flows

MOST = 20


@dataclass(eq=False)
class _Reading:
    """A file that is to be read, for a conversation."""

    path: Path
    name: str
    place: ChatRowId
    stopped: Event = field(default_factory=Event)


class Attaching(QObject):
    """Reads files and attaches them to the draft.

    Signals:
        pending_changed: What is being read for the conversation in view (a tuple of names).
        problem: A file cannot be attached (`Problem`).
    """

    pending_changed = Signal(object)
    problem = Signal(object)

    def __init__(self, unsent: DraftState, keeper: ChatKeeper, parent: QObject | None = None) -> None:
        """Attach to what is typed in `unsent`."""
        super().__init__(parent)
        self._unsent = unsent
        self._keeper = keeper
        self._flows: Flows | None = None
        self._waiting: deque[_Reading] = deque()
        self._told: tuple[str, ...] = ()
        self._failed: list[str] = []
        # Another conversation is in view: what is read for it is shown.
        unsent.draft_opened.connect(self._tell)

    def begin(self, flows: "Flows") -> None:
        """Read with `flows`; nothing is read before."""
        self._flows = flows
        if self._waiting:
            flows.start(self._read(flows))

    def take(self, paths: Sequence[Path]) -> None:
        """Attach the text of these files, as soon as they have been read."""
        from sotto.chats.documents import shown_name

        room = MOST - len(self._unsent.attachments) - len(self._mine())
        if len(paths) > room:
            why = f"At most {MOST} files go along with one message: attach fewer, or put them into one."
            self.problem.emit(Problem("Not everything was attached", why))
        idle = not self._waiting
        for path in paths[: max(0, room)]:
            self._waiting.append(_Reading(path, shown_name(path), self._unsent.place))
        self._tell()
        if idle and self._waiting and self._flows is not None:
            self._flows.start(self._read(self._flows))

    def stop(self, index: int) -> None:
        """Do not attach one of the files that are being read for the conversation in view."""
        mine = self._mine()
        if index < len(mine):
            mine[index].stopped.set()
            self._tell()

    def close(self) -> None:
        """Read nothing any more."""
        for one in self._waiting:
            one.stopped.set()

    @property
    def busy(self) -> bool:
        """Whether something is being read for the conversation in view."""
        return bool(self._mine())

    def _mine(self) -> list[_Reading]:
        return [one for one in self._waiting if one.place is self._unsent.place and not one.stopped.is_set()]

    @Slot()
    def _tell(self) -> None:
        names = tuple(one.name for one in self._mine())
        if names != self._told:
            self._told = names
            self.pending_changed.emit(names)

    async def _read(self, flows: "Flows") -> None:
        from sotto.chats.documents import read_document

        while self._waiting:
            one = self._waiting[0]
            try:
                if not one.stopped.is_set():
                    read = await flows.call(read_document, one.path, one.stopped.is_set)
                    if not one.stopped.is_set():
                        self._attach(one.place, read)
            except CancelledError:
                pass
            except SottoError as error:
                self._failed.append(error.message)
            finally:
                self._waiting.popleft()
                self._tell()
        failed, self._failed = self._failed, []
        if failed:
            title = "Not attached" if len(failed) == 1 else f"{wording.count(len(failed))} files were not attached"
            self.problem.emit(Problem(title, " ".join(failed)))

    def _attach(self, place: ChatRowId, read: Attachment) -> None:
        if place is self._unsent.place:
            self._unsent.attach([read])
        else:
            self._keeper.do(lambda store: place.attach(store, [read]))
