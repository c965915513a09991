"""Readers of tool calls in JSON, or in a syntax close to it.

A reader begins after the text that opens a call, and returns at least one call. All names of marks and fields are from
the chat templates that the models were published with.
"""

from collections.abc import Callable, Mapping
from typing import Any

from sotto.engine.contract.answer_parts import ToolCall
from sotto.engine.parsing import loose_values
from sotto.engine.parsing.loose_values import NAME
from sotto.engine.parsing.source import NotACallError, Reading, Source, read_json

Tools = Mapping[str, Mapping[str, Any]]
"""JSON schemas of the available tools' parameters, by the tools' names."""
CallReader = Callable[[Source, Tools], Reading[list[ToolCall]]]

NAMES = ("name", "tool_name")
ARGUMENTS = ("arguments", "parameters", "input")
_IDS = ("id", "tool_call_id")


def call_of(value: Any) -> ToolCall:
    """Return a JSON value as a call.

    Raises:
        NotACallError: It does not describe a call.
    """
    if isinstance(value, dict) and isinstance(value.get("function"), dict):
        value = value["function"] | {key: value[key] for key in _IDS if key in value}
    if not isinstance(value, dict):
        raise NotACallError
    name = next((value[key] for key in NAMES if key in value), None)
    given: Any = next((value[key] for key in ARGUMENTS if key in value), None)
    identity = next((value[key] for key in _IDS if key in value), "")
    if not isinstance(name, str) or not name:
        raise NotACallError
    return ToolCall(name, arguments_of(given), str(identity))


def arguments_of(given: Any) -> Mapping[str, Any]:
    """Return arguments as an object; some models write them as a JSON string, and no arguments as null.

    Raises:
        NotACallError: They are something else.
    """
    if isinstance(given, str):
        given = read_json(given) if given.strip() else {}
    if given is None:
        return {}
    if not isinstance(given, dict):
        raise NotACallError
    return given


def calls_of(value: Any) -> list[ToolCall]:
    """Return a JSON value, an object or a list of objects, as calls.

    Raises:
        NotACallError: One of them does not describe a call, or there are none.
    """
    found = [call_of(item) for item in value] if isinstance(value, list) else [call_of(value)]
    if not found:
        raise NotACallError
    return found


def in_json(end: str = "", *, optional: bool = False) -> CallReader:
    """Return a reader of JSON values, each a call or a list of calls, and of `end` after them.

    Args:
        end: The mark that closes the calls; empty for none.
        optional: Whether other text may come in its place. The end of the answer always may.
    """

    def read(source: Source, _: Tools) -> Reading[list[ToolCall]]:
        found = source.begin_calls()
        while True:
            after = source.at
            yield from source.skip_space()
            if end and (yield from source.accept(end)):
                break
            following = yield from source.next()
            if found and following not in ("{", "["):
                _refuse_if(bool(following and end) and not optional)
                source.at = after
                break
            source.add_calls(*calls_of((yield from source.json())))
        _refuse_if(not found)
        return found

    return read


def by_name(end: str) -> CallReader:
    """Return a reader of Apertus' list of objects, each with the tool's name as its only key."""

    def read(source: Source, _: Tools) -> Reading[list[ToolCall]]:
        value = yield from source.json()
        _refuse_if(not isinstance(value, list) or not all(isinstance(item, dict) and len(item) == 1 for item in value))
        yield from source.skip_space()
        if (yield from source.next()):
            yield from source.expect(end)
        found = [ToolCall(name, arguments_of(given)) for item in value for name, given in item.items()]
        _refuse_if(not found)
        return found

    return read


def bare_objects(source: Source, tools: Tools) -> Reading[list[ToolCall]]:
    """Read Llama 3's objects, which no mark opens: they are calls only if they name available tools."""
    source.at -= 1
    found = source.begin_calls()
    while True:
        after = source.at
        if found:
            yield from source.skip_space()
            yield from source.accept(";")
            yield from source.skip_space()
            if (yield from source.next()) != "{":
                source.at = after
                return found
        call = call_of((yield from source.json()))
        _refuse_if(call.name not in tools)
        source.add_calls(call)


def llama(source: Source, tools: Tools) -> Reading[list[ToolCall]]:
    """Read what follows Llama 3's `<|python_tag|>`: objects, or the call of one of Llama's built-in tools."""
    yield from source.skip_space()
    found = source.begin_calls()
    while True:
        if (yield from source.next()) == "{":
            source.add_calls(call_of((yield from source.json())))
        else:
            # `brave_search.call(query="...")`
            source.add_calls((yield from loose_values.call(source, ".call")))
        after = source.at
        yield from source.skip_space()
        if not (yield from source.accept(";")):
            source.at = after
            return found
        yield from source.skip_space()


