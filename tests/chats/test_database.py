"""Database files that are old, too new, damaged or read-only."""

import contextlib
import os
import random
import signal
import sqlite3
import subprocess
import sys
import threading
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sotto.chats.chat_records import State
from sotto.chats.chat_store import ChatStore
from sotto.chats.database import Database
from sotto.chats.schema import VERSION
from thoroughness import examples


@pytest.fixture
def path(tmp_path):
    return tmp_path / "chats.sqlite3"


def write_conversations(path, chats=3, messages=4):
    """Write conversations, and return their messages by conversation."""
    store, written = ChatStore(Database(path)), {}
    for number in range(chats):
        chat, parent = store.add_chat(), None
        for turn in range(messages):
            parent = store.ask(chat, f"{number} {turn} " + "words " * 200, parent)
        written[chat] = [turn.text for turn in store.branch(chat).turns]
    store.database.close()
    return written


def read(path):
    """Return the readable messages by conversation, and the notices."""
    database = Database(path)
    store = ChatStore(database)
    found = {chat.id: [turn.text for turn in store.branch(chat.id).turns] for chat in store.chats()}
    database.close()
    return found, database.notices


def test_a_new_file_has_this_version_and_is_intact(path):
    database = Database(path)
    assert database.connection.execute("PRAGMA user_version").fetchone() == (VERSION,)
    assert database.connection.execute("PRAGMA journal_mode").fetchone() == ("wal",)
    # 2 is FULL: questions survive a power failure, which cannot be tested here.
    assert database.connection.execute("PRAGMA synchronous").fetchone() == (2,)
    assert database.connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    assert database.writable
    database.close()
    assert sorted(file.name for file in path.parent.iterdir()) == ["chats.sqlite3"]


def test_a_file_of_a_newer_version_is_read_and_not_written(path):
    written = write_conversations(path)
    with contextlib.closing(sqlite3.connect(path)) as connection:
        connection.execute(f"PRAGMA user_version = {VERSION + 1}")
        connection.execute("ALTER TABLE messages ADD COLUMN mood TEXT")
    before = path.read_bytes()
    database = Database(path)
    assert not database.writable
    assert "newer version" in database.notices[0].text
    assert str(path) in database.notices[0].text
    with pytest.raises(sqlite3.Error):
        ChatStore(database).add_chat()
    database.close()
    assert read(path)[0] == written
    assert path.read_bytes() == before


def test_what_a_newer_version_left_in_its_log_is_read_and_stays_there(path):
    written = write_conversations(path)
    newer = sqlite3.connect(path)
    newer.execute("PRAGMA wal_autocheckpoint = 0")
    newer.execute("ALTER TABLE messages ADD COLUMN mood TEXT")
    newer.execute(f"PRAGMA user_version = {VERSION + 1}")
    newer.execute("UPDATE chats SET title = 'in the log' WHERE id = 1")
    newer.commit()
    # As a crash leaves them: the file itself does not say yet that it is newer.
    log = path.with_name("chats.sqlite3-wal")
    crashed = path.with_name("crashed.sqlite3")
    for suffix, source in (("", path), ("-wal", log)):
        crashed.with_name(crashed.name + suffix).write_bytes(source.read_bytes())
    newer.close()
    log = crashed.with_name("crashed.sqlite3-wal")
    before = crashed.read_bytes(), log.read_bytes()
    assert before[0][60:64] == VERSION.to_bytes(4, "big")
    found, notices = read(crashed)
    assert found == written
    assert "newer version" in notices[0].text
    database = Database(crashed)
    assert ChatStore(database).chat(1).title == "in the log"
    database.close()
    assert (crashed.read_bytes(), log.read_bytes()) == before


def test_a_newer_file_of_another_form_is_left_alone(path):
    write_conversations(path)
    with contextlib.closing(sqlite3.connect(path)) as connection:
        connection.execute(f"PRAGMA user_version = {VERSION + 1}")
        connection.execute("ALTER TABLE messages RENAME COLUMN text TO content")
    before = path.read_bytes()
    found, notices = read(path)
    assert found == {}
    assert "newer version of Sotto, and this one cannot read it" in notices[0].text
    assert path.read_bytes() == before
    assert sorted(file.name for file in path.parent.iterdir()) == ["chats.sqlite3"]


def test_a_newer_file_that_is_damaged_is_left_alone(path):
    write_conversations(path)
    with contextlib.closing(sqlite3.connect(path)) as connection:
        connection.execute(f"PRAGMA user_version = {VERSION + 1}")
    content = bytearray(path.read_bytes())
    content[100:4096] = b"\xff" * 3996
    path.write_bytes(content)
    found, notices = read(path)
    assert found == {}
    assert "newer version" in notices[0].text
    assert path.read_bytes() == content
    assert sorted(file.name for file in path.parent.iterdir()) == ["chats.sqlite3"]


