"""Formats with tags around each message, as Poolside's models have them."""

from collections.abc import Mapping, Sequence
from typing import Any

from sotto.engine.prompt.renderers import described
from sotto.engine.prompt.renderers.base import Renderer, Turn, told_apart, tools_of

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
    """Laguna XS: messages between tags on lines of their own, every answer with its thoughts."""

    signs = _SIGNS

    def head(self, system: Turn | None, thinking: bool, variables: Mapping[str, Any]) -> str:
        """Return the first token and the system prompt."""
        said = system.content.rstrip() if system else ""
        told = f"\n{said}" if said.strip() else ""
        if tools := tools_of(variables):
            told += f"\n\n{_LISTED.format(described.as_lines(tools))}\n\n{_HOW_THINKING if thinking else _HOW}"
        return "〈|EOS|〉" + (f"<system>\n{told}\n</system>\n" if told else "")

    def later_system(self, turn: Turn, variables: Mapping[str, Any]) -> str:
        """Return it as a turn."""
        return f"<system>\n{turn.content}\n</system>\n"

    def user(self, turn: Turn) -> str:
        """Return a question."""
        return f"<user>\n{turn.content}\n</user>\n"

    def assistant(self, turn: Turn, thinking: bool) -> str:
        """Return an answer with its thoughts."""
        thought, _ = told_apart(turn)
        text = turn.content.split("</think>")[-1].lstrip("\n") if "</think>" in turn.content else turn.content
        opened = f"<think>\n{thought.strip()}\n" if thought else ""
        said = f"{text.strip()}\n" if text.strip() else ""
        calls = "".join(described.as_pairs(call, "\n") for call in turn.calls)
        return f"<assistant>\n{opened}</think>\n{said}{calls}</assistant>\n"

    def tool(self, turn: Turn) -> str:
        """Return what a tool said."""
        return f"<tool_response>\n{turn.content}\n</tool_response>\n"

    def asking(self, turns: Sequence[Turn], thinking: bool) -> str:
        """Return the beginning of an answer, in its thoughts or behind none."""
        return f"<assistant>\n{'<think>' if thinking else '</think>'}"


class Poolside(Renderer):
    """Laguna S: messages between tags, every answer with its thoughts where any are wanted."""

    thinks = True
    signs = _SIGNS

    def head(self, system: Turn | None, thinking: bool, variables: Mapping[str, Any]) -> str:
        """Return the first token and the system prompt, which is there for thoughts even if it is empty."""
        said = [system.content.rstrip()] if system and system.content.strip() else []
        if tools := tools_of(variables):
            said.append(_LISTED.format(described.as_lines(tools)))
        told = "\n\n".join(said)
        return "〈|EOS|〉" + (f"<system>{told}</system>\n" if said or thinking else "")

    def later_system(self, turn: Turn, variables: Mapping[str, Any]) -> str:
        """Return it as a turn."""
        return f"<system>{turn.content}</system>\n"

    def user(self, turn: Turn) -> str:
        """Return a question."""
        return f"<user>{turn.content}</user>\n"

    def assistant(self, turn: Turn, thinking: bool) -> str:
        """Return an answer."""
        thought = f"<think>{turn.thought}" if thinking else ""
        calls = "".join(map(described.as_pairs, turn.calls))
        return f"<assistant>{thought}</think>{turn.content}{calls}</assistant>\n"

    def tool(self, turn: Turn) -> str:
        """Return what a tool said."""
        return f"<tool_response>{turn.content}</tool_response>\n"

    def asking(self, turns: Sequence[Turn], thinking: bool) -> str:
        """Return the beginning of an answer, in its thoughts or behind none."""
        return f"<assistant>{'<think>' if thinking else '</think>'}"
