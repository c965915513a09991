"""Tools and thinking: their fields in requests and answers, and their translation to and from the engine's types."""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from sotto.api.content_parts import UNSEEN_TEXT
from sotto.api.error_bodies import bad_request
from sotto.api.fields import OBJECT, STRING, Body, Flag, List, Object, Objects, Raw, Text, shown_value
from sotto.engine.contract.answer_parts import CutCall, Kind, Piece, ToolCall, calls_of, cut_of, markup
from sotto.engine.contract.events import Finished, ModelInfo, TextChunk
from sotto.engine.contract.message_content import ImagePart, TextPart
from sotto.engine.contract.message_content import content_of as join_parts
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
# Each warning is repeated in several events of a stream.
_MAX_WARNINGS = 16


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
    """A function that is called or must be called."""

    name = Text(required=True)
    arguments = Raw(STRING, OBJECT)


class Call(Body):
    """A tool call in a message of the assistant."""

    id = Text()
    function = Object(Function)


class Called(Body):
    """A message that may have tool calls."""

    tool_calls = Objects(Call)


class Tool(Body):
    """A tool, of which only the type is read."""

    type = Text()


class OllamaTools(Body):
    """The fields for tools and thinking in Ollama's dialect."""

    tools = List(TOOL)
    think = Raw({"type": "boolean"}, {"enum": [*LEVELS]})


class Reasoning(Body):
    """How much to think."""

    effort = Text(choices=tuple(_EFFORTS))


class OpenAITools(Body):
    """The fields for tools and thinking in OpenAI's dialect."""

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
class AnswerContent:
    """The content of an answer, or of its next part, as clients get it.

    Attributes:
        text: The text of the answer itself.
        thinking: The text of its thoughts.
        calls: The tool calls.
        cut: The tool call in which the answer breaks off; None if it does not.
    """

    text: str
    thinking: str
    calls: tuple[ToolCall, ...]
    cut: CutCall | None = None

    def __bool__(self) -> bool:
        """Return whether there is any content."""
        return bool(self.text or self.thinking or self.calls or self.cut)


NO_CONTENT = AnswerContent("", "", ())


def content_of(event: TextChunk | Finished, request: GenerateRequest) -> AnswerContent:
    """Return the content of an event; if the request offers no tools, calls are part of the text."""
    pieces = event.pieces
    thinking = event.thinking if isinstance(event, Finished) else _thoughts(pieces)
    if request.tools:
        return AnswerContent(event.text, thinking, calls_of(pieces), cut_of(pieces))
    texts = [markup([piece], begun=True) for piece in pieces if piece.kind is not Kind.THOUGHT]
    return AnswerContent("".join(texts), thinking, ())


def _thoughts(pieces: Sequence[Piece]) -> str:
    return "".join(piece.text for piece in pieces if piece.kind is Kind.THOUGHT)


def suit_model(name: str, info: ModelInfo, request: GenerateRequest) -> tuple[GenerateRequest, tuple[str, ...]]:
    """Return a request without thinking and without images in tools' results if the model does not support those.

    Args:
        name: The model's name, for messages.
        info: The properties of the model.
        request: The request to adapt.

    Returns:
        The request, and warnings.

    Raises:
        ApiError: The request needs tools, images or fill-in-the-middle, and the model does not support them.
    """
    if request.suffix is not None and not info.fills_gaps:
        raise bad_request(f"{name} does not support insert")
    if request.tools and not info.knows_tools:
        raise bad_request(f"{name} does not support tools")
    warnings = []
    if request.think not in (None, Think.OFF) and not info.thinks:
        request = replace(request, think=None, think_budget=None)
        warnings.append(f'"{name}" does not support thinking, so think was ignored.')
    showing = () if info.sees else {message.role for message in request.messages if message.images}
    if any(role != "tool" for role in showing):
        raise bad_request(f"{name} does not support image input")
    if showing:
        request = replace(request, messages=tuple(map(_without_images, request.messages)))
        warnings.append(
            f'"{name}" does not support image input, so images in results of tools were left out, which it is told.'
        )
    return request, tuple(warnings)


def _without_images(message: Message) -> Message:
    """Return a message in which a tool's images are replaced by a note."""
    if message.role != "tool" or not message.images:
        return message
    unseen = TextPart(UNSEEN_TEXT)
    parts = (unseen if isinstance(part, ImagePart) else part for part in message.parts)
    return replace(message, content=join_parts(parts))


def kind_of_tool(tool: Tool, usual: str = "") -> str:
    """Return the type of a tool, or the default `usual` if it names none.

    Raises:
        ApiError: The tool names no type and there is no default.
    """
    kind = tool.type or usual
    if not kind:
        raise tool.wrong("type", "a tool's type, such as function")
    return kind


