"""Requests of OpenAI's Responses API: their fields, and the conversation and tools in them."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any

from sotto.api.asking import MessageBody, SamplingBody, role_of, schema_of
from sotto.api.content_parts import ContentReader, FileBody, Given, ImageAddress
from sotto.api.error_bodies import bad_request
from sotto.api.fields import (
    OBJECT,
    STRING,
    Body,
    Flag,
    Integer,
    List,
    MaxTokens,
    Object,
    Objects,
    Raw,
    Text,
    TextOrObjects,
)
from sotto.api.tool_fields import (
    Function,
    OpenAITools,
    Reasoning,
    Tool,
    call_of,
    kind_of_tool,
    left_out_warnings,
    name_tool_results,
    openai_prompt_options,
)
from sotto.engine.contract.answer_parts import ToolCall
from sotto.engine.contract.logprob_values import MOST_LOGPROBS
from sotto.engine.contract.message_content import TextPart, content_of, text_of_content
from sotto.engine.contract.requests import Grammar, Message
from sotto.engine.grammar.grammar_files import any_object
from sotto.engine.prompt.template_messages import PromptOptions

_OTHER_CALLS = ("custom_tool_call", "local_shell_call")
_OUTPUTS = ("function_call_output", "custom_tool_call_output", "local_shell_call_output")
# Items of a conversation that began on OpenAI's servers, which only these can read.
_SERVER_ITEMS = frozenset(
    """code_interpreter_call compaction computer_call computer_call_output context_compaction file_search_call
    image_generation_call mcp_approval_request mcp_approval_response mcp_call mcp_list_tools tool_search_call
    tool_search_output web_search_call""".split()
)
_KINDS = ("message", "reasoning", "function_call", *_OTHER_CALLS, *_OUTPUTS)
_TEXTS = ("input_text", "output_text", "text", "reasoning_text", "summary_text")


class Part(FileBody):
    """A part of a message's content, of thoughts, or of a tool's result."""

    type = Text(required=True)
    text = Text()
    refusal = Text()
    image_url = Raw(STRING, ImageAddress.schema())
    detail = Text()


class Item(MessageBody, Function):
    """An item of a conversation: depending on its type a message, thoughts, a tool call, or a tool's result."""

    type = Text("message", choices=(*_KINDS, *sorted(_SERVER_ITEMS)))
    role = Text()
    content = TextOrObjects(Part)
    summary = TextOrObjects(Part)
    call_id = Text()
    name = Text()
    input = Text()
    action = Object(Body)
    output = TextOrObjects(Part)


class FunctionTool(Tool):
    """A tool; unlike in a chat, its fields are not nested in `function`."""

    type = Text(required=True)
    name = Raw(STRING)
    description = Raw(STRING)
    parameters = Raw(OBJECT)


class FormatBody(Body):
    """The format that an answer must have; unlike in a chat, its fields are not nested in `json_schema`."""

    type = Text("text", choices=("text", "json_object", "json_schema"))
    name = Text()
    schema_ = Raw(OBJECT)


class TextBody(Body):
    """The requirements on the text of an answer."""

    format = Object(FormatBody)


class ResponsesBody(SamplingBody):
    """A request to `/v1/responses`."""

    input = TextOrObjects(Item, required=True)
    instructions = Text()
    max_output_tokens = MaxTokens()
    stream = Flag(False)
    # Ignored: responses are never stored, and each says so.
    store = Flag(False)
    background = Flag(False)
    truncation = Text("auto", choices=("auto", "disabled"))
    metadata = Object(Body)
    top_logprobs = Integer(0, MOST_LOGPROBS)
    include = List(STRING)
    tools = Objects(FunctionTool)
    tool_choice = Raw({"enum": ["auto", "none", "required"]}, OBJECT)
    parallel_tool_calls = Flag(True)
    reasoning = Object(Reasoning)
    text = Object(TextBody)


def messages_of(body: ResponsesBody, reader: ContentReader) -> list[Message]:
    """Return the messages of a request's conversation.

    Raises:
        ApiError: The conversation is empty, or an item of it is invalid.
    """
    if not isinstance(body.raw("input"), str | list | None):
        raise body.wrong("input", "a string or a list of items")
    given = body.input
    if isinstance(given, str):
        # LM Studio's clients send an empty text to have a model loaded.
        messages = [Message("user", given)] if body.given("input") else []
    else:
        messages = [message for item in given if (message := _message(item, reader)) is not None]
    if not messages:
        raise bad_request("input is empty; send a string, or a list of items with text.")
    system = body.instructions
    return name_tool_results([*([Message("system", system)] if system else []), *_join_turns(messages)])


def warnings_of(body: ResponsesBody) -> Iterator[str]:
    """Yield warnings for the parts of a request that are left out instead of refused, as clients manage without."""
    tools = {place: kind for place, kind in enumerate(_kinds_of_tools(body)) if kind != "function"}
    items = () if isinstance(body.input, str) else body.input
    others = {place: item.type for place, item in enumerate(items) if item.type in _SERVER_ITEMS}
    yield from left_out_warnings("tools", tools, "only functions are supported")
    yield from left_out_warnings("input", others, "only OpenAI's servers can read it")


