"""Readers of tool calls whose arguments stand between tags, one by one.

Between tags a number looks like a string. If the tool is available, the schema of its parameters says which of them are
strings; otherwise an argument that is valid JSON is read as JSON.
"""

import re
from collections.abc import Mapping
from typing import Any

from sotto.engine.contract.answer_parts import ToolCall
from sotto.engine.parsing import loose_values
from sotto.engine.parsing.calls import CallReader, Tools, arguments_of, calls_of
from sotto.engine.parsing.loose_values import NAME
from sotto.engine.parsing.source import NotACallError, Reading, Source, read_json

_STRING_ATTRIBUTE = re.compile(r'\s+string="(true|false)"')


def in_tool_call(end: str) -> CallReader:
    """Return a reader of the content of a `<tool_call>`: JSON, functions with parameters, or a name with pairs."""

    def read(source: Source, tools: Tools) -> Reading[list[ToolCall]]:
        yield from source.skip_space()
        following = yield from source.next()
        found = source.begin_calls()
        if following in ("{", "["):
            source.add_calls(*calls_of((yield from source.json())))
        elif following == "<":
            while (yield from source.accept("<function=")):
                source.add_calls((yield from function(source, tools)))
                yield from source.skip_space()
        else:
            return [(yield from _pairs(source, tools, end))]
        yield from source.skip_space()
        if (yield from source.next()):
            yield from source.expect(end)
        if not found:
            raise NotACallError
        return found

    return read


def functions(source: Source, tools: Tools) -> Reading[list[ToolCall]]:
    """Read a function after `<function=`. Qwen3-Coder often leaves out the `<tool_call>` before it."""
    found = yield from function(source, tools)
    after = source.at
    yield from source.skip_space()
    if not (yield from source.accept("</tool_call>")):
        source.at = after
    return [found]


def function(source: Source, tools: Tools) -> Reading[ToolCall]:
    """Read `name>`, the arguments as JSON or as parameters, and `</function>`."""
    name = yield from source.while_in(NAME)
    yield from source.expect(">")
    arguments = source.begin_call(name)
    yield from source.skip_space()
    if (yield from source.next()) == "{":
        found = ToolCall(name, arguments_of((yield from source.json())))
        yield from source.skip_space()
        if (yield from source.next()):
            yield from source.expect("</function>")
        return found
    while not (yield from source.accept("</function>")):
        yield from source.expect("<parameter=")
        key = yield from source.until(">")
        arguments[key] = yield from _argument(source, tools, name, key, "</parameter>", line=True)
        yield from source.skip_space()
    return ToolCall(name, arguments)


def invocations(prefix: str, end: str) -> CallReader:
    """Return a reader of `<invoke name="...">` with `<parameter name="...">` in it, up to `end`.

    Args:
        prefix: The prefix of each tag's name.
        end: The mark that closes the calls.
    """

    def read(source: Source, tools: Tools) -> Reading[list[ToolCall]]:
        found = source.begin_calls()
        while True:
            yield from source.skip_space()
            if (yield from source.accept(end)) or (found and not (yield from source.next())):
                if not found:
                    raise NotACallError
                return found
            yield from source.expect(f'<{prefix}invoke name="')
            name = yield from source.until('"')
            yield from source.expect(">")
            arguments = source.begin_call(name)
            while True:
                yield from source.skip_space()
                if (yield from source.accept(f"</{prefix}invoke>")):
                    break
                yield from source.expect(f'<{prefix}parameter name="')
                key = yield from source.until('"')
                is_string = _STRING_ATTRIBUTE.fullmatch((yield from source.until(">")))
                closes = f"</{prefix}parameter>"
                if is_string is not None and is_string[1] == "true":
                    arguments[key] = yield from source.until(closes)
                else:
                    arguments[key] = yield from _argument(source, tools, name, key, closes, json=is_string is not None)
            source.add_calls(ToolCall(name, arguments))

    return read


