"""Chats of Claude, from `conversations.json` in the archive that "Export data" sends.

Anthropic documents no format. This follows the schema and the examples of openwebui-importer
(https://github.com/yetanotherchris/openwebui-importer: `schemas/claude-schema.json`, `examples/claude_*.json`) and the
notes of Polylogue (https://github.com/Sinity/polylogue/blob/master/docs/providers/claude-ai.md). Exports of 2023 have
one `text` for each of `chat_messages`, later ones `content` blocks with thoughts and calls of tools, those of 2026 also
`parent_message_uuid`, by which messages form a tree. What programs save from Claude's own server has `model` and
`current_leaf_message_uuid` too.
"""

import re
from collections.abc import Mapping
from typing import Any

from sotto.chats.chat_records import Role
from sotto.chats.imports.chat_reader import SingleReader
from sotto.chats.imports.message_parts import MessageParts
from sotto.chats.imports.message_tree import Node, chain, grow
from sotto.chats.imports.untyped_values import between, mapping_in, mappings_in, text_in, time_in
from sotto.chats.whole_chat import Lost, WholeChat

_ROLES = {"human": Role.USER, "user": Role.USER, "assistant": Role.ASSISTANT}
# Blocks that say nothing to a person.
_SILENT = frozenset("tool_result token_budget flag redacted_thinking".split())
_ARTIFACT = re.compile(r"<antArtifact((?:\s[^<>]{0,2000})?)>")
_ARTIFACT_END = "</antArtifact>"
_ATTRIBUTE = re.compile(r'(\w{1,20})="([^"]{0,500})"')
_LANGUAGES = {
    "text/html": "html",
    "image/svg+xml": "svg",
    "application/vnd.ant.react": "jsx",
    "application/vnd.ant.mermaid": "mermaid",
}
_MARKDOWN = ("text/markdown", "")


class Claude(SingleReader):
    """Reads conversations with `chat_messages`."""

    def recognizes(self, value: Mapping[str, Any]) -> bool:
        """Return whether an object is a conversation."""
        return isinstance(value.get("chat_messages"), list)

    def chat(self, part: Mapping[str, Any]) -> WholeChat:
        """Return the chat that a conversation describes."""
        model = text_in(part.get("model"))
        entries = mappings_in(part["chat_messages"])
        nodes = [_node(entry, place, model) for place, entry in enumerate(entries)]
        if any("parent_message_uuid" in entry for entry in entries):
            leaf = text_in(part.get("current_leaf_message_uuid")) or (nodes[-1].id if nodes else None)
            tree = grow(nodes, leaf)
        else:
            tree = chain(nodes)
        return WholeChat(
            title=text_in(part.get("name")),
            created=time_in(part.get("created_at")),
            changed=time_in(part.get("updated_at")),
            messages=tree.messages,
            leaf=tree.leaf,
            model=model,
            pinned=part.get("is_starred") is True,
            lost=tree.lost,
        )


def _node(entry: Mapping[str, Any], place: int, model: str) -> Node:
    role = _ROLES.get(text_in(entry.get("sender")))
    parts = MessageParts(created=time_in(entry.get("created_at")), model=model)
    blocks = mappings_in(entry.get("content"))
    for block in blocks:
        _add_block(parts, block)
    if not blocks:
        _add_text(parts, text_in(entry.get("text")))
    _add_files(parts, entry)
    return Node(text_in(entry.get("uuid")) or f"#{place}", text_in(entry.get("parent_message_uuid")), role, parts)


def _add_block(parts: MessageParts, block: Mapping[str, Any]) -> None:
    kind = text_in(block.get("type"))
    if kind == "text":
        _add_text(parts, text_in(block.get("text")))
    elif kind == "thinking":
        seconds = between(block.get("start_timestamp"), block.get("stop_timestamp"))
        parts.add_thought(text_in(block.get("thinking")), seconds)
    elif kind == "tool_use":
        written = mapping_in(block.get("input"))
        if block.get("name") == "artifacts" and (text := text_in(written.get("content"))):
            _add_artifact(parts, written, text)
        else:
            parts.lose(Lost.TOOL_CALL)
    elif kind == "image":
        parts.lose(Lost.IMAGE)
    elif kind not in _SILENT:
        parts.lose(Lost.PART)


def _add_text(parts: MessageParts, text: str) -> None:
    """Add a text; artifacts in it, which exports of 2024 have as tags, become documents."""
    at = 0
    while (begin := _ARTIFACT.search(text, at)) is not None and (end := text.find(_ARTIFACT_END, begin.end())) >= 0:
        parts.add_text(text[at : begin.start()])
        _add_artifact(parts, dict(_ATTRIBUTE.findall(begin[1])), text[begin.end() : end])
        at = end + len(_ARTIFACT_END)
    parts.add_text(text[at:])


def _add_artifact(parts: MessageParts, described: Mapping[str, Any], text: str) -> None:
    kind, language = text_in(described.get("type")), text_in(described.get("language"))
    known = language or _LANGUAGES.get(kind, "")
    parts.add_document(text_in(described.get("title")), text, None if kind in _MARKDOWN else known)


def _add_files(parts: MessageParts, entry: Mapping[str, Any]) -> None:
    names = set()
    for file in mappings_in(entry.get("attachments")):
        names.add(text_in(file.get("file_name")))
        parts.attach(text_in(file.get("file_name")) or "Pasted text", text_in(file.get("extracted_content")))
    for file in mappings_in(entry.get("files")):
        # A document whose text was extracted is in both lists.
        if text_in(file.get("file_name")) not in names or not text_in(file.get("file_name")):
            parts.lose_file(text_in(file.get("file_name")), text_in(file.get("file_kind")))
