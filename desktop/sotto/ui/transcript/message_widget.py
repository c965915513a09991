"""What questions and answers have in common: their buttons, their menu, an editor, and their source."""

from collections.abc import Sequence

from PySide6.QtCore import QPoint
from PySide6.QtGui import QContextMenuEvent
from PySide6.QtWidgets import QVBoxLayout, QWidget

from sotto.chats.chat_records import Attachment, Turn
from sotto.ui.markdown.view import MarkdownText
from sotto.ui.toolkit.translation import tr
from sotto.ui.toolkit.widgets import IconButton
from sotto.ui.transcript.message_editor import MessageEditor
from sotto.ui.transcript.message_requests import MessageRequests
from sotto.ui.transcript.version_switch import VersionSwitch


class MessageWidget(QWidget):
    """A question or an answer.

    Attributes:
        requests: Receives what the user wants to be done with the message.
        turn: The message; None for an answer that has not ended.
        copy: The button that copies the message.
        menu_button: The button that shows the menu of the message.
        versions: The switch between its versions.
        editor: The editor of its text; None while it is not being edited.
    """

    def __init__(self, requests: MessageRequests | None, copy_name: str) -> None:
        """Create what all messages have.

        Args:
            requests: Receives the requests; None collects them where nobody does.
            copy_name: What the button that copies the message is called.
        """
        super().__init__()
        self.requests = requests or MessageRequests(self)
        self.turn: Turn | None = None
        self.editor: MessageEditor | None = None
        self.copy = IconButton("copy", copy_name, tip=tr("Copy"))
        self.copy.clicked.connect(self.copy_text)
        self.menu_button = IconButton("more", tr("More actions"))
        self.menu_button.clicked.connect(self._show_menu)
        self.versions = VersionSwitch()
        self.versions.wanted.connect(self.requests.version_wanted)

    @property
    def turn_id(self) -> int:
        """The id of the message; 0 or less as long as it is not saved."""
        return self.turn.id if self.turn is not None else 0

    @property
    def texts(self) -> Sequence[MarkdownText]:
        """The texts of the message, in order, without thoughts and tool calls."""
        raise NotImplementedError

    @property
    def has_view_state(self) -> bool:
        """Whether recreating the widget would lose something that the user did, such as an edit or a selection."""
        return self.editor is not None or any(text.has_view_state for text in self.texts)

    @property
    def source_shown(self) -> bool:
        """Whether the Markdown of the message is shown in place of the rendered text."""
        return any(text.source_shown for text in self.texts)

    def show_source(self, shown: bool) -> None:
        """Show the Markdown of the message, or the rendered text."""
        raise NotImplementedError

    def show_turn(self, turn: Turn) -> None:
        """Update the id and the versions."""
        self.turn = turn
        self.versions.show_versions(turn)
        self.menu_button.setVisible(turn.id > 0)

    def copy_text(self) -> None:
        """Copy the message."""
        raise NotImplementedError

    # Editing

    @property
    def editing(self) -> bool:
        """Whether the message is being edited."""
        return self.editor is not None

    def begin_edit(self) -> None:
        """Edit the text of the message, or go on editing it."""
        if self.editor is None:
            self.show_edit(self.editable)
        assert self.editor is not None
        self.editor.draft.setFocus()

    def show_edit(self, text: str) -> None:
        """Show an editor with a text, which may have been typed before."""
        raise NotImplementedError

    def end_edit(self) -> None:
        """Close the editor and keep the message as it was."""
        if self.editor is not None:
            editor, self.editor = self.editor, None
            editor.hide()
            editor.deleteLater()
            self._keep_edit("")

    def _open_editor(self, text: str, *, sends: bool, above: int) -> None:
        """Show an editor over the last `above` parts of the message."""
        self.editor = MessageEditor(text, self.turn.attachments if self.turn is not None else (), sends=sends)
        self.editor.bar.image_wanted.connect(self.requests.image_wanted)
        self.editor.typed.connect(self._keep_edit)
        self.editor.done.connect(self._finish_edit)
        self.editor.cancelled.connect(self.end_edit)
        layout = self.layout()
        assert isinstance(layout, QVBoxLayout)
        layout.insertWidget(layout.count() - above, self.editor)

    def _keep_edit(self, text: str) -> None:
        self.requests.edit_typed.emit(self.turn_id, text)

    def _finish_edit(self, text: str) -> None:
        """Ask for the change. The editor goes when the message is replaced, so that nothing is lost if it is not."""
        assert self.editor is not None
        attachments = self.editor.attachments
        is_same = text == self.editable and (self.turn is None or attachments == self.turn.attachments)
        if is_same or not (text.strip() or attachments):
            self.end_edit()
        elif self.requests.busy:
            self.editor.refuse()
        else:
            self.request_edit(text, attachments)

    @property
    def editable(self) -> str:
        """The text that can be edited."""
        raise NotImplementedError

    def request_edit(self, text: str, attachments: tuple[Attachment, ...]) -> None:
        """Ask for another text of the message, with these attachments."""
        raise NotImplementedError

    # The menu

    def _show_menu(self) -> None:
        self.requests.menu_wanted.emit(self, self.menu_button.mapToGlobal(self.menu_button.rect().bottomLeft()))

    @property
    def selected(self) -> MarkdownText | None:
        """The text in which something is selected, also in a thought; None for none."""
        texts = self.findChildren(MarkdownText)
        return next((text for text in texts if text.isVisible() and text.textCursor().hasSelection()), None)

    def link_at(self, place: QPoint) -> str:
        """Return the address of the link at a position on the screen; empty for none."""
        for text in self.findChildren(MarkdownText):
            inside = text.viewport().mapFromGlobal(place)
            if text.isVisible() and text.viewport().rect().contains(inside):
                return text.anchorAt(inside)
        return ""

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        """Ask for the menu of the message; the menu key shows it below the buttons."""
        if self.turn_id <= 0 or self.editor is not None:
            super().contextMenuEvent(event)
        elif event.reason() == QContextMenuEvent.Reason.Keyboard:
            self._show_menu()
        else:
            self.requests.menu_wanted.emit(self, event.globalPos())