def test_a_migration_keeps_a_copy_of_the_older_version(path, monkeypatch):
    from sotto.chats import database as module

    written = write_conversations(path)
    steps = (*module.STEPS, "ALTER TABLE chats ADD COLUMN colour TEXT NOT NULL DEFAULT '';")
    monkeypatch.setattr(module, "STEPS", steps)
    monkeypatch.setattr(module, "VERSION", len(steps))
    assert read(path) == (written, [])
    kept = path.with_name(f"chats.version-{VERSION}.sqlite3")
    monkeypatch.undo()
    assert read(kept) == (written, [])
    with contextlib.closing(sqlite3.connect(path)) as connection:
        assert connection.execute("PRAGMA user_version").fetchone() == (VERSION + 1,)


def test_columns_added_by_a_migration_are_checked_after_it(path, monkeypatch):
    from sotto.chats import database as module

    write_conversations(path)
    steps = (*module.STEPS, "ALTER TABLE chats ADD COLUMN colour TEXT NOT NULL DEFAULT '';")
    monkeypatch.setattr(module, "STEPS", steps)
    monkeypatch.setattr(module, "VERSION", len(steps))
    monkeypatch.setitem(module.TABLES, "chats", (*module.TABLES["chats"], "colour"))
    database = Database(path)
    assert database.notices == []
    assert database.connection.execute("SELECT count(*), max(colour) FROM chats").fetchone() == (3, "")
    database.close()


def test_a_failed_migration_leaves_the_older_version_unchanged(path, monkeypatch):
    from sotto.chats import database as module

    written = write_conversations(path)
    steps = (*module.STEPS, "ALTER TABLE chats ADD COLUMN colour TEXT; ALTER TABLE nothing ADD COLUMN colour TEXT;")
    monkeypatch.setattr(module, "STEPS", steps)
    monkeypatch.setattr(module, "VERSION", len(steps))
    database = Database(path)
    assert not database.writable
    assert {chat.id for chat in ChatStore(database).chats()} == set(written)
    database.close()
    monkeypatch.undo()
    assert read(path) == (written, [])


@pytest.mark.parametrize("content", [b"", b"not a database at all" * 500, b"SQLite format 3\x00" + bytes(5000)])
def test_a_file_that_is_not_a_database_is_set_aside_unless_empty(path, content):
    path.write_bytes(content)
    found, notices = read(path)
    assert found == {}
    kept = [file for file in path.parent.iterdir() if "damaged" in file.name]
    if content:
        assert [file.read_bytes() for file in kept] == [content]
        assert [notice.kept for notice in notices] == kept
        assert str(kept[0]) in notices[0].text
    else:
        assert (kept, notices) == ([], [])
    assert read(path) == ({}, [])


@examples(40)
@given(data=st.data())
def test_damage_anywhere_loses_only_what_it_hit_and_is_reported(tmp_path_factory, data):
    path = tmp_path_factory.mktemp("damaged") / "chats.sqlite3"
    written = write_conversations(path, chats=6, messages=10)
    content = bytearray(path.read_bytes())
    if data.draw(st.booleans()):
        at = data.draw(st.integers(0, len(content) - 1))
        length = data.draw(st.sampled_from([1, 100, 4096]))
        content[at : at + length] = bytes(data.draw(st.integers(0, 255)) for _ in content[at : at + length])
    else:
        del content[data.draw(st.integers(1, len(content) - 1)) :]
    path.write_bytes(content)
    found, notices = read(path)
    kept = [file for file in path.parent.iterdir() if "damaged" in file.name and file.suffix == ".sqlite3"]
    if notices:
        assert [file.read_bytes() for file in kept] == [bytes(content)] or not kept
    else:
        # Damage that SQLite does not detect changes a letter, or nothing at all.
        assert found.keys() == written.keys()
    assert read(path)[0] == found


def test_most_of_a_file_with_one_bad_page_is_recovered(path):
    written = write_conversations(path, chats=20, messages=20)
    content = bytearray(path.read_bytes())
    middle = len(content) // 2 // 4096 * 4096
    content[middle : middle + 4096] = bytes(4096)
    path.write_bytes(content)
    found, notices = read(path)
    messages = sum(len(turns) for turns in found.values())
    assert len(notices) == 1
    assert messages > 0.8 * 400
    for chat, turns in found.items():
        assert set(turns) <= set(written[chat])


def test_unreadable_rows_do_not_affect_others(path):
    written = write_conversations(path, chats=3, messages=4)
    with contextlib.closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("UPDATE messages SET role = 'wizard' WHERE id = 2")
        connection.execute("UPDATE messages SET text = x'ff00fe' WHERE id = 6")
        connection.execute("UPDATE chats SET options = '{', title = x'00', leaf = 'x', folder = 'y', created = 'z'")
        connection.execute("UPDATE messages SET figures = '[' || replace(hex(zeroblob(50000)), '00', '[')")
    database = Database(path)
    store = ChatStore(database)
    assert {chat.id for chat in store.chats()} == set(written)
    unreadable = {chat: store.branch(chat).unreadable for chat in written}
    assert sorted(unreadable.values()) == [0, 1, 1]
    for chat in written:
        assert [turn.text for turn in store.branch(chat).turns] == [
            text for index, text in enumerate(written[chat]) if (chat, index) not in ((1, 1), (2, 1))
        ]
    database.close()


