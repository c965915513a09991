"""Chats of ChatGPT, from `conversations.json` in the archive that "Export data" sends.

OpenAI documents no format. This follows the specification that convoviz has derived from exports of 2023 to 2026
(https://github.com/mohamed-chs/convoviz/blob/main/docs/dev/chatgpt-spec.md) and the examples of chatgpt-export-parser
(https://github.com/mitkury/chatgpt-export-parser). Older exports are one list, newer ones several files of that kind
(`conversations-000.json`), or a list in an object. Each conversation has a tree of nodes in `mapping`, and the last
node in view as `current_node`. Thoughts, calls of tools and their results are nodes of their own between a question and
the answer.
"""

import json
import re
from collections import Counter
from collections.abc import Mapping
from typing import Any

from sotto.chats.chat_records import Role, State
from sotto.chats.imports.chat_reader import SingleReader
from sotto.chats.imports.message_parts import MessageParts
from sotto.chats.imports.message_tree import Node, grow
from sotto.chats.imports.untyped_values import list_in, mapping_in, mappings_in, text_in, time_in
from sotto.chats.whole_chat import Lost, WholeChat

_ROLES = {"user": Role.USER, "assistant": Role.ASSISTANT}
# Marks of citations and of names, which ChatGPT's own window turns into links.
_MARKED = re.compile("\ue200([^\ue200\ue201]{0,2000})\ue201")
_OLD_CITATION = re.compile("【[0-9]{1,4}(?::[0-9]{1,4})?†[^【】\n]{0,200}】")
_DURATION = re.compile(r"(?:(\d{1,4})\s*m\w*)?\s*(?:(\d{1,5})\s*s\w*)?", re.ASCII)
# What a program answered to a call, or what is kept for the program only.
_SILENT = frozenset(
    "execution_output tether_browsing_display tether_quote sonic_webpage system_error user_editable_context "
    "model_editable_context computer_output citable_code_output super_widget".split()
)


class ChatGpt(SingleReader):
    """Reads conversations with a `mapping`."""

    def recognizes(self, value: Mapping[str, Any]) -> bool:
        """Return whether an object is a conversation."""
        return isinstance(value.get("mapping"), dict)

    def chat(self, part: Mapping[str, Any]) -> WholeChat:
        """Return the chat that a conversation describes."""
        nodes, system = [], ""
        for key, entry in _in_order(part["mapping"]):
            message = mapping_in(entry.get("message"))
            role = text_in(mapping_in(message.get("author")).get("role"))
            if role == "system" and not system:
                system = "" if _is_hidden(message) else _plain_text(message)
            parent = entry.get("parent")
            nodes.append(_node(key, parent if isinstance(parent, str) else None, role, message))
        leaf = part.get("current_node")
        tree = grow(nodes, leaf if isinstance(leaf, str) else None)
        models = [message.model for message in tree.messages if message.model]
        return WholeChat(
            title=text_in(part.get("title")),
            created=time_in(part.get("create_time")),
            changed=time_in(part.get("update_time")),
            messages=tree.messages,
            leaf=tree.leaf,
            model=models[-1] if models else "",
            pinned=bool(part.get("is_starred") or part.get("pinned_time")),
            archived=part.get("is_archived") is True,
            system=system,
            lost=Counter(tree.lost),
        )


def _in_order(mapping: Mapping[str, Any]) -> list[tuple[str, Mapping[str, Any]]]:
    """Return the nodes in the order of their versions, which is that of the `children` of the node before."""
    entries = {key: entry for key, entry in mapping.items() if isinstance(entry, dict)}
    order = {
        child: place
        for entry in entries.values()
        for place, child in enumerate(list_in(entry.get("children")))
        if isinstance(child, str)
    }
    return sorted(entries.items(), key=lambda item: order.get(item[0], 0))


def _node(key: str, parent: str | None, author: str, message: Mapping[str, Any]) -> Node:
    role = _ROLES.get(author)
    content, metadata = mapping_in(message.get("content")), mapping_in(message.get("metadata"))
    parts = MessageParts(
        created=time_in(message.get("create_time")),
        model=text_in(metadata.get("model_slug")) if role is Role.ASSISTANT else "",
        state=State.STOPPED if message.get("status") == "in_progress" else State.COMPLETE,
    )
    if not content or author == "system" or _is_hidden(message):
        return Node(key, parent, None)
    if role is Role.ASSISTANT and message.get("recipient", "all") not in ("all", None):
        _add_call(parts, text_in(message.get("recipient")), content)
        return Node(key, parent, role, parts)
    if author == "tool":
        # Pictures are made by a tool, and belong to the answer.
        _add_media(parts, content)
        return Node(key, parent, None if parts.is_empty else Role.ASSISTANT, parts)
    _add_content(parts, content)
    for file in mappings_in(metadata.get("attachments")):
        kind = text_in(file.get("mime_type"))
        # Pictures are parts of the content as well.
        if not kind.startswith("image"):
            parts.lose_file(text_in(file.get("name")), kind)
    return Node(key, parent, role, parts)


