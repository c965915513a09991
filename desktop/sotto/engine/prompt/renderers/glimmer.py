"""Renderer of Muse Glimmer's format: messages to recipients, which may be tools."""

import re
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from sotto.engine.prompt.renderers.base import Call, Renderer, Tools, Turn, tools_of
from sotto.engine.prompt.renderers.tool_formats import as_json

_CALL = """\
<atem:function_calls>
<atem:invoke name="{}">
{}</atem:invoke>
</atem:function_calls>"""
_TOOLS_INTRO = """\
In this environment you have access to a set of tools you can use to answer the user's question.

You can invoke a function by writing a "<atem:function_calls>" block like the following:
{generic}

String and scalar parameters should be specified as is, while lists and objects should use JSON format. Note that \
spaces for string values are not stripped. The output is not expected to be valid XML and is parsed with regular \
expressions.
Here are the functions available in JSONSchema format:
// Tool metadata
{kinds}
// Function schemas
{tools}

Here's an example of how to call a function in the tool set:
(If the tool namespace is not specified, invoke the function directly as `example_function_name` rather than \
`example_tool_name.example_function_name`)

to=example_tool_name.example_function_name

{example}"""
_GENERIC_CALL = _CALL.format(
    "$FUNCTION_NAME", '<atem:parameter name="$PARAMETER_NAME">$PARAMETER_VALUE</atem:parameter>\n...\n'
)
_EXAMPLE_CALL = _CALL.format(
    "example_tool_name.example_function_name",
    '<atem:parameter name="example_parameter_1">value_1</atem:parameter>\n'
    '<atem:parameter name="example_parameter_2">This is the value for the second parameter\nthat can span\n'
    '"multiple" lines\n</atem:parameter>\n',
)


class Glimmer(Renderer):
    """Muse Glimmer: messages have recipients, thoughts the model itself.

    The system prompt says how much to think and lists the recipients; without one, there is the makers' default.
    """

    variables = frozenset({"messages", "tools", "reasoning_effort"})
    signs = "<|start|> to=self<|message|> <atem:function_calls>"
    _LATEST = "2026-01-04"
    _EFFORT = re.compile(r"Reasoning effort|Reasoning Effort|reasoning effort|REASONING EFFORT")

    def head(self, system: Turn | None, thinking: bool, variables: Mapping[str, Any]) -> str:
        """Return the first token and, where the conversation has none, the default system prompt."""
        first = super().head(system, thinking, variables)
        if any(message.get("role") == "system" for message in variables.get("messages") or ()):
            return first
        today = datetime.now().strftime("%Y-%m-%d")
        usual = f"You are a helpful AI assistant.\nKnowledge cutoff: {self._LATEST}.\nCurrent date: {today}."
        return first + self._system(usual, variables)

    def first_system(self, turn: Turn, variables: Mapping[str, Any]) -> str:
        """Return the system prompt."""
        return self._system(self._EFFORT.sub(_strength, turn.content), variables)

    def later_system(self, turn: Turn, variables: Mapping[str, Any]) -> str:
        """Return it like the first one."""
        return self.first_system(turn, variables)

    def user(self, turn: Turn) -> str:
        """Return a question."""
        return f"<|start|>user<|message|>{turn.content}<|eot|>"

    def assistant(self, turn: Turn, thinking: bool) -> str:
        """Return the thoughts, then the answer or its calls."""
        thought = f"<|start|>assistant to=self<|message|>{turn.thought}<|eom|>" if turn.thought else ""
        if not turn.calls:
            return f"{thought}<|start|>assistant to=user<|message|>{turn.content}<|eot|>"
        calls = "<|eom|>".join(f"<|start|>assistant to={call.name}<|message|>{_calls(call)}" for call in turn.calls)
        return f"{thought}{calls}{'<|eot|>' if turn.last_in_run else '<|eom|>'}"

    def tool(self, turn: Turn) -> str:
        """Return the result of a tool."""
        output = f'<tool_output name="{turn.name}">\n{turn.content}\n</tool_output>'
        return f"<|start|>tool {turn.name}<|message|>{output}<|eot|>"

    def generation_prompt(self, turns: Sequence[Turn], thinking: bool) -> str:
        """Return the beginning of an answer."""
        return "<|start|>assistant"

    def _system(self, text: str, variables: Mapping[str, Any]) -> str:
        effort = variables.get("reasoning_effort") or "high"
        extra = "" if "reasoning strength" in text.lower() else f"\n\nReasoning strength: {effort}."
        tools = tools_of(variables)
        kinds = list(dict.fromkeys(tool["function"]["name"].split(".")[0] for tool in tools))
        if tools:
            extra += f"\n\n{_describe_tools(tools, kinds)}"
        recipients = ", ".join(['"self"', *(f'"{kind}.*"' for kind in kinds), '"user"'])
        return f"<|start|>system<|message|>{text}{extra}\n\n# Valid recipients: {recipients}.<|eot|>"


def _describe_tools(tools: Tools, kinds: Sequence[str]) -> str:
    """Return the description of tools; `kinds` are the namespaces of their names."""
    functions = [tool["function"] for tool in tools]
    return _TOOLS_INTRO.format(
        generic=_GENERIC_CALL,
        kinds="\n".join(f'{{"name": {as_json(kind)}, "description": ""}}' for kind in kinds),
        tools="\n".join(
            as_json({key: function.get(key) for key in ("name", "description", "parameters")}) for function in functions
        ),
        example=_EXAMPLE_CALL,
    )


def _calls(call: Call) -> str:
    given = "".join(
        f'<atem:parameter name="{name}">{value if isinstance(value, str) else as_json(value)}</atem:parameter>\n'
        for name, value in call.arguments.items()
    )
    return _CALL.format(call.name, given)


def _strength(match: re.Match[str]) -> str:
    """Return the match with this model's word for effort, in the same case."""
    effort = match[0].split()[1]
    return f"{match[0].split()[0]} {'STRENGTH' if effort.isupper() else 'Strength' if effort[0] == 'E' else 'strength'}"
