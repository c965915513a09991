"""Migrating database files of each released version."""

import contextlib
import os
import sqlite3
from pathlib import Path

import pytest

from sotto.chats.chat_records import Attachment, State
from sotto.chats.chat_store import ChatStore
from sotto.chats.database import Database
from sotto.chats.schema import TABLES, VERSION
from sotto.chats.search import search

NOTE = Attachment("note.txt", "with cardamom", 13, 5, 13, 2)
VERSIONS = sorted(Path(__file__).with_name("versions").glob("*.sql"))


@pytest.fixture(params=VERSIONS, ids=lambda script: f"version {script.stem}")
def older(request, tmp_path):
    """Return a file of an older version, and the version."""
    path = tmp_path / "data" / "chats.sqlite3"
    path.parent.mkdir()
    with contextlib.closing(sqlite3.connect(path)) as connection:
        connection.executescript(request.param.read_text(encoding="utf-8"))
        connection.commit()
    return path, int(request.param.stem)


def check(store, version):
    """Check that everything in the older files is present."""
    current, old = sorted(store.chats(), key=lambda chat: chat.id)
    assert (current.title, current.draft, current.system) == ("How long does rice boil?", "and beans", "Be brief.")
    assert (current.options, current.pinned, current.trims) == ({"seed": 7}, True, False)
    assert [(folder.id, folder.name, folder.closed) for folder in store.folders()] == [(1, "Recipes", False)]
    assert current.folder == 1
    assert old.trashed == 1_600_000_500.0
    question, answer = store.branch(1).turns
    assert question.text == "How long does rice boil?"
    assert (answer.text, answer.state, answer.figures) == ("It depends on the **rice**.", State.STOPPED, {"tokens": 8})
    assert answer.versions == (2, 3)
    assert question.attachments == store.drafted(1) == ()
    # Version 2 brought attachments.
    assert store.branch(2).turns[0].attachments == (() if version < 2 else (NOTE,))
    # Version 3 brought open edits.
    assert store.edits(1) == ({} if version < 3 else {3: "It depends on the pot."})
    assert [hit.message for hit in search(store.database.connection, "ten minu")] == [2]


def now():
    return 1_600_000_600.0


def test_there_is_a_file_of_each_released_version():
    assert [int(script.stem) for script in VERSIONS] == list(range(1, VERSION))


def test_an_older_file_is_migrated_and_a_copy_is_kept(older):
    path, version = older
    before = path.read_bytes()
    database = Database(path)
    assert database.notices == []
    assert database.connection.execute("PRAGMA user_version").fetchone() == (VERSION,)
    store = ChatStore(database, now)
    check(store, version)
    note = Attachment("list.txt", "with coriander", 14, 0, 14)
    store.ask(1, "And this?", 3, [note])
    assert store.branch(1).turns[-1].attachments == (note,)
    assert [hit.chat for hit in search(database.connection, "coriander")] == [1]
    store.keep_edit(3, "It depends on the salt.")
    assert store.edits(1) == {3: "It depends on the salt."}
    picture = store.keep_image(b"a picture")
    seen = Attachment("cat.png", "", 9, 0, 0, image=picture)
    store.ask(1, "And this?", 3, [seen])
    assert store.branch(1).turns[-1].attachments == (seen,)
    store.close()
    kept = path.with_name(f"chats.version-{version}.sqlite3")
    # Compare row by row: an older version can still read the copy that is kept.
    with contextlib.closing(sqlite3.connect(kept)) as copy:
        assert copy.execute("PRAGMA user_version").fetchone() == (version,)
        now_kept = list(copy.iterdump())
    path.write_bytes(before)
    for beside in ("-wal", "-shm"):
        path.with_name(path.name + beside).unlink(missing_ok=True)
    with contextlib.closing(sqlite3.connect(path)) as original:
        assert list(original.iterdump()) == now_kept


def test_new_and_migrated_files_have_the_same_schema(older, tmp_path):
    def schema_of(path):
        database = Database(path)
        columns = {table: database.connection.execute(f"PRAGMA table_info({table})").fetchall() for table in TABLES}
        triggers = database.connection.execute("SELECT name, sql FROM sqlite_master WHERE type = 'trigger'").fetchall()
        database.close()
        return columns, sorted(triggers)

    assert schema_of(older[0]) == schema_of(tmp_path / "new.sqlite3")


def test_a_read_only_older_file_is_still_read(older, monkeypatch):
    path, version = older
    opened = Database._ready

    def unwritable(self, connection):
        if self.path == path:
            connection.close()
            raise sqlite3.OperationalError("attempt to write a readonly database")
        return opened(self, connection)

    monkeypatch.setattr(Database, "_ready", unwritable)
    before = path.read_bytes()
    database = Database(path)
    assert not database.writable
    check(ChatStore(database, now), version)
    database.close()
    assert path.read_bytes() == before


def test_a_damaged_older_file_is_recovered(older):
    path, version = older
    content = bytearray(path.read_bytes())
    # Damage the root page of an index, which contains no messages.
    with contextlib.closing(sqlite3.connect(path)) as connection:
        (page,) = connection.execute("SELECT rootpage FROM sqlite_master WHERE name = 'messages_by_parent'").fetchone()
        (size,) = connection.execute("PRAGMA page_size").fetchone()
    content[(page - 1) * size : page * size] = os.urandom(1) * size
    path.write_bytes(content)
    database = Database(path)
    assert "2 conversations with 4 messages" in database.notices[0].text
    check(ChatStore(database, now), version)
    database.close()
