"""Reads the chats of chosen files and folders, whatever program they are from.

One broken chat or file does not keep the others from being read: it is counted.
"""

import io
import sqlite3
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from sotto.chats.documents import shown_name
from sotto.chats.imports.chat_reader import ChatReader
from sotto.chats.imports.import_files import DamagedError, Fault, Source, Sources, TooMuchError
from sotto.chats.imports.json_stream import JsonStreamError, values_in
from sotto.chats.imports.ollama_app import OllamaApp, copy_database
from sotto.chats.imports.readers import PROGRAMS, Readers
from sotto.chats.imports.untyped_values import list_in
from sotto.chats.whole_chat import UnreadableChatError, WholeChat
from sotto.errors import SottoError

_ADVICE = f"choose an export of {PROGRAMS}"
# Lists of chats in an object, as some exports have them.
_WRAPPERS = ("conversations", "chats")


class NoChatsError(SottoError):
    """No chat can be imported of what was chosen."""


class Reading:
    """Reads chats from files, once.

    Attributes:
        broken: How many chats cannot be read.
        files: How many files cannot be read, or not to their ends.
    """

    def __init__(self, paths: Sequence[Path]) -> None:
        """Read from these files and folders."""
        self._paths = paths
        self._readers = Readers()
        # How many objects have been recognized, and how many chats were read.
        self._recognized = self._good = 0
        self._faults: list[str] = []
        self.broken = self.files = 0

    def chats(self) -> Iterator[WholeChat]:
        """Yield the chats; those without any message or draft are left out.

        Raises:
            NoChatsError: There is none, and why; or there is too much to read.
        """
        sources, name = Sources(), ""
        try:
            for path in self._paths:
                name = shown_name(path)
                before = self._recognized, len(self._faults)
                for source in sources.of(path):
                    yield from self._chats_of(source, is_chosen=source.name == path.name)
                if (self._recognized, len(self._faults)) == before:
                    self._refuse(f"{name} has no chats that can be imported: {_ADVICE}.")
        except TooMuchError as error:
            raise NoChatsError(f"{name} cannot be imported, as it has {error.message}: choose a part of it.") from error
        for reader in self._readers:
            yield from self._read(reader, reader.rest(), name)
        if not self._good:
            raise NoChatsError(self._faults[0] if self._faults else f"{name} has no messages in it: {_ADVICE}.")

    def _chats_of(self, source: Source | Fault, *, is_chosen: bool) -> Iterator[WholeChat]:
        name = shown_name(Path(source.name))
        if isinstance(source, Fault):
            self._refuse(f"{name} cannot be imported, as {source.why}.")
        elif source.path is not None:
            yield from self._in_database(source.path, name)
        else:
            yield from self._in_json(source, name, is_chosen=is_chosen)

    def _in_json(self, source: Source, name: str, *, is_chosen: bool) -> Iterator[WholeChat]:
        """Yield the chats of a JSON file; one without chats is refused only if it was chosen itself."""
        recognized, unknown, why = self._recognized, 0, ""
        text = io.TextIOWrapper(source.stream, "utf-8-sig", errors="replace")
        try:
            for value in values_in(text):
                for item in self._unwrapped(value):
                    reader = self._readers.reader_of(item) if isinstance(item, dict) else None
                    if reader is None:
                        unknown += 1
                    else:
                        self._recognized += 1
                        yield from self._read(reader, self._parts(reader, item, source.folder, name), name)
        except (JsonStreamError, DamagedError) as error:
            why = error.message
        if self._recognized > recognized:
            # What stands among chats is a broken one.
            self.broken += unknown
            if why:
                self._refuse(f"{name} cannot be read to its end, as {why}: export it again.")
        elif why and is_chosen:
            self._refuse(f"{name} cannot be imported, as {why}: {_ADVICE}.")

    def _unwrapped(self, value: Any) -> Iterable[Any]:
        if isinstance(value, dict) and self._readers.reader_of(value) is None:
            wrapped = next((list_in(value.get(key)) for key in _WRAPPERS if list_in(value.get(key))), [])
            if wrapped:
                return wrapped
        return (value,)

    def _parts(self, reader: ChatReader, value: Mapping[str, Any], folder: str, name: str) -> Iterator[Any]:
        try:
            yield from reader.parts(value, folder)
        except UnreadableChatError as error:
            self._refuse(f"{name} {error.message}")

    def _read(self, reader: "ChatReader | OllamaApp", parts: Iterable[Any], name: str) -> Iterator[WholeChat]:
        for part in parts:
            try:
                chat = reader.chat(part)
            except UnreadableChatError as error:
                self.broken += 1
                self._faults.append(f"{name}: {error.message}")
                continue
            if chat.messages or chat.draft.strip() or chat.attachments:
                self._good += 1
                yield chat

    def _in_database(self, path: Path, name: str) -> Iterator[WholeChat]:
        with tempfile.TemporaryDirectory() as folder:
            try:
                database = OllamaApp(copy_database(path, Path(folder)))
            except (sqlite3.Error, OSError):
                self._refuse(f"{name} cannot be imported, as it is a damaged database: {_ADVICE}.")
                return
            try:
                if database.is_recognized:
                    self._recognized += 1
                    yield from self._read(database, database.parts(), name)
            except sqlite3.Error:
                self._refuse(f"{name} cannot be read to its end, as it is a damaged database: {_ADVICE}.")
            finally:
                database.close()

    def _refuse(self, fault: str) -> None:
        self.files += 1
        self._faults.append(fault)
