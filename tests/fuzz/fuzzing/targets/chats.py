"""Exports of conversations, changed by field, imported, shown, searched and exported again."""

from pathlib import Path
from random import Random
from typing import Any

from chat_exports import add_chats
from fuzzing import values
from fuzzing.target import Mark, Target
from sotto.chats.chat_store import ChatStore
from sotto.chats.database import Database
from sotto.chats.exchange import as_json, as_markdown
from sotto.chats.imports.reading import Reading
from sotto.chats.row_reading import branch_of, drafted_attachments, versions_of
from sotto.chats.search import search, search_titles

_ATTACHMENT = {"name": "a.txt", "text": "some text", "begins": 0, "ends": 9, "size": 9, "tokens": 3}


def _message(role: str, text: str, parent: int | None, **more: Any) -> dict[str, Any]:
    return {"role": role, "text": text, "state": "complete", "created": 1.7e9, "model": "m", "figures": {"tokens": 3},
            "parent": parent, "attachments": []} | more  # fmt: skip


_SEED = {
    "format": "sotto-chats",
    "version": 1,
    "chats": [
        {
            "title": "Lily", "created": 1.7e9, "changed": 1.7e9 + 5, "pinned": True, "archived": False,
            "model": "sotto", "draft": "go on", "system": "Be brief.\nAnd kind.", "trims": True,
            "options": {"temperature": 0.5}, "leaf": 3, "attachments": [_ATTACHMENT],
            "messages": [
                _message("user", "Once upon a time", None, attachments=[_ATTACHMENT]),
                _message("assistant", "there <think>hm</think> was `code`", 0),
                _message("assistant", "another", 0, state="cancelled"),
                _message("user", "and then?", 1),
            ],
        },
        {"title": "", "messages": [_message("user", "é \U0001f642", None)], "leaf": 0},
    ],
}  # fmt: skip


class Chats(Target):
    """Exports, up to being exported and imported again."""

    stages = ("imported", "shown", "found", "exported", "imported again")
    first_share, last_share = 40, 40

    def prepare(self, folder: Path) -> None:
        """Choose the path of the database."""
        self._path, self._file = folder / "chats.sqlite3", folder / "export.json"

    def make(self, random: Random) -> bytes:
        """Change fields, and sometimes the text itself."""
        keep = ("format", "version") if random.random() < 0.9 else ()
        text = values.text_of(values.mutated(_SEED, random, keep=keep)).decode()
        if random.random() < 0.05:
            place = random.randrange(len(text))
            text = text[:place] + random.choice(("", "[" * 20_000, "NaN", "1" * 5000, "\x00")) + text[place + 1 :]
        return text.encode()

    def run(self, data: bytes, mark: Mark) -> None:
        """Import the chats, read everything, export them and import them again."""
        database = Database(self._path)
        try:
            chats = self._import(database, data)
            mark("imported")
            store = ChatStore(database)
            for chat in chats:
                branch_of(database.connection, chat)
                versions_of(database.connection, chat)
                drafted_attachments(database.connection, chat)
                store.branch(chat)
            store.chats()
            mark("shown")
            for query in ("once", "é", "a", '"'):
                search(database.connection, query)
                search_titles(database.connection, query)
            mark("found")
            exported = as_json(database)
            for chat in chats:
                as_markdown(database, chat)
            mark("exported")
            # Without those that are there, or else they would be the same.
            store.throw_away(chats)
            again = self._import(database, exported.encode())
            assert len(again) == len(chats)
            mark("imported again")
        finally:
            database.connection.close()
            for file in self._path.parent.glob(f"{self._path.name}*"):
                file.unlink()

    def _import(self, database: Database, data: bytes) -> list[int]:
        """Import a file as the app does; return the numbers of the conversations that were added."""
        self._file.write_bytes(data)
        return add_chats(database, Reading([self._file]).chats()).new

    def names(self, message: str) -> bool:
        """Return whether the message names the file."""
        return message.startswith(self._file.name)


TARGET = Chats()
