"""What is written, attached and sent: connects the composer with the conversation."""

from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QMimeData, QObject, Qt, Signal, Slot
from PySide6.QtGui import QKeyEvent, QTextCursor
from PySide6.QtWidgets import QApplication

from sotto.ui.composer.composer import Composer
from sotto.ui.composer.context_actions import ContextChoices
from sotto.ui.composer.drop_overlay import parted
from sotto.ui.conversation.attaching import Attaching
from sotto.ui.conversation.chat_session import Dialogue
from sotto.ui.conversation.chat_thread import ChatKeeper
from sotto.ui.conversation.context_meter import ContextMeter
from sotto.ui.session.session import Session
from sotto.ui.state.dropped import Dropped, dropped
from sotto.ui.state.model_state import Problem

if TYPE_CHECKING:
    from sotto.ui.toolkit.async_tasks import Flows

_COMMANDS = Qt.KeyboardModifier.ControlModifier | Qt.KeyboardModifier.AltModifier | Qt.KeyboardModifier.MetaModifier


class Composing(QObject):
    """The draft of the conversation in view, in its field and on its way.

    Signals:
        problem: Something cannot be attached or sent (`Problem`).
    """

    problem = Signal(object)

    def __init__(
        self,
        session: Session,
        dialogue: Dialogue,
        keeper: ChatKeeper,
        composer: Composer,
        parent: QObject | None = None,
    ) -> None:
        """Let what is written in `composer` be asked in `dialogue`."""
        super().__init__(parent)
        self._session = session
        self._dialogue = dialogue
        self._composer = composer
        unsent = dialogue.unsent
        self.attaching = Attaching(unsent, keeper, self)
        self.meter = ContextMeter(session, dialogue, self)
        self.choices = ContextChoices(session, dialogue, self.meter, self)
        composer.sent.connect(self.send)
        composer.stopped.connect(dialogue.stop)
        composer.draft.textChanged.connect(lambda: unsent.type(composer.text))
        composer.draft.files_pasted.connect(self.paste)
        composer.attachments.remove_wanted.connect(unsent.detach)
        composer.attachments.stop_wanted.connect(self.attaching.stop)
        composer.attachments.cut_wanted.connect(self.choices.cut)
        unsent.draft_opened.connect(self._open_draft)
        unsent.attached.connect(composer.show_attachments)
        self.attaching.pending_changed.connect(composer.show_pending)
        self.attaching.problem.connect(self.problem)
        self.choices.offered.connect(composer.show_use)
        dialogue.retracted.connect(composer.restore)

    def begin(self, flows: "Flows") -> None:
        """Read files with `flows`."""
        self.attaching.begin(flows)

    @Slot(str)
    def send(self, text: str) -> None:
        """Send a draft; it stays where it is if it cannot be sent."""
        use = self.meter.use
        if use is not None and use.over and self.meter.fresh and not self._dialogue.busy:
            self._composer.panel.point_out()
        elif self._dialogue.send(text):
            self._composer.clear()

    def take(self, what: Dropped) -> None:
        """Attach the documents among these, and load the first model."""
        models, documents = parted(what)
        if models.paths or models.elsewhere:
            self._session.open(models)
        self.attach(documents)

    def attach(self, documents: tuple[Path, ...]) -> None:
        """Attach these files."""
        if documents:
            self.attaching.take(documents)
            self._composer.draft.setFocus()

    @Slot(object)
    def paste(self, data: QMimeData) -> None:
        """Take what was pasted and is no text."""
        if data.hasUrls():
            self.take(dropped(data))
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
    def _open_draft(self, text: str) -> None:
        draft = self._composer.draft
        if draft.toPlainText() != text:
            draft.setPlainText(text)
            draft.moveCursor(QTextCursor.MoveOperation.End)
        draft.setFocus()
