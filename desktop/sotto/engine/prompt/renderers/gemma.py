"""Renderer of Gemma 4's format: turns between `<|turn>` and `<turn|>`, with calls and their results in one turn."""

from collections.abc import Mapping, Sequence
from typing import Any

from sotto.engine.prompt.renderers.base import Renderer, Turn, tools_of

_TEXT = '<|"|>'
# Keys of schemas, which the template never prints as names of parameters.
_SCHEMA_KEYS = frozenset({"description", "type", "properties", "required", "nullable"})


class Gemma4(Renderer):
    """Gemma 4: each message between `<|turn>` and `<turn|>`, without white space around it and without past thoughts.

    Prompts of the large models begin the answer with an empty thought where they should not think.
    """

    signs = "<|tool_call> <|channel>thought"

    def __init__(self, *, large: bool) -> None:
        """Choose the format: `large` for models of at least 12 billion parameters."""
        self._large = large

    def head(self, system: Turn | None, thinking: bool, variables: Mapping[str, Any]) -> str:
        """Return the first token and the system prompt, which also asks for thoughts and lists the tools."""
        first, tools = super().head(system, thinking, variables), tools_of(variables)
        if system is None and not (thinking or tools):
            return first
        text = ("<|think|>\n" if thinking else "") + (system.content.strip() if system else "")
        declarations = "".join(f"<|tool>{_declaration(tool['function']).strip()}<tool|>" for tool in tools)
        return f"{first}<|turn>system\n{text}{declarations}<turn|>\n"

    def later_system(self, turn: Turn, variables: Mapping[str, Any]) -> str:
        """Return it as a turn."""
        return f"<|turn>system\n{turn.content.strip()}<turn|>\n"

    def user(self, turn: Turn) -> str:
        """Return a question."""
        return f"<|turn>user\n{turn.content.strip()}<turn|>\n"

    def assistant(self, turn: Turn, thinking: bool) -> str:
        """Return an answer, with thoughts only where they led to calls; several in a row are a single turn."""
        begun = "" if turn.continues else "<|turn>model\n"
        text = "".join(part.partition("<|channel>")[0] for part in turn.content.split("<channel|>")).strip()
        if not turn.calls:
            return f"{begun}{text}<turn|>\n"
        thought = f"<|channel>thought\n{turn.thought}\n<channel|>" if turn.thought and turn.recent else ""
        calls = "".join(f"<|tool_call>call:{call.name}{_object(call.arguments)}<tool_call|>" for call in turn.calls)
        names = {call.id: call.name for call in turn.calls if call.id}
        answers = "".join(
            f"<|tool_response>response:{names.get(answer.id, answer.name)}"
            f"{{value:{_value(answer.content)}}}<tool_response|>"
            for answer in turn.answers
        )
        if not answers:
            return f"{begun}{thought}{calls}{text}<|tool_response>"
        return f"{begun}{thought}{calls}{answers}{text}" + ("<turn|>\n" if turn.content else "")

    def tool(self, turn: Turn) -> str:
        """Return nothing, as results are printed with their calls."""
        return ""

    def generation_prompt(self, turns: Sequence[Turn], thinking: bool) -> str:
        """Return the beginning of an answer; nothing after calls, as their turn continues."""
        spoken = [turn for turn in turns if turn.role != "tool"]
        if spoken and spoken[-1].calls:
            return ""
        return "<|turn>model\n" + ("<|channel>thought\n<channel|>" if self._large and not thinking else "")


def _declaration(function: Mapping[str, Any]) -> str:
    """Return the declaration of a tool."""
    given, answer = function.get("parameters"), function.get("response")
    text = f"declaration:{function.get('name')}{{description:{_mark(function.get('description') or '')}"
    if given:
        text += ",parameters:{"
        if properties := given.get("properties"):
            text += f"properties:{{{_parameters(properties)}}},"
        if required := given.get("required"):
            text += f"required:{_names(required)},"
        if kind := given.get("type"):
            text += f"type:{_mark(str(kind).upper())}}}"
    if isinstance(answer, Mapping):
        text += ",response:{"
        if about := answer.get("description"):
            text += f"description:{_mark(about)},"
        if str(answer.get("type", "")).upper() == "OBJECT":
            text += f"type:{_mark('OBJECT')}}}"
    return text + "}"


def _parameters(properties: Mapping[str, Any]) -> str:
    return ",".join(
        f"{name}:{{{','.join(_parts(fields if isinstance(fields, Mapping) else {}))}}}"
        for name, fields in _sort(properties)
        if name not in _SCHEMA_KEYS
    )


def _parts(fields: Mapping[str, Any]) -> list[str]:
    """Return the description of a parameter, its type last."""
    kind, parts = str(fields.get("type", "")).upper(), []
    if about := fields.get("description"):
        parts.append(f"description:{_mark(about)}")
    items = fields.get("items")
    if kind == "STRING" and fields.get("enum"):
        parts.append(f"enum:{_value(fields['enum'], quoted=True)}")
    elif kind == "ARRAY" and isinstance(items, Mapping) and items:
        parts.append(f"items:{{{','.join(_item(key, value) for key, value in _sort(items) if value is not None)}}}")
    if fields.get("nullable"):
        parts.append("nullable:true")
    if kind == "OBJECT":
        properties = fields.get("properties")
        parts.append(f"properties:{{{_parameters(properties if isinstance(properties, Mapping) else fields)}}}")
        if fields.get("required"):
            parts.append(f"required:{_names(fields['required'])}")
    return [*parts, f"type:{_mark(kind)}"]


def _item(key: str, value: Any) -> str:
    """Return one field of the schema of a list's items."""
    if key == "properties":
        return f"properties:{{{_parameters(value) if isinstance(value, Mapping) else ''}}}"
    if key == "required":
        return f"required:{_names(value)}"
    if key == "type":
        upper = value.upper() if isinstance(value, str) else [str(each).upper() for each in value]
        return f"type:{_value(upper, quoted=True)}"
    return f"{key}:{_value(value, quoted=True)}"


def _object(given: Mapping[str, Any], *, quoted: bool = False) -> str:
    """Return names and values, sorted by name; `quoted` puts the names between marks as well."""
    pairs = (f"{_mark(key) if quoted else key}:{_value(value, quoted=quoted)}" for key, value in _sort(given))
    return f"{{{','.join(pairs)}}}"


def _value(value: Any, *, quoted: bool = False) -> str:
    if isinstance(value, str):
        return _mark(value)
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, Mapping):
        return _object(value, quoted=quoted)
    if isinstance(value, list | tuple):
        return f"[{','.join(_value(each, quoted=quoted) for each in value)}]"
    return str(value)


def _names(names: Sequence[Any]) -> str:
    return f"[{','.join(map(_mark, names))}]"


def _mark(text: Any) -> str:
    return f"{_TEXT}{text}{_TEXT}"


def _sort(given: Mapping[str, Any]) -> list[tuple[str, Any]]:
    return sorted(given.items(), key=lambda pair: pair[0].lower())
