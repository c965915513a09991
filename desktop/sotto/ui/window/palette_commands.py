"""The commands of a window's command palette, and what choosing them does."""

import time
from collections.abc import Callable, Iterator

from PySide6.QtCore import QObject, Slot
from PySide6.QtGui import QAction, QKeySequence
from PySide6.QtWidgets import QMainWindow, QMenu

from sotto.chats.chat_records import Chat
from sotto.store.records import ModelRecord
from sotto.ui.conversation.chat_library import ChatLibrary
from sotto.ui.models.model_description import model_details
from sotto.ui.palette.command_finder import Command, Kind
from sotto.ui.palette.palette import Palette
from sotto.ui.preferences.preferences import PreferenceStore
from sotto.ui.session.session import Session
from sotto.ui.state import wording
from sotto.ui.state.names import model_name, short_name

_MAX_RECENT = 30
# Without a query, this many chats and models come first, then the actions, then the other chats and models.
_FIRST = 5


class PaletteCommands(QObject):
    """Fills the palette with chats, models and the actions of all menus, and runs the chosen command."""

    def __init__(
        self,
        window: QMainWindow,
        session: Session,
        chat_library: ChatLibrary,
        preferences: PreferenceStore,
        open_chat: Callable[[int], None],
    ) -> None:
        """Prepare the commands; the palette itself is created when it is first opened.

        Args:
            window: The window over which the palette is shown, and whose menus it offers.
            session: Lists and loads the models.
            chat_library: Lists the chats.
            preferences: Store the recently chosen commands.
            open_chat: Brings the chat of a given number into view.
        """
        super().__init__(window)
        self._window, self._session, self._chat_library = window, session, chat_library
        self._preferences, self._open_chat = preferences, open_chat
        self._palette: Palette | None = None
        self._chats: tuple[Command, ...] = ()

    @property
    def palette(self) -> Palette:
        """The palette, which is created on first use."""
        if self._palette is None:
            self._palette = Palette(self._window.centralWidget() or self._window)
            self._palette.chosen.connect(self._run)
        return self._palette

    @Slot()
    def open(self) -> None:
        """Show the palette, with the chats of the last time until they have been read again."""
        self._offer()
        self.palette.open()
        self._chat_library.read_titled(_chat_command, self._take_chats)

    def _take_chats(self, chats: tuple[Command, ...]) -> None:
        if chats != self._chats:
            self._chats = chats
            if self.palette.isVisible():
                self._offer()

    def _offer(self) -> None:
        models = tuple(_model_command(record) for record in self._session.library.models if record.runnable)
        actions = tuple(self._actions())
        few = (*self._chats[:_FIRST], *models[:_FIRST], *actions)
        everything = (*few, *models[_FIRST:], *self._chats[_FIRST:])
        self.palette.finder.set_commands(everything, self._preferences.values.recent)

    def _actions(self) -> Iterator[Command]:
        for entry in self._window.menuBar().actions():
            menu = entry.menu()
            if isinstance(menu, QMenu):
                yield from _menu_commands(menu, entry.iconText())

    @Slot(object)
    def _run(self, command: Command) -> None:
        target = command.target
        others = (key for key in self._preferences.values.recent if key != command.key)
        self._preferences.change(recent=(command.key, *others)[:_MAX_RECENT])
        if isinstance(target, QAction):
            target.trigger()
        elif isinstance(target, ModelRecord):
            self._session.load(target)
        elif isinstance(target, int):
            self._open_chat(target)


def _chat_command(chat: Chat) -> Command:
    return Command.create(f"chat:{chat.id}", Kind.CHAT, chat.title, wording.ago(time.time() - chat.changed), chat.id)


def _model_command(record: ModelRecord) -> Command:
    return Command.create(
        f"model:{record.digest or record.path}",
        Kind.MODEL,
        short_name(record.name),
        model_details(record),
        record,
        also=model_name(record.name).rpartition("/")[0],
    )


def _menu_commands(menu: QMenu, path: str) -> Iterator[Command]:
    """Yield commands for the enabled actions of a menu and its submenus."""
    for action in menu.actions():
        text = action.text().replace("&&", "\0").replace("&", "").replace("\0", "&")
        below = action.menu()
        if isinstance(below, QMenu):
            yield from _menu_commands(below, f"{path} › {text}")
        elif text and action.isEnabled() and action.isVisible() and action.objectName() != "command_palette":
            keys = action.shortcut().toString(QKeySequence.SequenceFormat.NativeText)
            yield Command.create(
                f"action:{action.objectName()}", Kind.ACTION, text.removesuffix("…"), path, action, keys
            )
