"""Controls the quick prompt: its conversation, and when its panel is shown."""

import sys
import time
from typing import TYPE_CHECKING

from PySide6.QtCore import QMimeData, QObject, Signal, Slot
from PySide6.QtGui import QGuiApplication

from sotto.chats.chat_records import Attachment
from sotto.ui.composer.attachment_control import AttachmentControl
from sotto.ui.composer.pasted_images import has_image
from sotto.ui.conversation.answer_announcer import AnswerAnnouncer
from sotto.ui.conversation.chat_session import ChatSession
from sotto.ui.conversation.chat_sessions import ChatSessions
from sotto.ui.conversation.current_chat import CurrentChat
from sotto.ui.conversation.subscription import Subscription
from sotto.ui.platform.input_focus import InputFocus
from sotto.ui.preferences.preferences import Preferences, PreferenceStore
from sotto.ui.quick.quick_panel import DEFAULT_PLACE, QuickPanel
from sotto.ui.state import wording
from sotto.ui.state.drop_contents import read_drop
from sotto.ui.state.model_state import ModelState, Problem, Remedy
from sotto.ui.toolkit import theme
from sotto.ui.toolkit.translation import tr
from sotto.ui.transcript.binding import bind
from sotto.ui.transcript.notices import Notices
from sotto.ui.transcript.picture_viewer import PictureViewer

if TYPE_CHECKING:
    from sotto.ui.session.session import Session
    from sotto.ui.timing.async_tasks import AsyncTasks


