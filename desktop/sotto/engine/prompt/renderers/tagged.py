"""Renderers of formats with a special token for each role."""

from collections.abc import Mapping, Sequence
from typing import Any

from sotto.engine.prompt.renderers import tool_formats
from sotto.engine.prompt.renderers.base import Renderer, Turn, content_of, split_thought, tools_of


class Glm47(Renderer):
    """GLM 4.7: a token before each message and nothing after it."""

    thinks = True
    signs = "<tool_call> <arg_key> <think>"
    _TOOLS_INTRO = """\
<|system|>
# Tools

You may call one or more functions to assist with the user query.

You are provided with function signatures within <tools></tools> XML tags:
<tools>{}
</tools>

For each function call, output the function name and arguments within the following XML format:
<tool_call>{{function-name}}<arg_key>{{arg-key-1}}</arg_key><arg_value>{{arg-value-1}}</arg_value>\
<arg_key>{{arg-key-2}}</arg_key><arg_value>{{arg-value-2}}</arg_value>...</tool_call>"""

    def head(self, system: Turn | None, thinking: bool, variables: Mapping[str, Any]) -> str:
        """Return the first tokens and the tools."""
        tools = tools_of(variables)
        return "[gMASK]<sop>" + (self._TOOLS_INTRO.format(tool_formats.as_lines(tools)) if tools else "")

    def first_system(self, turn: Turn, variables: Mapping[str, Any]) -> str:
        """Return the system prompt."""
        return f"<|system|>{turn.content}"

    def later_system(self, turn: Turn, variables: Mapping[str, Any]) -> str:
        """Return it like the first one."""
        return self.first_system(turn, variables)

    def user(self, turn: Turn) -> str:
        """Return a question."""
        return f"<|user|>{turn.content}"

    def assistant(self, turn: Turn, thinking: bool) -> str:
        """Return an answer; after the last question with its thoughts."""
        thought, text = split_thought(turn)
        opened = f"<think>{thought.strip()}" if turn.recent and thought else ""
        calls = "".join(map(tool_formats.as_pairs, turn.calls))
        return f"<|assistant|>{opened}</think>{text.strip()}{calls}"

    def tool(self, turn: Turn) -> str:
        """Return the result of a tool."""
        return f"{'' if turn.continues else '<|observation|>'}<tool_response>{turn.content}</tool_response>"

    def generation_prompt(self, turns: Sequence[Turn], thinking: bool) -> str:
        """Return the beginning of an answer, within its thought or after none."""
        return "<|assistant|><think>" if thinking else "<|assistant|></think>"


class DeepSeek31(Renderer):
    """DeepSeek V3.1: all system prompts as one at the beginning, without a mark, then the tools.

    The Jinja template does not describe tools; their format is from the makers' documentation and Ollama's template.
    """

    signs = "<｜tool▁calls▁begin｜> <think>"
    _TOOLS_INTRO = """\
## Tools
You have access to the following tools:

{}

IMPORTANT: ALWAYS adhere to this exact format for tool use:
<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>tool_call_name<｜tool▁sep｜>tool_call_arguments<｜tool▁call▁end｜>\
{{{{additional_tool_calls}}}}<｜tool▁calls▁end｜>

Where:
- `tool_call_name` must be an exact match to one of the available tools
- `tool_call_arguments` must be valid JSON that strictly follows the tool's Parameters Schema
- For multiple tool calls, chain them directly without separators or spaces"""

    def head(self, system: Turn | None, thinking: bool, variables: Mapping[str, Any]) -> str:
        """Return the first token, all system prompts and the tools."""
        parts = [content_of(message) for message in variables.get("messages") or () if message.get("role") == "system"]
        if tools := tools_of(variables):
            descriptions = "\n\n".join(self._describe_tool(tool["function"]) for tool in tools)
            parts.append(self._TOOLS_INTRO.format(descriptions))
        return super().head(system, thinking, variables) + "\n\n".join(parts)

    def later_system(self, turn: Turn, variables: Mapping[str, Any]) -> str:
        """Return nothing, as the head contains it."""
        return ""

    def user(self, turn: Turn) -> str:
        """Return a question."""
        return f"<｜User｜>{turn.content}"

    def assistant(self, turn: Turn, thinking: bool) -> str:
        """Return an answer without its thoughts."""
        begun = "<｜Assistant｜></think>" if turn.follows_user else ""
        if turn.calls:
            calls = (
                f"<｜tool▁call▁begin｜>{call.name}<｜tool▁sep｜>{tool_formats.as_json(call.arguments)}<｜tool▁call▁end｜>"
                for call in turn.calls
            )
            called = f"<｜tool▁calls▁begin｜>{''.join(calls)}<｜tool▁calls▁end｜>"
            return f"{begun}{turn.content}{called}<｜end▁of▁sentence｜>"
        _, mark, after = turn.content.partition("</think>")
        text = after if mark and not turn.follows_tool else turn.content
        return f"{begun}{text}<｜end▁of▁sentence｜>"

    def tool(self, turn: Turn) -> str:
        """Return the result of a tool."""
        return f"<｜tool▁output▁begin｜>{turn.content}<｜tool▁output▁end｜>"

    def generation_prompt(self, turns: Sequence[Turn], thinking: bool) -> str:
        """Return the beginning of an answer, within its thought or after none; nothing after an answer."""
        spoken = [turn.role for turn in turns if turn.role != "system"]
        if not spoken or spoken[-1] != "user":
            return ""
        return "<｜Assistant｜><think>" if thinking else "<｜Assistant｜></think>"

    def _describe_tool(self, function: Mapping[str, Any]) -> str:
        """Return the description of a tool and its parameters."""
        name, about = function.get("name"), function.get("description")
        return f"### {name}\nDescription: {about}\n\nParameters: {tool_formats.as_json(function.get('parameters'))}"
