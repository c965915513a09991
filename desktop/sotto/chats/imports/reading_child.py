"""The part of `sotto.chats.imports.reading_process` that runs in the bounded process."""

import json
import sys
import tempfile
from pathlib import Path

from sotto.bounded_process import limit
from sotto.chats.imports.reading import NoChatsError, Reading
from sotto.chats.imports.reading_process import BOUNDS
from sotto.chats.own_form import chat_in_own_form


def print_chats() -> int:
    """Read the chats of the paths on stdin, write each as a line of JSON and then a line about all; return 0.

    Their images become files in the folder on stdin, which the parent deletes; so it does with temporary files.
    """
    limit(BOUNDS)
    given = json.load(sys.stdin)
    folder = Path(given["folder"])
    tempfile.tempdir = str(folder)
    reading = Reading([Path(path) for path in given["paths"]])
    why = ""
    try:
        for chat in reading.chats():
            for digest, data in chat.images.items():
                (folder / digest).write_bytes(data)
            lost = {what.name: times for what, times in chat.lost.items() if times}
            print(json.dumps({"chat": chat_in_own_form(chat), "lost": lost}))  # noqa: T201
    except NoChatsError as error:
        why = error.message
    print(json.dumps({"why": why, "broken": reading.broken, "files": reading.files}))  # noqa: T201
    return 0
