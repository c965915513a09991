"""Formats with `<|im_start|>` and `<|im_end|>` around each message."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from sotto.engine.prompt.renderers import described
from sotto.engine.prompt.renderers.base import Call, Renderer, Tools, Turn, told_apart, tools_of
from sotto.engine.prompt.sandbox import TemplateRefusedError

_END = "<|im_end|>\n"
_FUNCTIONS = "<tool_call> <function= <think>"


def block(role: str, text: str) -> str:
    """Return a message with its marks."""
    return f"<|im_start|>{role}\n{text}<|im_end|>\n"


class ChatML(Renderer):
    """The bare format: every message at its place, a system prompt in the head, nothing about thoughts."""

    variables = frozenset({"messages", "tools"})

    def head(self, system: Turn | None, thinking: bool, variables: Mapping[str, Any]) -> str:
        """Return the system prompt with the tools."""
        said = self.prompted(system.content if system else None, tools_of(variables), thinking)
        return block("system", said) if said is not None else ""

    def prompted(self, system: str | None, tools: Tools, thinking: bool) -> str | None:
        """Return a system prompt with what there is to say of tools and thoughts; None for none at all."""
        raise NotImplementedError

    def later_system(self, turn: Turn, variables: Mapping[str, Any]) -> str:
        """Return it at its place."""
        return block("system", turn.content)

    def user(self, turn: Turn) -> str:
        """Return a question."""
        return block("user", turn.content)

    def tool(self, turn: Turn) -> str:
        """Return what a tool said; neighbours are one message of the user's."""
        begun, ended = "" if turn.goes_on else "<|im_start|>user\n", _END if turn.ends else ""
        return f"{begun}<tool_response>\n{turn.content}\n</tool_response>\n{ended}"

    def asking(self, turns: Sequence[Turn], thinking: bool) -> str:
        """Return the beginning of an answer."""
        return "<|im_start|>assistant\n"


class Qwen3Coder(ChatML):
    """Qwen3-Coder: functions between tags, no thoughts."""

    signs = "<tool_call> <function="
    _USUAL = "You are Qwen, a helpful AI assistant that can interact with a computer to solve tasks."

    def prompted(self, system: str | None, tools: Tools, thinking: bool) -> str | None:
        """Return the system prompt, for tools a usual one where there is none."""
        if not tools:
            return system
        told = f"# Tools\n\nYou have access to the following tools:\n\n{described.as_elements(tools)}"
        return f"{self._USUAL if system is None else system}\n\n{told}{described.TOOL_CALLS}"

    def assistant(self, turn: Turn, thinking: bool) -> str:
        """Return an answer without its thoughts."""
        if not turn.calls:
            return block("assistant", turn.content)
        said = f"\n{turn.content.strip()}\n" if turn.content.strip() else ""
        return f"<|im_start|>assistant{said}{_lines(turn.calls)}<|im_end|>\n"


class Qwen35(ChatML):
    """Qwen3.5: blanks around messages are taken away, and recent answers show their thoughts, if only empty ones."""

    thinks = True
    variables = Renderer.variables
    signs = _FUNCTIONS

    def check(self, turns: Sequence[Turn]) -> None:
        """Refuse a conversation in which nothing is asked."""
        if not any(turn.role == "user" and self.is_question(turn.content) for turn in turns):
            raise TemplateRefusedError("it takes no conversation without a question")

    def prompted(self, system: str | None, tools: Tools, thinking: bool) -> str | None:
        """Return the system prompt behind the tools."""
        said = None if system is None else system.strip()
        if not tools:
            return said
        listed = f"<tools>{described.as_lines(tools)}\n</tools>"
        told = f"# Tools\n\nYou have access to the following functions:\n\n{listed}{described.FUNCTION_CALLS}"
        return f"{told}\n\n{said}" if said else told

    def later_system(self, turn: Turn, variables: Mapping[str, Any]) -> str:
        """Refuse it."""
        raise TemplateRefusedError("it takes a system message only at the beginning")

    def user(self, turn: Turn) -> str:
        """Return a question."""
        return block("user", turn.content.strip())

    def assistant(self, turn: Turn, thinking: bool) -> str:
        """Return an answer; behind the last question with its thoughts."""
        thought, text = told_apart(replace(turn, content=turn.content.strip()))
        calls = _lines(turn.calls)
        calls = f"\n{calls}" if calls and text.strip() else calls.removeprefix("\n")
        return block("assistant", (f"<think>\n{thought.strip()}\n</think>\n\n" if turn.recent else "") + text + calls)

    def tool(self, turn: Turn) -> str:
        """Return what a tool said."""
        return _response(turn, turn.content.strip())

    def asking(self, turns: Sequence[Turn], thinking: bool) -> str:
        """Return the beginning of an answer, in its thoughts or behind none."""
        return "<|im_start|>assistant\n<think>\n" + ("" if thinking else "\n</think>\n\n")

    def is_question(self, content: str) -> bool:
        """Say that what a tool gave back is no question."""
        text = content.strip()
        return not (text.startswith("<tool_response>") and text.endswith("</tool_response>"))


