"""What the command palette of a window offers, and what becomes of what is chosen there."""

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

_REMEMBERED = 30
# So many of each kind stand before the rest where nothing is looked for.
_FEW = 5


class PaletteCommands(QObject):
    """Fills the palette with chats, models and the actions of every menu, and carries out what is chosen."""

    def __init__(
        self,
        window: QMainWindow,
        session: Session,
        chat_library: ChatLibrary,
        preferences: PreferenceStore,
        open_chat: Callable[[int], None],
    ) -> None:
        """Offer what there is; the palette itself is made when it is wanted first.

        Args:
            window: What the palette lies over, and whose menus it offers.
            session: Has the models, and loads them.
            chat_library: Knows the chats.
            preferences: Remember what was chosen last.
            open_chat: Brings a chat into view, by its number.
        """
        super().__init__(window)
        self._window, self._session, self._chat_library = window, session, chat_library
        self._preferences, self._open_chat = preferences, open_chat
        self._palette: Palette | None = None
        self._chats: tuple[Command, ...] = ()

    @property
    def palette(self) -> Palette:
        """The palette."""
        if self._palette is None:
            self._palette = Palette(self._window.centralWidget() or self._window)
            self._palette.chosen.connect(self._carry_out)
        return self._palette

    @Slot()
    def open(self) -> None:
        """Show the palette, with the chats as they were last time until they are read again."""
        self._offer()
        self.palette.open()
        self._chat_library.read_titled(_chat, self._take_chats)

    def _take_chats(self, chats: tuple[Command, ...]) -> None:
        if chats != self._chats:
            self._chats = chats
            if self.palette.isVisible():
                self._offer()

    def _offer(self) -> None:
        models = tuple(_model(record) for record in self._session.library.models if record.runnable)
        actions = tuple(self._actions())
        few = (*self._chats[:_FEW], *models[:_FEW], *actions)
        everything = (*few, *models[_FEW:], *self._chats[_FEW:])
        self.palette.finder.offer(everything, self._preferences.values.recent)

    def _actions(self) -> Iterator[Command]:
        for entry in self._window.menuBar().actions():
            menu = entry.menu()
            if isinstance(menu, QMenu):
                yield from _actions_of(menu, entry.text().replace("&", ""))

    @Slot(object)
    def _carry_out(self, command: Command) -> None:
        target = command.target
        others = (key for key in self._preferences.values.recent if key != command.key)
        self._preferences.change(recent=(command.key, *others)[:_REMEMBERED])
        if isinstance(target, QAction):
            target.trigger()
        elif isinstance(target, ModelRecord):
            self._session.load(target)
        elif isinstance(target, int):
            self._open_chat(target)


def _chat(chat: Chat) -> Command:
    return Command.of(f"chat:{chat.id}", Kind.CHAT, chat.title, wording.ago(time.time() - chat.changed), chat.id)


def _model(record: ModelRecord) -> Command:
    return Command.of(
        f"model:{record.digest or record.path}",
        Kind.MODEL,
        short_name(record.name),
        model_details(record),
        record,
        also=model_name(record.name).rpartition("/")[0],
    )


def _actions_of(menu: QMenu, path: str) -> Iterator[Command]:
    """Yield what can be done now in a menu and those below it."""
    for action in menu.actions():
        text = action.text().replace("&&", "\0").replace("&", "").replace("\0", "&")
        below = action.menu()
        if isinstance(below, QMenu):
            yield from _actions_of(below, f"{path} › {text}")
        elif text and action.isEnabled() and action.isVisible() and action.objectName() != "palette":
            keys = action.shortcut().toString(QKeySequence.SequenceFormat.NativeText)
            yield Command.of(f"action:{path}/{text}", Kind.ACTION, text.removesuffix("…"), path, action, keys)
