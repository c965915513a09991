"""OpenAI's Responses: from the items of a request to a conversation, and what is asked of the answer."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

from sotto.api.asking import NO_IMAGES, MessageBody, SamplingBody, role_of, schema_of
from sotto.api.error_bodies import bad
from sotto.api.fields import (
    OBJECT,
    STRING,
    Body,
    Flag,
    Integer,
    List,
    MostTokens,
    Object,
    Objects,
    Raw,
    Text,
    TextOrObjects,
)
from sotto.api.tool_fields import (
    UNSEEN,
    Function,
    OpenAITools,
    Reasoning,
    Tool,
    bound_warnings,
    call_of,
    kind_of_tool,
    left_out,
    named_by_calls,
    openai_prompt_options,
    unseen,
)
from sotto.engine.contract.answer_parts import ToolCall
from sotto.engine.contract.logprob_values import MOST_LOGPROBS
from sotto.engine.contract.requests import Grammar, Message
from sotto.engine.grammar.grammar_files import any_object
from sotto.engine.prompt.template_messages import PromptOptions

_OTHER_CALLS = ("custom_tool_call", "local_shell_call")
_OUTPUTS = ("function_call_output", "custom_tool_call_output", "local_shell_call_output")
# What OpenAI's servers did in a conversation that began there: it says nothing that can be read elsewhere.
_OTHERS = frozenset(
    """code_interpreter_call compaction computer_call computer_call_output context_compaction file_search_call
    image_generation_call mcp_approval_request mcp_approval_response mcp_call mcp_list_tools tool_search_call
    tool_search_output web_search_call""".split()
)
_KINDS = ("message", "reasoning", "function_call", *_OTHER_CALLS, *_OUTPUTS)
_NO_TEXTS = ("input_image", "input_file")
_TEXTS = ("input_text", "output_text", "text", "reasoning_text", "summary_text")


class Part(Body):
    """A part of a content, of what was thought, or of what a tool answered."""

    type = Text(required=True)
    text = Text()
    refusal = Text()


class Item(MessageBody, Function):
    """An item of a conversation: by its type a message, thoughts, a call, or what a tool answered."""

    type = Text("message", choices=(*_KINDS, *sorted(_OTHERS)))
    role = Text()
    content = TextOrObjects(Part)
    summary = TextOrObjects(Part)
    call_id = Text()
    name = Text()
    input = Text()
    action = Object(Body)
    output = TextOrObjects(Part)


class FunctionTool(Tool):
    """A tool, which is flatter here than in a chat."""

    type = Text(required=True)
    name = Raw(STRING)
    description = Raw(STRING)
    parameters = Raw(OBJECT)


class FormatBody(Body):
    """What an answer must be, flatter than in a chat."""

    type = Text("text", choices=("text", "json_object", "json_schema"))
    name = Text()
    schema_ = Raw(OBJECT)


class TextBody(Body):
    """What is wanted of the text."""

    format = Object(FormatBody)


class ResponsesBody(SamplingBody):
    """A request to `/v1/responses`."""

    input = TextOrObjects(Item, required=True)
    instructions = Text()
    max_output_tokens = MostTokens()
    stream = Flag(False)
    # Whether to keep the answer makes no difference: it is not kept, and the response says so.
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


def messages_of(body: ResponsesBody) -> list[Message]:
    """Return the conversation that a request goes on with.

    Raises:
        ApiError: There is none, or an item of it is not what it should be.
    """
    if not isinstance(body.raw("input"), str | list | None):
        raise body.wrong("input", "a text or a list of items")
    given = body.input
    if isinstance(given, str):
        # An empty one has a model loaded: LM Studio's clients send it.
        said = [Message("user", given)] if body.given("input") else []
    else:
        said = [message for item in given if (message := _message(item)) is not None]
    if not said:
        raise bad("input is empty; it should be a text, or a list of items that say something.")
    system = body.instructions
    return named_by_calls([*([Message("system", system)] if system else []), *_join_turns(said)])


def warnings_of(body: ResponsesBody) -> list[str]:
    """Return what of a request is left out, in sentences: clients send it to any server, and go on without it."""
    tools = {place: kind for place, kind in enumerate(_kinds_of_tools(body)) if kind != "function"}
    items = () if isinstance(body.input, str) else body.input
    others = {place: item.type for place, item in enumerate(items) if item.type in _OTHERS}
    return bound_warnings(
        (
            *left_out("tools", tools, "only those of type function are offered"),
            *left_out("input", others, "only OpenAI's servers know what it holds"),
            *(unseen(part.path()) for item in items if item.type in _OUTPUTS for part in _unseen(item)),
        )
    )


def _unseen(item: Item) -> list[Part]:
    """Return the parts of what a tool answered that are no text."""
    parts = () if isinstance(item.output, str) else item.output
    return [part for part in parts if part.type in _NO_TEXTS]


def prompt_options_of(body: ResponsesBody) -> PromptOptions:
    """Return the tools and thoughts that a request asks for; tools that are no functions are left out.

    Tools and choices of them are written flatter here than in a chat.

    Raises:
        ApiError: It asks for what there is not.
        InvalidRequestError: A tool is described wrongly.
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
    """Return what the answer must be, if it must be something."""
    kind = wanted.type
    if kind == "text":
        return None
    if kind == "json_object":
        return any_object("text.format")
    if kind != "json_schema":
        raise wanted.wrong("type", "text, json_object or json_schema")
    return await schema_of(wanted, "schema")


