"""Renderers of ChatML formats, with `<|im_start|>` and `<|im_end|>` around each message."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from sotto.engine.prompt.renderers import tool_formats
from sotto.engine.prompt.renderers.base import Call, Renderer, Tools, Turn, split_thought, tools_of
from sotto.engine.prompt.renderers.tool_formats import as_json
from sotto.engine.prompt.sandbox import TemplateRefusedError

_END = "<|im_end|>\n"
_FUNCTIONS = "<tool_call> <function= <think>"


def block(role: str, text: str) -> str:
    """Return a message between its marks."""
    return f"<|im_start|>{role}\n{text}<|im_end|>\n"


class ChatML(Renderer):
    """The plain format: every message as a turn, the system prompt in the head, no thoughts."""

    variables = frozenset({"messages", "tools"})

    def head(self, system: Turn | None, thinking: bool, variables: Mapping[str, Any]) -> str:
        """Return the system prompt with the tools."""
        prompt = self.system_prompt(system.content if system else None, tools_of(variables), thinking)
        return block("system", prompt) if prompt is not None else ""

    def system_prompt(self, system: str | None, tools: Tools, thinking: bool) -> str | None:
        """Return the system prompt with the instructions for tools and thoughts; None for no system prompt."""
        raise NotImplementedError

    def later_system(self, turn: Turn, variables: Mapping[str, Any]) -> str:
        """Return it as a turn."""
        return block("system", turn.content)

    def user(self, turn: Turn) -> str:
        """Return a question."""
        return block("user", turn.content)

    def tool(self, turn: Turn) -> str:
        """Return the result of a tool; several in a row are a single user message."""
        begun, ended = "" if turn.continues else "<|im_start|>user\n", _END if turn.last_in_run else ""
        return f"{begun}<tool_response>\n{turn.content}\n</tool_response>\n{ended}"

    def generation_prompt(self, turns: Sequence[Turn], thinking: bool) -> str:
        """Return the beginning of an answer."""
        return "<|im_start|>assistant\n"


class Qwen3Coder(ChatML):
    """Qwen3-Coder: functions as elements, no thoughts."""

    signs = "<tool_call> <function="
    _DEFAULT_SYSTEM = "You are Qwen, a helpful AI assistant that can interact with a computer to solve tasks."

    def system_prompt(self, system: str | None, tools: Tools, thinking: bool) -> str | None:
        """Return the system prompt; tools without a system prompt get the default one."""
        if not tools:
            return system
        intro = f"# Tools\n\nYou have access to the following tools:\n\n{tool_formats.as_elements(tools)}"
        return f"{self._DEFAULT_SYSTEM if system is None else system}\n\n{intro}{tool_formats.TOOL_CALLS}"

    def assistant(self, turn: Turn, thinking: bool) -> str:
        """Return an answer without its thoughts."""
        if not turn.calls:
            return block("assistant", turn.content)
        text = f"\n{turn.content.strip()}\n" if turn.content.strip() else ""
        return f"<|im_start|>assistant{text}{_lines(turn.calls)}<|im_end|>\n"


class Qwen35(ChatML):
    """Qwen3.5: white space around messages is removed, and recent answers have a thought, even an empty one."""

    thinks = True
    variables = Renderer.variables
    signs = _FUNCTIONS

    def check(self, turns: Sequence[Turn]) -> None:
        """Refuse a conversation without a question."""
        if not any(turn.role == "user" and self.is_question(turn.content) for turn in turns):
            raise TemplateRefusedError("it takes no conversation without a question")

    def system_prompt(self, system: str | None, tools: Tools, thinking: bool) -> str | None:
        """Return the tools, then the system prompt."""
        text = None if system is None else system.strip()
        if not tools:
            return text
        tool_list = f"<tools>{tool_formats.as_lines(tools)}\n</tools>"
        intro = f"# Tools\n\nYou have access to the following functions:\n\n{tool_list}{tool_formats.FUNCTION_CALLS}"
        return f"{intro}\n\n{text}" if text else intro

    def later_system(self, turn: Turn, variables: Mapping[str, Any]) -> str:
        """Refuse it."""
        raise TemplateRefusedError("it takes a system message only at the beginning")

    def user(self, turn: Turn) -> str:
        """Return a question."""
        return block("user", turn.content.strip())

    def assistant(self, turn: Turn, thinking: bool) -> str:
        """Return an answer; after the last question with its thoughts."""
        thought, text = split_thought(replace(turn, content=turn.content.strip()))
        calls = _lines(turn.calls)
        calls = f"\n{calls}" if calls and text.strip() else calls.removeprefix("\n")
        return block("assistant", (f"<think>\n{thought.strip()}\n</think>\n\n" if turn.recent else "") + text + calls)

    def tool(self, turn: Turn) -> str:
        """Return the result of a tool."""
        return _response(turn, turn.content.strip())

    def generation_prompt(self, turns: Sequence[Turn], thinking: bool) -> str:
        """Return the beginning of an answer, within its thought or after an empty one."""
        return "<|im_start|>assistant\n<think>\n" + ("" if thinking else "\n</think>\n\n")

    def is_question(self, content: str) -> bool:
        """Return whether it is not the result of a tool."""
        text = content.strip()
        return not (text.startswith("<tool_response>") and text.endswith("</tool_response>"))


class Nemotron3(ChatML):
    """Nemotron 3 Nano: there is always a system prompt, even an empty one, and every answer has a thought."""

    thinks = True
    variables = Renderer.variables
    signs = _FUNCTIONS

    def system_prompt(self, system: str | None, tools: Tools, thinking: bool) -> str | None:
        """Return the system prompt."""
        text = system or ""
        if not tools:
            return text
        tool_list = tool_formats.as_elements(tools, reordered=True)
        intro = f"# Tools\n\nYou have access to the following functions:\n\n{tool_list}{tool_formats.FUNCTION_CALLS}"
        return f"{text}\n\n{intro}" if text else intro

    def assistant(self, turn: Turn, thinking: bool) -> str:
        """Return an answer; before the last question with its thought emptied."""
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

    def generation_prompt(self, turns: Sequence[Turn], thinking: bool) -> str:
        """Return the beginning of an answer, within its thought or after an empty one."""
        return "<|im_start|>assistant\n<think>" + ("\n" if thinking else "</think>")

    def _before_calls(self, text: str, recent: bool) -> str:
        if recent:
            return text.strip()
        text = text.split("</think>")[-1] if "</think>" in text else text.split("<think>")[0]
        return f"<think></think>{text.strip()}"


class Cogito(ChatML):
    """Cogito: the system prompt asks for thoughts, in the words of the model's training."""

    variables = Renderer.variables
    signs = "<tool_call> <think>"
    _DEEP = "Enable deep thinking subroutine."
    _TOOLS_INTRO = """\
# Tools

You may call one or more functions to assist with the user query.

You are provided with function signatures within <tools></tools> XML tags:
<tools>{}
</tools>

For each function call, return a json object with function name and arguments within <tool_call></tool_call> XML tags:
<tool_call>
{{"name": <function-name>, "arguments": <args-json-object>}}
</tool_call>"""

    def system_prompt(self, system: str | None, tools: Tools, thinking: bool) -> str | None:
        """Return the system prompt."""
        parts = ([self._DEEP] if thinking else []) + ([] if system is None else [system])
        if tools:
            parts.append(self._TOOLS_INTRO.format(tool_formats.as_lines(tools)))
        return "\n\n".join(parts) if parts else None

    def assistant(self, turn: Turn, thinking: bool) -> str:
        """Return an answer without its thoughts."""
        if not turn.calls:
            return block("assistant", turn.content)
        text = f"\n{turn.content}" if turn.content else ""
        calls = (
            f'\n<tool_call>\n{{"name": "{call.name}", "arguments": {as_json(call.arguments)}}}\n</tool_call>'
            for call in turn.calls
        )
        return f"<|im_start|>assistant{text}{''.join(calls)}<|im_end|>\n"

    def tool(self, turn: Turn) -> str:
        """Return the result of a tool."""
        return _response(turn, turn.content)


def _lines(calls: Sequence[Call]) -> str:
    """Return calls as functions, each on a new line."""
    return "".join(f"\n{tool_formats.as_function(call)}" for call in calls)


def _response(turn: Turn, content: str) -> str:
    """Return the result of a tool; several in a row are a single user message."""
    begun, ended = "" if turn.continues else "<|im_start|>user", _END if turn.last_in_run else ""
    return f"{begun}\n<tool_response>\n{content}\n</tool_response>{ended}"
