"""Calls of tools whose arguments stand between tags, one by one.

Between tags a number looks like a text. Where the model was given the tool, its parameters' schema says which of them
are texts; otherwise what is JSON is taken for JSON.
"""

import re
from typing import Any

from sotto.engine.parsing.calls import CallReader, Tools, arguments_of, calls_of
from sotto.engine.parsing.loose_values import NAME
from sotto.engine.parsing.pieces import ToolCall
from sotto.engine.parsing.source import NotACallError, Reading, Source, read_json

_STRING_ATTRIBUTE = re.compile(r'\s+string="(true|false)"')


def in_tool_call(end: str) -> CallReader:
    """Return what reads the inside of a `<tool_call>`: JSON, functions with parameters, or a name with pairs."""

    def read(source: Source, tools: Tools) -> Reading[list[ToolCall]]:
        yield from source.blanks()
        following = yield from source.next()
        found: list[ToolCall] = []
        if following in ("{", "["):
            found += calls_of((yield from source.json()))
        elif following == "<":
            while (yield from source.accept("<function=")):
                found.append((yield from function(source, tools)))
                yield from source.blanks()
        else:
            return [(yield from _pairs(source, tools, end))]
        yield from source.blanks()
        if (yield from source.next()):
            yield from source.expect(end)
        if not found:
            raise NotACallError
        return found

    return read


def functions(source: Source, tools: Tools) -> Reading[list[ToolCall]]:
    """Read one function behind `<function=`. Qwen3-Coder often leaves out the `<tool_call>` around it."""
    found = yield from function(source, tools)
    behind = source.at
    yield from source.blanks()
    if not (yield from source.accept("</tool_call>")):
        source.at = behind
    return [found]


def function(source: Source, tools: Tools) -> Reading[ToolCall]:
    """Read `name>`, the arguments as JSON or as parameters, and `</function>`."""
    name = yield from source.while_in(NAME)
    yield from source.expect(">")
    yield from source.blanks()
    if (yield from source.next()) == "{":
        found = ToolCall(name, arguments_of((yield from source.json())))
        yield from source.blanks()
        if (yield from source.next()):
            yield from source.expect("</function>")
        return found
    arguments: dict[str, Any] = {}
    while not (yield from source.accept("</function>")):
        yield from source.expect("<parameter=")
        key = yield from source.until(">")
        text = yield from source.until("</parameter>")
        arguments[key] = typed(tools, name, key, text.removeprefix("\n").removesuffix("\n"))
        yield from source.blanks()
    return ToolCall(name, arguments)


def invocations(prefix: str, end: str) -> CallReader:
    """Return what reads `<invoke name="...">` with `<parameter name="...">` in it, up to `end`.

    Args:
        prefix: What stands in front of each tag's name.
        end: What closes the calls.
    """

    def read(source: Source, tools: Tools) -> Reading[list[ToolCall]]:
        found: list[ToolCall] = []
        while True:
            yield from source.blanks()
            if (yield from source.accept(end)) or (found and not (yield from source.next())):
                if not found:
                    raise NotACallError
                return found
            yield from source.expect(f'<{prefix}invoke name="')
            name = yield from source.until('"')
            yield from source.expect(">")
            arguments: dict[str, Any] = {}
            while True:
                yield from source.blanks()
                if (yield from source.accept(f"</{prefix}invoke>")):
                    break
                yield from source.expect(f'<{prefix}parameter name="')
                key = yield from source.until('"')
                said = _STRING_ATTRIBUTE.fullmatch((yield from source.until(">")))
                text = yield from source.until(f"</{prefix}parameter>")
                if said is None:
                    arguments[key] = typed(tools, name, key, text)
                else:
                    arguments[key] = text if said[1] == "true" else read_json(text)
            found.append(ToolCall(name, arguments))

    return read


def _pairs(source: Source, tools: Tools, end: str) -> Reading[ToolCall]:
    """Read GLM's call: a name, then `<arg_key>` and `<arg_value>` in turns."""
    name = yield from source.while_in(NAME)
    arguments: dict[str, Any] = {}
    while True:
        yield from source.blanks()
        if (yield from source.accept(end)):
            return ToolCall(name, arguments)
        yield from source.expect("<arg_key>")
        key = yield from source.until("</arg_key>")
        yield from source.blanks()
        yield from source.expect("<arg_value>")
        arguments[key] = typed(tools, name, key, (yield from source.until("</arg_value>")))


def typed(tools: Tools, tool: str, parameter: str, text: str) -> Any:
    """Return an argument that stood between tags as the value that it is meant to be."""
    properties = tools.get(tool, {}).get("properties")
    schema = properties.get(parameter) if isinstance(properties, dict) else None
    wanted = schema.get("type") if isinstance(schema, dict) else None
    if wanted == "string":
        return text
    try:
        return read_json(text.strip())
    except NotACallError:
        return {"True": True, "False": False, "None": None}.get(text.strip(), text)
