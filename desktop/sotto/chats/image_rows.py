"""Which images the rows of the database refer to, and which they no longer do."""

import sqlite3

_WATCH = """
CREATE TEMP TABLE IF NOT EXISTS released (image TEXT PRIMARY KEY);
CREATE TEMP TRIGGER IF NOT EXISTS image_released AFTER DELETE ON main.attachments WHEN old.image <> '' BEGIN
    INSERT OR IGNORE INTO released (image) VALUES (old.image);
END;
"""


def watch(connection: sqlite3.Connection) -> None:
    """Begin to note the images of rows that are deleted on this connection."""
    connection.executescript(_WATCH)


def used(connection: sqlite3.Connection) -> set[str]:
    """Return the digests of all images that a message or a draft has."""
    return {digest for (digest,) in connection.execute("SELECT DISTINCT image FROM attachments WHERE image <> ''")}


def released(connection: sqlite3.Connection) -> set[str]:
    """Return the digests of images that a message or a draft had since `watch`, and none has any more."""
    return {digest for (digest,) in connection.execute("SELECT image FROM released")} - used(connection)
