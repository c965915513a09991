"""What a person has typed and chosen for the conversation in view, on its way to the disk."""

from collections.abc import Mapping
from typing import Any

from PySide6.QtCore import QObject, QTimer, Signal, Slot

from sotto.chats.records import Chat
from sotto.ui.chat_keeper import ChatKeeper
from sotto.ui.places import ChatPlace

_PAUSE_MS = 500


class Unsent(QObject):
    """The draft, the system prompt and the options of one conversation.

    Signals:
        draft_opened: What was typed into the conversation that was opened, and never sent.
        choices_opened: What was chosen for it: its system prompt, and its options.

    Attributes:
        draft: What is typed.
        system: What the model is told first; empty for nothing of the person's own.
        options: How answers are drawn, by Ollama's names, where that is not as the model has it.
    """

    draft_opened = Signal(str)
    choices_opened = Signal(str, object)

    def __init__(self, keeper: ChatKeeper, place: ChatPlace, parent: QObject | None = None) -> None:
        """Begin with nothing typed into the conversation at `place`, which is a new one."""
        super().__init__(parent)
        self._keeper = keeper
        self._place = place
        self.draft = self._kept = ""
        self.system = ""
        self.options: Mapping[str, Any] = {}
        self._drafter = QTimer(self, singleShot=True, interval=_PAUSE_MS)
        self._drafter.timeout.connect(self._keep_draft)
        self._chooser = QTimer(self, singleShot=True, interval=_PAUSE_MS)
        self._chooser.timeout.connect(self._keep_choices)

    def open(self, place: ChatPlace, chat: Chat | None) -> None:
        """Go on with what was typed into a conversation and chosen for it; None for a new one."""
        self._place = place
        self.draft = self._kept = chat.draft if chat else ""
        self.system, self.options = (chat.system, chat.options) if chat else ("", {})
        self.draft_opened.emit(self.draft)
        self.choices_opened.emit(self.system, self.options)

    def type(self, text: str) -> None:
        """Take note of what is typed; it is on the disk soon."""
        self.draft = text
        if not self._drafter.isActive():
            self._drafter.start()

    def choose(self, system: str, options: Mapping[str, Any]) -> None:
        """Answer with this system prompt and these options from now on."""
        self.system, self.options = system, options
        self._chooser.start()

    def sent(self, text: str) -> None:
        """Take note that a question goes to the disk. The draft goes from there with it; one that is another stays."""
        self._kept = ""
        if self.draft == text:
            self.draft = ""
        self._drafter.start()
        if self._chooser.isActive():
            self._keep_choices()

    def leave(self) -> None:
        """Keep at once what is on its way."""
        self._keep_draft()
        if self._chooser.isActive():
            self._keep_choices()

    @Slot()
    def _keep_draft(self) -> None:
        self._drafter.stop()
        if self.draft != self._kept:
            text, place = self.draft, self._place
            self._kept = text
            self._keeper.do(lambda store: place.keep_draft(store, text))

    @Slot()
    def _keep_choices(self) -> None:
        self._chooser.stop()
        system, options, place = self.system, self.options, self._place
        self._keeper.do(lambda store: place.choose(store, system, options))
