"""The table of the formats whose chats can be imported; Ollama's database is no JSON, and has a reader of its own."""

from collections.abc import Iterator, Mapping
from typing import Any

from sotto.chats.imports.chat_reader import ChatReader
from sotto.chats.imports.chatgpt import ChatGpt
from sotto.chats.imports.claude import Claude
from sotto.chats.imports.jan import Jan
from sotto.chats.imports.lm_studio import LmStudio
from sotto.chats.imports.open_webui import OpenWebUi
from sotto.chats.imports.own_export import OwnExport

# The first one that recognizes an object reads it.
_READERS: tuple[type[ChatReader], ...] = (OwnExport, ChatGpt, Claude, OpenWebUi, LmStudio, Jan)
PROGRAMS = "Sotto, ChatGPT, Claude, Open WebUI, LM Studio, Jan or Ollama"


class Readers:
    """The readers of one import."""

    def __init__(self) -> None:
        """Begin with one reader of each format."""
        self._readers = tuple(make() for make in _READERS)

    def reader_of(self, value: Mapping[str, Any]) -> ChatReader | None:
        """Return the reader of an object, or None."""
        return next((reader for reader in self._readers if reader.recognizes(value)), None)

    def __iter__(self) -> Iterator[ChatReader]:
        """Yield all readers."""
        return iter(self._readers)
