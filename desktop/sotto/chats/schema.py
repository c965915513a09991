"""The schema of the database of conversations, and the steps that migrate older versions to it.

A released step never changes; changes are added as further steps. Messages form a tree: an edit or another answer is a
new message with the same parent, and nothing is overwritten. `chats.leaf` is the last message of the branch in view.
`messages.viewed` is the child that was on it when the message was last in view.
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
-- An answer that is being written changes every second, so it is indexed when it is complete.
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

# Documents attached to a message, or to the draft where `message` is NULL. The model is given the characters from
# `begins` to `ends`.
_ATTACHMENTS = """
CREATE TABLE attachments (
    id INTEGER PRIMARY KEY,
    chat INTEGER NOT NULL REFERENCES chats (id) ON DELETE CASCADE,
    message INTEGER REFERENCES messages (id) ON DELETE CASCADE,
    name TEXT NOT NULL,
    text TEXT NOT NULL,
    size INTEGER NOT NULL,
    begins INTEGER NOT NULL,
    ends INTEGER NOT NULL,
    tokens INTEGER NOT NULL DEFAULT 0
);
CREATE INDEX attachments_by_chat ON attachments (chat);
CREATE INDEX attachments_by_message ON attachments (message);
CREATE VIRTUAL TABLE found_attached USING fts5 (
    name, text, content = 'attachments', content_rowid = 'id', tokenize = 'unicode61 remove_diacritics 2'
);
-- Attachments of a draft are indexed when it is sent.
CREATE TRIGGER attachment_added AFTER INSERT ON attachments WHEN new.message IS NOT NULL BEGIN
    INSERT INTO found_attached (rowid, name, text) VALUES (new.id, new.name, new.text);
END;
CREATE TRIGGER attachment_moved AFTER UPDATE OF message ON attachments BEGIN
    INSERT INTO found_attached (found_attached, rowid, name, text)
        SELECT 'delete', old.id, old.name, old.text WHERE old.message IS NOT NULL;
    INSERT INTO found_attached (rowid, name, text) SELECT new.id, new.name, new.text WHERE new.message IS NOT NULL;
END;
CREATE TRIGGER attachment_removed AFTER DELETE ON attachments WHEN old.message IS NOT NULL BEGIN
    INSERT INTO found_attached (found_attached, rowid, name, text) VALUES ('delete', old.id, old.name, old.text);
END;
ALTER TABLE folders ADD COLUMN closed INTEGER NOT NULL DEFAULT 0;
ALTER TABLE chats ADD COLUMN trims INTEGER NOT NULL DEFAULT 0;
"""

# `edit` is the text in the open editor of a message; empty for none. A `pending` conversation is one that an import is
# adding: it is in no list before the import is complete.
_EDITS = """
ALTER TABLE messages ADD COLUMN edit TEXT NOT NULL DEFAULT '';
ALTER TABLE chats ADD COLUMN pending INTEGER NOT NULL DEFAULT 0;
"""

# `image` is the digest of an image, whose file lies in a folder beside the database; empty for a document. Images have
# no text to find.
_IMAGES = """
ALTER TABLE attachments ADD COLUMN image TEXT NOT NULL DEFAULT '';
CREATE INDEX attachments_by_image ON attachments (image) WHERE image <> '';
DROP TRIGGER attachment_added;
DROP TRIGGER attachment_moved;
DROP TRIGGER attachment_removed;
CREATE TRIGGER attachment_added AFTER INSERT ON attachments WHEN new.message IS NOT NULL AND new.image = '' BEGIN
    INSERT INTO found_attached (rowid, name, text) VALUES (new.id, new.name, new.text);
END;
CREATE TRIGGER attachment_moved AFTER UPDATE OF message ON attachments WHEN new.image = '' BEGIN
    INSERT INTO found_attached (found_attached, rowid, name, text)
        SELECT 'delete', old.id, old.name, old.text WHERE old.message IS NOT NULL;
    INSERT INTO found_attached (rowid, name, text) SELECT new.id, new.name, new.text WHERE new.message IS NOT NULL;
END;
CREATE TRIGGER attachment_removed AFTER DELETE ON attachments WHEN old.message IS NOT NULL AND old.image = '' BEGIN
    INSERT INTO found_attached (found_attached, rowid, name, text) VALUES ('delete', old.id, old.name, old.text);
END;
"""

# Step n migrates version n - 1 to n; version 0 is an empty file.
STEPS: tuple[str, ...] = (_FIRST, _ATTACHMENTS, _EDITS, _IMAGES)
VERSION = len(STEPS)

# The tables with data, and their columns; all others are indexes.
TABLES = {
    "folders": ("id", "name", "closed"),
    "chats": tuple(
        "id title created changed folder pinned archived trashed leaf model draft system options trims pending".split()
    ),
    "messages": tuple("id chat parent role text state created model figures viewed edit".split()),
    "attachments": tuple("id chat message name text size begins ends tokens image".split()),
}
