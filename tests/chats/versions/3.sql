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
ALTER TABLE messages ADD COLUMN edit TEXT NOT NULL DEFAULT '';
ALTER TABLE chats ADD COLUMN pending INTEGER NOT NULL DEFAULT 0;

INSERT INTO folders (id, name, closed) VALUES (1, 'Recipes', 0);
INSERT INTO chats (id, title, created, changed, folder, pinned, archived, trashed, leaf, model, draft, system, options)
VALUES
    (1, 'How long does rice boil?', 1700000000.0, 1700000100.0, 1, 1, 0, NULL, 3, 'small:latest', 'and beans', 'Be brief.',
        '{"seed": 7}'),
    (2, 'Old', 1600000000.0, 1600000000.0, NULL, 0, 0, 1600000500.0, 4, '', '', '', '{}');
INSERT INTO messages (id, chat, parent, role, text, state, created, model, figures, viewed) VALUES
    (1, 1, NULL, 'user', 'How long does rice boil?', 'complete', 1700000000.0, '', '{}', 3),
    (2, 1, 1, 'assistant', 'Ten minutes.', 'complete', 1700000010.0, 'small:latest', '{"tokens": 3}', NULL),
    (3, 1, 1, 'assistant', 'It depends on the **rice**.', 'stopped', 1700000100.0, 'small:latest', '{"tokens": 8}', NULL),
    (4, 2, NULL, 'user', 'Old', 'complete', 1600000000.0, '', '{}', NULL);
INSERT INTO attachments (id, chat, message, name, text, size, begins, ends, tokens) VALUES
    (1, 2, 4, 'note.txt', 'with cardamom', 13, 5, 13, 2);
UPDATE messages SET edit = 'It depends on the pot.' WHERE id = 3;
PRAGMA user_version = 3;
