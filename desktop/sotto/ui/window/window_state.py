"""Saves the window's geometry and the conversation in view, and restores both at the next start."""

from typing import TYPE_CHECKING

from PySide6.QtCore import QByteArray, QEvent, QObject, Slot

from sotto.chats.chat_records import Chat
from sotto.ui.timing.delayed_call import DelayedCall
from sotto.ui.toolkit.screens import ScreenGuard, centre

if TYPE_CHECKING:
    from sotto.ui.conversation.chat_thread import ChatThread
    from sotto.ui.window.main_window import MainWindow


# Seconds after a move until it is saved, so that it is known after a crash.
_PAUSE = 1.0


class WindowState(QObject):
    """The state of a window, which is stored in its preferences."""

    def __init__(self, window: "MainWindow", chats: "ChatThread") -> None:
        """Save and restore the state of `window`, with conversations from `chats`."""
        super().__init__(window)
        self._window = window
        self._chats = chats
        # Before, the conversation in view is not the user's choice, and is not saved.
        self._settled = False
        self._screens = ScreenGuard(window, window.minimumSize())
        self._moved = DelayedCall(self._save_place, self)
        window.installEventFilter(self)
        window.current.changed.connect(self._remember_chat)
        window.sessions.changed.connect(self._remember_chat)

    def restore_geometry(self) -> None:
        """Place the window where it was, or else in the middle of the screen; called before it is shown."""
        window, geometry = self._window, self._window.preferences.values.window
        if not geometry or not window.restoreGeometry(QByteArray.fromBase64(QByteArray(geometry.encode()))):
            centre(window)
        self._screens.fit()

    def open_chat(self, *, fresh: bool) -> None:
        """Open the conversation that was in view, unless it is gone or the user has begun anything else.

        After a crash, open the one whose answer was interrupted.

        Args:
            fresh: Whether to stay with a new conversation instead.
        """
        chat, current = self._window.preferences.values.chat, self._window.current
        self._settled = fresh

        def found(record: Chat | None) -> None:
            session = current.session
            untouched = session.chat is None and not session.turns and not session.draft.text
            if record is not None and record.trashed is None and untouched:
                current.changed.connect(self._scroll)
                current.open(record.id)
            else:
                self._settled = True

        if not self._settled:
            self._chats.do(lambda store: store.chat(store.interrupted or chat), found)

    @Slot()
    def _scroll(self) -> None:
        window, saved = self._window, self._window.preferences.values
        window.current.changed.disconnect(self._scroll)
        self._settled = True
        if saved.message and window.current.session.chat == saved.chat:
            window.chat.transcript.go_to(saved.message, offset=saved.scroll)

    @Slot()
    def _remember_chat(self) -> None:
        """Save which conversation is in view, so that it is known after a crash, too."""
        if self._settled:
            self._window.preferences.change(chat=self._window.current.session.chat or 0)

    def save(self) -> None:
        """Save the geometry of the window, and what is in view."""
        window = self._window
        self._save_place()
        if self._settled:
            message, scroll = window.chat.transcript.reading_position()
            chat = window.current.session.chat or 0
            window.preferences.change(chat=chat, message=max(0, message), scroll=scroll)

    def _save_place(self) -> None:
        self._window.preferences.change(window=self._window.saveGeometry().toBase64().toStdString())

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Save the place of the window a moment after it was moved, resized or maximized."""
        moves = event.type() in (QEvent.Type.Move, QEvent.Type.Resize, QEvent.Type.WindowStateChange)
        if moves and self._window.isVisible():
            self._moved.schedule(_PAUSE)
        return False
