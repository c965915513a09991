"""Connects the attachments of a composer with the draft of the current conversation."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QMimeData, QObject, Signal, Slot

from sotto.ui.composer.attaching import Attaching
from sotto.ui.composer.composer import Composer
from sotto.ui.composer.pasted_images import image_loader
from sotto.ui.composer.sight_actions import SightActions
from sotto.ui.conversation.chat_session import ChatSession
from sotto.ui.conversation.current_chat import CurrentChat
from sotto.ui.conversation.subscription import Subscription
from sotto.ui.session.session import Session
from sotto.ui.toolkit.translation import tr

if TYPE_CHECKING:
    from sotto.ui.timing.async_tasks import AsyncTasks


class AttachmentControl(QObject):
    """Attaches files and images to the draft in view, and shows and removes its attachments.

    Signals:
        problem: Something cannot be attached (`Problem`).

    Attributes:
        attaching: Reads what is attached.
        sight: What can be done about images that the model does not see.
    """

    problem = Signal(object)

    def __init__(
        self, session: Session, current: CurrentChat, composer: Composer, parent: QObject | None = None
    ) -> None:
        """Connect a composer.

        Args:
            session: The model in use.
            current: The conversation in view.
            composer: The composer.
            parent: Owner of this object.
        """
        super().__init__(parent)
        self._current, self._composer = current, composer
        self.attaching = Attaching(self)
        self.attaching.problem.connect(self.problem)
        self.sight = SightActions(session, current, self)
        self.sight.offered.connect(composer.show_blindness)
        composer.attachments.remove_wanted.connect(self._detach)
        composer.attachments.stop_wanted.connect(self._stop_reading)
        self._subscription = Subscription()
        current.changed.connect(self._bind)
        self._bind(current.session)
        self.sight.refresh()

    def begin(self, tasks: "AsyncTasks") -> None:
        """Use `tasks` to read files."""
        self.attaching.begin(tasks)

    def attach(self, paths: Sequence[Path]) -> None:
        """Attach files."""
        if paths:
            self.attaching.attach(paths, self._current.session.draft)
            self._composer.draft.setFocus()

    def attach_pasted(self, data: QMimeData) -> None:
        """Attach an image that was pasted or dropped as such."""
        self.attaching.attach_image(tr("Pasted image"), image_loader(data), self._current.session.draft)
        self._composer.draft.setFocus()

    @Slot(object)
    def _bind(self, chat: ChatSession) -> None:
        """Show the attachments of another draft."""
        self._subscription.close()
        draft, composer = chat.draft, self._composer
        self._subscription = Subscription(
            (draft.attached, composer.show_attachments), (draft.pending_changed, composer.show_pending)
        )
        composer.show_attachments(draft.attachments)
        composer.show_pending(draft.pending)

    @Slot(int)
    def _detach(self, index: int) -> None:
        self._current.session.draft.detach(index)

    @Slot(int)
    def _stop_reading(self, index: int) -> None:
        self.attaching.stop(index, self._current.session.draft)
