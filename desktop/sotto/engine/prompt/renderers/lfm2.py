"""Renderers of LFM2's formats: a first token, messages as in ChatML, and calls in Python's syntax."""

from collections.abc import Mapping
from typing import Any

from sotto.engine.prompt.renderers import tool_formats
from sotto.engine.prompt.renderers.base import Tools, Turn
from sotto.engine.prompt.renderers.chatml import ChatML, block


class Lfm2(ChatML):
    """LFM2: an empty system prompt is left out.

    The published template prints no calls; earlier calls are printed in the form in which the model writes them.
    """

    signs = "<|tool_list_start|> <|tool_call_start|>"

    def head(self, system: Turn | None, thinking: bool, variables: Mapping[str, Any]) -> str:
        """Return the first token and the system prompt."""
        return str(variables.get("bos_token") or "") + super().head(system, thinking, variables)

    def system_prompt(self, system: str | None, tools: Tools, thinking: bool) -> str | None:
        """Return the system prompt with the tools; None if both are empty."""
        parts = [system] if system else []
        return "\n".join([*parts, f"List of tools: {self.tool_list(tools)}"] if tools else parts) or None

    def tool_list(self, tools: Tools) -> str:
        """Return the list of tools."""
        return f"<|tool_list_start|>{tool_formats.as_list(tools)}<|tool_list_end|>"

    def assistant(self, turn: Turn, thinking: bool) -> str:
        """Return an answer."""
        return block("assistant", turn.content + _calls(turn))

    def tool(self, turn: Turn) -> str:
        """Return the result of a tool."""
        return block("tool", f"<|tool_response_start|>{turn.content}<|tool_response_end|>")


class Lfm2Thinking(Lfm2):
    """LFM2.5: like LFM2, with the thoughts of recent answers, and fewer marks."""

    signs = "<|tool_call_start|> <think>"

    def tool_list(self, tools: Tools) -> str:
        """Return the list of tools."""
        return tool_formats.as_list(tools)

    def assistant(self, turn: Turn, thinking: bool) -> str:
        """Return an answer."""
        if turn.recent:
            thought = f"<think>{turn.thought}</think>" if turn.thought else ""
            return block("assistant", thought + turn.content + _calls(turn))
        _, mark, after = turn.content.rpartition("</think>")
        return block("assistant", (after.strip() if mark else turn.content) + _calls(turn))

    def tool(self, turn: Turn) -> str:
        """Return the result of a tool."""
        return block("tool", turn.content)


def _calls(turn: Turn) -> str:
    """Return the calls of an answer."""
    calls = (
        f"{call.name}({', '.join(f'{name}={_value(value)}' for name, value in call.arguments.items())})"
        for call in turn.calls
    )
    return f"<|tool_call_start|>[{', '.join(calls)}]<|tool_call_end|>" if turn.calls else ""


def _value(value: Any) -> str:
    if isinstance(value, str):
        return f"'{value}'"
    return tool_formats.as_json(value) if isinstance(value, Mapping) else str(value)