def left_out_warnings(name: str, kinds: Mapping[int, str], why: str) -> Iterator[str]:
    """Yield warnings that items of a list are left out.

    Args:
        name: The field that holds the list.
        kinds: The types of the items, by their index in the list.
        why: The reason, as the end of a sentence.
    """
    for place, kind in kinds.items():
        yield f"{name}[{place}] was ignored: its type is {shown_value(kind)}, and {why}."


def bound_warnings(warnings: Iterable[str]) -> list[str]:
    """Return the warnings, with those beyond a limit replaced by their number."""
    sentences = list(warnings)
    if len(sentences) > _MAX_WARNINGS:
        more = len(sentences) - _MAX_WARNINGS + 1
        sentences[_MAX_WARNINGS - 1 :] = [f"{more} more parts of the request were ignored."]
    return sentences


# Ollama


def ollama_prompt_options(body: OllamaTools) -> PromptOptions:
    """Return the tools and the thinking mode that a request asks for."""
    think = body.think
    if think is not None and not isinstance(think, bool) and think not in LEVELS:
        right = "".join(f'"{level}", ' for level in LEVELS) + "true, or false"
        if not isinstance(think, str):
            raise bad_request(f"think must be a boolean or string ({right})")
        raise bad_request(f'invalid think value: "{think}" (must be {right})')
    chosen = None if think is None else Think.ON if think is True else Think.OFF if think is False else Think(think)
    return PromptOptions(read_tools(list(body.tools), "tools"), chosen)


def ollama_row(content: AnswerContent) -> dict[str, Any]:
    """Return the fields of an answer other than its text; Ollama's dialect has no field for a cut-off call."""
    row: dict[str, Any] = {"thinking": content.thinking} if content.thinking else {}
    if content.calls:
        row["tool_calls"] = [
            {"id": call.id, "function": {"index": index, "name": call.name, "arguments": call.arguments}}
            for index, call in enumerate(content.calls)
        ]
    return row


# OpenAI


def openai_prompt_options(body: OpenAITools, functions: Mapping[int, Any] | None = None) -> PromptOptions:
    """Return the tools and the thinking mode that a request asks for.

    Args:
        body: The request.
        functions: The tools by their index in the request, in place of those in `body`; None to read those.
    """
    tools = read_tools(list(body.tools), "tools") if functions is None else tools_at(functions, "tools")
    choice = _openai_choice(body)
    effort = body.reasoning_effort or body.reasoning.effort
    if effort and effort not in _EFFORTS:
        raise bad_request(f"invalid reasoning value: '{effort}' (must be {', '.join(_EFFORTS)})")
    return PromptOptions(() if body.tool_choice == "none" else tools, _EFFORTS.get(effort), choice=choice)


def _openai_choice(body: OpenAITools) -> ToolChoice | None:
    """Return the constraint on tool calls; None if the model may choose freely."""
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


def openai_row(content: AnswerContent, index: int = 0) -> dict[str, Any]:
    """Return the fields of a message, or of its next part, other than its text; `index` numbers its first call."""
    row: dict[str, Any] = {"reasoning": content.thinking} if content.thinking else {}
    functions = [(call.id, call.name, call.arguments_as_json()) for call in content.calls]
    if content.cut is not None and content.cut.name:
        # OpenAI also sends a call that was cut off, with incomplete JSON as its arguments.
        functions.append((fresh_id(), content.cut.name, content.cut.arguments))
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


def message_calls(message: Called) -> tuple[ToolCall, ...]:
    """Return the calls of an assistant's message."""
    return tuple(call_of(call.function, call.id) for call in message.tool_calls)


def call_of(function: Function, call_id: str) -> ToolCall:
    """Return the call of a function, whose arguments are an object, or its JSON text as in OpenAI's dialect."""
    given = function.arguments
    if isinstance(given, str):
        try:
            given = json.loads(given or "{}")
        except (ValueError, RecursionError):
            given = None
    if not isinstance(given, Mapping | None) or (given is None and function.given("arguments")):
        raise bad_request("invalid tool call arguments")
    if not function.name:
        raise function.wrong("name", "a function's name")
    return ToolCall(function.name, given or {}, call_id)


def name_tool_results(messages: Iterable[Message]) -> list[Message]:
    """Return messages in which each tool result has the tool's name, taken from the call that it answers."""
    names: dict[str, str] = {}
    found = []
    for message in messages:
        names |= {call.id: call.name for call in message.tool_calls if call.id}
        if message.role == "tool" and not message.tool_name:
            name = names.get(message.tool_call_id, "")
            message = Message("tool", message.content, tool_name=name, tool_call_id=message.tool_call_id)
        found.append(message)
    return found
