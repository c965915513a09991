"""The widget of a question."""

from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication, QResizeEvent
from PySide6.QtWidgets import QFrame, QHBoxLayout, QVBoxLayout

from sotto.chats.chat_records import Attachment, Turn
from sotto.ui.markdown.clipboard import mime_of_text
from sotto.ui.markdown.typed_view import TypedText
from sotto.ui.toolkit import theme
from sotto.ui.toolkit.translation import tr
from sotto.ui.toolkit.widgets import IconButton, TextButton
from sotto.ui.transcript.attachment_chips import SentAttachments
from sotto.ui.transcript.message_actions import MessageActions
from sotto.ui.transcript.message_requests import MessageRequests
from sotto.ui.transcript.message_widget import MessageWidget

_BUBBLE_SHARE = 0.8


class UserMessage(MessageWidget):
    """A message of the user in a bubble at the end of the line, which can be edited and may have several versions."""

    def __init__(self, turn: Turn, requests: MessageRequests | None = None) -> None:
        """Show `turn`."""
        super().__init__(requests, tr("Copy message"))
        self._typed = turn.text
        self.text = TypedText(turn.text)
        self.text.setAccessibleName(tr("Your message"))
        self.text.setContextMenuPolicy(Qt.ContextMenuPolicy.NoContextMenu)
        self.text.link_asked.connect(self.requests.link_asked)
        self.text.revealed.connect(self._fit)
        self.show_more = TextButton(tr("Show more"), "quiet", tr("Show more of this message"))
        self.show_more.setObjectName("showMore")
        self.show_more.clicked.connect(self.text.show_more)
        self._bubble = QFrame()
        self._bubble.setObjectName("bubble")
        inside = QVBoxLayout(self._bubble)
        # More above than below: the lines of a text have room below their letters.
        inside.setContentsMargins(theme.GAP_16, theme.GAP_12, theme.GAP_16, theme.GAP_8)
        inside.setSpacing(theme.GAP_4)
        inside.addWidget(self.text)
        inside.addWidget(self.show_more, 0, Qt.AlignmentFlag.AlignLeft)
        self.edit = IconButton("edit", tr("Edit message"))
        self.edit.clicked.connect(self.begin_edit)
        self.again = IconButton("refresh", tr("Get an answer"), tr("Get an answer"))
        self.again.clicked.connect(lambda: self.requests.regenerate_wanted.emit(self.turn_id))
        self.again.hide()
        self.actions_shown = MessageActions(self, (self.copy, self.edit, self.menu_button))
        if not turn.text:
            # Only attachments were sent.
            self._bubble.hide()
        bubble_line = QHBoxLayout()
        bubble_line.addStretch(1)
        bubble_line.addWidget(self._bubble)
        foot = QHBoxLayout()
        foot.setSpacing(theme.GAP_4)
        foot.addStretch(1)
        for widget in (self.again, self.versions, self.edit, self.copy, self.menu_button):
            foot.addWidget(widget)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(theme.GAP_4)
        self.attachments = SentAttachments(turn.attachments)
        self.attachments.image_wanted.connect(self.requests.image_wanted)
        layout.addWidget(self.attachments)
        self.attachments.setVisible(bool(turn.attachments))
        layout.addLayout(bubble_line)
        layout.addLayout(foot)
        # Connected after the text, which changes its fonts first.
        theme.current().changed.connect(self._fit)
        self._fit()
        self.show_turn(turn)

    @property
    def texts(self) -> list[TypedText]:
        """The text of the message, as a list like that of an answer."""
        return [self.text]

    def show_turn(self, turn: Turn) -> None:
        """Update the id and the versions."""
        super().show_turn(turn)
        self.edit.setEnabled(turn.id > 0)

    def show_unanswered(self, unanswered: bool) -> None:
        """Offer to have the question answered, which stands at the end without an answer."""
        self.again.setVisible(unanswered and self.turn_id > 0)
        self.actions_shown.show_always(not self.again.isHidden())

    def show_source(self, shown: bool) -> None:
        """Show the text as it was typed, or rendered."""
        self.text.show_as_typed(shown)
        self._fit()

    def copy_text(self) -> None:
        """Copy the message as it was typed."""
        QGuiApplication.clipboard().setMimeData(mime_of_text(self._typed))
        self.copy.confirm("check", tr("Copied"))

    def show_edit(self, text: str) -> None:
        """Show an editor in place of the bubble."""
        self._open_editor(text, sends=True, above=2)
        self._bubble.hide()
        self.attachments.hide()
        self.edit.hide()

    @property
    def editable(self) -> str:
        """The text as it was typed."""
        return self._typed

    def request_edit(self, text: str, attachments: tuple[Attachment, ...]) -> None:
        """Ask for an answer to another text with these attachments."""
        self.requests.edited.emit(self.turn_id, text, attachments)

    def end_edit(self) -> None:
        """Close the editor and keep the question as it was."""
        super().end_edit()
        self._bubble.setVisible(bool(self._typed))
        self.attachments.setVisible(self.turn is not None and bool(self.turn.attachments))
        self.edit.show()

    def _fit(self) -> None:
        """Make the bubble as wide as its text, up to a share of the column."""
        self.text.fit(max(theme.GAP_32, round(self.width() * _BUBBLE_SHARE) - 2 * theme.GAP_16))
        self.show_more.setVisible(self.text.hidden_length > 0)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Fit the bubble to the new width."""
        super().resizeEvent(event)
        if event.size().width() != event.oldSize().width():
            self._fit()
