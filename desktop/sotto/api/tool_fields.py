"""Thoughts and tools, from what clients say of them to what the engine is asked, and back."""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from sotto.api.error_bodies import bad
from sotto.api.fields import OBJECT, STRING, Body, Flag, List, Object, Objects, Raw, Text, shown_value
from sotto.engine.contract.answer_parts import CutCall, Kind, Piece, ToolCall, calls_of, cut_of, markup
from sotto.engine.contract.events import Finished, ModelInfo, TextChunk
from sotto.engine.contract.requests import GenerateRequest, Message, Think
from sotto.engine.contract.tool_choice import ToolChoice
from sotto.engine.parsing.output import fresh_id
from sotto.engine.prompt.template_messages import PromptOptions
from sotto.engine.prompt.tools import read_tools, tools_at

LEVELS = ("high", "medium", "low", "max")
_EFFORTS = {
    "none": Think.OFF,
    "minimal": Think.LOW,
    "low": Think.LOW,
    "medium": Think.MEDIUM,
    "high": Think.HIGH,
    "xhigh": Think.MAX,
    "max": Think.MAX,
}
UNSEEN = "[This is no text, and you cannot see it.]"
"""What a model is told instead of an image or a file that a tool answered with: its client goes on by itself, and would
end up with a conversation that is refused whatever comes next."""
# Each stands in several events of a stream.
_MOST_WARNINGS = 16


TOOL = {
    "type": "object",
    "properties": {
        "type": STRING,
        "function": {
            "type": "object",
            "properties": {"name": STRING, "description": STRING, "parameters": OBJECT},
            "required": ["name"],
        },
    },
    "required": ["function"],
}
"""The JSON schema of a tool, as `sotto.engine.prompt.tools` reads it."""


class Function(Body):
    """A function that is called, or should be."""

    name = Text(required=True)
    arguments = Raw(STRING, OBJECT)


class Call(Body):
    """A call in a message of the assistant."""

    id = Text()
    function = Object(Function)


class Called(Body):
    """A message that may have calls."""

    tool_calls = Objects(Call)


class Tool(Body):
    """A tool by its type alone."""

    type = Text()


class OllamaTools(Body):
    """Tools and thoughts in Ollama's dialect."""

    tools = List(TOOL)
    think = Raw({"type": "boolean"}, {"enum": [*LEVELS]})


class Reasoning(Body):
    """How long to think."""

    effort = Text(choices=tuple(_EFFORTS))


class OpenAITools(Body):
    """Tools and thoughts in OpenAI's dialect."""

    tools = List(TOOL)
    tool_choice = Raw({"enum": ["auto", "none", "required"]}, OBJECT)
    parallel_tool_calls = Flag(True)
    reasoning_effort = Text(choices=tuple(_EFFORTS))
    reasoning = Object(Reasoning)


class _Chosen(Body):
    """The tool that must be called, in OpenAI's dialect."""

    type = Text()
    function = Object(Function)


@dataclass(frozen=True, slots=True)
class Told:
    """What is new of an answer, as clients are told it.

    Attributes:
        text: Of the answer itself.
        thinking: What was thought.
        calls: Tools to call.
        cut: The call that the answer breaks off in.
    """

    text: str
    thinking: str
    calls: tuple[ToolCall, ...]
    cut: CutCall | None = None

    def __bool__(self) -> bool:
        """Return whether there is anything."""
        return bool(self.text or self.thinking or self.calls or self.cut)


NOTHING = Told("", "", ())


def told(event: TextChunk | Finished, request: GenerateRequest) -> Told:
    """Return what an event tells; calls that nobody gave tools for are a part of the text."""
    pieces = event.pieces
    thinking = event.thinking if isinstance(event, Finished) else _thoughts(pieces)
    if request.tools:
        return Told(event.text, thinking, calls_of(pieces), cut_of(pieces))
    said = [markup([piece], begun=True) for piece in pieces if piece.kind is not Kind.THOUGHT]
    return Told("".join(said), thinking, ())


def _thoughts(pieces: Sequence[Piece]) -> str:
    return "".join(piece.text for piece in pieces if piece.kind is Kind.THOUGHT)


def suit_model(name: str, info: ModelInfo, request: GenerateRequest) -> tuple[GenerateRequest, tuple[str, ...]]:
    """Return a request as a model can follow it, and a warning where thoughts were asked of one that has none.

    Raises:
        ApiError: It knows nothing of tools or gaps, and is asked for them.
    """
    if request.suffix is not None and not info.fills_gaps:
        raise bad(f"{name} does not support insert")
    if request.tools and not info.knows_tools:
        raise bad(f"{name} does not support tools")
    if request.think in (None, Think.OFF) or info.thinks:
        return request, ()
    return replace(request, think=None, think_budget=None), (
        f'"{name}" does not support thinking, so it was left out.',
    )


def kind_of_tool(tool: Tool, usual: str = "") -> str:
    """Return the type of a tool; `usual`, unless that is empty, is the one of a tool that names none.

    Raises:
        ApiError: It should name one, and does not.
    """
    kind = tool.type or usual
    if not kind:
        raise tool.wrong("type", "a tool's type, such as function")
    return kind


