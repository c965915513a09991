"""LFM2's formats: messages as in ChatML behind a first token, calls as Python writes them."""

from collections.abc import Mapping
from typing import Any

from sotto.engine.prompt.renderers import described
from sotto.engine.prompt.renderers.base import Tools, Turn
from sotto.engine.prompt.renderers.chatml import ChatML, block


class Lfm2(ChatML):
    """LFM2: begins with the first token, and leaves an empty system prompt out.

    Its template shows only texts; what a model called before is shown in the way in which it wrote that.
    """

    signs = "<|tool_list_start|> <|tool_call_start|>"

    def head(self, system: Turn | None, thinking: bool, variables: Mapping[str, Any]) -> str:
        """Return the first token and the system prompt."""
        return str(variables.get("bos_token") or "") + super().head(system, thinking, variables)

    def prompted(self, system: str | None, tools: Tools, thinking: bool) -> str | None:
        """Return the system prompt, if it says something."""
        said = [system] if system else []
        return "\n".join([*said, f"List of tools: {self.listed(tools)}"] if tools else said) or None

    def listed(self, tools: Tools) -> str:
        """Return the tools as they are listed."""
        return f"<|tool_list_start|>{described.as_list(tools)}<|tool_list_end|>"

    def assistant(self, turn: Turn, thinking: bool) -> str:
        """Return an answer."""
        return block("assistant", turn.content + _calls(turn))

    def tool(self, turn: Turn) -> str:
        """Return what a tool said."""
        return block("tool", f"<|tool_response_start|>{turn.content}<|tool_response_end|>")


class Lfm2Thinking(Lfm2):
    """LFM2.5: as LFM2, with the thoughts of recent answers, and fewer marks."""

    signs = "<|tool_call_start|> <think>"

    def listed(self, tools: Tools) -> str:
        """Return the tools as they are listed."""
        return described.as_list(tools)

    def assistant(self, turn: Turn, thinking: bool) -> str:
        """Return an answer."""
        if turn.recent:
            thought = f"<think>{turn.thought}</think>" if turn.thought else ""
            return block("assistant", thought + turn.content + _calls(turn))
        _, mark, behind = turn.content.rpartition("</think>")
        return block("assistant", (behind.strip() if mark else turn.content) + _calls(turn))

    def tool(self, turn: Turn) -> str:
        """Return what a tool said."""
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
    return described.as_json(value) if isinstance(value, Mapping) else str(value)
