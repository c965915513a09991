"""What the user has typed, attached and chosen for a conversation, and how it is saved."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from PySide6.QtCore import QObject, QTimer, Signal, Slot

from sotto.chats.chat_records import Attachment
from sotto.ui.conversation.chat_loading import LoadedChat
from sotto.ui.conversation.chat_thread import ChatThread
from sotto.ui.conversation.open_edits import OpenEdits
from sotto.ui.conversation.row_ids import ChatRowId

_PAUSE_MS = 500
_NO_IMAGES: Mapping[str, bytes] = {}


class DraftState(QObject):
    """The draft, the open edits, the system prompt and the options of one conversation.

    Signals:
        replaced: The text was replaced by the program (the new text).
        attached: The attachments have changed (a tuple of `Attachment`).
        pending_changed: The files that are being read have changed (a tuple of names).
        changed: What would be sent to a model has changed.

    Attributes:
        text: The text of the draft.
        attachments: The attachments of the draft.
        pending: The names of files that are being read and will then be attached.
        edits: The texts in the open editors of messages.
        system: The system prompt of the conversation; empty for none of its own.
        options: The answer options of the conversation, under Ollama's names; `think` and `format` as in
            `answer_options`.
        trims: Whether the oldest turns may be left out if the context is too short for them.
    """

    replaced = Signal(str)
    attached = Signal(object)
    pending_changed = Signal(object)
    changed = Signal()

    def __init__(
        self, chats: ChatThread, row_id: ChatRowId, loaded: LoadedChat | None = None, parent: QObject | None = None
    ) -> None:
        """Restore the draft and the choices of a conversation.

        Args:
            chats: Saves them.
            row_id: The conversation's row on disk, which may not exist yet.
            loaded: The conversation as read from disk; None for a new one.
            parent: The Qt parent.
        """
        super().__init__(parent)
        self._chats = chats
        self._row_id = row_id
        chat = loaded.chat if loaded else None
        self.text = self._saved_text = chat.draft if chat else ""
        self.attachments: tuple[Attachment, ...] = loaded.attachments if loaded else ()
        self.pending: tuple[str, ...] = ()
        self.edits = OpenEdits(chats, loaded.edits if loaded else {}, self)
        self.system = chat.system if chat else ""
        self.options: Mapping[str, Any] = chat.options if chat else {}
        self.trims = bool(chat and chat.trims)
        # Whether a text could not be saved.
        self._has_failed = False
        self._text_timer = QTimer(self, singleShot=True, interval=_PAUSE_MS)
        self._text_timer.timeout.connect(self._save_text)
        self._choices_timer = QTimer(self, singleShot=True, interval=_PAUSE_MS)
        self._choices_timer.timeout.connect(self._save_choices)

    def set_text(self, text: str) -> None:
        """Change the text; it is saved soon."""
        if text == self.text:
            return
        self.text = text
        self.changed.emit()
        if not self._text_timer.isActive():
            self._text_timer.start()

    def set_choices(self, system: str, options: Mapping[str, Any]) -> None:
        """Set the system prompt and the answer options."""
        self.system, self.options = system, options
        self._choices_timer.start()
        self.changed.emit()

    def allow_trimming(self) -> None:
        """Allow the oldest turns to be left out if the context is too short for them."""
        self.trims = True
        row_id = self._row_id
        self._chats.do(lambda store: store.change(row_id.ensure(store), trims=True))
        self.changed.emit()

    @property
    def begun(self) -> bool:
        """Whether anything is written or attached, or about to be attached."""
        return bool(self.text.strip() or self.attachments or self.pending)

    def set_pending(self, names: tuple[str, ...]) -> None:
        """Set the names of the files that are being read for this draft."""
        if names != self.pending:
            self.pending = names
            self.pending_changed.emit(names)

    def attach(self, more: Sequence[Attachment], images: Mapping[str, bytes] = _NO_IMAGES) -> None:
        """Add attachments; `images` are the files of new images among them, by digest."""
        for digest, data in images.items():
            self._chats.images.keep(digest, data)
        self.set_attachments((*self.attachments, *more))

    def replace_image(self, index: int, attachment: Attachment, image: bytes) -> None:
        """Replace an attachment by another image."""
        self._chats.images.keep(attachment.image, image)
        self.set_attachments((*self.attachments[:index], attachment, *self.attachments[index + 1 :]))

    def detach(self, index: int) -> None:
        """Remove an attachment."""
        self.set_attachments((*self.attachments[:index], *self.attachments[index + 1 :]))

    def set_attachments(self, attachments: tuple[Attachment, ...]) -> None:
        """Replace the attachments, and save them."""
        row_id = self._row_id
        self._chats.do(lambda store: row_id.keep_attachments(store, attachments))
        self._set_attachments(attachments)

    def cut_attachment(self, index: int, begins: int, ends: int) -> None:
        """Limit an attachment to its characters from `begins` to `ends`."""
        part = replace(self.attachments[index], begins=begins, ends=ends, tokens=0)
        self.set_attachments((*self.attachments[:index], part, *self.attachments[index + 1 :]))

    def set_token_counts(self, documents: Sequence[int], images: Sequence[int]) -> None:
        """Set the number of tokens of each document, and of each image."""
        found = {False: iter(documents), True: iter(images)}
        counted = tuple(
            replace(attachment, tokens=next(found[bool(attachment.image)], 0)) for attachment in self.attachments
        )
        if counted != self.attachments:
            self.attachments = counted
            self.attached.emit(counted)

    def hand_over(self, text: str) -> tuple[Attachment, ...]:
        """Remove the draft now that its text is sent as a question, and return the attachments.

        If `text` is not the text of the draft, the draft stays, without its attachments.
        """
        self._saved_text = ""
        if self.text == text:
            self.text = ""
        self._text_timer.start()
        if self._choices_timer.isActive():
            self._save_choices()
        attachments = self.attachments
        self._set_attachments(())
        return attachments

    def restore_attachments(self, attachments: Sequence[Attachment]) -> None:
        """Attach the attachments of a question again that could not be asked."""
        if attachments:
            self.set_attachments((*attachments, *self.attachments))

    def take(self) -> tuple[str, tuple[Attachment, ...]]:
        """Remove the draft, and return its text and attachments."""
        taken = self.text, self.attachments
        self.replace_draft("", ())
        return taken

    def replace_draft(self, text: str, attachments: tuple[Attachment, ...]) -> None:
        """Replace the draft."""
        self.set_text(text)
        self.set_attachments(attachments)
        self.replaced.emit(text)

    def save(self) -> None:
        """Save pending changes at once."""
        self._save_text()
        self.edits.save()
        if self._choices_timer.isActive():
            self._save_choices()

    def _set_attachments(self, attachments: tuple[Attachment, ...]) -> None:
        if attachments != self.attachments:
            self.attachments = attachments
            self.attached.emit(attachments)
            self.changed.emit()

    @Slot()
    def _save_text(self) -> None:
        self._text_timer.stop()
        if self.text != self._saved_text:
            text, row_id = self.text, self._row_id
            self._saved_text = text
            # Said once; it would be said again with every word.
            self._chats.do(
                lambda store: row_id.keep_draft(store, text), otherwise=self._note_failure, quiet=self._has_failed
            )

    @Slot()
    def _note_failure(self) -> None:
        self._has_failed = True

    @Slot()
    def _save_choices(self) -> None:
        self._choices_timer.stop()
        system, options, row_id = self.system, self.options, self._row_id
        self._chats.do(lambda store: row_id.choose(store, system, options))
