"""Readers of tool calls whose arguments are nested elements with unusual marks: Kimi K3 and MiniMax M3."""

import html
import re
from collections.abc import Mapping
from typing import Any

from sotto.engine.contract.answer_parts import ToolCall
from sotto.engine.parsing.calls import Tools, arguments_of
from sotto.engine.parsing.source import NotACallError, Reading, Source, read_json
from sotto.engine.parsing.tagged_calls import inner_schema, read_value

MINIMAX = "]<]minimax[>["
"""The prefix of all tags of MiniMax M3's calls."""
_ATTRIBUTE = re.compile(r'\s+(\w+)="([^"]*)"')
_MAX_DEPTH = 60


def kimi(source: Source, _: Tools) -> Reading[list[ToolCall]]:
    """Read Kimi K3's calls: `<|open|>call tool="..."<|sep|>` with an `argument` for each argument, with its type."""
    found = source.begin_calls()
    while True:
        yield from source.skip_space()
        if (yield from source.accept("<|close|>tools<|sep|>")) or (found and not (yield from source.next())):
            return _check_any(found)
        yield from source.expect("<|open|>call")
        attributes = _attributes((yield from source.until("<|sep|>")))
        arguments = source.begin_call(_attribute(attributes, "tool"))
        while True:
            yield from source.skip_space()
            if (yield from source.accept("<|close|>call<|sep|>")):
                break
            if (yield from source.accept("<|open|>json")):
                yield from source.until("<|sep|>")
                arguments.update(arguments_of(read_json((yield from source.until("<|close|>json<|sep|>")))))
                continue
            yield from source.expect("<|open|>argument")
            described = _attributes((yield from source.until("<|sep|>")))
            text = yield from source.until("<|close|>argument<|sep|>")
            arguments[_attribute(described, "key")] = text if described.get("type") == "string" else read_json(text)
        source.add_calls(ToolCall(_attribute(attributes, "tool"), arguments))


def minimax(source: Source, tools: Tools) -> Reading[list[ToolCall]]:
    """Read MiniMax M3's calls: `<invoke name="...">` with nested elements for the arguments."""
    found = source.begin_calls()
    while True:
        yield from source.skip_space()
        if (yield from source.accept(f"{MINIMAX}</tool_call>")) or (found and not (yield from source.next())):
            return _check_any(found)
        yield from source.expect(f'{MINIMAX}<invoke name="')
        name = yield from source.until('"')
        yield from source.expect(">")
        arguments = source.begin_call(name)
        yield from _members(source, tools.get(name, {}), f"{MINIMAX}</invoke>", 0, arguments)
        source.add_calls(ToolCall(name, arguments))


def _members(
    source: Source, schema: Mapping[str, Any], end: str, depth: int, kept: dict[str, Any] | None = None
) -> Reading[dict[str, Any]]:
    """Read elements up to `end` into `kept`, or into a new object."""
    found: dict[str, Any] = {} if kept is None else kept
    while True:
        yield from source.skip_space()
        if (yield from source.accept(end)):
            return found
        yield from source.expect(f"{MINIMAX}<")
        key = yield from source.until(">")
        found[key] = yield from _value(source, inner_schema(schema, key), f"{MINIMAX}</{key}>", depth + 1)


def _value(source: Source, schema: Mapping[str, Any], end: str, depth: int) -> Reading[Any]:
    """Read the value of an element and its `end`: `item` elements of a list, other elements of an object, or a text."""
    if depth == _MAX_DEPTH:
        raise NotACallError
    if (yield from source.accept(end)):
        kind = schema.get("type")
        return [] if kind == "array" else {} if kind == "object" else ""
    item = f"{MINIMAX}<item>"
    if (yield from source.starts_with(item)):
        inner, items = schema.get("items"), []
        while (yield from source.accept(item)):
            item_schema = inner if isinstance(inner, Mapping) else {}
            items.append((yield from _value(source, item_schema, f"{MINIMAX}</item>", depth + 1)))
        yield from source.expect(end)
        return items
    if (yield from source.starts_with(f"{MINIMAX}<")):
        return (yield from _members(source, schema, end, depth))
    return read_value(schema, (yield from source.until(end)))


def _attributes(head: str) -> dict[str, str]:
    return {name: html.unescape(text) for name, text in _ATTRIBUTE.findall(head)}


def _attribute(attributes: Mapping[str, str], name: str) -> str:
    if not attributes.get(name):
        raise NotACallError
    return attributes[name]


def _check_any(found: list[ToolCall]) -> list[ToolCall]:
    if not found:
        raise NotACallError
    return found