def _message(item: Item) -> Message | None:
    """Return what one item says; None where that is nothing."""
    kind = item.type
    if kind == "message":
        return Message(role_of(item), _texts(item.content))
    if kind == "reasoning":
        thought = _texts(item.content) or _texts(item.summary)
        return Message("assistant", "", thought) if thought else None
    if kind == "function_call":
        return Message("assistant", "", tool_calls=(call_of(item, item.call_id),))
    if kind in _OTHER_CALLS:
        return Message("assistant", "", tool_calls=(_other_call(item, kind),))
    if kind in _OUTPUTS:
        return Message("tool", _texts(item.output, instead=UNSEEN), tool_call_id=item.call_id)
    if kind in _OTHERS:
        return None
    raise item.wrong("type", f"{', '.join(_KINDS[:-1])} or {_KINDS[-1]}")


def _other_call(item: Item, kind: str) -> ToolCall:
    """Return the call of a tool that is no function, as it would stand if it were one."""
    if kind == "custom_tool_call":
        if not item.name:
            raise item.wrong("name", "a tool's name")
        return ToolCall(item.name, {"input": item.input}, item.call_id)
    return ToolCall("local_shell", item.action.values, item.call_id)


def _texts(content: str | Sequence[Part], instead: str = "") -> str:
    """Return a text, or the texts of a list of parts; `instead` stands for what is none, which is refused otherwise."""
    return content if isinstance(content, str) else "".join(_text(part, instead) for part in content)


def _text(part: Part, instead: str) -> str:
    kind = part.type
    if kind in _NO_TEXTS:
        if instead:
            return instead
        raise bad(NO_IMAGES if kind == "input_image" else "Files are not taken; send their text as input_text.")
    if kind == "refusal":
        return part.refusal
    if kind not in _TEXTS:
        raise part.wrong("type", "input_text or output_text")
    return part.text


def _join_turns(messages: Iterable[Message]) -> Sequence[Message]:
    """Return messages in which what an assistant thought, said and called in one turn is one."""
    turns: list[Message] = []
    for message in messages:
        last = turns[-1] if turns else None
        if last is not None and last.role == message.role == "assistant" and _goes_on(last, message):
            turns[-1] = replace(
                last,
                content=last.content + message.content,
                thinking="\n\n".join(filter(None, (last.thinking, message.thinking))),
                tool_calls=last.tool_calls + message.tool_calls,
            )
        else:
            turns.append(message)
    return turns


def _goes_on(last: Message, message: Message) -> bool:
    """Return whether an assistant's item belongs to the turn before it: thoughts come first, and calls last."""
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