class QuickPrompt(QObject):
    """A conversation in a panel of its own, independent of the main window.

    Signals:
        app_wanted: The user wants to continue in the main window.
        quit_wanted: The user wants to quit the app.

    Attributes:
        current: The conversation in the panel.
    """

    app_wanted = Signal()
    quit_wanted = Signal()

    def __init__(
        self,
        session: "Session",
        preferences: PreferenceStore,
        sessions: ChatSessions,
        parent: QObject | None = None,
    ) -> None:
        """Begin with a new conversation; the panel is created when it is first used.

        Args:
            session: The model in use.
            preferences: The user's preferences.
            sessions: The open conversations.
            parent: The Qt parent.
        """
        super().__init__(parent)
        self._session = session
        self._preferences = preferences
        self._focus = InputFocus(self)
        self._left_at = 0.0
        self._panel: QuickPanel | None = None
        self._sessions = sessions
        self._tasks: AsyncTasks | None = None
        self._attachments: AttachmentControl | None = None
        self.current = CurrentChat(sessions, self)
        self._subscriptions: tuple[Subscription, ...] = ()

    def begin(self, tasks: "AsyncTasks") -> None:
        """Use `tasks` to read images."""
        self._tasks = tasks
        if self._attachments is not None:
            self._attachments.begin(tasks)

    def close(self) -> None:
        """Stop reading images."""
        if self._attachments is not None:
            self._attachments.attaching.close()

    @property
    def visible(self) -> bool:
        """Whether the panel is shown."""
        return self._panel is not None and self._panel.isVisible()

    @property
    def panel(self) -> QuickPanel:
        """The panel, which is created on first use."""
        if self._panel is None:
            theme.current().set_transparent(self._focus.rounds)
            self._panel = QuickPanel(round_corners=self._focus.rounds)
            self._connect(self._panel)
            if sys.platform == "darwin":
                from sotto.ui.platform.macos import keep_others_active

                keep_others_active(int(self._panel.winId()))
        return self._panel

    def prepare(self) -> None:
        """Create the panel in advance, so that it can be shown without delay."""
        self.panel.winId()

    def show(self) -> None:
        """Show the panel, with a new conversation if it has been hidden for long enough."""
        minutes = self._preferences.values.quick_fresh_minutes
        if not self.visible and not self.current.session.busy and time.time() - self._left_at >= 60 * minutes:
            self.current.new_chat()
        if not self.visible:
            self._focus.remember(int(self.panel.winId()))
        self.panel.appear()
        self._offer_clipboard()

    def hide(self) -> None:
        """Hide the panel and give the focus back; an answer continues."""
        if self._panel is not None:
            self._panel.dismiss()

    def toggle(self) -> None:
        """Show or hide the panel."""
        if self.visible:
            self.hide()
        else:
            self.show()

    def hide_panel(self) -> None:
        """Hide the panel without giving the focus back."""
        if self._panel is not None:
            self._panel.hide()

    @Slot(object)
    def _apply_preferences(self, values: Preferences) -> None:
        self.panel.transcript.follows = values.follow

    def _connect(self, panel: QuickPanel) -> None:
        session = self._session
        self._announcer = AnswerAnnouncer(panel.transcript)
        self._notices = Notices(panel.notice, self)
        self._notices.remedies = {Remedy.RETRY: session.retry, Remedy.CHOOSE_MODEL: panel.choose_model}
        self._preferences.changed.connect(self._apply_preferences)
        self._apply_preferences(self._preferences.values)
        self._attachments = attachments = AttachmentControl(session, self.current, panel.composer, self)
        attachments.problem.connect(self._show_problem)
        attachments.sight.send_wanted.connect(self._send_draft)
        attachments.sight.get_wanted.connect(self.app_wanted)
        if self._tasks is not None:
            attachments.begin(self._tasks)
        for wanted in (panel.transcript.requests.image_wanted, panel.composer.attachments.image_wanted):
            wanted.connect(self._show_image)
        panel.composer.draft.files_pasted.connect(self._paste)
        panel.composer.sent.connect(self._send)
        panel.composer.stopped.connect(self._stop)
        panel.left.connect(self._leave)
        panel.app_wanted.connect(self.app_wanted)
        panel.new_chat_wanted.connect(self._begin_chat)
        panel.clipboard_wanted.connect(self._use_clipboard)
        panel.model_wanted.connect(session.load)
        panel.placed.connect(lambda x, y: self._preferences.change(quick_place=f"{x:.4f} {y:.4f}"))
        panel.reset_wanted.connect(lambda: self._preferences.change(quick_place=""))
        panel.quit_wanted.connect(self.quit_wanted)
        session.problem.connect(self._show_load_problem)
        session.state_changed.connect(self._show_state)
        session.library.changed.connect(panel.show_models)
        self._preferences.changed.connect(self._restore_place)
        self._restore_place(self._preferences.values)
        panel.show_models(session.library.models)
        self.current.changed.connect(self._show_chat)
        self._show_chat(self.current.session)

    # The user's actions

    @Slot(str)
    def _send(self, text: str) -> None:
        if self._attachments is not None and self._attachments.sight.blind:
            self.panel.composer.sight_panel.take_focus()
        elif self.current.session.send(text):
            self.panel.composer.clear()

    @Slot()
    def _send_draft(self) -> None:
        if self.panel.composer.can_send:
            self._send(self.panel.composer.text)

    @Slot(object)
    def _paste(self, data: QMimeData) -> None:
        """Attach an image or files that were pasted."""
        assert self._attachments is not None
        if has_image(data):
            self._attachments.attach_pasted(data)
        else:
            self._attachments.attach(read_drop(data).paths)

    @Slot(object)
    def _show_image(self, attachment: Attachment) -> None:
        PictureViewer(attachment, self._sessions.images, self.panel).show()

    @Slot()
    def _stop(self) -> None:
        self.current.session.stop()

    @Slot()
    def _begin_chat(self) -> None:
        self.current.new_chat()
        self.panel.composer.draft.setFocus()

    @Slot()
    def _use_clipboard(self) -> None:
        """Insert the text or image of the clipboard, which is read only now that the user asks for it."""
        clipboard, composer = QGuiApplication.clipboard(), self.panel.composer
        self.panel.offer_clipboard(offered=False)
        composer.draft.setFocus()
        if clipboard.mimeData().hasText():
            text = clipboard.text()
            composer.draft.insertPlainText(text)
            hint = tr("1 character from the clipboard|{count} characters from the clipboard", "", len(text))
            composer.set_hint(hint.format(count=wording.count(len(text))))
        elif has_image(clipboard.mimeData()):
            self._paste(clipboard.mimeData())

    @Slot(bool)
    def _leave(self, dismissed: bool) -> None:
        self._left_at = time.time()
        if dismissed:
            self._focus.give_back()

    # What is shown

    def _offer_clipboard(self) -> None:
        """Offer the clipboard if it contains text or an image, without reading it."""
        data = QGuiApplication.clipboard().mimeData()
        self.panel.offer_clipboard(offered=data is not None and (data.hasText() or has_image(data)))

    @Slot(object)
    def _restore_place(self, values: Preferences) -> None:
        x, y = map(float, values.quick_place.split()) if values.quick_place else DEFAULT_PLACE
        self.panel.set_place(x, y)

    @Slot(object)
    def _show_state(self, state: ModelState) -> None:
        self.panel.show_state(state, answering=self.current.session.answering)

    @Slot(object)
    def _show_chat(self, session: ChatSession) -> None:
        """Show a conversation and follow it."""
        for subscription in self._subscriptions:
            subscription.close()
        transcript = self.panel.transcript
        self.panel.notice.hide()
        self.panel.show_conversation(begun=bool(session.turns))
        self._subscriptions = (
            # Before `bind`, because the transcript must be visible before anything is shown in it.
            Subscription(
                (session.branch_changed, self._show_transcript),
                (session.question_added, self._show_transcript),
            ),
            bind(transcript, session),
            Subscription((session.retracted, self._retract), (session.problem, self._show_problem)),
        )
        self._announcer.bind(session)
        self._show_state(self._session.state)

    @Slot()
    def _show_transcript(self) -> None:
        self.panel.notice.hide()
        self.panel.show_conversation(begun=True)

    @Slot(str)
    def _retract(self, text: str) -> None:
        self.panel.show_conversation(begun=not self.panel.transcript.empty)
        self.panel.composer.restore(text)

    @Slot(object)
    def _show_load_problem(self, problem: Problem) -> None:
        if self.visible:
            self._show_problem(problem)

    @Slot(object)
    def _show_problem(self, problem: Problem) -> None:
        self._notices.show_chat_problem(problem)
