"""Chats in the forms in which other programs export or store them, several versions of each; written for the tests.

The JSON files are in `tests/chats/exports`.
"""

import json
import shutil
import sqlite3
import zipfile
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from places import TESTS
from sotto.chats.adding import Added, Adding
from sotto.chats.database import Database
from sotto.chats.whole_chat import WholeChat

FOLDER = TESTS / "chats" / "exports"
NAMES = ("chatgpt", "claude", "jan", "lm-studio", "open-webui", "sotto")


def export_of(name: str) -> Any:
    """Return the export of a program, as it stands in its JSON file."""
    return json.loads((FOLDER / f"{name}.json").read_text(encoding="utf-8"))


def add_chats(database: Database, chats: Iterable[WholeChat]) -> Added:
    """Add conversations in as many steps as that takes."""
    adding = Adding(database, chats)
    while not adding.done:
        adding.step()
    return adding.added


_OLLAMA_1 = """
CREATE TABLE settings (id INTEGER PRIMARY KEY CHECK (id = 1), device_id TEXT NOT NULL DEFAULT '',
    schema_version INTEGER NOT NULL DEFAULT 1);
INSERT INTO settings (id) VALUES (1);
CREATE TABLE chats (id TEXT PRIMARY KEY, title TEXT NOT NULL DEFAULT '',
    created_at TIMESTAMP NOT NULL DEFAULT CURRENT_TIMESTAMP);
CREATE TABLE messages (id INTEGER PRIMARY KEY AUTOINCREMENT, chat_id TEXT NOT NULL, role TEXT NOT NULL,
    content TEXT NOT NULL DEFAULT '', thinking TEXT NOT NULL DEFAULT '', stream BOOLEAN NOT NULL DEFAULT 0,
    model_name TEXT, model_cloud BOOLEAN, model_ollama_host BOOLEAN,
    created_at TIMESTAMP NOT NULL DEFAULT CURRENT_TIMESTAMP, updated_at TIMESTAMP NOT NULL DEFAULT CURRENT_TIMESTAMP,
    thinking_time_start TIMESTAMP, thinking_time_end TIMESTAMP,
    FOREIGN KEY (chat_id) REFERENCES chats(id) ON DELETE CASCADE);
CREATE TABLE tool_calls (id INTEGER PRIMARY KEY AUTOINCREMENT, message_id INTEGER NOT NULL, type TEXT NOT NULL,
    function_name TEXT NOT NULL, function_arguments TEXT NOT NULL, function_result TEXT,
    FOREIGN KEY (message_id) REFERENCES messages(id) ON DELETE CASCADE);
"""
_OLLAMA_18 = """
ALTER TABLE messages ADD COLUMN tool_result TEXT;
ALTER TABLE chats ADD COLUMN browser_state TEXT;
CREATE TABLE attachments (id INTEGER PRIMARY KEY AUTOINCREMENT, message_id INTEGER NOT NULL, filename TEXT NOT NULL,
    data BLOB NOT NULL, FOREIGN KEY (message_id) REFERENCES messages(id) ON DELETE CASCADE);
UPDATE settings SET schema_version = 18;
"""


def write_ollama(path: Path, *, newest: bool = True) -> sqlite3.Connection:
    """Write a database of Ollama's app of the newest version or of version 1; what was written stays in the log.

    Returns:
        The open connection: once it is closed, the log is in the file.
    """
    connection = sqlite3.connect(path)
    connection.executescript("PRAGMA journal_mode = WAL; PRAGMA wal_autocheckpoint = 0;" + _OLLAMA_1)
    if newest:
        connection.executescript(_OLLAMA_18)
    zone = "+02:00"
    connection.execute("INSERT INTO chats (id, title, created_at) VALUES ('c1', 'Snow', ?)",
                       (f"2025-08-01 10:00:00.123456789{zone}",))  # fmt: skip
    add = "INSERT INTO messages (chat_id, role, content, thinking, model_name, created_at, updated_at, " \
          "thinking_time_start, thinking_time_end) VALUES ('c1', ?, ?, ?, ?, ?, ?, ?, ?)"  # fmt: skip
    moment = f"2025-08-01 10:00:01.5{zone}"
    connection.execute(add, ("user", "Why is snow white?", "", None, moment, moment, None, None))
    connection.execute(add, ("assistant", "", "Let me look.", "gpt-oss:20b", moment, moment, moment,
                             f"2025-08-01 10:00:09.5{zone}"))  # fmt: skip
    connection.execute(add, ("tool", "results", "", None, moment, moment, None, None))
    connection.execute(add, ("assistant", "It scatters light.", "", "gpt-oss:20b", moment, f"2025-08-01 10:01:00{zone}",
                             None, None))  # fmt: skip
    connection.execute("INSERT INTO tool_calls (message_id, type, function_name, function_arguments) "
                       "VALUES (2, 'function', 'web_search', '{}')")  # fmt: skip
    if newest:
        for name, data in (("snow.md", b"# Snow"), ("flake.png", b"\x89PNG\x00")):
            connection.execute("INSERT INTO attachments (message_id, filename, data) VALUES (1, ?, ?)", (name, data))
    connection.commit()
    return connection


def write_jan(folder: Path, version: str = "0.7") -> Path:
    """Write a thread of a version of Jan into a new folder, and return the folder."""
    folder.mkdir(parents=True)
    shutil.copyfile(FOLDER / "jan-thread.json", folder / "thread.json")
    shutil.copyfile(FOLDER / f"jan-{version}.jsonl", folder / "messages.jsonl")
    return folder


def write_zip(path: Path, files: dict[str, bytes]) -> Path:
    """Write an archive, and return its path."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return path


def write_json(path: Path, value: Any) -> Path:
    """Write a value as JSON, and return the path."""
    path.write_text(json.dumps(value, ensure_ascii=False), encoding="utf-8")
    return path
