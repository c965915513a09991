"""Renderers of the formats of Poolside's models, with tags around each message."""

from collections.abc import Mapping, Sequence
from typing import Any

from sotto.engine.prompt.renderers import tool_formats
from sotto.engine.prompt.renderers.base import Renderer, Turn, split_thought, tools_of

_SIGNS = "<tool_call> <arg_key> <think>"
_LISTED = """\
### Tools

You may call functions to assist with the user query.
All available function signatures are listed below:
<available_tools>{}
</available_tools>"""
_CALLED = """ unescaped XML-like object with function name and arguments within '<tool_call>' and '</tool_call>' tags, \
like here:
{}<tool_call>function-name
<arg_key>argument-key</arg_key>
<arg_value>value-of-argument-key</arg_value>
</tool_call>"""
_HOW = "For each function call, return an" + _CALLED.format("")
_HOW_THINKING = (
    "Wrap your thinking in '<think>', '</think>' tags, followed by a function call. For each function call, return an"
    + _CALLED.format("<think> your thoughts here </think>\n")
)


class Laguna(Renderer):
    """Laguna XS: messages between tags on separate lines, every answer with its thoughts."""

    signs = _SIGNS

    def head(self, system: Turn | None, thinking: bool, variables: Mapping[str, Any]) -> str:
        """Return the first token and the system prompt."""
        text = system.content.rstrip() if system else ""
        body = f"\n{text}" if text.strip() else ""
        if tools := tools_of(variables):
            body += f"\n\n{_LISTED.format(tool_formats.as_lines(tools))}\n\n{_HOW_THINKING if thinking else _HOW}"
        return "〈|EOS|〉" + (f"<system>\n{body}\n</system>\n" if body else "")

    def later_system(self, turn: Turn, variables: Mapping[str, Any]) -> str:
        """Return it as a turn."""
        return f"<system>\n{turn.content}\n</system>\n"

    def user(self, turn: Turn) -> str:
        """Return a question."""
        return f"<user>\n{turn.content}\n</user>\n"

    def assistant(self, turn: Turn, thinking: bool) -> str:
        """Return an answer with its thoughts."""
        thought, _ = split_thought(turn)
        text = turn.content.split("</think>")[-1].lstrip("\n") if "</think>" in turn.content else turn.content
        opened = f"<think>\n{thought.strip()}\n" if thought else ""
        answer = f"{text.strip()}\n" if text.strip() else ""
        calls = "".join(tool_formats.as_pairs(call, "\n") for call in turn.calls)
        return f"<assistant>\n{opened}</think>\n{answer}{calls}</assistant>\n"

    def tool(self, turn: Turn) -> str:
        """Return the result of a tool."""
        return f"<tool_response>\n{turn.content}\n</tool_response>\n"

    def generation_prompt(self, turns: Sequence[Turn], thinking: bool) -> str:
        """Return the beginning of an answer, within its thought or after none."""
        return f"<assistant>\n{'<think>' if thinking else '</think>'}"


class Poolside(Renderer):
    """Laguna S: messages between tags, every answer with its thoughts if thinking is on."""

    thinks = True
    signs = _SIGNS

    def head(self, system: Turn | None, thinking: bool, variables: Mapping[str, Any]) -> str:
        """Return the first token and the system prompt, which thinking requires even if it is empty."""
        parts = [system.content.rstrip()] if system and system.content.strip() else []
        if tools := tools_of(variables):
            parts.append(_LISTED.format(tool_formats.as_lines(tools)))
        body = "\n\n".join(parts)
        return "〈|EOS|〉" + (f"<system>{body}</system>\n" if parts or thinking else "")

    def later_system(self, turn: Turn, variables: Mapping[str, Any]) -> str:
        """Return it as a turn."""
        return f"<system>{turn.content}</system>\n"

    def user(self, turn: Turn) -> str:
        """Return a question."""
        return f"<user>{turn.content}</user>\n"

    def assistant(self, turn: Turn, thinking: bool) -> str:
        """Return an answer."""
        thought = f"<think>{turn.thought}" if thinking else ""
        calls = "".join(map(tool_formats.as_pairs, turn.calls))
        return f"<assistant>{thought}</think>{turn.content}{calls}</assistant>\n"

    def tool(self, turn: Turn) -> str:
        """Return the result of a tool."""
        return f"<tool_response>{turn.content}</tool_response>\n"

    def generation_prompt(self, turns: Sequence[Turn], thinking: bool) -> str:
        """Return the beginning of an answer, within its thought or after none."""
        return f"<assistant>{'<think>' if thinking else '</think>'}"
