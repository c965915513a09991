"""What the database of conversations looks like, and how one of an older version becomes one of this.

A version that was released never changes: what is new comes as another step behind it. A message belongs to the one
that it follows, so that an edit or another answer is one more message with the same parent, and nothing is overwritten.
`chats.leaf` is the last message of the branch in view; `messages.viewed` says which of the messages that follow one was
on it when that one was in view last.
"""

_FIRST = """
CREATE TABLE folders (
    id INTEGER PRIMARY KEY,
    name TEXT NOT NULL
);
CREATE TABLE chats (
    id INTEGER PRIMARY KEY,
    title TEXT NOT NULL DEFAULT '',
    created REAL NOT NULL,
    changed REAL NOT NULL,
    folder INTEGER REFERENCES folders (id) ON DELETE SET NULL,
    pinned INTEGER NOT NULL DEFAULT 0,
    archived INTEGER NOT NULL DEFAULT 0,
    trashed REAL,
    leaf INTEGER,
    model TEXT NOT NULL DEFAULT '',
    draft TEXT NOT NULL DEFAULT '',
    system TEXT NOT NULL DEFAULT '',
    options TEXT NOT NULL DEFAULT '{}'
);
CREATE TABLE messages (
    id INTEGER PRIMARY KEY,
    chat INTEGER NOT NULL REFERENCES chats (id) ON DELETE CASCADE,
    parent INTEGER REFERENCES messages (id) ON DELETE CASCADE,
    role TEXT NOT NULL,
    text TEXT NOT NULL,
    state TEXT NOT NULL,
    created REAL NOT NULL,
    model TEXT NOT NULL DEFAULT '',
    figures TEXT NOT NULL DEFAULT '{}',
    viewed INTEGER
);
CREATE INDEX messages_by_chat ON messages (chat);
CREATE INDEX messages_by_parent ON messages (parent);
CREATE VIRTUAL TABLE found USING fts5 (
    text, content = 'messages', content_rowid = 'id', tokenize = 'unicode61 remove_diacritics 2'
);
-- An answer that grows every second is found once it is complete.
CREATE TRIGGER message_added AFTER INSERT ON messages BEGIN
    INSERT INTO found (rowid, text) SELECT new.id, new.text WHERE new.state <> 'streaming';
END;
CREATE TRIGGER message_changed AFTER UPDATE OF text, state ON messages BEGIN
    INSERT INTO found (found, rowid, text) SELECT 'delete', old.id, old.text WHERE old.state <> 'streaming';
    INSERT INTO found (rowid, text) SELECT new.id, new.text WHERE new.state <> 'streaming';
END;
CREATE TRIGGER message_removed AFTER DELETE ON messages BEGIN
    INSERT INTO found (found, rowid, text) SELECT 'delete', old.id, old.text WHERE old.state <> 'streaming';
END;
"""

# Step n makes version n + 1 of version n.
STEPS: tuple[str, ...] = (_FIRST,)
VERSION = len(STEPS)

# The tables that hold what people said, with their columns; what else there is follows from them.
TABLES = {
    "folders": ("id", "name"),
    "chats": tuple("id title created changed folder pinned archived trashed leaf model draft system options".split()),
    "messages": tuple("id chat parent role text state created model figures viewed".split()),
}
