"""Files on their way to become attachments. Draws nothing itself.

They are read one after the other, off the window's thread, each for the draft that it was given to, whichever
conversation is in view when it has been read.
"""

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from threading import Event
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal

from sotto.errors import CancelledError, SottoError
from sotto.ui.conversation.draft_state import DraftState
from sotto.ui.state import wording
from sotto.ui.state.model_state import Problem

if TYPE_CHECKING:
    from sotto.ui.toolkit.async_tasks import Flows

MOST = 20


@dataclass(eq=False)
class _Reading:
    """A file that is being read, or waits for that, to be attached to a draft."""

    path: Path
    name: str
    draft: DraftState
    stopped: Event = field(default_factory=Event)


class Attaching(QObject):
    """Reads files and attaches them to drafts.

    Signals:
        problem: A file cannot be attached (`Problem`).
    """

    problem = Signal(object)

    def __init__(self, parent: QObject | None = None) -> None:
        """Read nothing yet."""
        super().__init__(parent)
        self._flows: Flows | None = None
        self._waiting: deque[_Reading] = deque()
        self._failed: list[str] = []

    def begin(self, flows: "Flows") -> None:
        """Read with `flows`; nothing is read before."""
        self._flows = flows
        if self._waiting:
            flows.start(self._read(flows))

    def take(self, paths: Sequence[Path], draft: DraftState) -> None:
        """Attach the text of these files to a draft, as soon as they have been read."""
        from sotto.chats.documents import shown_name

        room = MOST - len(draft.attachments) - len(draft.pending)
        if len(paths) > room:
            why = f"At most {MOST} files go along with one message: attach fewer, or put them into one."
            self.problem.emit(Problem("Not everything was attached", why))
        idle = not self._waiting
        for path in paths[: max(0, room)]:
            self._waiting.append(_Reading(path, shown_name(path), draft))
        self._tell(draft)
        if idle and self._waiting and self._flows is not None:
            self._flows.start(self._read(self._flows))

    def stop(self, index: int, draft: DraftState) -> None:
        """Do not attach one of the files that are being read for a draft."""
        pending = self._pending(draft)
        if index < len(pending):
            pending[index].stopped.set()
            self._tell(draft)

    def close(self) -> None:
        """Read nothing any more."""
        for one in self._waiting:
            one.stopped.set()

    @property
    def busy(self) -> bool:
        """Whether anything is being read."""
        return bool(self._waiting)

    def _pending(self, draft: DraftState) -> list[_Reading]:
        return [one for one in self._waiting if one.draft is draft and not one.stopped.is_set()]

    def _tell(self, draft: DraftState) -> None:
        draft.wait_for(tuple(one.name for one in self._pending(draft)))

    async def _read(self, flows: "Flows") -> None:
        from sotto.chats.documents import read_document

        while self._waiting:
            one = self._waiting[0]
            try:
                if not one.stopped.is_set():
                    read = await flows.call(read_document, one.path, one.stopped.is_set)
                    if not one.stopped.is_set():
                        one.draft.attach([read])
            except CancelledError:
                pass
            except SottoError as error:
                self._failed.append(error.message)
            finally:
                self._waiting.popleft()
                self._tell(one.draft)
        failed, self._failed = self._failed, []
        if failed:
            title = "Not attached" if len(failed) == 1 else f"{wording.count(len(failed))} files were not attached"
            self.problem.emit(Problem(title, " ".join(failed)))
