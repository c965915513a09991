"""The right side of the window: the header, the conversation, and the composer."""

from functools import cached_property
from typing import TYPE_CHECKING

from PySide6.QtCore import QSize, Signal, Slot
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QApplication, QHBoxLayout, QStackedWidget, QVBoxLayout, QWidget

from sotto.chats.chat_records import Turn
from sotto.ui.composer.chat_settings_panel import ChatSettingsPanel
from sotto.ui.composer.composer import Composer
from sotto.ui.conversation.chat_session import ChatSession
from sotto.ui.conversation.subscription import Subscription
from sotto.ui.toolkit import theme
from sotto.ui.toolkit.pane import FollowingRow, Pane
from sotto.ui.transcript.binding import bind
from sotto.ui.transcript.find_bar import FindBar
from sotto.ui.transcript.message_column import MARGIN, column_width
from sotto.ui.transcript.transcript import Transcript
from sotto.ui.window.chat_header import Header
from sotto.ui.window.welcome import Welcome

if TYPE_CHECKING:
    from sotto.ui.timing.async_tasks import AsyncTasks

# Width that a conversation needs beside the settings, at 13 px text.
_LEAST_WIDTH = 340
_ANY_WIDTH = (1 << 24) - 1


class _PageStack(QStackedWidget):
    """The welcome page or the conversation. Its minimum height is 0, so that the composer gets the height it needs."""

    def minimumSizeHint(self) -> QSize:
        """Return the minimum width of the page in view."""
        page = self.currentWidget()
        return QSize(page.minimumSizeHint().width() if page is not None else 0, 0)


