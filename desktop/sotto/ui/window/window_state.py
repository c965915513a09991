"""The window where it was, with the conversation that was in view."""

from typing import TYPE_CHECKING

from PySide6.QtCore import QByteArray, QObject, QRect, QSize, Slot
from PySide6.QtGui import QGuiApplication

from sotto.chats.chat_records import Chat

if TYPE_CHECKING:
    from sotto.ui.conversation.chat_thread import ChatThread
    from sotto.ui.window.main_window import MainWindow


class Restorer(QObject):
    """Remembers a window in its preferences, and brings it back."""

    def __init__(self, window: "MainWindow", keeper: "ChatThread") -> None:
        """Belong to `window`."""
        super().__init__(window)
        self._window = window
        self._keeper = keeper
        # Until then the conversation in view is not the person's choice.
        self._settled = False

    def place(self) -> None:
        """Put the window where it was, as far as there is a screen; before it is shown."""
        window, kept = self._window, self._window.preferences.values.window
        if kept and window.restoreGeometry(QByteArray.fromBase64(QByteArray(kept.encode()))):
            rooms = [screen.availableGeometry() for screen in QGuiApplication.screens()]
            if not window.isMaximized() and not window.isFullScreen():
                window.setGeometry(clamped(window.geometry(), rooms, window.minimumSize()))

    def open_chat(self, *, fresh: bool) -> None:
        """Bring the conversation into view that was, if it is still there and nothing else has come meanwhile.

        Args:
            fresh: Whether none of that is wanted.
        """
        chat, current = self._window.preferences.values.chat, self._window.current
        self._settled = fresh or not chat

        def known(found: Chat | None) -> None:
            session = current.session
            untouched = session.chat is None and not session.turns and not session.draft.text
            if found is not None and found.trashed is None and untouched:
                current.changed.connect(self._scroll)
                current.open(chat)
            else:
                self._settled = True

        if not self._settled:
            self._keeper.do(lambda store: store.chat(chat), known)

    @Slot()
    def _scroll(self) -> None:
        window, kept = self._window, self._window.preferences.values
        window.current.changed.disconnect(self._scroll)
        self._settled = True
        if kept.message and window.current.session.chat == kept.chat:
            window.chat.transcript.go_to(kept.message, below=kept.scroll)

    def remember(self) -> None:
        """Take note of where the window is, and of what is in view."""
        window = self._window
        window.preferences.change(window=window.saveGeometry().toBase64().toStdString())
        if self._settled:
            message, scroll = window.chat.transcript.reading()
            chat = window.current.session.chat or 0
            window.preferences.change(chat=chat, message=max(0, message), scroll=scroll)


def clamped(wanted: QRect, rooms: list[QRect], least: QSize) -> QRect:
    """Return where a window is, all of it in the room that has most of it, and no smaller than `least`."""

    def shared(room: QRect) -> int:
        common = room.intersected(wanted)
        return common.width() * common.height() if common.isValid() else 0

    room = max(rooms, key=shared)
    size = wanted.size().boundedTo(room.size()).expandedTo(least)
    left = max(room.left(), min(wanted.left(), room.right() + 1 - size.width()))
    top = max(room.top(), min(wanted.top(), room.bottom() + 1 - size.height()))
    return QRect(left, top, size.width(), size.height())
