"""Chats of Jan, from its folder `threads`, and from single chats that Jan exports as JSON.

Source: Jan's own code (https://github.com/janhq/jan): `core/src/types/thread/threadEntity.ts` and
`core/src/types/message/messageEntity.ts` for the values, `src-tauri/src/core/threads` for the files,
`web-app/src/lib/message-branching.ts` for versions and `web-app/src/lib/export-conversation.ts` for exports. A folder
has a chat: `thread.json`, and `messages.jsonl` with a message in each line. Until version 0.6, thoughts are in the text
between tags, and calls of tools in `metadata.tool_calls`; then they are parts of the content. Newer versions link
versions by `metadata.parentId` and `activeChildId`.
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from sotto.chats.chat_records import Role, State
from sotto.chats.imports.message_parts import MessageParts
from sotto.chats.imports.message_tree import Node, Tree, chain, grow
from sotto.chats.imports.untyped_values import list_in, mapping_in, mappings_in, text_in, time_in
from sotto.chats.whole_chat import Lost, WholeChat

_ROLES = {"user": Role.USER, "assistant": Role.ASSISTANT}
_STATES = {"stopped": State.STOPPED, "pending": State.INTERRUPTED, "error": State.FAILED}
_TAG = re.compile("<[^<>]{0,500}>")
_Thread = tuple[Mapping[str, Any], Sequence[Mapping[str, Any]]]


class Jan:
    """Reads threads and messages, which belong together by the id of the thread."""

    def __init__(self) -> None:
        """Keep nothing yet."""
        self._threads: dict[tuple[str, str], Mapping[str, Any]] = {}
        self._messages: dict[tuple[str, str], list[Mapping[str, Any]]] = defaultdict(list)

    def recognizes(self, value: Mapping[str, Any]) -> bool:
        """Return whether an object is a thread, a message, or an exported chat."""
        return _is_thread(value) or _is_message(value) or _is_exported(value)

    def parts(self, value: Mapping[str, Any], folder: str) -> Iterable[_Thread]:
        """Return an exported chat; keep a thread or message until `rest`."""
        if _is_message(value):
            self._messages[folder, value["thread_id"]].append(value)
        elif _is_thread(value):
            self._threads[folder, value["id"]] = value
        else:
            yield value, mappings_in(value.get("messages"))

    def rest(self) -> Iterable[_Thread]:
        """Return each thread with its messages."""
        for key in {**self._threads, **self._messages}:
            yield self._threads.get(key, {}), self._messages.get(key, ())

    def chat(self, part: _Thread) -> WholeChat:
        """Return the chat of a thread and its messages."""
        thread, messages = part
        if thread and not messages and not _is_exported(thread):
            # A chat that was never begun; `reading` leaves it out.
            return WholeChat("", 0.0, 0.0, ())
        assistant = next(iter(mappings_in(thread.get("assistants"))), {})
        model = text_in(mapping_in(thread.get("model")).get("id"))
        model = model or text_in(mapping_in(assistant.get("model")).get("id"))
        instructions = text_in(assistant.get("instructions"))
        tree = _tree(messages, model)
        times = [message.created for message in tree.messages if message.created]
        return WholeChat(
            title=" ".join(_TAG.sub("", text_in(thread.get("title"))[:1000]).split()),
            created=time_in(thread.get("created")) or min(times, default=0.0),
            changed=time_in(thread.get("updated")) or max(times, default=0.0),
            messages=tree.messages,
            leaf=tree.leaf,
            model=model,
            pinned=thread.get("isFavorite") is True or mapping_in(thread.get("metadata")).get("is_favorite") is True,
            system=instructions or _system_of(messages),
            images=tree.images,
            lost=tree.lost,
        )


def _is_thread(value: Mapping[str, Any]) -> bool:
    is_named = isinstance(value.get("id"), str) and isinstance(value.get("title"), str)
    return is_named and (value.get("object") == "thread" or isinstance(value.get("assistants"), list))


def _is_message(value: Mapping[str, Any]) -> bool:
    return (
        isinstance(value.get("thread_id"), str)
        and isinstance(value.get("role"), str)
        and isinstance(value.get("content"), list)
    )


def _is_exported(value: Mapping[str, Any]) -> bool:
    return isinstance(value.get("exported_at"), str) and isinstance(value.get("messages"), list)


def _system_of(messages: Iterable[Mapping[str, Any]]) -> str:
    for message in messages:
        if message.get("role") == "system":
            pieces = mappings_in(message.get("content"))
            return "\n\n".join(filter(None, (text_in(mapping_in(piece.get("text")).get("value")) for piece in pieces)))
    return ""


def _tree(messages: Sequence[Mapping[str, Any]], model: str) -> Tree:
    known = {text_in(message.get("id")): message for message in messages}
    metadata = [mapping_in(message.get("metadata")) for message in messages]
    nodes = [_node(message, place, model) for place, message in enumerate(messages)]
    if not any("parentId" in each for each in metadata):
        return chain(nodes)
    # In the order of their versions. A message without a link goes after the one before it.
    order = sorted(range(len(nodes)), key=lambda place: time_in(messages[place].get("created_at")))
    before: str | None = None
    for place in order:
        linked = metadata[place].get("parentId")
        nodes[place].parent = linked if isinstance(linked, str) or "parentId" in metadata[place] else before
        before = nodes[place].id
    nodes = [nodes[place] for place in order]
    return grow(nodes, _leaf(nodes, known))


def _leaf(nodes: Sequence[Node], known: Mapping[str, Mapping[str, Any]]) -> str | None:
    """Return the last message in view: from the newest first one on, the active ones, or else the newest."""
    children: dict[str | None, list[str]] = defaultdict(list)
    for node in nodes:
        children[node.parent if node.parent in known else None].append(node.id)
    found, seen = None, set()
    while following := [child for child in children[found] if child not in seen]:
        active = mapping_in(known.get(found or "", {}).get("metadata")).get("activeChildId")
        found = active if active in following else following[-1]
        seen.add(found)
    return found


def _node(message: Mapping[str, Any], place: int, model: str) -> Node:
    role = _ROLES.get(text_in(message.get("role")))
    metadata = mapping_in(message.get("metadata"))
    parts = MessageParts(
        created=time_in(message.get("created_at")) or time_in(message.get("created")),
        model=text_in(metadata.get("model")) or text_in(metadata.get("modelId")) or model,
        state=_STATES.get(text_in(message.get("status")), State.COMPLETE),
    )
    for piece in mappings_in(message.get("content")):
        _add_piece(parts, piece)
    for _ in list_in(metadata.get("tool_calls")):
        parts.lose(Lost.TOOL_CALL)
    for file in mappings_in(metadata.get("inline_file_contents")):
        parts.attach(text_in(file.get("name")), text_in(file.get("content")))
    for _ in list_in(message.get("attachments")):
        parts.lose(Lost.FILE)
    return Node(text_in(message.get("id")) or f"#{place}", None, role, parts)


def _add_piece(parts: MessageParts, piece: Mapping[str, Any]) -> None:
    kind, text = text_in(piece.get("type")), text_in(mapping_in(piece.get("text")).get("value"))
    if kind == "text":
        parts.add_text(text)
    elif kind == "reasoning":
        parts.add_thought(text)
    elif kind == "image_url":
        parts.attach_image_at("", text_in(mapping_in(piece.get("image_url")).get("url")))
    elif kind == "tool_call":
        parts.lose(Lost.TOOL_CALL)
    else:
        parts.lose(Lost.PART)
