"""Saves the window's geometry and the conversation in view, and restores both at the next start."""

from typing import TYPE_CHECKING

from PySide6.QtCore import QByteArray, QObject, QRect, QSize, Slot
from PySide6.QtGui import QGuiApplication

from sotto.chats.chat_records import Chat

if TYPE_CHECKING:
    from sotto.ui.conversation.chat_thread import ChatThread
    from sotto.ui.window.main_window import MainWindow


class WindowState(QObject):
    """The state of a window, which is stored in its preferences."""

    def __init__(self, window: "MainWindow", chats: "ChatThread") -> None:
        """Save and restore the state of `window`, with conversations from `chats`."""
        super().__init__(window)
        self._window = window
        self._chats = chats
        # Before, the conversation in view is not the user's choice, and is not saved.
        self._settled = False

    def restore_geometry(self) -> None:
        """Place the window where it was, within the screens that exist now; called before it is shown."""
        window, geometry = self._window, self._window.preferences.values.window
        if geometry and window.restoreGeometry(QByteArray.fromBase64(QByteArray(geometry.encode()))):
            screens = [screen.availableGeometry() for screen in QGuiApplication.screens()]
            if not window.isMaximized() and not window.isFullScreen():
                window.setGeometry(clamp(window.geometry(), screens, window.minimumSize()))

    def open_chat(self, *, fresh: bool) -> None:
        """Open the conversation that was in view, if it still exists and the user has not begun anything else.

        Args:
            fresh: Whether to stay with a new conversation instead.
        """
        chat, current = self._window.preferences.values.chat, self._window.current
        self._settled = fresh or not chat

        def found(record: Chat | None) -> None:
            session = current.session
            untouched = session.chat is None and not session.turns and not session.draft.text
            if record is not None and record.trashed is None and untouched:
                current.changed.connect(self._scroll)
                current.open(chat)
            else:
                self._settled = True

        if not self._settled:
            self._chats.do(lambda store: store.chat(chat), found)

    @Slot()
    def _scroll(self) -> None:
        window, saved = self._window, self._window.preferences.values
        window.current.changed.disconnect(self._scroll)
        self._settled = True
        if saved.message and window.current.session.chat == saved.chat:
            window.chat.transcript.go_to(saved.message, offset=saved.scroll)

    def save(self) -> None:
        """Save the geometry of the window, and what is in view."""
        window = self._window
        window.preferences.change(window=window.saveGeometry().toBase64().toStdString())
        if self._settled:
            message, scroll = window.chat.transcript.reading_position()
            chat = window.current.session.chat or 0
            window.preferences.change(chat=chat, message=max(0, message), scroll=scroll)


def clamp(geometry: QRect, screens: list[QRect], minimum: QSize) -> QRect:
    """Return the geometry of a window, moved and resized to lie within one screen.

    Args:
        geometry: The wanted geometry.
        screens: The available areas of the screens; the one that shows most of the window is used.
        minimum: The minimum size of the window, which is kept even if the screen is smaller.
    """

    def overlap(screen: QRect) -> int:
        common = screen.intersected(geometry)
        return common.width() * common.height() if common.isValid() else 0

    screen = max(screens, key=overlap)
    size = geometry.size().boundedTo(screen.size()).expandedTo(minimum)
    left = max(screen.left(), min(geometry.left(), screen.right() + 1 - size.width()))
    top = max(screen.top(), min(geometry.top(), screen.bottom() + 1 - size.height()))
    return QRect(left, top, size.width(), size.height())
