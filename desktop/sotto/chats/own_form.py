"""The JSON form of conversations in Sotto's own exports.

`{"format": "sotto-chats", "version": 1, "chats": [...]}`, where a chat has the fields of `WholeChat` and a message
those of `WholeMessage`. An export with images is a list of objects: first one for each image, with its file in base64,
`{"format": "sotto-image", "version": 1, "data": "…"}`, and then the conversations, which name images by their digests.
So each can be read by itself, and memory need not hold all of them.
"""

import json
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sotto.chats.chat_records import Attachment, Role, State, clean, is_digest
from sotto.chats.row_reading import seconds
from sotto.chats.whole_chat import Lost, UnreadableChatError, WholeChat, WholeMessage

FORMAT, IMAGE_FORMAT, VERSION = "sotto-chats", "sotto-image", 1
CHAT_FIELDS = ("title", "created", "changed", "pinned", "archived", "model", "draft", "system", "trims")
MESSAGE_FIELDS = ("role", "text", "state", "created", "model")
ATTACHMENT_FIELDS = ("name", "text", "size", "begins", "ends", "tokens", "image")
_INTEGER_LIMIT = 2**63
# Answers that were being written when they were exported are imported as interrupted.
_STATES = frozenset(State) - {State.STREAMING}


def chat_in_own_form(chat: WholeChat) -> dict[str, Any]:
    """Return a conversation as an object for JSON."""
    return {
        **{name: getattr(chat, name) for name in CHAT_FIELDS},
        "options": dict(chat.options),
        "leaf": chat.leaf,
        "attachments": [attachment_in_own_form(attachment) for attachment in chat.attachments],
        "messages": [
            {
                **{name: getattr(message, name) for name in MESSAGE_FIELDS},
                "figures": dict(message.figures),
                "parent": message.parent,
                "attachments": [attachment_in_own_form(attachment) for attachment in message.attachments],
            }
            for message in chat.messages
        ],
    }


def attachment_in_own_form(attachment: Attachment) -> dict[str, Any]:
    """Return an attachment as an object for JSON; these are also its columns in the database."""
    return {
        name: clean(value) if isinstance(value := getattr(attachment, name), str) else value
        for name in ATTACHMENT_FIELDS
    }


def chat_of_own_form(value: Any, name: str, lost: Counter[Lost] | None = None) -> WholeChat:
    """Return the conversation that an object of JSON describes.

    Args:
        value: The object; it is hostile input.
        name: Its path in the file, for error messages.
        lost: What could not be kept of it.

    Raises:
        UnreadableChatError: A field has a wrong value; the message names it.
    """
    chat = _object(value, name)
    messages = tuple(_message(item, name, index) for index, item in enumerate(chat.get("messages", list, [])))
    return WholeChat(
        title=chat.get("title", str, ""),
        created=chat.time("created"),
        changed=chat.time("changed"),
        messages=messages,
        leaf=chat.place("leaf", len(messages)),
        model=chat.get("model", str, ""),
        pinned=chat.get("pinned", bool, False),
        archived=chat.get("archived", bool, False),
        system=chat.get("system", str, ""),
        draft=chat.get("draft", str, ""),
        options=chat.get("options", dict, {}),
        trims=chat.get("trims", bool, False),
        attachments=chat.attachments(),
        lost=lost or Counter(),
    )


def _message(value: Any, chat: str, index: int) -> WholeMessage:
    message = _object(value, f"{chat}.messages[{index}]")
    role, state = message.get("role", str, ""), message.get("state", str, State.COMPLETE.value)
    if role not in set(Role):
        raise UnreadableChatError(f"{message.name}.role is {role[:40]!r}; it must be user or assistant.")
    return WholeMessage(
        role=Role(role),
        text=message.get("text", str, ""),
        parent=message.place("parent", index),
        created=message.time("created"),
        model=message.get("model", str, ""),
        state=State(state) if state in _STATES else State.INTERRUPTED,
        figures=message.get("figures", dict, {}),
        attachments=message.attachments(),
    )


@dataclass(frozen=True, slots=True)
class _Field:
    """An object of the imported file, and its path in it for error messages."""

    name: str
    values: Mapping[str, Any]

    def get(self, key: str, kind: type | tuple[type, ...], default: Any) -> Any:
        """Return the value of `key`, or `default` if it is missing.

        Raises:
            UnreadableChatError: It is not of type `kind`.
        """
        value = self.values.get(key, default)
        # In Python, but not in JSON, a Boolean is also a number.
        if value is not default and (not isinstance(value, kind) or (isinstance(value, bool) and kind is not bool)):
            raise UnreadableChatError(f"{self.name}.{key} is {_shown(value)}; it must be {_named(kind)}.")
        return clean(value) if isinstance(value, str) else value

    def number(self, key: str) -> int:
        """Return a count; 0 if it is missing, negative or too large for the database."""
        found: int = self.get(key, int, 0)
        return found if 0 <= found < _INTEGER_LIMIT else 0

    def time(self, key: str) -> float:
        """Return seconds since 1970; 0 if they are missing or out of range."""
        return seconds(self.get(key, (int, float), 0.0))

    def place(self, key: str, before: int) -> int | None:
        """Return the place of a message among the first `before`; None for none.

        Raises:
            UnreadableChatError: There is no such message.
        """
        index: int | None = self.get(key, int, None)
        if index is not None and not 0 <= index < before:
            raise UnreadableChatError(
                f"{self.name}.{key} is {_shown(index)}; it must be the number of a message in front of it."
            )
        return index

    def attachments(self) -> tuple[Attachment, ...]:
        """Return the attachments of a message, or of the draft of a conversation."""
        return tuple(
            _attachment(_object(item, f"{self.name}.attachments[{index}]"))
            for index, item in enumerate(self.get("attachments", list, []))
        )


def _attachment(field: _Field) -> Attachment:
    name, text = field.get("name", str, ""), field.get("text", str, "")
    begins, ends, size, tokens = (field.number(key) for key in ("begins", "ends", "size", "tokens"))
    if not begins < ends <= len(text):
        begins, ends = 0, len(text)
    image = field.get("image", str, "")
    return Attachment(name, text, size, begins, ends, tokens, image if is_digest(image) else "")


def _object(value: Any, name: str) -> _Field:
    if not isinstance(value, dict):
        raise UnreadableChatError(f"{name} is {_shown(value)}; it must be an object.")
    return _Field(name, value)


def _shown(value: Any) -> str:
    return json.dumps(value)[:40]


def _named(kind: type | tuple[type, ...]) -> str:
    words = {str: "a text", bool: "true or false", dict: "an object", list: "a list", int: "a whole number"}
    return "a number" if isinstance(kind, tuple) else words[kind]
