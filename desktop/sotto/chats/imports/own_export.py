"""Chats that Sotto itself has exported; the form is described in `sotto.chats.own_form`."""

import base64
import binascii
import hashlib
import json
import shutil
import tempfile
import weakref
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from sotto.chats.own_form import FORMAT, IMAGE_FORMAT, VERSION, chat_of_own_form
from sotto.chats.whole_chat import UnreadableChatError, WholeChat

_Part = tuple[Any, str]


class OwnExport:
    """Reads exports of Sotto, and refuses chats in which a field has a wrong value.

    The images, which come first, wait in a temporary folder for the chats that have them.
    """

    def __init__(self) -> None:
        """Read nothing yet."""
        self._folder: Path | None = None
        self._images: set[str] = set()

    def recognizes(self, value: Mapping[str, Any]) -> bool:
        """Return whether an object is an export of Sotto, or an image in one."""
        return value.get("format") in (FORMAT, IMAGE_FORMAT)

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
        if value.get("format") == IMAGE_FORMAT:
            self._keep(value.get("data"))
            return ()
        chats = value.get("chats")
        if not isinstance(chats, list):
            raise UnreadableChatError("has no chats: an export of Sotto must have a list of them.")
        return [(chat, f"chats[{place}]") for place, chat in enumerate(chats)]

    def rest(self) -> Iterable[_Part]:
        """Return nothing."""
        return ()

    def chat(self, part: _Part) -> WholeChat:
        """Return an exported chat."""
        chat = chat_of_own_form(*part)
        attachments = (*chat.attachments, *(each for message in chat.messages for each in message.attachments))
        there = {each.image for each in attachments} & self._images
        return replace(chat, images={digest: self._path(digest).read_bytes() for digest in there})

    def _keep(self, data: Any) -> None:
        """Keep an image for the chats that have it; they lack one that cannot be read."""
        try:
            image = base64.b64decode(data, validate=True) if isinstance(data, str) else b""
        except (binascii.Error, ValueError):
            image = b""
        if image:
            digest = hashlib.sha256(image).hexdigest()
            self._path(digest).write_bytes(image)
            self._images.add(digest)

    def _path(self, digest: str) -> Path:
        if self._folder is None:
            self._folder = Path(tempfile.mkdtemp())
            weakref.finalize(self, shutil.rmtree, self._folder)
        return self._folder / digest