def _is_hidden(message: Mapping[str, Any]) -> bool:
    return mapping_in(message.get("metadata")).get("is_visually_hidden_from_conversation") is True


def _plain_text(message: Mapping[str, Any]) -> str:
    return "\n\n".join(_strings(mapping_in(message.get("content")))).strip()


def _add_content(parts: MessageParts, content: Mapping[str, Any]) -> None:
    kind = text_in(content.get("content_type")) or "text"
    if kind in ("text", "multimodal_text"):
        for piece in _strings(content):
            parts.add_text(_unmarked(piece))
        _add_media(parts, content)
    elif kind == "code":
        if code := text_in(content.get("text")):
            language = text_in(content.get("language"))
            parts.add_document("", code, "" if language == "unknown" else language)
    elif kind == "thoughts":
        _add_thoughts(parts, content)
    elif kind == "reasoning_recap":
        # It has the time of the thoughts before it, which are a node of their own.
        parts.recap = _seconds_in(text_in(content.get("content")))
    elif kind not in _SILENT:
        parts.lose(Lost.PART)


def _add_call(parts: MessageParts, tool: str, content: Mapping[str, Any]) -> None:
    """Record that a call is lost, unless it writes a document of the canvas: that is part of the answer."""
    document: Mapping[str, Any] = {}
    if tool == "canmore.create_textdoc":
        try:
            document = mapping_in(json.loads(text_in(content.get("text")) or "".join(_strings(content))))
        except (ValueError, RecursionError):
            parts.lose(Lost.PART)
            return
    if text := text_in(document.get("content")):
        kind = text_in(document.get("type"))
        parts.add_document(
            text_in(document.get("name")), text, kind.partition("code/")[2] if kind != "document" else None
        )
    else:
        parts.lose(Lost.TOOL_CALL)


def _strings(content: Mapping[str, Any]) -> list[str]:
    return [piece for piece in list_in(content.get("parts")) if isinstance(piece, str)]


def _add_media(parts: MessageParts, content: Mapping[str, Any]) -> None:
    for piece in mappings_in(content.get("parts")):
        kind = text_in(piece.get("content_type"))
        if kind == "image_asset_pointer":
            parts.lose(Lost.IMAGE)
        elif kind == "audio_transcription":
            parts.add_text(text_in(piece.get("text")))
        elif "audio" in kind or "video" in kind:
            parts.lose(Lost.RECORDING)
        elif text_in(piece.get("text")):
            parts.add_text(text_in(piece.get("text")))
        else:
            parts.lose(Lost.PART)


def _add_thoughts(parts: MessageParts, content: Mapping[str, Any]) -> None:
    thoughts = content.get("thoughts")
    if isinstance(thoughts, str):
        parts.add_thought(thoughts)
        return
    pieces = []
    for thought in mappings_in(thoughts):
        summary, text = text_in(thought.get("summary")).strip(), text_in(thought.get("content")).strip()
        pieces += [f"**{summary}**" if summary else "", text]
    parts.add_thought("\n\n".join(piece for piece in pieces if piece))


def _seconds_in(text: str) -> int:
    """Return the seconds in a text such as `Thought for 1m 5s`; 0 if there are none."""
    found = _DURATION.search(text.rpartition("for ")[2][:40])
    minutes, seconds = found.groups() if found else (None, None)
    return 60 * int(minutes or 0) + int(seconds or 0)


def _unmarked(text: str) -> str:
    """Return a text without citations, and with what is shown for other marks."""
    if "\ue200" in text:
        text = _MARKED.sub(lambda found: _shown(found[1]), text)
    return _OLD_CITATION.sub("", text) if "【" in text else text


def _shown(mark: str) -> str:
    kind, _, rest = mark.partition("\ue202")
    if kind == "entity":
        try:
            named = json.loads(rest)
        except (ValueError, RecursionError):
            return ""
        return text_in(named[1]) if isinstance(named, list) and len(named) > 1 else ""
    return rest.partition("\ue202")[0] if kind in ("url", "link_title") else ""