def prompt_options_of(body: ResponsesBody) -> PromptOptions:
    """Return the tools and the thinking mode that a request asks for; tools other than functions are left out.

    Raises:
        ApiError: A field has an invalid value.
        InvalidRequestError: The description of a tool is invalid.
    """
    functions = {
        place: {name: tool.raw(name) for name in ("name", "description", "parameters") if tool.given(name)}
        for place, (tool, kind) in enumerate(zip(body.tools, _kinds_of_tools(body), strict=True))
        if kind == "function"
    }
    choice = body.tool_choice
    if isinstance(choice, dict) and choice.get("type") == "function" and "name" in choice:
        choice = {"type": "function", "function": {"name": choice["name"]}}
    effort = {"effort": body.reasoning.effort}
    parallel = body.parallel_tool_calls
    options = openai_prompt_options(
        OpenAITools({"tool_choice": choice, "reasoning": effort, "parallel_tool_calls": parallel}),
        {place: {"type": "function", "function": function} for place, function in functions.items()},
    )
    if options.choice is None:
        return options
    return replace(options, choice=replace(options.choice, parameters="parameters"))


def _kinds_of_tools(body: ResponsesBody) -> list[str]:
    return [kind_of_tool(tool) for tool in body.tools]


async def format_of(wanted: FormatBody) -> Grammar | None:
    """Return the grammar of the requested format; None for free text."""
    kind = wanted.type
    if kind == "text":
        return None
    if kind == "json_object":
        return any_object("text.format")
    if kind != "json_schema":
        raise wanted.wrong("type", "text, json_object or json_schema")
    return await schema_of(wanted, "schema")


def _message(item: Item, reader: ContentReader) -> Message | None:
    """Return the message of an item; None if the item has no content for the model."""
    kind = item.type
    if kind == "message":
        return Message(role_of(item), reader.content(item.content, _reads_parts(reader)))
    if kind == "reasoning":
        thoughts = (reader.content(given, _text) for given in (item.content, item.summary))
        thought = next(filter(None, map(text_of_content, thoughts)), "")
        return Message("assistant", "", thought) if thought else None
    if kind == "function_call":
        return Message("assistant", "", tool_calls=(call_of(item, item.call_id),))
    if kind in _OTHER_CALLS:
        return Message("assistant", "", tool_calls=(_other_call(item, kind),))
    if kind in _OUTPUTS:
        return Message("tool", reader.result(item.output, _reads_parts(reader)), tool_call_id=item.call_id)
    if kind in _SERVER_ITEMS:
        return None
    raise item.wrong("type", f"{', '.join(_KINDS[:-1])} or {_KINDS[-1]}")


def _other_call(item: Item, kind: str) -> ToolCall:
    """Return the call of a tool that is not a function, as a function call."""
    if kind == "custom_tool_call":
        if not item.name:
            raise item.wrong("name", "a tool's name")
        return ToolCall(item.name, {"input": item.input}, item.call_id)
    return ToolCall("local_shell", item.action.values, item.call_id)


def _reads_parts(reader: ContentReader) -> Callable[[Part], Iterator[Given]]:
    """Return a function that yields what the model is given for a part."""

    def read(part: Part) -> Iterator[Given]:
        if part.type == "input_image":
            yield reader.openai_file(part) if part.file_id and not part.image_url else reader.image_at(part)
        elif part.type == "input_file":
            yield reader.openai_file(part)
        else:
            yield from _text(part)

    return read


def _text(part: Part) -> Iterator[Given]:
    if part.type == "refusal":
        yield TextPart(part.refusal)
    elif part.type in _TEXTS:
        yield TextPart(part.text)
    else:
        raise part.wrong("type", "input_text, output_text, input_image or input_file")


def _join_turns(messages: Iterable[Message]) -> Sequence[Message]:
    """Return messages in which an assistant's thoughts, text and tool calls of one turn are one message."""
    turns: list[Message] = []
    for message in messages:
        last = turns[-1] if turns else None
        if last is not None and last.role == message.role == "assistant" and _goes_on(last, message):
            turns[-1] = replace(
                last,
                content=content_of((*last.parts, *message.parts)),
                thinking="\n\n".join(filter(None, (last.thinking, message.thinking))),
                tool_calls=last.tool_calls + message.tool_calls,
            )
        else:
            turns.append(message)
    return turns


def _goes_on(last: Message, message: Message) -> bool:
    """Return whether an assistant's item belongs to the turn before it: thoughts come first in a turn, calls last."""
    return bool(message.tool_calls) or not (last.content or last.tool_calls)


def echo_fields(body: ResponsesBody) -> dict[str, Any]:
    """Return the fields of a request that its answer repeats."""
    reasoning = body.reasoning
    return {
        "instructions": body.instructions or None,
        "max_output_tokens": body.max_output_tokens,
        "metadata": body.metadata.values,
        "parallel_tool_calls": body.parallel_tool_calls,
        "reasoning": {"effort": reasoning.effort or None, "summary": None} if reasoning.values else None,
        "temperature": body.raw("temperature") if body.given("temperature") else 1,
        "text": {"format": body.text.format.values or {"type": "text"}},
        "tool_choice": body.tool_choice or "auto",
        "tools": list(body.raw("tools") or ()),
        "top_logprobs": body.top_logprobs or 0,
        "top_p": body.raw("top_p") if body.given("top_p") else 1,
        "truncation": body.truncation,
    }
