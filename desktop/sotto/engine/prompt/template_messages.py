"""Messages as chat templates expect them."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from sotto.engine.contract.answer_parts import Kind, calls_of, markup, thought_of
from sotto.engine.contract.requests import Message, Think
from sotto.engine.contract.tool_choice import ToolChoice
from sotto.engine.parsing.answer_parser import parse_answer

# Names under which different templates look up a thought.
_THOUGHT_NAMES = ("reasoning_content", "reasoning", "thinking")
_LOOKS_UP_THOUGHT = re.compile(rf"(?:\.|['\"])(?:{'|'.join(_THOUGHT_NAMES)}|Thinking)\b")
_LOOKS_UP_CALLS = re.compile(r"\b(?:tool_calls|ToolCalls)\b")
# Variables that switch thoughts on and off.
SWITCHES = frozenset({"enable_thinking", "thinking", "thinking_mode", "thinking_budget"})
EFFORTS = frozenset({"reasoning_effort", "thinking_effort"})
TOOL_NAMES = ("tools", "xml_tools")


@dataclass(frozen=True, slots=True)
class PromptOptions:
    """What a request asks of the template besides the conversation.

    Attributes:
        tools: Functions that the model may call.
        think: Whether and how much it thinks first; None for the template's default.
        budget: Most tokens of a thought, for templates that tell the model.
        choice: Which tools it must call; None leaves that to the model.
    """

    tools: tuple[Mapping[str, Any], ...] = ()
    think: Think | None = None
    budget: int | None = None
    choice: ToolChoice | None = None

    def variables(self, known: Callable[[], frozenset[str]], text: str) -> dict[str, Any]:
        """Return these options as variables of a template.

        Args:
            known: Returns the variables that the template looks up.
            text: The source of the template.
        """
        options = self._thinking(text)
        if self.tools:
            options |= {name: list(self.tools) for name in TOOL_NAMES}
        return {"tools": None} | (
            {name: value for name, value in options.items() if name in known()} if options else {}
        )

    def _thinking(self, text: str) -> dict[str, Any]:
        if self.think is None:
            return {} if self.budget is None else {"thinking_budget": self.budget}
        on = self.think is not Think.OFF
        options: dict[str, Any] = {
            "enable_thinking": on,
            "thinking": on,
            "thinking_mode": "enabled" if on else "disabled",
        }
        if not on:
            return options | {"thinking_budget": 0}
        if self.budget is not None:
            options["thinking_budget"] = self.budget
        if self.think is not Think.ON:
            # Few templates know a level above high.
            level = self.think if self.think is not Think.MAX or re.search(r"['\"]max['\"]", text) else Think.HIGH
            options |= dict.fromkeys(EFFORTS, level.value)
        return options


DEFAULT_PROMPT_OPTIONS = PromptOptions()


def split_answer(message: Message, template: str) -> Message:
    """Move thoughts and calls out of the text of an assistant's message, as far as `template` looks them up."""
    if message.role != "assistant" or message.thinking or message.tool_calls:
        return message
    parts = parse_answer(message.text)
    moved = {
        kind
        for kind, known in ((Kind.THOUGHT, _LOOKS_UP_THOUGHT), (Kind.TOOL, _LOOKS_UP_CALLS))
        if known.search(template) and any(part.kind is kind for part in parts)
    }
    if not moved:
        return message
    return replace(
        message,
        content=markup(part for part in parts if part.kind not in moved),
        thinking=thought_of(parts) if Kind.THOUGHT in moved else "",
        tool_calls=calls_of(parts) if Kind.TOOL in moved else (),
    )


def template_message(message: Message, content: object, *, arguments_as_text: bool = False) -> dict[str, Any]:
    """Return a message in the form that templates expect.

    Args:
        message: The message.
        content: Its content, in the form that the template expects.
        arguments_as_text: Whether the arguments of calls are a string of JSON, which some templates expect.
    """
    turn: dict[str, Any] = {"role": message.role, "content": content}
    if message.thinking:
        turn |= dict.fromkeys(_THOUGHT_NAMES, message.thinking)
    if message.tool_calls:
        turn["tool_calls"] = [
            {
                "id": call.id,
                "type": "function",
                "function": {
                    "name": call.name,
                    "arguments": call.arguments_as_json() if arguments_as_text else dict(call.arguments),
                },
            }
            for call in message.tool_calls
        ]
    if message.role == "tool":
        turn |= {"name": message.tool_name, "tool_call_id": message.tool_call_id}
    return turn
