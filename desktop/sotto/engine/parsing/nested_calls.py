"""Calls of tools whose arguments stand in marks of their own kind, one in the other."""

import html
import re
from collections.abc import Mapping
from typing import Any

from sotto.engine.contract.answer_parts import ToolCall
from sotto.engine.parsing.calls import Tools, arguments_of
from sotto.engine.parsing.source import NotACallError, Reading, Source, read_json
from sotto.engine.parsing.tagged_calls import inner_schema, read_value

MINIMAX = "]<]minimax[>["
"""What stands in front of every tag that MiniMax M3 writes in a call."""
_ATTRIBUTE = re.compile(r'\s+(\w+)="([^"]*)"')
_DEEPEST = 60


def kimi(source: Source, _: Tools) -> Reading[list[ToolCall]]:
    """Read Kimi K3's calls: `<|open|>call tool="..."<|sep|>` with an `argument` for each, which says its type."""
    found = source.begin_calls()
    while True:
        yield from source.blanks()
        if (yield from source.accept("<|close|>tools<|sep|>")) or (found and not (yield from source.next())):
            return _some(found)
        yield from source.expect("<|open|>call")
        attributes = _attributes((yield from source.until("<|sep|>")))
        arguments = source.calling(_needed(attributes, "tool"))
        while True:
            yield from source.blanks()
            if (yield from source.accept("<|close|>call<|sep|>")):
                break
            if (yield from source.accept("<|open|>json")):
                yield from source.until("<|sep|>")
                arguments.update(arguments_of(read_json((yield from source.until("<|close|>json<|sep|>")))))
                continue
            yield from source.expect("<|open|>argument")
            told = _attributes((yield from source.until("<|sep|>")))
            text = yield from source.until("<|close|>argument<|sep|>")
            arguments[_needed(told, "key")] = text if told.get("type") == "string" else read_json(text)
        source.called(ToolCall(_needed(attributes, "tool"), arguments))


def minimax(source: Source, tools: Tools) -> Reading[list[ToolCall]]:
    """Read MiniMax M3's calls: `<invoke name="...">` with an element for each argument, and for all that is in it."""
    found = source.begin_calls()
    while True:
        yield from source.blanks()
        if (yield from source.accept(f"{MINIMAX}</tool_call>")) or (found and not (yield from source.next())):
            return _some(found)
        yield from source.expect(f'{MINIMAX}<invoke name="')
        name = yield from source.until('"')
        yield from source.expect(">")
        arguments = source.calling(name)
        yield from _members(source, tools.get(name, {}), f"{MINIMAX}</invoke>", 0, arguments)
        source.called(ToolCall(name, arguments))


def _members(
    source: Source, schema: Mapping[str, Any], end: str, depth: int, kept: dict[str, Any] | None = None
) -> Reading[dict[str, Any]]:
    """Read elements up to `end`, and keep them in `kept`."""
    found: dict[str, Any] = {} if kept is None else kept
    while True:
        yield from source.blanks()
        if (yield from source.accept(end)):
            return found
        yield from source.expect(f"{MINIMAX}<")
        key = yield from source.until(">")
        found[key] = yield from _value(source, inner_schema(schema, key), f"{MINIMAX}</{key}>", depth + 1)


def _value(source: Source, schema: Mapping[str, Any], end: str, depth: int) -> Reading[Any]:
    """Read what an element holds, and its `end`: elements, those of a list all called `item`, or a text."""
    if depth == _DEEPEST:
        raise NotACallError
    if (yield from source.accept(end)):
        kind = schema.get("type")
        return [] if kind == "array" else {} if kind == "object" else ""
    item = f"{MINIMAX}<item>"
    if (yield from source.starts_with(item)):
        inner, items = schema.get("items"), []
        while (yield from source.accept(item)):
            told = inner if isinstance(inner, Mapping) else {}
            items.append((yield from _value(source, told, f"{MINIMAX}</item>", depth + 1)))
        yield from source.expect(end)
        return items
    if (yield from source.starts_with(f"{MINIMAX}<")):
        return (yield from _members(source, schema, end, depth))
    return read_value(schema, (yield from source.until(end)))


def _attributes(head: str) -> dict[str, str]:
    return {name: html.unescape(text) for name, text in _ATTRIBUTE.findall(head)}


def _needed(attributes: Mapping[str, str], name: str) -> str:
    if not attributes.get(name):
        raise NotACallError
    return attributes[name]


def _some(found: list[ToolCall]) -> list[ToolCall]:
    if not found:
        raise NotACallError
    return found
