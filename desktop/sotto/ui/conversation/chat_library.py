"""What people do with whole conversations: look for them, name, pin, archive and export them, throw them away."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from PySide6.QtCore import QObject, QTimer, Signal, Slot

from sotto.chats.chat_records import Chat, Folder, Shelf
from sotto.errors import SottoError
from sotto.store.atomic_writing import replace_atomically
from sotto.ui.conversation.chat_thread import ChatThread
from sotto.ui.state.model_state import Problem

if TYPE_CHECKING:
    from sotto.chats.chat_store import ChatStore

_Made = TypeVar("_Made")
_PAUSE_MS = 150
_NEW_FOLDER = "New folder"
# What answers are kept with and nobody is to see, cut off at either end as an excerpt may be.
_TAGS = re.compile(r"(?:<?/?|</?\x02?)\b(?:think|tool_call)\b\x03?>|</?\x02?(?:think|tool_call)\x03?$")


@dataclass(frozen=True, slots=True)
class Entry:
    """A conversation in the list.

    Attributes:
        chat: The conversation.
        excerpt: Words around what was looked for, with marks as in `Hit`; empty where nothing was.
        message: The message that they are from; None for none.
    """

    chat: Chat
    excerpt: str = ""
    message: int | None = None


class ChatLibrary(QObject):
    """The list of conversations.

    Signals:
        listed: What the list shows (a tuple of `Entry`), and the folders that there are (a tuple of `Folder`).
        thrown_away: A conversation is in the trash now (`Chat`).
        folder_added: There is a new folder; its number.
        folder_removed: A folder is gone (`Folder`); the numbers of the conversations that were in it.
        exported: Where conversations were written.
        imported: Numbers of the conversations that were added.
        problem: Something did not work (`Problem`).
    """

    listed = Signal(object, object)
    thrown_away = Signal(object)
    folder_added = Signal(int)
    folder_removed = Signal(object, object)
    exported = Signal(object)
    imported = Signal(object)
    problem = Signal(object)

    def __init__(self, keeper: ChatThread, parent: QObject | None = None) -> None:
        """List what `keeper` has."""
        super().__init__(parent)
        self._keeper = keeper
        self.shelf = Shelf.CURRENT
        self._wanted = ""
        self._newest = 0
        self._pause = QTimer(self, singleShot=True, interval=_PAUSE_MS)
        self._pause.timeout.connect(self.refresh)

    @Slot()
    def refresh(self) -> None:
        """Read the list again."""
        self._newest += 1
        number, shelf, wanted = self._newest, self.shelf, self._wanted

        def read(store: "ChatStore") -> tuple[tuple[Entry, ...], tuple[Folder, ...]]:
            folders = store.folders() if shelf is Shelf.CURRENT else ()
            return _entries(store, shelf, wanted), folders

        def listed(found: tuple[tuple[Entry, ...], tuple[Folder, ...]]) -> None:
            if number == self._newest:
                self.listed.emit(*found)

        self._keeper.do(read, listed)

    def read_titles(self, make: Callable[[Chat], _Made], then: Callable[[tuple[_Made, ...]], None]) -> None:
        """Read every conversation that has a title, the last changed first.

        Args:
            make: Makes something of each, on the thread of the chats: there may be thousands.
            then: Takes all of that.
        """

        def read(store: "ChatStore") -> tuple[_Made, ...]:
            chats = sorted(store.chats(), key=lambda chat: -chat.changed)
            return tuple(make(chat) for chat in chats if chat.title and chat.trashed is None)

        self._keeper.do(read, then)

    def show_shelf(self, shelf: Shelf) -> None:
        """List other conversations."""
        self.shelf = shelf
        self.refresh()

    def look_for(self, text: str) -> None:
        """List the conversations in which `text` was said, soon; all of them where it is empty."""
        self._wanted = text.strip()
        self._pause.start()

    def rename(self, chat: int, title: str) -> None:
        """Call a conversation something else."""
        if title.strip():
            self._change(lambda store: store.change(chat, title=title.strip()))

    def pin(self, chat: int, *, pinned: bool) -> None:
        """Keep a conversation at the top, or no longer."""
        self._change(lambda store: store.change(chat, pinned=pinned))

    def archive(self, chat: int, *, archived: bool) -> None:
        """Keep a conversation out of the list, or bring it back into it."""
        self._change(lambda store: store.change(chat, archived=archived))

    def throw_away(self, chat: Chat) -> None:
        """Put a conversation into the trash."""
        self._change(lambda store: store.throw_away([chat.id]), lambda: self.thrown_away.emit(chat))

    def bring_back(self, chat: int) -> None:
        """Take a conversation out of the trash."""
        self._change(lambda store: store.bring_back([chat]))

    def move(self, chat: int, folder: int | None) -> None:
        """Put a conversation into a folder; None for none."""
        self._change(lambda store: store.change(chat, folder=folder))

    def add_folder(self, chat: int | None = None) -> None:
        """Make a folder that is still to be named, with a conversation in it; None for an empty one."""

        def work(store: "ChatStore") -> int:
            folder = store.add_folder(_NEW_FOLDER)
            if chat is not None:
                store.change(chat, folder=folder)
            return folder

        def made(folder: int) -> None:
            self.folder_added.emit(folder)
            self.show_shelf(Shelf.CURRENT)

        self._keeper.do(work, made)

    def rename_folder(self, folder: int, name: str) -> None:
        """Call a folder something else."""
        if name.strip():
            self._change(lambda store: store.rename_folder(folder, name.strip()))

    def close_folder(self, folder: int, *, closed: bool) -> None:
        """Show no more of a folder than its name, or all that is in it."""
        self._change(lambda store: store.close_folder(folder, closed=closed))

    def remove_folder(self, folder: Folder) -> None:
        """Remove a folder; its conversations stay."""

        def work(store: "ChatStore") -> tuple[int, ...]:
            inside = tuple(chat.id for chat in store.chats() if chat.folder == folder.id)
            store.remove_folder(folder.id)
            return inside

        def removed(inside: tuple[int, ...]) -> None:
            self.refresh()
            self.folder_removed.emit(folder, inside)

        self._keeper.do(work, removed)

    def bring_folder_back(self, folder: Folder, chats: Sequence[int]) -> None:
        """Make a folder again that was removed, with the conversations that were in it."""

        def work(store: "ChatStore") -> None:
            number = store.add_folder(folder.name)
            store.close_folder(number, closed=folder.closed)
            for chat in chats:
                store.change(chat, folder=number)

        self._change(work)

    def export_markdown(self, chat: int, path: Path) -> None:
        """Write the branch of a conversation that is in view into a file."""

        def text(store: "ChatStore") -> str:
            from sotto.chats.exchange import as_markdown
            from sotto.ui.conversation.plain_markdown import to_markdown

            return as_markdown(store.database, chat, to_markdown)

        self._export(text, path)

    def export_json(self, path: Path, chats: tuple[int, ...] | None = None) -> None:
        """Write conversations with all their branches into a file; None for all that are not in the trash."""

        def text(store: "ChatStore") -> str:
            from sotto.chats.exchange import as_json

            return as_json(store.database, chats)

        self._export(text, path)

    def import_json(self, path: Path) -> None:
        """Add the conversations of a file that was exported."""

        def work(store: "ChatStore") -> tuple[int, ...] | str:
            from sotto.chats.exchange import import_json

            try:
                return import_json(store.database, path.read_text(encoding="utf-8"))
            except (OSError, UnicodeDecodeError) as error:
                return f"{path} could not be read: {error}."
            except SottoError as error:
                return f"{path.name}: {error.message}"

        def done(result: tuple[int, ...] | str) -> None:
            if isinstance(result, str):
                self.problem.emit(Problem("Nothing was imported", result))
            else:
                self.imported.emit(result)
                self.refresh()

        self._keeper.do(work, done)

    def _export(self, text: Callable[["ChatStore"], str], path: Path) -> None:
        def work(store: "ChatStore") -> str:
            try:
                replace_atomically(path, text(store))
            except OSError as error:
                return f"{path} could not be written: {error}."
            return ""

        def done(why: str) -> None:
            if why:
                self.problem.emit(Problem("Nothing was exported", why))
            else:
                self.exported.emit(path)

        self._keeper.do(work, done)

    def _change(self, work: Callable[["ChatStore"], None], then: Callable[[], None] | None = None) -> None:
        def done(_: None) -> None:
            self.refresh()
            if then is not None:
                then()

        self._keeper.do(work, done)


def _entries(store: "ChatStore", shelf: Shelf, wanted: str) -> tuple[Entry, ...]:
    chats = {chat.id: chat for chat in store.chats() if chat.shelf is shelf}
    if not wanted:
        # What was never begun is nothing but a draft, which the composer has.
        return tuple(Entry(chat) for chat in chats.values() if chat.title)
    from sotto.chats.search import search, titled

    connection = store.database.connection
    found = {number: Entry(chats[number]) for number in titled(connection, wanted, shelf=shelf)}
    for hit in search(connection, wanted, shelf=shelf):
        known = found.get(hit.chat)
        if known is None or not known.excerpt:
            found[hit.chat] = Entry(chats[hit.chat], _TAGS.sub("", hit.excerpt), hit.message)
    return tuple(found.values())
