"""What is written, attached and sent: connects the composer with the conversation."""

from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QMimeData, QObject, Qt, Signal, Slot
from PySide6.QtGui import QKeyEvent, QTextCursor
from PySide6.QtWidgets import QApplication

from sotto.ui.composer.composer import Composer
from sotto.ui.composer.context_actions import ContextActions
from sotto.ui.composer.drop_overlay import parted
from sotto.ui.conversation.attaching import Attaching
from sotto.ui.conversation.chat_session import ChatSession
from sotto.ui.conversation.context_meter import ContextMeter
from sotto.ui.conversation.current_chat import CurrentChat
from sotto.ui.conversation.subscription import Subscription
from sotto.ui.session.session import Session
from sotto.ui.state.drop_contents import DropContents, read_drop
from sotto.ui.state.model_state import Problem

if TYPE_CHECKING:
    from sotto.ui.toolkit.async_tasks import AsyncTasks

_COMMANDS = Qt.KeyboardModifier.ControlModifier | Qt.KeyboardModifier.AltModifier | Qt.KeyboardModifier.MetaModifier


class ComposerController(QObject):
    """The draft of the conversation in view, in its field and on its way.

    Signals:
        problem: Something cannot be attached or sent (`Problem`).
    """

    problem = Signal(object)

    def __init__(
        self, session: Session, current: CurrentChat, composer: Composer, parent: QObject | None = None
    ) -> None:
        """Let what is written be asked in the conversation in view.

        Args:
            session: Has the model, and loads others.
            current: Has the conversation in view.
            composer: Where it is written.
            parent: Owns this.
        """
        super().__init__(parent)
        self._session = session
        self._current = current
        self._composer = composer
        self.attaching = Attaching(self)
        self.meter = ContextMeter(session, current, self)
        self.choices = ContextActions(session, current, self.meter, self)
        composer.sent.connect(self.send)
        composer.stopped.connect(self._stop)
        composer.draft.textChanged.connect(self._type)
        composer.draft.files_pasted.connect(self.paste)
        composer.attachments.remove_wanted.connect(self._detach)
        composer.attachments.stop_wanted.connect(self._stop_reading)
        composer.attachments.cut_wanted.connect(self.choices.cut)
        self.attaching.problem.connect(self.problem)
        self.choices.offered.connect(composer.show_use)
        self._subscription = Subscription()
        current.changed.connect(self._bind)
        self._bind(current.session)

    @Slot(object)
    def _bind(self, chat: ChatSession) -> None:
        """Show the draft of another conversation."""
        self._subscription.close()
        draft, composer = chat.draft, self._composer
        self._subscription = Subscription(
            (draft.replaced, self._show_draft),
            (draft.attached, composer.show_attachments),
            (draft.pending_changed, composer.show_pending),
            (chat.retracted, composer.restore),
        )
        self._show_draft(draft.text)
        composer.show_attachments(draft.attachments)
        composer.show_pending(draft.pending)

    def begin(self, flows: "AsyncTasks") -> None:
        """Read files with `flows`."""
        self.attaching.begin(flows)

    @Slot(str)
    def send(self, text: str) -> None:
        """Send a draft; it stays where it is if it cannot be sent."""
        use = self.meter.use
        if use is not None and use.over and self.meter.fresh and not self._current.session.busy:
            self._composer.panel.point_out()
        elif self._current.session.send(text):
            self._composer.clear()

    def take(self, what: DropContents) -> None:
        """Attach the documents among these, and load the first model."""
        models, documents = parted(what)
        if models.paths or models.remote:
            self._session.library.open(models)
        self.attach(documents)

    def attach(self, documents: tuple[Path, ...]) -> None:
        """Attach these files."""
        if documents:
            self.attaching.attach(documents, self._current.session.draft)
            self._composer.draft.setFocus()

    @Slot(object)
    def paste(self, data: QMimeData) -> None:
        """Take what was pasted and is no text."""
        if data.hasUrls():
            self.take(read_drop(data))
        else:
            from sotto.chats.documents import picture_reason

            self.problem.emit(Problem("Not attached", picture_reason("What was copied")))

    def take_key(self, event: QKeyEvent) -> bool:
        """Let a letter that nobody else wanted be written; return False if it is none."""
        text, draft = event.text(), self._composer.draft
        if draft.hasFocus() or not text or not text.isprintable() or event.modifiers() & _COMMANDS:
            return False
        draft.setFocus()
        QApplication.sendEvent(draft, event)
        return True

    @Slot(str)
    def _show_draft(self, text: str) -> None:
        draft = self._composer.draft
        if draft.toPlainText() != text:
            draft.setPlainText(text)
            draft.moveCursor(QTextCursor.MoveOperation.End)
        draft.setFocus()

    @Slot()
    def _type(self) -> None:
        self._current.session.draft.set_text(self._composer.text)

    @Slot()
    def _stop(self) -> None:
        self._current.session.stop()

    @Slot(int)
    def _detach(self, index: int) -> None:
        self._current.session.draft.detach(index)

    @Slot(int)
    def _stop_reading(self, index: int) -> None:
        self.attaching.stop(index, self._current.session.draft)