class ChatPane(Pane):
    """The header, notices, the welcome page or the transcript, and the composer.

    Signals:
        question_chosen: The user has chosen an example question (its text).
        choices_made: The panel with the settings of the conversation was created (`ChatSettingsPanel`).
    """

    question_chosen = Signal(str)
    choices_made = Signal(object)

    def __init__(self) -> None:
        """Show an empty chat without a model."""
        super().__init__()
        self.setObjectName("chat")
        self.header = Header()
        self.header.begin_with(self.sidebar_button)
        self.welcome = Welcome()
        self.transcript = Transcript()
        self.composer = Composer()
        self.header.choices.clicked.connect(self.toggle_choices)
        self.find_bar = FindBar()
        self.find_bar.closed.connect(self._close_find)
        self.find_bar.sought.connect(self.transcript.mark)
        self.find_bar.pointed.connect(self.transcript.go_to)
        self.stack = _PageStack()
        self.stack.addWidget(self.welcome)
        self.stack.addWidget(self.transcript)
        self._subscriptions: tuple[Subscription, ...] = ()
        self._columns: list[QWidget] = []
        self._tasks: AsyncTasks | None = None
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(0)
        layout.addWidget(self.header)
        above = self._in_column(self.notice, theme.GAP_12, 0)
        above.follow(self.notice)
        layout.addWidget(above)
        self._middle = QVBoxLayout()
        self._middle.setSpacing(0)
        self._middle.addWidget(self.find_bar)
        self._middle.addWidget(self.stack, 1)
        self._middle.addWidget(self._in_column(self.composer, theme.GAP_8, theme.GAP_16))
        self._across = QHBoxLayout()
        self._across.setSpacing(0)
        self._across.addLayout(self._middle, 1)
        layout.addLayout(self._across, 1)
        self.welcome.question_chosen.connect(self.question_chosen)
        theme.current().changed.connect(self._update_width)
        self._update_width()

    @cached_property
    def choices(self) -> ChatSettingsPanel:
        """The settings of the conversation, created on first use: the window's first paint need not wait for them."""
        panel = ChatSettingsPanel()
        panel.closed.connect(self.hide_choices)
        self._across.addWidget(panel)
        if self._tasks is not None:
            panel.begin(self._tasks)
        self.choices_made.emit(panel)
        return panel

    @property
    def has_choices(self) -> bool:
        """Whether the settings of the conversation have been created."""
        return "choices" in vars(self)

    def begin(self, tasks: "AsyncTasks") -> None:
        """Use `tasks` in the settings of the conversation."""
        self._tasks = tasks
        if self.has_choices:
            self.choices.begin(tasks)

    def show_chat(self, session: ChatSession) -> None:
        """Show a conversation and follow it."""
        for subscription in self._subscriptions:
            subscription.close()
        self.find_bar.set_source(lambda: session.turns)
        self.find_bar.hide()
        self.show_conversation(begun=bool(session.turns))
        self._subscriptions = (
            # Before `bind`, because a page must be in view before anything is shown on it.
            Subscription(
                (session.branch_changed, self._show_branch),
                (session.question_added, self._show_transcript),
            ),
            bind(self.transcript, session),
            Subscription((session.retracted, self._show_remaining)),
        )

    @Slot(object)
    def _show_branch(self, turns: tuple[Turn, ...]) -> None:
        self.find_bar.hide()
        self.show_conversation(begun=bool(turns))

    @Slot()
    def _show_transcript(self) -> None:
        self.show_conversation(begun=True)

    @Slot()
    def _show_remaining(self) -> None:
        self.show_conversation(begun=not self.transcript.empty)

    def _close_find(self) -> None:
        self.find_bar.hide()
        self.transcript.clear_selection()
        self.composer.draft.setFocus()

    def take_focus(self) -> None:
        """Focus the draft."""
        self.composer.draft.setFocus()

    def step_back(self) -> bool:
        """Close the find bar, the chat's settings or an editor if it has the focus; return whether one was closed."""
        focus = QApplication.focusWidget()
        if focus is not None and self.find_bar.isAncestorOf(focus):
            self._close_find()
        elif focus is not None and self.has_choices and self.choices.isAncestorOf(focus):
            self.hide_choices()
        else:
            return self.transcript.end_edit()
        return True

    def toggle_choices(self) -> None:
        """Show the settings of the conversation, or hide them."""
        if self.choices.isVisible():
            self.hide_choices()
            return
        self.choices.show()
        self._place_choices()
        self.choices.system.setFocus()

    def show_format(self) -> None:
        """Show the setting for the format of answers."""
        if not self.choices.isVisible():
            self.toggle_choices()
        self.choices.focus_format()

    def hide_choices(self) -> None:
        """Hide the settings of the conversation."""
        self.choices.hide()
        self._place_choices()
        self.composer.draft.setFocus()

    def _place_choices(self) -> None:
        """Put the settings beside the conversation, or in place of its messages if there is no room for both."""
        if not self.has_choices:
            return
        width = self.choices.sizeHint().width()
        alone = self.width() - width < theme.current().scaled(_LEAST_WIDTH)
        shown = not self.choices.isHidden()
        if alone != (self._middle.indexOf(self.choices) >= 0):
            (self._across if alone else self._middle).removeWidget(self.choices)
            if alone:
                self._middle.insertWidget(self._middle.indexOf(self.stack), self.choices, 1)
            else:
                self._across.addWidget(self.choices)
        self.stack.setHidden(shown and alone)
        self.choices.setMaximumWidth(_ANY_WIDTH if alone else width)
        self.choices.setMinimumWidth(0 if alone else width)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Put the settings where there is room for them."""
        super().resizeEvent(event)
        self._place_choices()

    def show_conversation(self, begun: bool) -> None:
        """Show the transcript, or the welcome page if the conversation has not begun."""
        self.stack.setCurrentWidget(self.transcript if begun else self.welcome)

    def _in_column(self, widget: QWidget, above: int, below: int) -> FollowingRow:
        """Return a row that holds a widget in a centred column of the transcript's width.

        Args:
            widget: The widget.
            above: Margin above it, in pixels.
            below: Margin below it, in pixels.
        """
        frame = FollowingRow()
        layout = QHBoxLayout(frame)
        layout.setContentsMargins(MARGIN, above, MARGIN, below)
        # It is centred where it is narrower than the row.
        layout.addWidget(widget)
        self._columns.append(widget)
        return frame

    def _update_width(self) -> None:
        for widget in self._columns:
            widget.setMaximumWidth(column_width())
        self._place_choices()
