"""What a person has typed, attached and chosen for a conversation, on its way to the disk."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from PySide6.QtCore import QObject, QTimer, Signal, Slot

from sotto.chats.chat_records import Attachment
from sotto.ui.conversation.chat_loading import LoadedChat
from sotto.ui.conversation.chat_thread import ChatThread
from sotto.ui.conversation.row_ids import ChatRowId

_PAUSE_MS = 500


class DraftState(QObject):
    """The draft, the system prompt and the options of one conversation.

    Signals:
        replaced: There is another draft in place of what was typed; its text.
        attached: What is attached to the draft is different (a tuple of `Attachment`).
        pending_changed: Other files are being read (a tuple of names).
        changed: What a model would be given is different.

    Attributes:
        text: What is typed.
        attachments: What goes along with it.
        pending: The names of files that are being read, to be attached then.
        system: What the model is told first; empty for nothing of the person's own.
        options: How the model answers, by Ollama's names, where that is not as it has it; `think` and `format` as
            `answer_options` keeps them.
        trims: Whether the oldest turns may be left out where the context has no room for them.
    """

    replaced = Signal(str)
    attached = Signal(object)
    pending_changed = Signal(object)
    changed = Signal()

    def __init__(
        self, keeper: ChatThread, row_id: ChatRowId, loaded: LoadedChat | None = None, parent: QObject | None = None
    ) -> None:
        """Go on with what was typed into a conversation and chosen for it.

        Args:
            keeper: Keeps it.
            row_id: Where the conversation is on the disk, or will be.
            loaded: What is on the disk of it; None for a new one.
            parent: Owns this.
        """
        super().__init__(parent)
        self._keeper = keeper
        self._row_id = row_id
        chat = loaded.chat if loaded else None
        self.text = self._kept = chat.draft if chat else ""
        self.attachments: tuple[Attachment, ...] = loaded.attachments if loaded else ()
        self.pending: tuple[str, ...] = ()
        self.system = chat.system if chat else ""
        self.options: Mapping[str, Any] = chat.options if chat else {}
        self.trims = bool(chat and chat.trims)
        self._drafter = QTimer(self, singleShot=True, interval=_PAUSE_MS)
        self._drafter.timeout.connect(self._keep_text)
        self._chooser = QTimer(self, singleShot=True, interval=_PAUSE_MS)
        self._chooser.timeout.connect(self._keep_choices)

    def type(self, text: str) -> None:
        """Take what is typed; it is on the disk soon."""
        if text == self.text:
            return
        self.text = text
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
        row_id = self._row_id
        self._keeper.do(lambda store: store.change(row_id.begun(store), trims=True))
        self.changed.emit()

    def wait_for(self, names: tuple[str, ...]) -> None:
        """Say which files are being read for this draft."""
        if names != self.pending:
            self.pending = names
            self.pending_changed.emit(names)

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
        """Take how many tokens each attachment is."""
        weighed = tuple(replace(one, tokens=count) for one, count in zip(self.attachments, tokens, strict=True))
        if weighed != self.attachments:
            self.attachments = weighed
            self.attached.emit(weighed)

    def sent(self, text: str) -> tuple[Attachment, ...]:
        """Return what is attached to a question, now that it goes to the disk.

        The draft goes from there with it; one that is different stays.
        """
        self._kept = ""
        if self.text == text:
            self.text = ""
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
        taken = self.text, self.attachments
        self.put("", ())
        return taken

    def put(self, text: str, attachments: tuple[Attachment, ...]) -> None:
        """Have another draft."""
        self.type(text)
        self._attach(attachments)
        self.replaced.emit(text)

    def keep(self) -> None:
        """Keep at once what is on its way."""
        self._keep_text()
        if self._chooser.isActive():
            self._keep_choices()

    def _attach(self, attachments: tuple[Attachment, ...]) -> None:
        row_id = self._row_id
        self._keeper.do(lambda store: row_id.keep_attachments(store, attachments))
        self._set(attachments)

    def _set(self, attachments: tuple[Attachment, ...]) -> None:
        if attachments != self.attachments:
            self.attachments = attachments
            self.attached.emit(attachments)
            self.changed.emit()

    @Slot()
    def _keep_text(self) -> None:
        self._drafter.stop()
        if self.text != self._kept:
            text, row_id = self.text, self._row_id
            self._kept = text
            self._keeper.do(lambda store: row_id.keep_draft(store, text))

    @Slot()
    def _keep_choices(self) -> None:
        self._chooser.stop()
        system, options, row_id = self.system, self.options, self._row_id
        self._keeper.do(lambda store: row_id.choose(store, system, options))
