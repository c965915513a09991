"""Dialects of models whose answers are lists of messages: Harmony (gpt-oss), Muse Glimmer and Solar Open."""

import re

from sotto.engine.contract.answer_parts import ToolCall
from sotto.engine.parsing.calls import Tools, arguments_of
from sotto.engine.parsing.message_format import Dialect
from sotto.engine.parsing.source import NotACallError, Reading, Source, read_json, read_whole
from sotto.engine.parsing.tagged_calls import invocations

_CHANNEL = re.compile(r"<\|channel\|>\s*(\w+)")
_RECIPIENT = re.compile(r"\bto=([^\s<]+)")
_FUNCTION = "functions."


def _recipient(head: str) -> str:
    return found[1] if (found := _RECIPIENT.search(head)) else ""


def _is_analysis(head: str) -> bool:
    found = _CHANNEL.search(head)
    return found is not None and found[1] == "analysis"


def _harmony_call(head: str, body: str, _: Tools) -> list[ToolCall]:
    name = _recipient(head).removeprefix(_FUNCTION)

    def read(source: Source) -> Reading[list[ToolCall]]:
        source.begin_call(name)
        return [ToolCall(name, (yield from source.json()))]

    if body.strip().startswith("{") or not body.strip():
        return read_whole(body.strip(), read)
    return [ToolCall(name, arguments_of(read_json(body)))]


def _glimmer_calls(_: str, body: str, tools: Tools) -> list[ToolCall]:
    def read(source: Source) -> Reading[list[ToolCall]]:
        yield from source.expect("<atem:function_calls>")
        return (yield from invocations("atem:", "</atem:function_calls>")(source, tools))

    return read_whole(body.strip(), read)


def _solar_calls(_: str, body: str, __: Tools) -> list[ToolCall]:
    def read(source: Source) -> Reading[list[ToolCall]]:
        found = source.begin_calls()
        while not found or (yield from source.next()):
            yield from source.expect("<|tool_call:begin|>")
            identity = (yield from source.until("<|tool_call:name|>")).strip()
            name = (yield from source.until("<|tool_call:args|>")).strip()
            source.begin_call(name)
            yield from source.skip_space()
            given = arguments_of((yield from source.json()))
            yield from source.skip_space()
            yield from source.expect("<|tool_call:end|>")
            if not name:
                raise NotACallError
            source.add_calls(ToolCall(name, given, identity))
            yield from source.skip_space()
        return found

    return read_whole(body.strip(), read)


HARMONY = Dialect(
    opening="<|start|>assistant",
    thought="<|channel|>analysis<|message|>",
    final="<|channel|>final<|message|>",
    heads=("<|start|>", "<|channel|>", "<|message|>", " to="),
    bodies=("<|message|>",),
    stops=("<|end|>", "<|call|>", "<|return|>"),
    starts=("<|start|>", "<|channel|>"),
    is_thought=_is_analysis,
    is_call=lambda head: _recipient(head).startswith(_FUNCTION),
    read_calls=_harmony_call,
    marks=("<|constrain|>",),
)
"""gpt-oss: messages have channels, and calls have functions as recipients.

    <|channel|>analysis<|message|>...<|end|>
    <|start|>assistant<|channel|>commentary to=functions.name <|constrain|>json<|message|>{...}<|call|>
    <|start|>assistant<|channel|>final<|message|>...<|return|>

Source: https://cookbook.openai.com/articles/openai-harmony
"""

GLIMMER = Dialect(
    opening="<|start|>assistant",
    thought=" to=self<|message|>",
    final=" to=user<|message|>",
    heads=("<|start|>", "<|message|>", " to="),
    bodies=("<|message|>",),
    stops=("<|eom|>", "<|eot|>"),
    starts=("<|start|>",),
    is_thought=lambda head: _recipient(head) == "self",
    is_call=lambda head: _recipient(head) not in ("self", "user", ""),
    read_calls=_glimmer_calls,
)
"""Muse Glimmer: every message has a recipient, that of thoughts is the model itself, and calls are elements.

    to=self<|message|>...<|eom|>
    <|start|>assistant to=name<|message|><atem:function_calls>...</atem:function_calls><|eom|>
    <|start|>assistant to=user<|message|>...<|eot|>
"""

SOLAR = Dialect(
    opening="<|begin|>assistant",
    thought="<|think|>",
    final="<|content|>",
    heads=("<|begin|>", "<|think|>", "<|content|>", "<|tool_calls|>"),
    bodies=("<|think|>", "<|content|>", "<|tool_calls|>"),
    stops=("<|end|>", "<|calls|>"),
    starts=("<|begin|>",),
    is_thought=lambda head: head.endswith("<|think|>"),
    is_call=lambda head: head.endswith("<|tool_calls|>"),
    read_calls=_solar_calls,
    marks=("<|tool_call:begin|>", "<|tool_call:name|>", "<|tool_call:args|>", "<|tool_call:end|>"),
)
"""Solar Open: the mark before a message's text says its kind.

    <|think|>...<|end|>
    <|begin|>assistant<|tool_calls|><|tool_call:begin|>id<|tool_call:name|>name<|tool_call:args|>{...}
        <|tool_call:end|><|calls|>
    <|begin|>assistant<|content|>...<|end|>
"""
