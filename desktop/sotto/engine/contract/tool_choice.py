"""Which tools an answer must call, as requests say it."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ToolChoice:
    """Which calls of tools an answer must have, or may.

    Attributes:
        required: Whether the answer must be calls, at least one, perhaps behind a thought.
        tool: The only tool that may be called then; empty for any.
        single: Whether there may be one call only, which then ends the answer.
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
