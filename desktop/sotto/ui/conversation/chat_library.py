"""Operations on whole conversations: list, search, rename, pin, archive, move and delete them."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from PySide6.QtCore import QObject, QTimer, Signal, Slot

from sotto.chats.chat_records import Chat, Folder, Shelf
from sotto.ui.conversation.chat_thread import ChatThread
from sotto.ui.toolkit.translation import tr

if TYPE_CHECKING:
    from sotto.chats.chat_store import ChatStore

_T = TypeVar("_T")
_PAUSE_MS = 150
# The tags with which answers are stored and that must not be shown; an excerpt may begin or end in the middle of one.
_TAGS = re.compile(r"(?:<?/?|</?\x02?)\b(?:think|tool_call)\b\x03?>|</?\x02?(?:think|tool_call)\x03?$")


@dataclass(frozen=True, slots=True)
class ChatEntry:
    """A conversation in the list.

    Attributes:
        chat: The conversation.
        excerpt: The text around the search hit, with marks as in `Hit`; empty without a search.
        message: The message that contains the hit; None if there is none.
    """

    chat: Chat
    excerpt: str = ""
    message: int | None = None


class ChatLibrary(QObject):
    """Lists the conversations of one shelf, and changes conversations and folders.

    Signals:
        listed: The list has been read (a tuple of `ChatEntry`, and one of `Folder`).
        counted: The list has been read (the number of conversations on all shelves, whatever is searched for).
        trashed: A conversation was moved to the trash (`Chat`).
        erasing: All conversations are about to be erased; none may stay in view.
        erased: Conversations were erased.
        folder_added: A folder was added (its number).
        folder_removed: A folder was removed (`Folder`, and the numbers of the conversations that were in it).

    Attributes:
        shelf: The shelf that is listed.
    """

    listed = Signal(object, object)
    counted = Signal(int)
    trashed = Signal(object)
    erasing = Signal()
    erased = Signal()
    folder_added = Signal(int)
    folder_removed = Signal(object, object)

    def __init__(self, chats: ChatThread, parent: QObject | None = None) -> None:
        """List the conversations of `chats`."""
        super().__init__(parent)
        self._chats = chats
        self.shelf = Shelf.CURRENT
        self._query = ""
        self._latest_read = 0
        self._pause = QTimer(self, singleShot=True, interval=_PAUSE_MS)
        self._pause.timeout.connect(self.refresh)

    @Slot()
    def refresh(self) -> None:
        """Read the list again."""
        self._latest_read += 1
        number, shelf, query = self._latest_read, self.shelf, self._query

        def read(store: "ChatStore") -> tuple[tuple[ChatEntry, ...], tuple[Folder, ...], int]:
            folders = store.folders() if shelf is Shelf.CURRENT else ()
            chats = store.chats()
            return _entries(store, chats, shelf, query), folders, sum(bool(chat.title) for chat in chats)

        def listed(found: tuple[tuple[ChatEntry, ...], tuple[Folder, ...], int]) -> None:
            if number == self._latest_read:
                entries, folders, chats = found
                self.listed.emit(entries, folders)
                self.counted.emit(chats)

        self._chats.do(read, listed)

    def read_titled(self, make: Callable[[Chat], _T], then: Callable[[tuple[_T, ...]], None]) -> None:
        """Read all conversations that have a title, the last changed first.

        Args:
            make: Converts each of them; called on the chats' thread, because there may be thousands.
            then: Called with the results, on the window's thread.
        """

        def read(store: "ChatStore") -> tuple[_T, ...]:
            chats = sorted(store.chats(), key=lambda chat: -chat.changed)
            return tuple(make(chat) for chat in chats if chat.title and chat.trashed is None)

        self._chats.do(read, then)

    def read_chat(self, chat: int, then: Callable[[Chat], None]) -> None:
        """Call `then` with a conversation, if it exists."""

        def found(read: Chat | None) -> None:
            if read is not None:
                then(read)

        self._chats.do(lambda store: store.chat(chat), found)

    def show_shelf(self, shelf: Shelf) -> None:
        """List the conversations of another shelf."""
        self.shelf = shelf
        self.refresh()

    def search(self, text: str) -> None:
        """List the conversations that contain `text`, after a short pause; all of them if it is empty."""
        self._query = text.strip()
        self._pause.start()

    def rename(self, chat: int, title: str) -> None:
        """Rename a conversation."""
        if title.strip():
            self._change(lambda store: store.change(chat, title=title.strip()))

    def pin(self, chat: int, *, pinned: bool) -> None:
        """Pin a conversation to the top of the list, or unpin it."""
        self._change(lambda store: store.change(chat, pinned=pinned))

    def archive(self, chat: int, *, archived: bool) -> None:
        """Archive a conversation, or bring it back into the list."""
        self._change(lambda store: store.change(chat, archived=archived))

    def move_to_trash(self, chat: Chat) -> None:
        """Move a conversation to the trash."""
        self._change(lambda store: store.throw_away([chat.id]), lambda: self.trashed.emit(chat))

    def erase(self, chat: int) -> None:
        """Erase a conversation that is in the trash; this cannot be undone."""
        self._change(lambda store: store.erase([chat]), self.erased.emit)

    def empty_trash(self) -> None:
        """Erase all conversations in the trash; this cannot be undone."""

        def work(store: "ChatStore") -> None:
            store.empty_trash(older_than=0.0)

        self._change(work, self.erased.emit)

    def erase_all(self) -> None:
        """Erase all conversations and folders; this cannot be undone."""
        self.erasing.emit()
        self._change(lambda store: store.erase_all(), self.erased.emit)

    def count_all(self, then: Callable[[int, Path], None]) -> None:
        """Call `then` with the number of all conversations, and the file that they are in."""
        self._chats.do(lambda store: len(store.chats()), lambda number: then(number, self._chats.path))

    def restore(self, chat: int) -> None:
        """Take a conversation out of the trash."""
        self._change(lambda store: store.bring_back([chat]))

    def move(self, chat: int, folder: int | None) -> None:
        """Move a conversation into a folder; None for none."""
        self._change(lambda store: store.change(chat, folder=folder))

    def add_folder(self, chat: int | None = None) -> None:
        """Add a folder, which the user then names; `chat` is moved into it, None leaves it empty."""

        def work(store: "ChatStore") -> int:
            folder = store.add_folder(tr("New folder"))
            if chat is not None:
                store.change(chat, folder=folder)
            return folder

        def added(folder: int) -> None:
            self.folder_added.emit(folder)
            self.show_shelf(Shelf.CURRENT)

        self._chats.do(work, added)

    def rename_folder(self, folder: int, name: str) -> None:
        """Rename a folder."""
        if name.strip():
            self._change(lambda store: store.rename_folder(folder, name.strip()))

    def close_folder(self, folder: int, *, closed: bool) -> None:
        """Collapse a folder in the list, or expand it."""
        self._change(lambda store: store.close_folder(folder, closed=closed))

    def remove_folder(self, folder: Folder) -> None:
        """Remove a folder but not its conversations."""

        def work(store: "ChatStore") -> tuple[int, ...]:
            inside = tuple(chat.id for chat in store.chats() if chat.folder == folder.id)
            store.remove_folder(folder.id)
            return inside

        def removed(inside: tuple[int, ...]) -> None:
            self.refresh()
            self.folder_removed.emit(folder, inside)

        self._chats.do(work, removed)

    def restore_folder(self, folder: Folder, chats: Sequence[int]) -> None:
        """Undo the removal of a folder; `chats` are the conversations that were in it."""

        def work(store: "ChatStore") -> None:
            number = store.add_folder(folder.name)
            store.close_folder(number, closed=folder.closed)
            for chat in chats:
                store.change(chat, folder=number)

        self._change(work)

    def _change(self, work: Callable[["ChatStore"], None], then: Callable[[], None] | None = None) -> None:
        def done(_: None) -> None:
            self.refresh()
            if then is not None:
                then()

        self._chats.do(work, done)


def _entries(store: "ChatStore", every: Sequence[Chat], shelf: Shelf, query: str) -> tuple[ChatEntry, ...]:
    chats = {chat.id: chat for chat in every if chat.shelf is shelf}
    if not query:
        # A conversation without a title is only a draft.
        return tuple(ChatEntry(chat) for chat in chats.values() if chat.title)
    from sotto.chats.search import search, search_titles

    connection = store.database.connection
    found = {number: ChatEntry(chats[number]) for number in search_titles(connection, query, shelf=shelf)}
    for hit in search(connection, query, shelf=shelf):
        known = found.get(hit.chat)
        if known is None or not known.excerpt:
            found[hit.chat] = ChatEntry(chats[hit.chat], _TAGS.sub("", hit.excerpt), hit.message)
    return tuple(found.values())
