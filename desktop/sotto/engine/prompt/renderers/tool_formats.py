"""Descriptions of tools and tool calls in the formats that several model families share."""

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from sotto.engine.prompt.renderers.base import Call, Tools

_HOW_TO_CALL = """

If you choose to call a {what} ONLY reply in the following format with NO suffix:

<tool_call>
<function=example_function_name>
<parameter=example_parameter_1>
value_1
</parameter>
<parameter=example_parameter_2>
{example}
</parameter>
</function>
</tool_call>

<IMPORTANT>
Reminder:
- Function calls MUST follow the specified format: {format}
- Required parameters MUST be specified
- You may provide optional reasoning for your function call in natural language BEFORE the function call, but NOT after
- If there is no function call available, answer the question like normal with your current knowledge and do not tell \
the user about function calls
</IMPORTANT>"""
TOOL_CALLS = _HOW_TO_CALL.format(
    what="tool",
    example="value_2",
    format="the tool calling block MUST begin with an opening <tool_call> tag and end with a closing </tool_call> tag.",
)
"""The instructions for calls in Qwen3-Coder's prompts."""
FUNCTION_CALLS = _HOW_TO_CALL.format(
    what="function",
    example="This is the value for the second parameter\nthat can span\nmultiple lines",
    format="an inner <function=...></function> block must be nested within <tool_call></tool_call> XML tags",
)
"""The instructions for calls in the prompts of Qwen3.5 and Nemotron 3."""


def as_json(value: Any) -> str:
    """Return a value in JSON as Jinja templates print it."""
    return json.dumps(value, ensure_ascii=False)


def as_lines(tools: Tools) -> str:
    """Return tools in JSON, each on a new line."""
    return "".join(f"\n{as_json(tool)}" for tool in tools)


def as_list(tools: Tools) -> str:
    """Return tools as a JSON list."""
    return f"[{', '.join(map(as_json, tools))}]"


def as_elements(tools: Tools, *, reordered: bool = False) -> str:
    """Return tools as nested XML elements, as Qwen3-Coder was trained.

    Args:
        tools: The tools to describe.
        reordered: Whether to put `enum` after the description and `required` last, as Nemotron 3 does.
    """
    return "<tools>" + "".join(_element(tool["function"], reordered) for tool in tools) + "\n</tools>"


def _element(function: Mapping[str, Any], reordered: bool) -> str:
    given = function.get("parameters")
    properties = given.get("properties") if isinstance(given, Mapping) else None
    parts = [f"\n<function>\n<name>{function.get('name')}</name>"]
    if "description" in function:
        parts.append(_tag("description", str(function["description"]).strip()))
    parts.append("\n<parameters>")
    for name, fields in properties.items() if isinstance(properties, Mapping) else ():
        parts += ["\n<parameter>", _tag("name", name), *_fields(fields, reordered), "\n</parameter>"]
    parts += _rest(given, ("type", "properties", "required") if reordered else ("type", "properties"))
    if reordered and isinstance(given, Mapping) and "required" in given:
        parts.append(_tag("required", as_json(given["required"])))
    parts += ["\n</parameters>", *_rest(function, ("type", "name", "description", "parameters")), "\n</function>"]
    return "".join(parts)


def _fields(fields: Any, reordered: bool) -> Iterator[str]:
    """Yield the elements of a parameter."""
    if not isinstance(fields, Mapping):
        return
    if "type" in fields:
        yield _tag("type", str(fields["type"]))
    if "description" in fields:
        yield _tag("description", str(fields["description"]).strip())
    if reordered and "enum" in fields:
        yield _tag("enum", as_json(fields["enum"]))
    yield from _rest(fields, ("name", "type", "description", *(("enum",) if reordered else ())))


def _rest(fields: Any, handled: Sequence[str]) -> Iterator[str]:
    """Yield elements for all fields but `handled`."""
    for key, value in fields.items() if isinstance(fields, Mapping) else ():
        if key not in handled:
            yield _tag(key, as_text(value))


def _tag(name: str, text: str) -> str:
    return f"\n<{name}>{text}</{name}>"


def as_text(value: Any) -> str:
    """Return a value as text, objects and lists in JSON, as Qwen3-Coder and similar models have it between tags."""
    return as_json(value) if isinstance(value, Mapping | list | tuple) else str(value)


def as_function(call: Call) -> str:
    """Return a call as a `<tool_call>` with a function whose parameters stand between tags."""
    given = "".join(f"<parameter={name}>\n{as_text(value)}\n</parameter>\n" for name, value in call.arguments.items())
    return f"<tool_call>\n<function={call.name}>\n{given}</function>\n</tool_call>"


def as_pairs(call: Call, lines: str = "") -> str:
    """Return a call as GLM writes it: a name, then keys and values in turns; `lines` follows each part."""
    pairs = (
        f"<arg_key>{name}</arg_key>{lines}<arg_value>{value if isinstance(value, str) else as_json(value)}</arg_value>"
        f"{lines}"
        for name, value in call.arguments.items()
    )
    return f"<tool_call>{call.name}{lines}{''.join(pairs)}</tool_call>{lines}"
