"""Reads files and images, and attaches them to drafts.

They are read one after the other, off the window's thread. Each is attached to the draft that it was given for, even if
another conversation is in view by then.
"""

from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from threading import Event
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal

from sotto.errors import CancelledError, SottoError
from sotto.ui.conversation.draft_state import DraftState
from sotto.ui.conversation.pictures import thumbnails
from sotto.ui.state import wording
from sotto.ui.state.model_state import Problem
from sotto.ui.state.names import join_sentences
from sotto.ui.toolkit.translation import tr

if TYPE_CHECKING:
    from sotto.chats.attachable import Attachable
    from sotto.ui.timing.async_tasks import AsyncTasks

MAX_ATTACHMENTS = 20
_Read = Callable[[Callable[[], bool]], "Attachable"]


@dataclass(eq=False)
class _Pending:
    """Something that is being read or waits to be read, by a function that gets what says whether to stop."""

    read: _Read
    name: str
    draft: DraftState
    stopped: Event = field(default_factory=Event)


class Attaching(QObject):
    """Reads files and images, and attaches them to drafts.

    Signals:
        problem: Something cannot be attached (`Problem`).
    """

    problem = Signal(object)

    def __init__(self, parent: QObject | None = None) -> None:
        """Read nothing yet."""
        super().__init__(parent)
        self._tasks: AsyncTasks | None = None
        self._waiting: deque[_Pending] = deque()
        self._failed: list[str] = []

    def begin(self, tasks: "AsyncTasks") -> None:
        """Begin to read, on the threads of `tasks`."""
        self._tasks = tasks
        if self._waiting:
            tasks.start(self._read(tasks))

    def attach(self, paths: Sequence[Path], draft: DraftState) -> None:
        """Read these files and attach them to a draft."""
        from sotto.chats.attachable import read_attachable
        from sotto.chats.documents import shown_name

        self._add([_Pending(partial(read_attachable, path), shown_name(path), draft) for path in paths], draft)

    def attach_image(self, name: str, load: Callable[[], bytes], draft: DraftState) -> None:
        """Attach an image to a draft; `load` returns its file, on another thread."""

        def read(stopped: Callable[[], bool]) -> "Attachable":
            from sotto.chats.attachable import attachable_image

            return attachable_image(load(), name, stopped)

        self._add([_Pending(read, name, draft)], draft)

    def stop(self, index: int, draft: DraftState) -> None:
        """Stop reading one of the pending files of a draft."""
        pending = self._pending(draft)
        if index < len(pending):
            pending[index].stopped.set()
            self._update_pending(draft)

    def close(self) -> None:
        """Stop reading all files."""
        for file in self._waiting:
            file.stopped.set()

    @property
    def busy(self) -> bool:
        """Whether anything is being read."""
        return bool(self._waiting)

    def _add(self, more: Sequence[_Pending], draft: DraftState) -> None:
        room = MAX_ATTACHMENTS - len(draft.attachments) - len(draft.pending)
        if len(more) > room:
            why = tr("A message can have at most {count} files: attach fewer, or combine them.", "", MAX_ATTACHMENTS)
            self.problem.emit(Problem(tr("Not everything was attached"), why.format(count=MAX_ATTACHMENTS)))
        idle = not self._waiting
        self._waiting.extend(more[: max(0, room)])
        self._update_pending(draft)
        if idle and self._waiting and self._tasks is not None:
            self._tasks.start(self._read(self._tasks))

    def _pending(self, draft: DraftState) -> list[_Pending]:
        return [file for file in self._waiting if file.draft is draft and not file.stopped.is_set()]

    def _update_pending(self, draft: DraftState) -> None:
        draft.set_pending(tuple(file.name for file in self._pending(draft)))

    def _attach(self, read: "Attachable", draft: DraftState) -> None:
        """Attach what was read, unless all of it is attached already; of a part, another part may be wanted."""
        attachment = read.attachment
        held = ((each.name, each.text) for each in draft.attachments if each.whole and not each.image)
        if (attachment.name, attachment.text) in held or attachment.image in _images(draft):
            self._failed.append(tr("{file} is already attached to this message.").format(file=attachment.name))
        else:
            images = {attachment.image: read.image} if attachment.image else {}
            for digest in images:
                thumbnails.current().add(digest, read.thumbnail)
            draft.attach([attachment], images)

    async def _read(self, tasks: "AsyncTasks") -> None:
        while self._waiting:
            file = self._waiting[0]
            try:
                if not file.stopped.is_set():
                    read = await tasks.call(file.read, file.stopped.is_set)
                    if not file.stopped.is_set():
                        self._attach(read, file.draft)
            except CancelledError:
                pass
            except SottoError as error:
                self._failed.append(error.message)
            finally:
                self._waiting.popleft()
                self._update_pending(file.draft)
        failed, self._failed = self._failed, []
        if failed:
            many = tr("{count} files were not attached", "", len(failed)).format(count=wording.count(len(failed)))
            self.problem.emit(Problem(tr("Not attached") if len(failed) == 1 else many, join_sentences(failed)))


def _images(draft: DraftState) -> set[str]:
    return {each.image for each in draft.attachments if each.image}
