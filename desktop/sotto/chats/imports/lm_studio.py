"""Chats of LM Studio, from the files `*.conversation.json` in its folder `conversations`.

LM Studio documents no format and calls it internal (https://github.com/lmstudio-ai/lmstudio-js/issues/152). This
follows programs that read and write these files: lm-studio-conversation-converter
(https://github.com/YorkieDev/lm-studio-conversation-converter/blob/main/script.js), and converters that were measured
against files of LM Studio 0.3 and 0.4. A file is one chat. Each of its `messages` has `versions`, one of them
`currentlySelected`: a `singleStep` with `content`, or a `multiStep` with `steps`, of which the ones of type
`contentBlock` have text, thoughts (by their `style`), calls of tools and their results. What follows a message belongs
to its selected version.
"""

from collections import Counter
from collections.abc import Mapping
from typing import Any

from sotto.chats.chat_records import Role
from sotto.chats.imports.chat_reader import SingleReader
from sotto.chats.imports.message_parts import MessageParts
from sotto.chats.imports.message_tree import Node, grow
from sotto.chats.imports.untyped_values import mapping_in, mappings_in, text_in, time_in
from sotto.chats.whole_chat import Lost, WholeChat

_ROLES = {"user": Role.USER, "assistant": Role.ASSISTANT}
_SYSTEM_FIELD = "llm.prediction.systemPrompt"


class LmStudio(SingleReader):
    """Reads chats whose messages have versions."""

    def recognizes(self, value: Mapping[str, Any]) -> bool:
        """Return whether an object is a chat."""
        messages = value.get("messages")
        return isinstance(messages, list) and any(
            isinstance(message, dict) and isinstance(message.get("versions"), list) for message in messages
        )

    def chat(self, part: Mapping[str, Any]) -> WholeChat:
        """Return the chat that a file describes."""
        created = time_in(part.get("createdAt"))
        used = mapping_in(part.get("lastUsedModel"))
        model = text_in(used.get("identifier")) or text_in(used.get("indexedModelIdentifier"))
        nodes: list[Node] = []
        parent: str | None = None
        for place, message in enumerate(mappings_in(part.get("messages"))):
            versions = mappings_in(message.get("versions"))
            chosen = message.get("currentlySelected")
            if not isinstance(chosen, int) or not 0 <= chosen < len(versions):
                chosen = len(versions) - 1
            nodes += [_node(f"{place}.{number}", parent, version, model) for number, version in enumerate(versions)]
            parent = f"{place}.{chosen}" if versions else parent
        tree = grow(nodes, parent)
        last = max(time_in(part.get(f"{side}LastMessagedAt")) for side in ("user", "assistant"))
        answered = [message.model for message in tree.messages if message.model]
        return WholeChat(
            title=text_in(part.get("name")),
            created=created,
            changed=last or max((message.created for message in tree.messages), default=0.0),
            messages=tree.messages,
            leaf=tree.leaf,
            model=answered[-1] if answered else model,
            pinned=part.get("pinned") is True,
            system=text_in(part.get("systemPrompt")) or _system_of(part),
            lost=Counter(tree.lost),
        )


def _system_of(part: Mapping[str, Any]) -> str:
    fields = mappings_in(mapping_in(part.get("perChatPredictionConfig")).get("fields"))
    return next((text_in(field.get("value")) for field in fields if field.get("key") == _SYSTEM_FIELD), "")


def _node(key: str, parent: str | None, version: Mapping[str, Any], model: str) -> Node:
    role = _ROLES.get(text_in(version.get("role")))
    sender = text_in(mapping_in(version.get("senderInfo")).get("senderName"))
    parts = MessageParts(model=sender)
    steps = mappings_in(version.get("steps"))
    for step in steps:
        # Other steps say what the program did meanwhile.
        if step.get("type") == "contentBlock":
            parts.created = parts.created or _time_of(step)
            parts.model = parts.model or text_in(mapping_in(step.get("genInfo")).get("identifier"))
            is_thought = mapping_in(step.get("style")).get("type") == "thinking"
            _add_content(parts, step, is_thought=is_thought)
    if not steps:
        _add_content(parts, version, is_thought=False)
    parts.model = parts.model or model
    return Node(key, parent, role, parts)


def _time_of(step: Mapping[str, Any]) -> float:
    """Return the time in the identifier of a step, which begins with milliseconds."""
    number = text_in(step.get("stepIdentifier")).partition("-")[0]
    return time_in(int(number)) if number.isascii() and number.isdigit() and len(number) == 13 else 0.0


def _add_content(parts: MessageParts, holder: Mapping[str, Any], *, is_thought: bool) -> None:
    content = holder.get("content")
    pieces = [{"type": "text", "text": content}] if isinstance(content, str) else mappings_in(content)
    # A block is one text, in pieces.
    text = "".join(text_in(piece.get("text")) for piece in pieces if piece.get("type") == "text")
    if is_thought:
        parts.add_thought(text)
    else:
        parts.add_text(text)
    for piece in pieces:
        kind = text_in(piece.get("type"))
        if kind == "file":
            parts.lose_file(text_in(piece.get("fileIdentifier")), text_in(piece.get("fileType")))
        elif kind == "toolCallRequest":
            parts.lose(Lost.TOOL_CALL)
        elif kind not in ("text", "toolCallResult"):
            parts.lose(Lost.PART)
