"""Chats that Sotto itself has exported; the form is described in `sotto.chats.own_form`."""

import json
from collections.abc import Iterable, Mapping
from typing import Any

from sotto.chats.own_form import FORMAT, VERSION, chat_of_own_form
from sotto.chats.whole_chat import UnreadableChatError, WholeChat

_Part = tuple[Any, str]


class OwnExport:
    """Reads exports of Sotto, and refuses chats in which a field has a wrong value."""

    def recognizes(self, value: Mapping[str, Any]) -> bool:
        """Return whether an object is an export of Sotto."""
        return value.get("format") == FORMAT

    def parts(self, value: Mapping[str, Any], folder: str) -> Iterable[_Part]:
        """Return the chats of an export.

        Raises:
            UnreadableChatError: It is of another version, or has no chats; the message follows the name of the file.
        """
        if value.get("version") != VERSION:
            raise UnreadableChatError(
                f"is of version {json.dumps(value.get('version'))[:40]} of Sotto's exports, and this Sotto reads "
                f"version {VERSION}: export it again, or use a newer Sotto."
            )
        chats = value.get("chats")
        if not isinstance(chats, list):
            raise UnreadableChatError("has no chats: an export of Sotto must have a list of them.")
        return [(chat, f"chats[{place}]") for place, chat in enumerate(chats)]

    def rest(self) -> Iterable[_Part]:
        """Return nothing."""
        return ()

    def chat(self, part: _Part) -> WholeChat:
        """Return an exported chat."""
        return chat_of_own_form(*part)
