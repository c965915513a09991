"""What a reader of a format offers, and the reader of chats that are one object each."""

from collections.abc import Iterable, Mapping
from typing import Any, Protocol

from sotto.chats.whole_chat import WholeChat


class ChatReader(Protocol):
    """Reads the chats of one program. It must not fail for any value, but with `UnreadableChatError`.

    A reader serves one import: it may keep what belongs together until `rest`.
    """

    def recognizes(self, value: Mapping[str, Any]) -> bool:
        """Return whether an object of JSON is of this format."""
        ...

    def parts(self, value: Mapping[str, Any], folder: str) -> Iterable[Any]:
        """Return what describes the chats of an object that is recognized.

        Args:
            value: The object.
            folder: Identifies the folder that its file is in.
        """
        ...

    def rest(self) -> Iterable[Any]:
        """Return what describes the chats that only all objects together are."""
        ...

    def chat(self, part: Any) -> WholeChat:
        """Return the chat that a part describes.

        Raises:
            UnreadableChatError: It cannot be read.
        """
        ...


class SingleReader:
    """The base of readers of chats that are one object each."""

    def parts(self, value: Mapping[str, Any], folder: str) -> Iterable[Any]:
        """Return the object itself."""
        return (value,)

    def rest(self) -> Iterable[Any]:
        """Return nothing."""
        return ()
