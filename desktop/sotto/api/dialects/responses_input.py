"""OpenAI's Responses: from the items of a request to a conversation, and what is asked of the answer."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

from sotto.api.asking import NO_IMAGES, role_of, schema_of
from sotto.api.error_bodies import bad
from sotto.api.fields import Fields
from sotto.api.tool_fields import (
    UNSEEN,
    bounded,
    call_of,
    kind_of_tool,
    left_out,
    named_by_calls,
    openai_manner,
    unseen,
)
from sotto.engine.contract.answer_parts import ToolCall
from sotto.engine.contract.requests import Grammar, Message
from sotto.engine.grammar.grammar_files import any_object
from sotto.engine.prompt.template_messages import Manner

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


def messages_of(fields: Fields) -> list[Message]:
    """Return the conversation that a request goes on with.

    Raises:
        ApiError: There is none, or an item of it is not what it should be.
    """
    given = fields.any("input")
    if isinstance(given, str):
        # An empty one has a model loaded: LM Studio's clients send it.
        said = [Message("user", given)]
    elif isinstance(given, list):
        said = [message for item in fields.objects("input") if (message := _message(item)) is not None]
    elif given is None:
        said = []
    else:
        raise fields.wrong("input", "a text or a list of items")
    if not said:
        raise bad("input is empty; it should be a text, or a list of items that say something.")
    system = fields.text("instructions")
    return named_by_calls([*([Message("system", system)] if system else []), *_joined(said)])


def warnings_of(fields: Fields) -> list[str]:
    """Return what of a request is left out, in sentences: clients send it whoever answers, and go on without it."""
    tools = {place: kind for place, kind in enumerate(_kinds_of_tools(fields)) if kind != "function"}
    items = fields.objects("input") if isinstance(fields.any("input"), list) else ()
    others = {place: item.text("type") for place, item in enumerate(items) if item.text("type") in _OTHERS}
    return bounded(
        (
            *left_out("tools", tools, "only those of type function are offered"),
            *left_out("input", others, "only OpenAI's servers know what it holds"),
            *(unseen(part.path()) for item in items if item.text("type") in _OUTPUTS for part in _unseen(item)),
        )
    )


def _unseen(item: Fields) -> list[Fields]:
    """Return the parts of what a tool answered that are no text."""
    parts = item.objects("output") if isinstance(item.any("output"), list) else ()
    return [part for part in parts if part.text("type") in _NO_TEXTS]


def manner_of(fields: Fields) -> Manner:
    """Return the tools and thoughts that a request asks for; tools that are no functions are left out.

    Tools and choices of them are written flatter here than in a chat.

    Raises:
        ApiError: It asks for what there is not.
        InvalidRequestError: A tool is described wrongly.
    """
    functions = {
        place: {name: tool.any(name) for name in ("name", "description", "parameters") if tool.given(name)}
        for place, (tool, kind) in enumerate(zip(fields.objects("tools"), _kinds_of_tools(fields), strict=True))
        if kind == "function"
    }
    choice = fields.any("tool_choice")
    if isinstance(choice, dict) and choice.get("type") == "function" and "name" in choice:
        choice = {"type": "function", "function": {"name": choice["name"]}}
    effort = {"effort": fields.object("reasoning").text("effort")}
    parallel = fields.flag("parallel_tool_calls", True)
    manner = openai_manner(
        Fields({"tool_choice": choice, "reasoning": effort, "parallel_tool_calls": parallel}),
        {place: {"type": "function", "function": function} for place, function in functions.items()},
    )
    return manner if manner.choice is None else replace(manner, choice=replace(manner.choice, parameters="parameters"))


def _kinds_of_tools(fields: Fields) -> list[str]:
    return [kind_of_tool(tool) for tool in fields.objects("tools")]


async def format_of(wanted: Fields) -> Grammar | None:
    """Return what the answer must be, if it must be something."""
    kind = wanted.text("type", "text")
    if kind == "text":
        return None
    if kind == "json_object":
        return any_object("text.format")
    if kind != "json_schema":
        raise wanted.wrong("type", "text, json_object or json_schema")
    return await schema_of(wanted, "schema")


def _message(item: Fields) -> Message | None:
    """Return what one item says; None where that is nothing."""
    kind = item.text("type", "message")
    if kind == "message":
        return Message(role_of(item), _texts(item, "content"))
    if kind == "reasoning":
        thought = _texts(item, "content") or _texts(item, "summary")
        return Message("assistant", "", thought) if thought else None
    if kind == "function_call":
        return Message("assistant", "", tool_calls=(call_of(item, item.text("call_id")),))
    if kind in _OTHER_CALLS:
        return Message("assistant", "", tool_calls=(_other_call(item, kind),))
    if kind in _OUTPUTS:
        return Message("tool", _texts(item, "output", instead=UNSEEN), tool_call_id=item.text("call_id"))
    if kind in _OTHERS:
        return None
    raise item.wrong("type", f"{', '.join(_KINDS[:-1])} or {_KINDS[-1]}")


def _other_call(item: Fields, kind: str) -> ToolCall:
    """Return the call of a tool that is no function, as it would stand if it were one."""
    if kind == "custom_tool_call":
        if not item.text("name"):
            raise item.wrong("name", "a tool's name")
        return ToolCall(item.text("name"), {"input": item.text("input")}, item.text("call_id"))
    return ToolCall("local_shell", item.object("action").values, item.text("call_id"))


def _texts(item: Fields, name: str, instead: str = "") -> str:
    """Return a text, or the texts of a list of parts; `instead` stands for what is none, which is refused otherwise."""
    if not isinstance(item.any(name), list):
        return item.text(name)
    return "".join(_text(part, instead) for part in item.objects(name))


def _text(part: Fields, instead: str) -> str:
    kind = part.text("type")
    if kind in _NO_TEXTS:
        if instead:
            return instead
        raise bad(NO_IMAGES if kind == "input_image" else "Files are not taken; send their text as input_text.")
    if kind == "refusal":
        return part.text("refusal")
    if kind not in _TEXTS:
        raise part.wrong("type", "input_text or output_text")
    return part.text("text")


def _joined(messages: Iterable[Message]) -> Sequence[Message]:
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


def echoed(fields: Fields) -> dict[str, Any]:
    """Return the fields of a request that its answer repeats."""
    reasoning, text = fields.object("reasoning"), fields.object("text")
    return {
        "instructions": fields.text("instructions") or None,
        "max_output_tokens": fields.any("max_output_tokens"),
        "metadata": fields.object("metadata").values,
        "parallel_tool_calls": fields.flag("parallel_tool_calls", True),
        "reasoning": {"effort": reasoning.text("effort") or None, "summary": None} if reasoning.values else None,
        "temperature": 1 if fields.any("temperature") is None else fields.any("temperature"),
        "text": {"format": text.object("format").values or {"type": "text"}},
        "tool_choice": fields.any("tool_choice") or "auto",
        "tools": list(fields.list("tools")),
        "top_logprobs": fields.any("top_logprobs") or 0,
        "top_p": 1 if fields.any("top_p") is None else fields.any("top_p"),
        "truncation": fields.text("truncation", "auto"),
    }
