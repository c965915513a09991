"""Opens Sotto's own addresses, `sotto://…`, in the window."""

from functools import partial

from PySide6.QtCore import QObject, Slot

from sotto.chats.chat_records import Chat
from sotto.errors import InvalidNameError
from sotto.store.records import ModelRecord
from sotto.store.sources.hugging_face_names import parse_wanted
from sotto.store.sources.model_names import parse_name
from sotto.ui.app.own_addresses import AskAddress, ChatAddress, InvalidAddressError, parse_address
from sotto.ui.conversation.chat_thread import ChatThread
from sotto.ui.conversation.draft_state import DraftState
from sotto.ui.state.model_state import Problem
from sotto.ui.state.names import shorten_middle
from sotto.ui.toolkit.translation import tr
from sotto.ui.window.main_window import MainWindow

_MAX_SHOWN = 200


class AddressOpener(QObject):
    """Shows what an address asks for, and leaves every decision to the user."""

    def __init__(self, window: MainWindow, chats: ChatThread) -> None:
        """Show things in `window`, with conversations from `chats`."""
        super().__init__(window)
        self._window, self._chats = window, chats
        # The model to show once the first search for models has ended; empty for none.
        self._model = ""
        window.session.library.changed.connect(self._show_waiting)

    def open(self, address: str) -> None:
        """Open an address, or say in one sentence why not."""
        try:
            wanted = parse_address(address)
        except InvalidAddressError as error:
            self._refuse(error.message)
            return
        if isinstance(wanted, AskAddress):
            self._fill_in(wanted.text)
        elif isinstance(wanted, ChatAddress):
            self._open_chat(wanted.number)
        else:
            self._model = wanted.name
            self._show_waiting()

    def _refuse(self, why: str) -> None:
        self._window.notices.show_problem(Problem(tr("Address not opened"), why))

    def _fill_in(self, text: str) -> None:
        """Put a text into the composer of a conversation without messages; ask first if there is a draft."""
        window = self._window
        if window.current.session.turns:
            window.new_chat()
        window.panes.show_chat()
        draft = window.current.session.draft
        if draft.begun:
            question, shown = tr("Add this text to your draft?"), shorten_middle(" ".join(text.split()), _MAX_SHOWN)
            window.notices.show_question(question, shown, tr("Add", "to the draft"), partial(_append, draft, text))
        else:
            draft.replace_draft(text, ())

    def _open_chat(self, number: int) -> None:
        def found(chat: Chat | None) -> None:
            if chat is None or chat.trashed is not None:
                self._refuse(tr("There is no chat with the number {number}.").format(number=number))
            else:
                self._window.current.open(number)
                self._window.panes.show_chat()

        self._chats.do(lambda store: store.chat(number), found)

    @Slot()
    def _show_waiting(self) -> None:
        library = self._window.session.library
        if not self._model or library.searching:
            return
        wanted, self._model = self._model, ""
        try:
            name = parse_wanted(wanted).short
        except InvalidNameError as error:
            self._refuse(error.message)
            return
        models = self._window.models
        record = next((record for record in library.models if _full_name(record) == name), None)
        if record is not None:
            models.open_page()
            models.page.show_details(record)
        else:
            models.downloading.offer(wanted)


def _append(draft: DraftState, text: str) -> None:
    whole = f"{draft.text.rstrip()}\n\n{text}" if draft.text.strip() else text
    draft.replace_draft(whole, draft.attachments)


def _full_name(record: ModelRecord) -> str:
    """Return a model's name with its tag; what no registry would accept stays as it is."""
    try:
        return parse_name(record.name).short
    except InvalidNameError:
        return record.name
