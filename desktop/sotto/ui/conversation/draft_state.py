"""What a person has typed, attached and chosen for the conversation in view, on its way to the disk."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from PySide6.QtCore import QObject, QTimer, Signal, Slot

from sotto.chats.records import Attachment, Chat
from sotto.ui.conversation.chat_thread import ChatKeeper
from sotto.ui.conversation.row_ids import ChatRowId
from sotto.ui.conversation.talk import Written

_PAUSE_MS = 500


class DraftState(QObject):
    """The draft, the system prompt and the options of one conversation.

    Signals:
        draft_opened: What was typed into the conversation that was opened, and never sent.
        choices_opened: What was chosen for it: its system prompt, and its options.
        attached: What is attached to the draft is another (a tuple of `Attachment`).
        changed: What a model would be given is another.

    Attributes:
        place: Where the conversation is on the disk.
        draft: What is typed.
        attachments: What goes along with it.
        system: What the model is told first; empty for nothing of the person's own.
        options: How the model answers, by Ollama's names, where that is not as it has it; `think` and `format` as
            `manners` keeps them.
        trims: Whether the oldest turns may be left out where the context has no room for them.
    """

    draft_opened = Signal(str)
    choices_opened = Signal(str, object)
    attached = Signal(object)
    changed = Signal()

    def __init__(self, keeper: ChatKeeper, place: ChatRowId, parent: QObject | None = None) -> None:
        """Begin with nothing typed into the conversation at `place`, which is a new one."""
        super().__init__(parent)
        self._keeper = keeper
        self.place = place
        self.draft = self._kept = ""
        self.attachments: tuple[Attachment, ...] = ()
        self.system = ""
        self.options: Mapping[str, Any] = {}
        self.trims = False
        self._drafter = QTimer(self, singleShot=True, interval=_PAUSE_MS)
        self._drafter.timeout.connect(self._keep_draft)
        self._chooser = QTimer(self, singleShot=True, interval=_PAUSE_MS)
        self._chooser.timeout.connect(self._keep_choices)

    def open(self, place: ChatRowId, chat: Chat | None, attachments: tuple[Attachment, ...] = ()) -> None:
        """Go on with what was typed into a conversation and chosen for it; None for a new one."""
        if chat is not None:
            self.take_over(place, Written(chat.draft, attachments, chat.system, chat.options, chat.trims))
        else:
            self.take_over(place, Written("", attachments, "", {}, trims=False))

    @property
    def written(self) -> Written:
        """What is typed and chosen now."""
        return Written(self.draft, self.attachments, self.system, self.options, self.trims)

    def take_over(self, place: ChatRowId, written: Written) -> None:
        """Go on with what was typed into a conversation and chosen for it, which is on the disk."""
        self.place = place
        self.draft = self._kept = written.draft
        self.system, self.options, self.trims = written.system, written.options, written.trims
        self._set(written.attachments)
        self.draft_opened.emit(self.draft)
        self.choices_opened.emit(self.system, self.options)

    def type(self, text: str) -> None:
        """Take note of what is typed; it is on the disk soon."""
        if text == self.draft:
            return
        self.draft = text
        self.changed.emit()
        if not self._drafter.isActive():
            self._drafter.start()

    def choose(self, system: str, options: Mapping[str, Any]) -> None:
        """Answer with this system prompt and these options from now on."""
        self.system, self.options = system, options
        self._chooser.start()
        self.changed.emit()

    def trim(self) -> None:
        """Leave the oldest turns out from now on, where the context has no room for them."""
        self.trims = True
        place = self.place
        self._keeper.do(lambda store: store.change(place.begun(store), trims=True))
        self.changed.emit()

    def attach(self, more: Sequence[Attachment]) -> None:
        """Let this go along with the draft, behind what does already."""
        self._attach((*self.attachments, *more))

    def detach(self, index: int) -> None:
        """Let something no longer go along."""
        self._attach((*self.attachments[:index], *self.attachments[index + 1 :]))

    def cut(self, index: int, begins: int, ends: int) -> None:
        """Let the model be given only a part of something that is attached."""
        one = replace(self.attachments[index], begins=begins, ends=ends, tokens=0)
        self._attach((*self.attachments[:index], one, *self.attachments[index + 1 :]))

    def weigh(self, tokens: Sequence[int]) -> None:
        """Take note of how many tokens each attachment is."""
        weighed = tuple(replace(one, tokens=count) for one, count in zip(self.attachments, tokens, strict=True))
        if weighed != self.attachments:
            self.attachments = weighed
            self.attached.emit(weighed)

    def sent(self, text: str) -> tuple[Attachment, ...]:
        """Take note that a question goes to the disk, and return what is attached to it.

        The draft goes from there with it; one that is another stays.
        """
        self._kept = ""
        if self.draft == text:
            self.draft = ""
        self._drafter.start()
        if self._chooser.isActive():
            self._keep_choices()
        attachments = self.attachments
        self._set(())
        return attachments

    def give_back(self, attachments: Sequence[Attachment]) -> None:
        """Attach again what went along with a question that could not be asked."""
        if attachments:
            self._attach((*attachments, *self.attachments))

    def take(self) -> tuple[str, tuple[Attachment, ...]]:
        """Take the draft out of this conversation, and return it with what is attached."""
        taken = self.draft, self.attachments
        self.type("")
        self._attach(())
        return taken

    def put(self, text: str, attachments: tuple[Attachment, ...]) -> None:
        """Have another draft."""
        self.type(text)
        self._attach(attachments)
        self.draft_opened.emit(text)

    def leave(self) -> None:
        """Keep at once what is on its way."""
        self._keep_draft()
        if self._chooser.isActive():
            self._keep_choices()

    def _attach(self, attachments: tuple[Attachment, ...]) -> None:
        place = self.place
        self._keeper.do(lambda store: place.keep_attachments(store, attachments))
        self._set(attachments)

    def _set(self, attachments: tuple[Attachment, ...]) -> None:
        if attachments != self.attachments:
            self.attachments = attachments
            self.attached.emit(attachments)
            self.changed.emit()

    @Slot()
    def _keep_draft(self) -> None:
        self._drafter.stop()
        if self.draft != self._kept:
            text, place = self.draft, self.place
            self._kept = text
            self._keeper.do(lambda store: place.keep_draft(store, text))

    @Slot()
    def _keep_choices(self) -> None:
        self._chooser.stop()
        system, options, place = self.system, self.options, self.place
        self._keeper.do(lambda store: place.choose(store, system, options))
