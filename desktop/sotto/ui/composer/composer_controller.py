"""Connects the composer with the current conversation: drafts, attachments and sending."""

from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QMimeData, QObject, Qt, QUrl, Signal, Slot
from PySide6.QtGui import QKeyEvent, QTextCursor
from PySide6.QtWidgets import QApplication

from sotto.ui.composer.attachment_control import AttachmentControl
from sotto.ui.composer.composer import Composer
from sotto.ui.composer.context_actions import ContextActions
from sotto.ui.composer.drop_overlay import split_drop
from sotto.ui.composer.pasted_images import has_image
from sotto.ui.conversation.chat_session import ChatSession
from sotto.ui.conversation.context_meter import ContextMeter
from sotto.ui.conversation.current_chat import CurrentChat
from sotto.ui.conversation.pictures.chat_images import ChatImages
from sotto.ui.conversation.subscription import Subscription
from sotto.ui.platform.screenshots import Screenshots
from sotto.ui.session.session import Session
from sotto.ui.state.drop_contents import DropContents, path_from_url, read_drop
from sotto.ui.state.model_state import Problem
from sotto.ui.toolkit.translation import tr

if TYPE_CHECKING:
    from sotto.ui.timing.async_tasks import AsyncTasks

_COMMANDS = Qt.KeyboardModifier.ControlModifier | Qt.KeyboardModifier.AltModifier | Qt.KeyboardModifier.MetaModifier


class ComposerController(QObject):
    """Shows and sends the draft of the current conversation.

    Signals:
        problem: Something cannot be attached (`Problem`).
        import_wanted: Chats of other programs were dropped or pasted (their files and folders).
    """

    problem = Signal(object)
    import_wanted = Signal(object)

    def __init__(
        self,
        session: Session,
        current: CurrentChat,
        composer: Composer,
        images: ChatImages,
        parent: QObject | None = None,
    ) -> None:
        """Connect a composer.

        Args:
            session: Loads models that are dropped.
            current: The conversation in view.
            composer: The composer.
            images: The images of conversations.
            parent: Owner of this object.
        """
        super().__init__(parent)
        self._session = session
        self._current = current
        self._composer = composer
        self.attachments = AttachmentControl(session, current, composer, self)
        self.meter = ContextMeter(session, current, self)
        self.actions = ContextActions(session, current, self.meter, images, self)
        self.screenshots = Screenshots(self)
        self.screenshots.offered.connect(composer.offer_screenshots)
        self.screenshots.taken.connect(self._attach_screenshot)
        self.screenshots.failed.connect(lambda why: self.problem.emit(Problem(tr("No screenshot"), why)))
        composer.screenshot_wanted.connect(self.screenshots.take)
        composer.sent.connect(self.send)
        composer.stopped.connect(self._stop)
        composer.draft.textChanged.connect(self._update_draft)
        composer.draft.files_pasted.connect(self.paste)
        composer.attachments.cut_wanted.connect(self.actions.cut)
        self.attachments.problem.connect(self.problem)
        self.attachments.sight.send_wanted.connect(self._send_draft)
        self.actions.offered.connect(composer.show_use)
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
            (chat.retracted, composer.restore),
            (chat.queue_changed, composer.show_queued),
        )
        composer.show_queued(chat.queued)
        self._show_draft(draft.text)

    def begin(self, tasks: "AsyncTasks") -> None:
        """Use `tasks` to read files."""
        self.attachments.begin(tasks)
        self.screenshots.begin(tasks)

    @Slot(str)
    def send(self, text: str) -> None:
        """Send a draft; it stays in the composer if it cannot be sent."""
        use = self.meter.use
        if use is not None and use.over and self.meter.fresh and not self._current.session.busy:
            self._composer.panel.take_focus()
        elif self.attachments.sight.blind:
            self._composer.sight_panel.take_focus()
        elif self._current.session.send(text):
            self._composer.clear()

    def drop(self, read_drop: DropContents) -> None:
        """Attach the documents among dropped files, load the first model, and have chats imported."""
        split = split_drop(read_drop)
        if split.models.paths or split.models.remote:
            self._session.library.open(split.models)
        self.attach(split.documents)
        if split.exports:
            self.import_wanted.emit(split.exports)

    def attach(self, documents: tuple[Path, ...]) -> None:
        """Attach files."""
        self.attachments.attach(documents)

    @Slot(object)
    def paste(self, data: QMimeData) -> None:
        """Attach files, or an image, that were pasted or dropped."""
        if has_image(data):
            self.attachments.attach_pasted(data)
        else:
            self.drop(read_drop(data))

    @Slot(object)
    def _attach_screenshot(self, url: QUrl) -> None:
        if (path := path_from_url(url)) is not None:
            self.attach((path,))

    @Slot()
    def _send_draft(self) -> None:
        if self._composer.can_send:
            self.send(self._composer.text)

    def redirect_key(self, event: QKeyEvent) -> bool:
        """Type a character that no other widget handled into the draft; return whether the event is a character."""
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
    def _update_draft(self) -> None:
        draft, text = self._current.session.draft, self._composer.text
        if text and text != draft.text:
            self._session.anticipate()
        draft.set_text(text)

    @Slot()
    def _stop(self) -> None:
        self._current.session.stop()
