"""Exports and files of other programs, changed by field or by byte, read and added to the database."""

import io
import json
import zipfile
from pathlib import Path
from random import Random
from typing import Any

from chat_exports import FOLDER, NAMES, add_chats, export_of, write_ollama
from fuzzing import values
from fuzzing.target import Mark, Target
from sotto.chats.chat_store import ChatStore
from sotto.chats.database import Database
from sotto.chats.imports.reading import Reading
from sotto.chats.whole_chat import Lost
from sotto.ui.transfer.import_summary import summary

_OTHERS = tuple(name for name in NAMES if name != "sotto")
_DAMAGES = (b"", b"[" * 20_000, b"NaN", b"1" * 5000, b"\x00", b"\xff\xfe", b'"', b"}")


class Imports(Target):
    """Files of other programs, up to their chats in the database."""

    stages = ("read", "added", "shown", "added again")
    first_share, last_share = 60, 50

    def prepare(self, folder: Path) -> None:
        """Choose the paths, and write the files that are changed by byte."""
        self._path, self._chosen = folder / "chats.sqlite3", folder / "chosen"
        self._chosen.mkdir(exist_ok=True)
        database = folder / "ollama.sqlite"
        database.unlink(missing_ok=True)
        write_ollama(database).close()
        self._database = database.read_bytes()
        self._thread = (FOLDER / "jan-thread.json").read_text(encoding="utf-8")
        self._messages = [json.loads(line) for line in (FOLDER / "jan-0.7.jsonl").read_text("utf-8").splitlines()]

    def make(self, random: Random) -> bytes:
        """Return an archive with one or two files, which `run` unpacks, or sometimes leaves as it is."""
        kind = random.randrange(10)
        if kind == 0:
            files = {"db.sqlite": self._damaged(self._database, random)}
        elif kind == 1:
            thread = values.mutated(json.loads(self._thread), random)
            lines = b"\n".join(values.text_of(each) for each in values.mutated(self._messages, random))
            files = {"thread.json": values.text_of(thread), "messages.jsonl": lines}
        else:
            name = random.choice(_OTHERS)
            files = {f"{name}.json": values.text_of(self._mutated(export_of(name), random))}
            if random.random() < 0.1:
                files = {key: self._damaged(data, random) for key, data in files.items()}
        packed = io.BytesIO()
        with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
            for key, data in files.items():
                archive.writestr(zipfile.ZipInfo(key), data)
        return packed.getvalue() if kind != 2 else b"zip:" + self._damaged(packed.getvalue(), random)

    def _mutated(self, export: Any, random: Random) -> Any:
        """Change each chat of an export, and sometimes the list of them."""
        if isinstance(export, list) and random.random() < 0.8:
            return [values.mutated(chat, random) for chat in export]
        return values.mutated(export, random)

    def _damaged(self, data: bytes, random: Random) -> bytes:
        """Change some bytes."""
        for _ in range(values.times(random)):
            place = random.randrange(len(data))
            data = data[:place] + random.choice((*_DAMAGES, bytes([random.randrange(256)]))) + data[place + 1 :]
        return data

    def run(self, data: bytes, mark: Mark) -> None:
        """Read the files, add their chats, show them, and add them once more."""
        for file in self._chosen.iterdir():
            file.unlink()
        if data.startswith(b"zip:"):
            (self._chosen / "export.zip").write_bytes(data.removeprefix(b"zip:"))
        else:
            zipfile.ZipFile(io.BytesIO(data)).extractall(self._chosen)
        database = Database(self._path)
        try:
            reading = Reading([self._chosen])
            chats = list(reading.chats())
            mark("read")
            added = add_chats(database, chats)
            assert len(added.new) + len(added.grown) + added.known == len(chats)
            assert summary(added, added.lost + type(added.lost)({Lost.CHAT: reading.broken})).endswith(".")
            mark("added")
            store = ChatStore(database)
            for chat in added.new:
                branch = store.branch(chat)
                assert branch.turns
                assert not branch.unreadable
            mark("shown")
            again = add_chats(database, [chat for chat in chats if chat.created])
            assert not again.new
            assert not again.grown
            mark("added again")
        finally:
            database.connection.close()
            for file in self._path.parent.glob(f"{self._path.name}*"):
                file.unlink()

    def names(self, message: str) -> bool:
        """Return whether the message names a file."""
        return any(name in message for name in (*NAMES, "chosen", "export.zip", "db.sqlite", "thread", "messages"))


TARGET = Imports()
