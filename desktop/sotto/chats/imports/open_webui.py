"""Chats of Open WebUI, from "Export chats" in its settings and "Export chat" in the menu of a chat.

Source: Open WebUI's own code (https://github.com/open-webui/open-webui): `backend/open_webui/models/chats.py` for the
exported rows, `backend/open_webui/utils/misc.py` for `output`, and `backend/open_webui/utils/middleware.py` for the
`<details>` in the text of answers. An export is a list of rows, each with a `chat` that has its messages as a tree in
`history`; before 2024 they were a list. Until version 0.7, thoughts and calls of tools are `<details>` in the text of
an answer; then its parts are in `output`.
"""

import html
import re
from collections.abc import Mapping
from typing import Any

from sotto.chats.chat_records import Role, State
from sotto.chats.imports.chat_reader import SingleReader
from sotto.chats.imports.message_parts import MessageParts
from sotto.chats.imports.message_tree import Node, Tree, chain, grow
from sotto.chats.imports.untyped_values import list_in, mapping_in, mappings_in, text_in, time_in
from sotto.chats.whole_chat import Lost, WholeChat

_ROLES = {"user": Role.USER, "assistant": Role.ASSISTANT}
_DETAILS = re.compile(r'<details type="(reasoning|tool_calls|code_interpreter)"([^<>]{0,20000})>')
_DETAILS_END = "</details>"
_SUMMARY = re.compile(r"\s*<summary>[^<]{0,500}</summary>")
_SECONDS = re.compile(r'duration="(\d{1,6})(?:\.\d*)?"', re.ASCII)
_LONGEST_THOUGHT = 1e6
_QUOTE = re.compile(r"^> ?", re.MULTILINE)


class OpenWebUi(SingleReader):
    """Reads rows with a `chat`, and such a chat alone."""

    def recognizes(self, value: Mapping[str, Any]) -> bool:
        """Return whether an object is a row or a chat."""
        return _is_chat(value.get("chat")) or (_is_chat(value) and isinstance(value.get("models"), list))

    def chat(self, part: Mapping[str, Any]) -> WholeChat:
        """Return the chat that a row describes."""
        chat = mapping_in(part.get("chat")) or part
        tree = _tree(chat)
        times = [message.created for message in tree.messages if message.created]
        models = [message.model for message in tree.messages if message.model]
        return WholeChat(
            title=text_in(part.get("title")) or text_in(chat.get("title")),
            created=time_in(part.get("created_at")) or time_in(chat.get("timestamp")) or min(times, default=0.0),
            changed=time_in(part.get("updated_at")) or max(times, default=0.0),
            messages=tree.messages,
            leaf=tree.leaf,
            model=models[-1] if models else "",
            pinned=part.get("pinned") is True,
            archived=part.get("archived") is True,
            system=text_in(mapping_in(chat.get("params")).get("system")) or text_in(chat.get("system")),
            images=tree.images,
            lost=tree.lost,
        )


def _is_chat(value: Any) -> bool:
    if not isinstance(value, dict):
        return False
    return isinstance(mapping_in(value.get("history")).get("messages"), dict) or isinstance(value.get("messages"), list)


def _tree(chat: Mapping[str, Any]) -> Tree:
    history = mapping_in(chat.get("history"))
    known = {key: entry for key, entry in mapping_in(history.get("messages")).items() if isinstance(entry, dict)}
    if not known:
        return chain(_node(str(place), entry) for place, entry in enumerate(mappings_in(chat.get("messages"))))
    order = {
        child: place
        for entry in known.values()
        for place, child in enumerate(list_in(entry.get("childrenIds")))
        if isinstance(child, str)
    }
    keys = sorted(known, key=lambda key: order.get(key, 0))
    leaf = history.get("currentId")
    return grow([_node(key, known[key]) for key in keys], leaf if isinstance(leaf, str) else None)


def _node(key: str, entry: Mapping[str, Any]) -> Node:
    role, parent = _ROLES.get(text_in(entry.get("role"))), entry.get("parentId")
    parts = MessageParts(created=time_in(entry.get("timestamp")), model=text_in(entry.get("model")))
    if entry.get("error"):
        parts.state = State.FAILED
    elif entry.get("done") is False:
        parts.state = State.INTERRUPTED
    output = mappings_in(entry.get("output"))
    if output:
        for item in output:
            _add_item(parts, item)
    else:
        parts.add_thought(text_in(entry.get("reasoning_content")))
        _add_content(parts, entry.get("content"))
    for file in mappings_in(entry.get("files")):
        _add_file(parts, file)
    return Node(key, parent if isinstance(parent, str) else None, role, parts)


def _add_content(parts: MessageParts, content: Any) -> None:
    if isinstance(content, str):
        _add_text(parts, content)
    for piece in mappings_in(content):
        if piece.get("type") == "text":
            _add_text(parts, text_in(piece.get("text")))
        elif piece.get("type") == "image_url":
            parts.attach_image_at("", text_in(mapping_in(piece.get("image_url")).get("url")))
        else:
            parts.lose(Lost.PART)


def _add_text(parts: MessageParts, text: str) -> None:
    """Add a text, in which thoughts and calls of tools are `<details>`."""
    at = 0
    while (begin := _DETAILS.search(text, at)) is not None and (end := text.find(_DETAILS_END, begin.end())) >= 0:
        parts.add_text(text[at : begin.start()])
        if begin[1] == "reasoning":
            seconds = _SECONDS.search(begin[2])
            summary = _SUMMARY.match(text, begin.end(), end)
            thought = text[summary.end() if summary else begin.end() : end]
            parts.add_thought(_QUOTE.sub("", html.unescape(thought).strip()), int(seconds[1]) if seconds else 0)
        else:
            parts.lose(Lost.TOOL_CALL)
        at = end + len(_DETAILS_END)
    parts.add_text(text[at:])


def _add_item(parts: MessageParts, item: Mapping[str, Any]) -> None:
    kind = text_in(item.get("type"))
    if kind == "message":
        parts.add_text("".join(_texts(item.get("content"))))
    elif kind == "reasoning":
        seconds = item.get("duration")
        texts = _texts(item.get("summary")) or _texts(item.get("content"))
        is_known = isinstance(seconds, int | float) and 0 <= seconds < _LONGEST_THOUGHT
        parts.add_thought("\n\n".join(texts), int(seconds or 0) if is_known else 0)
    elif kind in ("function_call", "open_webui:code_interpreter"):
        parts.lose(Lost.TOOL_CALL)
    elif kind != "function_call_output":
        parts.lose(Lost.PART)


def _texts(pieces: Any) -> list[str]:
    return [text for piece in mappings_in(pieces) if (text := text_in(piece.get("text")))]


def _add_file(parts: MessageParts, file: Mapping[str, Any]) -> None:
    stored = mapping_in(file.get("file"))
    name = text_in(file.get("name")) or text_in(stored.get("filename"))
    text = text_in(mapping_in(stored.get("data")).get("content"))
    if text.strip():
        parts.attach(name, text)
    elif text_in(file.get("url")).startswith("data:image/"):
        parts.attach_image_at(name, text_in(file.get("url")))
    else:
        parts.lose_file(name, text_in(file.get("type")))
