"""Conversations on disk: their messages with all versions, folders and the trash.

An edit or another answer is a new message beside the old one, and a deleted conversation stays in the trash for a
while; `message_changes` deletes messages. Everything is on the disk when a method returns. A store belongs to one
thread.
"""

import contextlib
import json
import sqlite3
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from sotto.chats import image_rows
from sotto.chats.branches import end_branch_with, update_model
from sotto.chats.chat_records import Attachment, Branch, Chat, Folder, Role, State, clean, title_from
from sotto.chats.database import Database
from sotto.chats.image_store import ImageStore
from sotto.chats.own_form import attachment_in_own_form
from sotto.chats.row_reading import CHAT_COLUMNS, branch_of, chat_of, drafted_attachments, versions_of
from sotto.errors import SottoError

TRASH_SECONDS = 30 * 24 * 3600
_SETTABLE = frozenset(("title", "folder", "pinned", "archived", "draft", "system", "options", "trims"))
# Deletes a conversation that has neither messages nor settings.
_ERASE_EMPTY = """
DELETE FROM chats WHERE id = ? AND title = '' AND trim(draft) = '' AND leaf IS NULL AND system = '' AND options = '{}'
AND NOT EXISTS (SELECT 1 FROM attachments WHERE attachments.chat = chats.id)
"""