def left_out(name: str, kinds: Mapping[int, str], why: str) -> Iterator[str]:
    """Yield warnings that objects in a list are left out.

    Args:
        name: The field that has the list.
        kinds: Their types, by their places in it.
        why: What is said of all of them.
    """
    for place, kind in kinds.items():
        yield f"{name}[{place}] is left out: its type is {shown_value(kind)}, and {why}."


def unseen(place: str) -> str:
    """Return the warning that an image in what a tool answered is not seen."""
    return f"{place} is left out: it is no text, and the model is told that it cannot see it."


def bound_warnings(warnings: Iterable[str]) -> list[str]:
    """Return the first of some warnings, and how many more there are."""
    told = list(warnings)
    if len(told) > _MOST_WARNINGS:
        more = len(told) - _MOST_WARNINGS + 1
        told[_MOST_WARNINGS - 1 :] = [f"{more} more parts of the request are left out."]
    return told


# Ollama


def ollama_prompt_options(body: OllamaTools) -> PromptOptions:
    """Return the tools and thoughts that a request asks for."""
    think = body.think
    if think is not None and not isinstance(think, bool) and think not in LEVELS:
        right = "".join(f'"{level}", ' for level in LEVELS) + "true, or false"
        if not isinstance(think, str):
            raise bad(f"think must be a boolean or string ({right})")
        raise bad(f'invalid think value: "{think}" (must be {right})')
    chosen = None if think is None else Think.ON if think is True else Think.OFF if think is False else Think(think)
    return PromptOptions(read_tools(list(body.tools), "tools"), chosen)


def ollama_row(told: Told) -> dict[str, Any]:
    """Return the fields of an answer beside its text; a call that was cut off has no place there."""
    row: dict[str, Any] = {"thinking": told.thinking} if told.thinking else {}
    if told.calls:
        row["tool_calls"] = [
            {"id": call.id, "function": {"index": index, "name": call.name, "arguments": call.arguments}}
            for index, call in enumerate(told.calls)
        ]
    return row


# OpenAI


def openai_prompt_options(body: OpenAITools, functions: Mapping[int, Any] | None = None) -> PromptOptions:
    """Return the tools and thoughts that a request asks for; `functions`, by their places, are all of its tools."""
    tools = read_tools(list(body.tools), "tools") if functions is None else tools_at(functions, "tools")
    choice = _openai_choice(body)
    effort = body.reasoning_effort or body.reasoning.effort
    if effort and effort not in _EFFORTS:
        raise bad(f"invalid reasoning value: '{effort}' (must be {', '.join(_EFFORTS)})")
    return PromptOptions(() if body.tool_choice == "none" else tools, _EFFORTS.get(effort), choice=choice)


def _openai_choice(body: OpenAITools) -> ToolChoice | None:
    """Return which tools must be called, if that is not for the model to choose."""
    given, single = body.tool_choice, not body.parallel_tool_calls
    if isinstance(given, dict):
        choice = _Chosen(given, body.path("tool_choice"))
        if choice.type != "function":
            raise choice.wrong("type", "function")
        function = choice.function
        if not function.name:
            raise function.wrong("name", "a function's name")
        return ToolChoice(required=True, tool=function.name, single=single)
    if given not in (None, "auto", "none", "required"):
        raise body.wrong("tool_choice", "auto, none, required or an object that names a function")
    return ToolChoice(required=given == "required", single=single) if given == "required" or single else None


def openai_row(told: Told, index: int = 0) -> dict[str, Any]:
    """Return the fields of a message or of what is new of it, beside its text; `index` calls were told before."""
    row: dict[str, Any] = {"reasoning": told.thinking} if told.thinking else {}
    functions = [(call.id, call.name, call.arguments_as_json()) for call in told.calls]
    if told.cut is not None and told.cut.name:
        # As OpenAI tells it: its arguments are no complete JSON.
        functions.append((fresh_id(), told.cut.name, told.cut.arguments))
    if functions:
        row["tool_calls"] = [
            {
                "index": number,
                "id": identity,
                "type": "function",
                "function": {"name": name, "arguments": arguments},
            }
            for number, (identity, name, arguments) in enumerate(functions, index)
        ]
    return row


def calls_said(message: Called) -> tuple[ToolCall, ...]:
    """Return the calls of an assistant's message, whose arguments are an object, or a text as in OpenAI's dialect."""
    return tuple(call_of(call.function, call.id) for call in message.tool_calls)


def call_of(function: Function, call_id: str) -> ToolCall:
    """Return the call of a function, with its name and its arguments."""
    given = function.arguments
    if isinstance(given, str):
        try:
            given = json.loads(given or "{}")
        except (ValueError, RecursionError):
            given = None
    if not isinstance(given, Mapping | None) or (given is None and function.given("arguments")):
        raise bad("invalid tool call arguments")
    if not function.name:
        raise function.wrong("name", "a function's name")
    return ToolCall(function.name, given or {}, call_id)


def named_by_calls(messages: Iterable[Message]) -> list[Message]:
    """Return messages in which those of tools know the tool's name: by the call that they answer."""
    names: dict[str, str] = {}
    found = []
    for message in messages:
        names |= {call.id: call.name for call in message.tool_calls if call.id}
        if message.role == "tool" and not message.tool_name:
            name = names.get(message.tool_call_id, "")
            message = Message("tool", message.content, tool_name=name, tool_call_id=message.tool_call_id)
        found.append(message)
    return found
