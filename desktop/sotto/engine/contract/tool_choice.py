"""The tool choice of a request: which tools the answer must or may call."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ToolChoice:
    """Which tools an answer must or may call.

    Attributes:
        required: Whether the answer must consist of one or more calls, perhaps after a thought.
        tool: The only tool that may be called then; empty for any.
        single: Whether only one call is allowed, which then ends the answer.
        name: What the field or option that it comes from is called, for messages.
        tools: What the list of tools is called, for messages.
        parameters: What the schema of what a tool takes is called in it.
    """

    required: bool = False
    tool: str = ""
    single: bool = False
    name: str = "tool_choice"
    tools: str = "tools"
    parameters: str = "function.parameters"