@pytest.mark.skipif(os.geteuid() == 0, reason="root can write everywhere")
def test_a_read_only_folder_is_read(path):
    written = write_conversations(path)
    path.parent.chmod(0o500)
    path.chmod(0o400)
    try:
        found, notices = read(path)
        assert found == written
        assert "nothing is saved" in notices[0].text
    finally:
        path.parent.chmod(0o700)


def test_an_impossible_path_is_reported(tmp_path):
    blocked = tmp_path / "file"
    blocked.write_text("")
    found, notices = read(blocked / "chats.sqlite3")
    assert found == {}
    assert str(blocked) in notices[0].text


WRITER = """
import sys
from pathlib import Path
from sotto.chats.database import Database
from sotto.chats.chat_store import ChatStore
store = ChatStore(Database(Path(sys.argv[1])))
chat = store.add_chat()
answer = store.begin_answer(store.ask(chat, "a question", None), "small")
number = 0
while True:
    store.grow(answer, f"{number} ")
    print(number, flush=True)
    number += 1
"""


@pytest.mark.parametrize("seconds", [0.0, 0.05, 0.3])
def test_a_killed_process_loses_nothing_it_reported_as_written(path, seconds):
    process = subprocess.Popen([sys.executable, "-c", WRITER, str(path)], stdout=subprocess.PIPE, text=True)
    process.stdout.readline()
    time.sleep(seconds)
    process.send_signal(signal.SIGKILL)
    last = [int(line) for line in process.stdout.read().split()]
    process.wait()
    process.stdout.close()
    database = Database(path)
    assert database.connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    store = ChatStore(database)
    (chat,) = store.chats()
    question, answer = store.branch(chat.id).turns
    assert (question.text, answer.state) == ("a question", State.INTERRUPTED)
    written = [int(number) for number in answer.text.split()]
    assert written == list(range(len(written)))
    assert len(written) > max(last, default=0)
    assert database.notices == []
    database.close()


def test_a_thousand_random_rows_affect_no_others_and_take_no_time(path):
    written = write_conversations(path, chats=5, messages=4)
    draw = random.Random(7)
    junk = [
        None,
        -1,
        2**62,
        1e300,
        float("-inf"),
        "",
        "x" * 5000,
        "half \ud83d"[:5],
        b"\xff\x00\xfe",
        "{",
        "null",
        "[]",
    ]
    tables = {"chats": "created changed folder pinned archived trashed leaf model draft system options trims title"}
    tables["messages"] = "chat parent role text state created model figures viewed"
    tables["attachments"] = "chat message name text size begins ends tokens"
    with contextlib.closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("PRAGMA foreign_keys = OFF")
        for number in range(1000):
            table = draw.choice(list(tables))
            values = {column: draw.choice(junk) for column in tables[table].split()}
            places = ", ".join("?" * len(values))
            connection.execute(
                f"INSERT OR IGNORE INTO {table} (id, {', '.join(values)}) VALUES (?, {places})",
                (1000 + number, *values.values()),
            )
    started = time.process_time()
    database = Database(path)
    store = ChatStore(database)
    chats = {chat.id for chat in store.chats()}
    for chat in chats:
        store.branch(chat)
        store.drafted(chat)
    store.folders()
    found = {chat: [turn.text for turn in store.branch(chat).turns] for chat in written}
    assert time.process_time() - started < 2
    assert chats >= set(written)
    assert found == written
    assert database.writable
    database.close()


def test_a_new_file_locked_by_another_writer_is_waited_for(tmp_path):
    path, opened = tmp_path / "new.sqlite3", []

    def begin():
        with contextlib.closing(Database(path)) as database:
            opened.append((database.writable, database.notices))

    with contextlib.closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        thread = threading.Thread(target=begin)
        thread.start()
        thread.join(0.3)
        other.execute("COMMIT")
        thread.join()
    assert opened == [(True, [])]


def test_a_new_file_is_created_once_however_many_open_it(tmp_path):
    for number in range(12):
        path, gate, opened = tmp_path / f"{number}.sqlite3", threading.Barrier(4), []

        def begin(path=path, gate=gate, opened=opened):
            gate.wait()
            database = Database(path)
            opened.append((database.writable, [notice.text for notice in database.notices]))
            if database.writable:
                ChatStore(database).add_chat()
            database.close()

        threads = [threading.Thread(target=begin) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert opened == [(True, [])] * 4
        assert len(read(path)[0]) == 4
    assert [file.name for file in tmp_path.iterdir() if "damaged" in file.name] == []