class Nemotron3(ChatML):
    """Nemotron 3 Nano: there is always a system prompt, if only an empty one, and every answer has thoughts."""

    thinks = True
    variables = Renderer.variables
    signs = _FUNCTIONS

    def prompted(self, system: str | None, tools: Tools, thinking: bool) -> str | None:
        """Return the system prompt."""
        said = system or ""
        if not tools:
            return said
        listed = described.as_elements(tools, sorted_out=True)
        told = f"# Tools\n\nYou have access to the following functions:\n\n{listed}{described.FUNCTION_CALLS}"
        return f"{said}\n\n{told}" if said else told

    def assistant(self, turn: Turn, thinking: bool) -> str:
        """Return an answer; before the last question with its thoughts emptied."""
        text = turn.content
        if turn.thought.strip():
            text = f"<think>\n{turn.thought}\n</think>\n{text}"
        elif "<think>" not in text and "</think>" not in text:
            text = f"<think></think>{text}"
        if turn.calls:
            return block("assistant", f"{self._before_calls(text, turn.recent)}\n{_lines(turn.calls)[1:]}\n")
        if not turn.recent and "<think>" in text and "</think>" in text:
            text = f"<think></think>{text.split('</think>')[-1]}"
        return block("assistant", text.strip())

    def asking(self, turns: Sequence[Turn], thinking: bool) -> str:
        """Return the beginning of an answer, in its thoughts or behind none."""
        return "<|im_start|>assistant\n<think>" + ("\n" if thinking else "</think>")

    def _before_calls(self, text: str, recent: bool) -> str:
        if recent:
            return text.strip()
        said = text.split("</think>")[-1] if "</think>" in text else text.split("<think>")[0]
        return f"<think></think>{said.strip()}"


class Cogito(ChatML):
    """Cogito: thoughts are asked for in the system prompt, in the words that it was trained with."""

    variables = Renderer.variables
    signs = "<tool_call> <think>"
    _DEEP = "Enable deep thinking subroutine."
    _TOLD = """\
# Tools

You may call one or more functions to assist with the user query.

You are provided with function signatures within <tools></tools> XML tags:
<tools>{}
</tools>

For each function call, return a json object with function name and arguments within <tool_call></tool_call> XML tags:
<tool_call>
{{"name": <function-name>, "arguments": <args-json-object>}}
</tool_call>"""

    def prompted(self, system: str | None, tools: Tools, thinking: bool) -> str | None:
        """Return the system prompt."""
        said = ([self._DEEP] if thinking else []) + ([] if system is None else [system])
        if tools:
            said.append(self._TOLD.format(described.as_lines(tools)))
        return "\n\n".join(said) if said else None

    def assistant(self, turn: Turn, thinking: bool) -> str:
        """Return an answer without its thoughts."""
        if not turn.calls:
            return block("assistant", turn.content)
        said = f"\n{turn.content}" if turn.content else ""
        calls = (
            f'\n<tool_call>\n{{"name": "{call.name}", "arguments": {described.as_json(call.arguments)}}}\n</tool_call>'
            for call in turn.calls
        )
        return f"<|im_start|>assistant{said}{''.join(calls)}<|im_end|>\n"

    def tool(self, turn: Turn) -> str:
        """Return what a tool said."""
        return _response(turn, turn.content)


def _lines(calls: Sequence[Call]) -> str:
    """Return calls as functions, each behind the end of a line."""
    return "".join(f"\n{described.as_function(call)}" for call in calls)


def _response(turn: Turn, content: str) -> str:
    """Return what a tool said; neighbours are one message of the user's."""
    begun, ended = "" if turn.goes_on else "<|im_start|>user", _END if turn.ends else ""
    return f"{begun}\n<tool_response>\n{content}\n</tool_response>{ended}"