def named_pairs(suffix: str) -> CallReader:
    """Return a reader of Hy3's calls, whose tags all end with `suffix`: a name, a mark, then pairs."""

    def read(source: Source, tools: Tools) -> Reading[list[ToolCall]]:
        found = source.begin_calls()
        while True:
            yield from source.skip_space()
            if (yield from source.accept(f"</tool_calls{suffix}>")) or (found and not (yield from source.next())):
                if not found:
                    raise NotACallError
                return found
            yield from source.expect(f"<tool_call{suffix}>")
            name = (yield from source.until(f"<tool_sep{suffix}>")).strip()
            source.add_calls(ToolCall(name, (yield from _values(source, tools, name, f"</tool_call{suffix}>", suffix))))

    return read


def parameters(source: Source, tools: Tools) -> Reading[list[ToolCall]]:
    """Read MiniCPM's call after `<function name="`.

    Strings with marks in them stand in a CDATA block; lists and objects are in Python's syntax.
    """
    name = yield from source.until('"')
    yield from source.expect(">")
    arguments = source.begin_call(name)
    while True:
        yield from source.skip_space()
        if (yield from source.accept("</function>")):
            return [ToolCall(name, arguments)]
        yield from source.expect('<param name="')
        key = yield from source.until('"')
        yield from source.expect(">")
        if (yield from source.accept("<![CDATA[")):
            arguments[key] = yield from source.until("]]>")
            yield from source.expect("</param>")
        else:
            text = yield from source.until("</param>")
            schema = inner_schema(tools.get(name, {}), key)
            listed = schema.get("type") in ("array", "object")
            arguments[key] = loose_values.parse(text) if listed else read_value(schema, text)


def _pairs(source: Source, tools: Tools, end: str) -> Reading[ToolCall]:
    """Read GLM's call: a name, then pairs."""
    name = yield from source.while_in(NAME)
    return ToolCall(name, (yield from _values(source, tools, name, end)))


def _values(source: Source, tools: Tools, name: str, end: str, suffix: str = "") -> Reading[dict[str, Any]]:
    """Read `<arg_key>` and `<arg_value>` in turns, up to `end`."""
    arguments: dict[str, Any] = {}
    while True:
        yield from source.skip_space()
        if (yield from source.next()) == "<":
            # Only now is the name complete.
            source.name, source.arguments = name, arguments
        if (yield from source.accept(end)):
            return arguments
        yield from source.expect(f"<arg_key{suffix}>")
        key = yield from source.until(f"</arg_key{suffix}>")
        yield from source.skip_space()
        yield from source.expect(f"<arg_value{suffix}>")
        arguments[key] = yield from _argument(source, tools, name, key, f"</arg_value{suffix}>")


def _argument(
    source: Source, tools: Tools, tool: str, parameter: str, end: str, *, line: bool = False, json: bool = False
) -> Reading[Any]:
    """Read an argument and its closing tag, and return its value.

    Args:
        source: The text, at the beginning of the argument.
        tools: The available tools.
        tool: The name of the called tool.
        parameter: The name of the argument.
        end: The closing tag.
        line: Whether the argument stands on separate lines.
        json: Whether the model says that it is JSON.
    """
    given = tools.get(tool, {})
    schema = inner_schema(given, parameter)
    if json or (parameter in (given.get("properties") or {}) and schema.get("type") != "string"):
        # Strings in JSON may contain the tag.
        begin = source.at
        try:
            yield from source.skip_space()
            found = yield from source.json(texts=True)
            yield from source.skip_space()
            yield from source.expect(end)
            return found
        except NotACallError:
            source.at, source.value, source.dry = begin, "", False
    text = yield from source.until(end)
    if json:
        return read_json(text)
    if line:
        text = text.removeprefix("\n").removesuffix("\n")
    return read_value(schema, text)


def inner_schema(schema: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    """Return the schema of a property; empty where there is none."""
    properties = schema.get("properties")
    inner = properties.get(name) if isinstance(properties, Mapping) else None
    return inner if isinstance(inner, Mapping) else {}


def read_value(schema: Mapping[str, Any], text: str) -> Any:
    """Return the value of a text between tags: a string if the schema says so, JSON if it is, or else the text."""
    if schema.get("type") == "string":
        return text
    try:
        return read_json(text.strip())
    except NotACallError:
        return {"True": True, "False": False, "None": None}.get(text.strip(), text)