class ChatStore:
    """All conversations of one file.

    Attributes:
        images: The images that messages and drafts have.
        interrupted: The number of the conversation whose answer was being written when the app ended; None if there
            was none.
        now: Returns the time in seconds since 1970.
    """

    def __init__(self, database: Database, now: Callable[[], float] = time.time) -> None:
        """Use `database`.

        Marks answers that were being written when the app ended as interrupted, and erases conversations that have been
        in the trash for long enough, and images that a process which was killed has left over.

        Args:
            database: Open, for this thread alone.
            now: Returns the time in seconds since 1970.
        """
        self.database = database
        self.images = ImageStore(database.path)
        # Images that were stored for a draft whose row has not been written yet.
        self._awaited: set[str] = set()
        self.now = now
        row = self._execute("SELECT chat FROM messages WHERE state = ? ORDER BY id DESC", State.STREAMING).fetchone()
        self.interrupted: int | None = row[0] if row else None
        if database.writable:
            with database.writing():
                self._execute("UPDATE messages SET state = ? WHERE state = ?", State.INTERRUPTED, State.STREAMING)
            self.empty_trash()
            image_rows.watch(database.connection)
            if not database.damaged_files:
                self.images.sweep(image_rows.used(database.connection))

    def close(self) -> None:
        """Close the file, after deleting the images that nothing has any more and nothing can bring back."""
        if self.database.writable:
            self.images.remove(image_rows.released(self.database.connection) - self._awaited)
        self.database.close()

    # Conversations

    def chats(self) -> tuple[Chat, ...]:
        """Return all conversations, including the trash: pinned ones first, then those changed last."""
        rows = self._execute(
            f"SELECT {CHAT_COLUMNS} FROM chats WHERE NOT pending ORDER BY pinned DESC, changed DESC, id DESC"
        )
        return tuple(chat_of(row) for row in rows)

    def chat(self, chat: int) -> Chat | None:
        """Return a conversation, or None if there is none with that number."""
        row = self._execute(f"SELECT {CHAT_COLUMNS} FROM chats WHERE id = ?", chat).fetchone()
        return None if row is None else chat_of(row)

    def add_chat(self) -> int:
        """Add an empty conversation, and return its number."""
        with self.database.writing():
            return self._begin()

    def change(self, chat: int, **values: Any) -> None:
        """Set columns of a conversation.

        Args:
            chat: Its number.
            **values: Any of title, folder, pinned, archived, draft, system, options and trims, as in `Chat`.

        Raises:
            ValueError: A column is unknown, or cannot be set.
        """
        if unknown := set(values) - _SETTABLE:
            raise ValueError(f"{', '.join(sorted(unknown))} of a conversation cannot be set.")
        if "options" in values:
            values["options"] = json.dumps(values["options"])
        with self.database.writing():
            for name, value in values.items():
                kept = clean(value) if isinstance(value, str) else value
                self._execute(f"UPDATE chats SET {name} = ? WHERE id = ?", kept, chat)

    def keep_draft(self, chat: int | None, text: str) -> int | None:
        """Save a draft, in a new conversation if `chat` is None, and return the conversation's number.

        A conversation without messages and settings is deleted with its draft; None is returned then.
        """
        with self.database.writing():
            if chat is None:
                if not text.strip():
                    return None
                chat = self._begin()
            self._execute("UPDATE chats SET draft = ? WHERE id = ?", clean(text), chat)
            return None if self._execute(_ERASE_EMPTY, chat).rowcount else chat

    def keep_attachments(self, chat: int | None, attachments: Sequence[Attachment]) -> int | None:
        """Replace the attachments of a draft; return the same as `keep_draft`."""
        with self.database.writing():
            if chat is None:
                if not attachments:
                    return None
                chat = self._begin()
            self._attach(chat, None, attachments)
            return None if self._execute(_ERASE_EMPTY, chat).rowcount else chat

    def keep_image(self, data: bytes) -> str:
        """Store an image, to which an attachment may then refer, and return its digest.

        Raises:
            SottoError: Nothing can be saved.
            OSError: It cannot be written.
        """
        if not self.database.writable:
            raise SottoError(self.database.refusal)
        digest = self.images.keep(data)
        self._awaited.add(digest)
        return digest

    def drafted(self, chat: int) -> tuple[Attachment, ...]:
        """Return the attachments of a conversation's draft."""
        return drafted_attachments(self.database.connection, chat)

    def edits(self, chat: int) -> dict[int, str]:
        """Return the texts in the open editors of a conversation's messages, by the number of the message."""
        rows = self._execute("SELECT id, edit FROM messages WHERE chat = ? AND edit <> '' ORDER BY id", chat)
        return {message: text for message, text in rows if isinstance(text, str)}

    def keep_edit(self, message: int, text: str) -> None:
        """Save the text in the open editor of a message; empty for none."""
        with self.database.writing():
            self._execute("UPDATE messages SET edit = ? WHERE id = ?", clean(text), message)

    def unbegun(self) -> Chat | None:
        """Return the newest conversation without messages, or None."""
        row = self._execute(
            f"SELECT {CHAT_COLUMNS} FROM chats WHERE leaf IS NULL AND title = '' AND trashed IS NULL AND NOT pending "
            "ORDER BY id DESC"
        ).fetchone()
        return None if row is None else chat_of(row)

    def throw_away(self, chats: Sequence[int]) -> None:
        """Move conversations to the trash."""
        with self.database.writing():
            for chat in chats:
                self._execute("UPDATE chats SET trashed = ? WHERE id = ? AND trashed IS NULL", self.now(), chat)

    def bring_back(self, chats: Sequence[int]) -> None:
        """Restore conversations from the trash."""
        with self.database.writing():
            for chat in chats:
                self._execute("UPDATE chats SET trashed = NULL WHERE id = ?", chat)

    def empty_trash(self, *, older_than: float = TRASH_SECONDS) -> int:
        """Erase conversations that have been in the trash for `older_than` seconds, and return their number."""
        with self._erasing():
            return self._execute("DELETE FROM chats WHERE trashed <= ?", self.now() - older_than).rowcount

    def erase(self, chats: Sequence[int]) -> None:
        """Erase conversations that are in the trash."""
        with self._erasing():
            for chat in chats:
                self._execute("DELETE FROM chats WHERE id = ? AND trashed IS NOT NULL", chat)

    def erase_all(self) -> None:
        """Erase all conversations and folders, and give their room on the disk back."""
        with self._erasing():
            self._execute("DELETE FROM chats")
            self._execute("DELETE FROM folders")
        self._execute("VACUUM")

    def folders(self) -> tuple[Folder, ...]:
        """Return all folders by name."""
        rows = self._execute("SELECT id, name, closed FROM folders ORDER BY name COLLATE NOCASE, id")
        return tuple(Folder(number, str(name), bool(closed)) for number, name, closed in rows)

    def add_folder(self, name: str) -> int:
        """Add a folder, and return its number."""
        with self.database.writing():
            return self.database.insert("folders", name=clean(name))

    def rename_folder(self, folder: int, name: str) -> None:
        """Rename a folder."""
        with self.database.writing():
            self._execute("UPDATE folders SET name = ? WHERE id = ?", clean(name), folder)

    def close_folder(self, folder: int, *, closed: bool) -> None:
        """Set whether the list shows only a folder's name, or its conversations too."""
        with self.database.writing():
            self._execute("UPDATE folders SET closed = ? WHERE id = ?", closed, folder)

    def remove_folder(self, folder: int) -> None:
        """Remove a folder; its conversations stay, without a folder."""
        with self.database.writing():
            self._execute("DELETE FROM folders WHERE id = ?", folder)

    # Messages

    def branch(self, chat: int) -> Branch:
        """Return the branch of a conversation that is in view."""
        return branch_of(self.database.connection, chat)

    def ask(self, chat: int, text: str, parent: int | None, attachments: Sequence[Attachment] = ()) -> int:
        """Add a question after the message `parent`, or as a version of the first message; return its number.

        This clears the conversation's draft. The first question gives the conversation its title.
        """
        text = clean(text)
        with self.database.writing():
            self._execute(
                "UPDATE chats SET draft = '', title = coalesce(nullif(title, ''), ?) WHERE id = ?",
                *(title_from(text, attachments), chat),
            )
            message = self._add(chat, parent, Role.USER, text, State.COMPLETE)
            self._attach(chat, None, ())
            self._attach(chat, message, attachments)
            return message

    def begin_answer(self, question: int, model: str, figures: Mapping[str, Any] | None = None) -> int:
        """Add an empty answer to `question`, beside any others; return its number.

        Args:
            question: Number of the question.
            model: Name of the model that answers.
            figures: Statistics and format known in advance.

        Raises:
            SottoError: The question no longer exists.
        """
        with self.database.writing():
            row = self._execute("SELECT chat FROM messages WHERE id = ?", question).fetchone()
            if row is None:
                raise SottoError("The question is no longer in the chat database, so its answer is not saved.")
            (chat,) = row
            self._execute("UPDATE chats SET model = ? WHERE id = ?", model, chat)
            return self._add(chat, question, Role.ASSISTANT, "", State.STREAMING, model, figures)

    def grow(self, message: int, text: str) -> None:
        """Add text to the end of an answer that is being written."""
        with self.database.writing():
            self._execute("UPDATE messages SET text = text || ? WHERE id = ?", text, message)

    def retract(self, question: int) -> None:
        """Remove an unanswered question, with everything after it, and make it the conversation's draft again."""
        with self.database.writing():
            row = self._execute("SELECT chat, parent, text FROM messages WHERE id = ?", question).fetchone()
            if row is None:
                return
            chat, parent, text = row
            self._attach(chat, None, ())
            self._execute("UPDATE attachments SET message = NULL WHERE message = ?", question)
            self._execute("DELETE FROM messages WHERE id = ?", question)
            self._execute("UPDATE chats SET leaf = ?, draft = ? WHERE id = ?", parent, text, chat)
            update_model(self.database.connection, chat)
            if not self._execute("SELECT EXISTS (SELECT 1 FROM messages WHERE chat = ?)", chat).fetchone()[0]:
                self._execute("UPDATE chats SET title = '' WHERE id = ?", chat)

    def drop_answer(self, answer: int) -> None:
        """Remove an answer that failed before it had any text, with everything after it."""
        with self.database.writing():
            for (chat,) in self._execute("SELECT chat FROM messages WHERE id = ?", answer).fetchall():
                self._execute("DELETE FROM messages WHERE id = ?", answer)
                update_model(self.database.connection, chat)

    def go_on(self, message: int) -> None:
        """Mark an answer that was cut short as being written again."""
        with self.database.writing():
            self._execute("UPDATE messages SET state = ? WHERE id = ?", State.STREAMING, message)

    def end_answer(self, message: int, text: str, state: State, figures: Mapping[str, Any] | None = None) -> None:
        """Complete an answer.

        Args:
            message: Its number.
            text: The whole text, whatever was saved of it before.
            state: How it ended.
            figures: Its statistics.
        """
        with self.database.writing():
            self._execute(
                "UPDATE messages SET text = ?, state = ?, figures = ? WHERE id = ?",
                *(clean(text), state, json.dumps(figures or {}), message),
            )
            self._execute(
                "UPDATE chats SET changed = ? WHERE id = (SELECT chat FROM messages WHERE id = ?)", self.now(), message
            )
            for (chat,) in self._execute("SELECT chat FROM messages WHERE id = ?", message).fetchall():
                update_model(self.database.connection, chat)

    def show(self, message: int) -> None:
        """Bring a message into view if it is not in view yet."""
        row = self._execute("SELECT chat FROM messages WHERE id = ?", message).fetchone()
        if row is not None and message not in versions_of(self.database.connection, row[0]).path():
            self.view(message)

    def view(self, message: int) -> None:
        """Bring the branch of a message into view, with the continuation that was last in view."""
        with self.database.writing():
            row = self._execute("SELECT chat FROM messages WHERE id = ?", message).fetchone()
            if row is not None:
                (chat,) = row
                versions = versions_of(self.database.connection, chat)
                end_branch_with(self.database.connection, chat, versions.end_of(message))

    def _add(
        self,
        chat: int,
        parent: int | None,
        role: Role,
        text: str,
        state: State,
        model: str = "",
        figures: Mapping[str, Any] | None = None,
    ) -> int:
        now, kept = self.now(), json.dumps(figures or {})
        said = {"role": role, "text": text, "state": state, "created": now, "model": model, "figures": kept}
        message = self.database.insert("messages", chat=chat, parent=parent, **said)
        self._execute("UPDATE chats SET changed = ? WHERE id = ?", now, chat)
        end_branch_with(self.database.connection, chat, message)
        return message

    @contextlib.contextmanager
    def _erasing(self) -> Iterator[None]:
        """Open a transaction that erases conversations, and delete the images after it that only those had."""
        before = image_rows.used(self.database.connection)
        with self.database.writing():
            yield
        self.images.remove(before - image_rows.used(self.database.connection) - self._awaited)

    def _attach(self, chat: int, message: int | None, attachments: Sequence[Attachment]) -> None:
        """Replace the attachments of a message, or of the draft if `message` is None."""
        self._execute("DELETE FROM attachments WHERE chat = ? AND message IS ?", chat, message)
        for attachment in attachments:
            self.database.insert("attachments", chat=chat, message=message, **attachment_in_own_form(attachment))
            self._awaited.discard(attachment.image)

    def _execute(self, statement: str, *values: Any) -> sqlite3.Cursor:
        return self.database.connection.execute(statement, values)

    def _begin(self) -> int:
        now = self.now()
        return self.database.insert("chats", created=now, changed=now)