def mistral(source: Source, tools: Tools) -> Reading[list[ToolCall]]:
    """Read what follows `[TOOL_CALLS]`: a list, or since version 11 of the tokenizer `name[ARGS]{...}`."""
    yield from source.skip_space()
    if (yield from source.next()) in ("[", "{"):
        return calls_of((yield from source.json()))
    name = yield from source.while_in(NAME)
    identity = ""
    if (yield from source.accept("[CALL_ID]")):
        identity = yield from source.while_in(NAME)
    yield from source.accept("[ARGS]")
    yield from source.skip_space()
    if (yield from source.next()) == "{":
        source.begin_call(name)
    return [ToolCall(name, arguments_of((yield from source.json())), identity)]


def python(end: str, *, listed: bool) -> CallReader:
    """Return a reader of calls in Python's syntax, up to `end`; `listed` says that they stand in brackets."""

    def read(source: Source, _: Tools) -> Reading[list[ToolCall]]:
        yield from source.skip_space()
        if listed:
            yield from source.expect("[")
        found = source.begin_calls()
        while True:
            yield from source.skip_space()
            if (yield from source.accept("]" if listed else end)):
                break
            if found and listed:
                yield from source.expect(",")
            # Gemma wraps calls in `print` to see their results.
            printed = not listed and (yield from source.accept("print("))
            source.add_calls((yield from loose_values.call(source)))
            if printed:
                yield from source.expect(")")
        if listed:
            yield from source.skip_space()
            if (yield from source.next()):
                yield from source.expect(end)
        _refuse_if(not found)
        return found

    return read


def gemma(end: str) -> CallReader:
    """Return a reader of `call:name{key:value}` and `end`."""

    def read(source: Source, _: Tools) -> Reading[list[ToolCall]]:
        yield from source.skip_space()
        yield from source.expect("call:")
        name = yield from source.while_in(NAME)
        yield from source.expect("{")
        arguments = yield from loose_values.members(source, "}", ":", source.begin_call(name))
        yield from source.skip_space()
        if (yield from source.next()):
            yield from source.expect(end)
        return [ToolCall(name, arguments)]

    return read


def deepseek(source: Source, _: Tools) -> Reading[list[ToolCall]]:
    """Read DeepSeek's calls up to V3.1, which has no word `function` and no fence around the arguments."""
    found = source.begin_calls()
    while True:
        yield from source.skip_space()
        if (yield from source.accept("<｜tool▁calls▁end｜>")) or (found and not (yield from source.next())):
            _refuse_if(not found)
            return found
        yield from source.expect("<｜tool▁call▁begin｜>")
        name = (yield from source.until("<｜tool▁sep｜>")).strip()
        fenced = name == "function" and (yield from source.next()) not in ("{", "")
        if fenced:
            name = (yield from source.until("\n")).strip()
            yield from source.skip_space()
            yield from source.expect("```json")
        yield from source.skip_space()
        if (yield from source.next()):
            source.begin_call(name)
        arguments = arguments_of((yield from source.json()))
        yield from source.skip_space()
        if fenced:
            yield from source.expect("```")
            yield from source.skip_space()
        if (yield from source.next()):
            yield from source.expect("<｜tool▁call▁end｜>")
        _refuse_if(not name)
        source.add_calls(ToolCall(name, arguments))


def kimi(source: Source, _: Tools) -> Reading[list[ToolCall]]:
    """Read Kimi K2's calls, whose ids contain the names: `functions.get_weather:0`."""
    found = source.begin_calls()
    while True:
        yield from source.skip_space()
        if (yield from source.accept("<|tool_calls_section_end|>")) or (found and not (yield from source.next())):
            _refuse_if(not found)
            return found
        yield from source.expect("<|tool_call_begin|>")
        identity = (yield from source.until("<|tool_call_argument_begin|>")).strip()
        name = identity.removeprefix("functions.").rpartition(":")[0]
        source.begin_call(name)
        yield from source.skip_space()
        arguments = arguments_of((yield from source.json()))
        yield from source.skip_space()
        if (yield from source.next()):
            yield from source.expect("<|tool_call_end|>")
        _refuse_if(not name)
        source.add_calls(ToolCall(name, arguments, identity))


def _refuse_if(wrong: bool) -> None:
    if wrong:
        raise NotACallError
