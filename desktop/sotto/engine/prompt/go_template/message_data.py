"""The data of Ollama's Go templates: the variables of Jinja templates, converted to Go's names and types.

Names and order of the fields are those of `api/types.go` and `template/template.go` in Ollama.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from sotto.engine.prompt.go_template.go_values import JsonList, JsonMap, Struct

_LEVELS = ("low", "medium", "high", "max")
# The known keys of a tool's description in Go's order; others come after them.
_PROPERTY = ("anyOf", "type", "items", "description", "enum", "properties")
_PARAMETERS = ("type", "$defs", "items", "required", "properties")
_FUNCTION = ("name", "description", "parameters")


def messages_of(variables: Mapping[str, Any]) -> list[Struct]:
    """Return the messages as Go has them."""
    return [_message(message) for message in variables.get("messages") or ()]


def collate(messages: Sequence[Struct]) -> tuple[str, list[Struct]]:
    """Return all system prompts as one text, and the messages with those of the same role in a row joined.

    Results of tools are not joined.
    """
    system = [message.fields["Content"] for message in messages if message.fields["Role"] == "system"]
    joined: list[Struct] = []
    for message in messages:
        role, content = message.fields["Role"], message.fields["Content"]
        if joined and role == joined[-1].fields["Role"] != "tool":
            if content:
                before = joined[-1].fields["Content"]
                joined[-1] = _with(joined[-1], content=f"{before}\n\n{content}" if before else content)
        else:
            joined.append(message)
    return "\n\n".join(system), joined


def tools_of(variables: Mapping[str, Any]) -> JsonList:
    """Return the tools that the model may call."""
    return JsonList(_tool(tool) for tool in variables.get("tools") or ())


def thinking_of(variables: Mapping[str, Any]) -> dict[str, Any]:
    """Return the options of thinking by the names of their fields."""
    think = variables.get("enable_thinking")
    level = variables.get("reasoning_effort")
    level = level if level in _LEVELS else ""
    return {
        "Think": bool(think) or (think is None and bool(level)),
        "ThinkLevel": level,
        "IsThinkSet": think is not None or bool(level),
    }


def _with(message: Struct, content: str) -> Struct:
    return replace(message, fields={**message.fields, "Content": content}, plain={**message.plain, "content": content})


def _message(message: Mapping[str, Any]) -> Struct:
    plain: JsonMap = _clean(message)
    calls = [_call(call, index) for index, call in enumerate(_list(plain.get("tool_calls")))]
    fields = {
        "Role": _text(plain.get("role")),
        "Content": _content(plain.get("content")),
        "Thinking": _text(plain.get("thinking") or plain.get("reasoning_content") or ""),
        "Images": _list(plain.get("images")),
        "ToolCalls": calls,
        "ToolName": _text(plain.get("tool_name") or plain.get("name") or ""),
        "ToolCallID": _text(plain.get("tool_call_id") or ""),
    }
    return Struct("Message", fields, plain)


def _call(call: object, index: int) -> Struct:
    plain = call if isinstance(call, dict) else {}
    function = _map(plain.get("function")) or plain
    arguments = function.get("arguments")
    if isinstance(arguments, str):
        # OpenAI's format has them as a string of JSON.
        try:
            arguments = _clean(json.loads(arguments))
        except (ValueError, RecursionError):
            arguments = {}
    fields = {
        "Index": index,
        "Name": _text(function.get("name")),
        "Arguments": JsonMap(_map(arguments)),
    }
    shown = JsonMap(index=index, name=fields["Name"], arguments=fields["Arguments"])
    inner = Struct("ToolCallFunction", fields, shown)
    name = _text(plain.get("id") or "")
    return Struct(
        "ToolCall", {"ID": name, "Function": inner}, JsonMap(**({"id": name} if name else {}), function=inner)
    )


def _tool(tool: object) -> Struct:
    plain = _map(_clean(tool))
    function = _function(_map(plain.get("function")))
    kind = _text(plain.get("type") or "")
    items = {"items": plain["items"]} if plain.get("items") else {}
    shown = JsonMap(type=kind, **items, function=function)
    return Struct("Tool", {"Type": kind, "Items": plain.get("items"), "Function": function}, shown, prints_json=True)


def _function(plain: dict[str, Any]) -> Struct:
    given = _map(plain.get("parameters"))
    properties = JsonMap((name, _property(value)) for name, value in _map(given.get("properties")).items())
    fields = {
        "Type": _text(given.get("type") or ""),
        "Defs": given.get("$defs"),
        "Items": given.get("items"),
        "Required": _list(given.get("required")),
        "Properties": properties,
    }
    shown = _order_keys({"type": fields["Type"], **given, "properties": properties}, _PARAMETERS)
    parameters = Struct("ToolFunctionParameters", fields, shown)
    name, description = _text(plain.get("name")), _text(plain.get("description") or "")
    return Struct(
        "ToolFunction",
        {"Name": name, "Description": description, "Parameters": parameters},
        _order_keys({"name": name, **plain, "parameters": parameters}, _FUNCTION),
    )


def _property(value: object) -> Struct:
    plain = _map(value)
    kinds = plain.get("type")
    fields = {
        "AnyOf": [_property(item) for item in _list(plain.get("anyOf"))],
        # Several types are printed as a list.
        "Type": kinds[0] if isinstance(kinds, list) and len(kinds) == 1 else kinds or [],
        "Items": plain.get("items"),
        "Description": _text(plain.get("description") or ""),
        "Enum": _list(plain.get("enum")),
        "Properties": JsonMap((name, _property(item)) for name, item in _map(plain.get("properties")).items()),
    }
    return Struct("ToolProperty", fields, _order_keys(plain, _PROPERTY))


def _order_keys(plain: Mapping[str, Any], first: Sequence[str]) -> JsonMap:
    """Return a map with the keys `first` at the beginning, and without those of them that are empty."""
    known = {key: plain[key] for key in first if plain.get(key) not in (None, [], "")}
    return JsonMap(known | {key: value for key, value in plain.items() if key not in first})


def _content(content: object) -> str:
    if isinstance(content, list):
        return "".join(_text(part.get("text") or "") for part in content if isinstance(part, dict))
    return _text(content)


def _text(value: object) -> str:
    return value if isinstance(value, str) else "" if value is None else str(value)


def _list(value: object) -> list[Any]:
    return value if isinstance(value, list) else []


def _map(value: object) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _clean(value: Any) -> Any:
    """Return plain data as Go reads it from JSON: keys are strings, and strings have no lone surrogates."""
    if isinstance(value, str):
        try:
            value.encode()
        except UnicodeEncodeError:
            return value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
        return value
    if isinstance(value, Mapping):
        return JsonMap((_clean(str(key)), _clean(item)) for key, item in value.items())
    if isinstance(value, list | tuple):
        return [_clean(item) for item in value]
    return value if value is None or isinstance(value, bool | int | float) else str(value)
