"""The base class of the built-in renderers, and conversations in the form that they render."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import takewhile
from typing import Any

from sotto.engine.prompt.sandbox import TemplateRefusedError

_ROLES = ("system", "user", "assistant", "tool")

Tools = Sequence[Mapping[str, Any]]
"""Tools as a request has them, each with a `function`."""


@dataclass(frozen=True, slots=True)
class Call:
    """A tool call: the tool's name, the arguments, and the id that its result refers to."""

    name: str
    arguments: Mapping[str, Any]
    id: str


@dataclass(frozen=True, slots=True)
class Turn:
    """One message.

    Attributes:
        role: `system`, `user`, `assistant` or `tool`.
        content: Its text.
        thought: What an assistant thought before; empty for nothing.
        recent: Whether it follows the last question, so that its thoughts are still shown.
        continues: Whether the message before has the same role; between others, results of tools do not count.
        follows_user: Whether the message before is a user's, system messages aside.
        follows_tool: Whether the message before is a tool's result, system messages aside.
        last_in_run: Whether the next message has another role, or there is none.
        calls: The tools that an assistant called.
        answers: The results of these calls.
        name: Of a tool's result, the tool.
        id: Of a tool's result, the id of its call.
    """

    role: str
    content: str
    thought: str
    recent: bool
    continues: bool
    follows_user: bool
    follows_tool: bool
    last_in_run: bool
    calls: tuple[Call, ...] = ()
    answers: "tuple[Turn, ...]" = ()
    name: str = ""
    id: str = ""


class Renderer:
    """Renders conversations of text, thoughts and tool calls in one format; subclasses render the parts.

    Attributes:
        thinks: Whether the model thinks by default.
        variables: Names of the variables, as Jinja templates have them, that it looks up.
        signs: Texts that the model's template would contain, by which `parsing.families` knows how it marks thoughts
            and calls.
    """

    thinks = False
    variables = frozenset({"messages", "tools", "enable_thinking"})
    signs = ""

    def render(self, variables: Mapping[str, Any]) -> str:
        """Return the prompt for a conversation.

        Args:
            variables: Variables as for a Jinja template: `messages`, `tools`, `add_generation_prompt`,
                `enable_thinking`, and `bos_token` where there is one.

        Raises:
            TemplateRefusedError: The format has no place for one of the messages.
        """
        chosen = variables.get("enable_thinking")
        thinking = self.thinks if chosen is None else bool(chosen)
        turns = _turns(variables.get("messages") or (), self.is_question)
        self.check(turns)
        try:
            return "".join(self._pieces(turns, thinking, variables))
        except RecursionError as error:
            raise TemplateRefusedError("its tools or what they are given are nested too deeply") from error

    def _pieces(self, turns: Sequence[Turn], thinking: bool, variables: Mapping[str, Any]) -> list[str]:
        pieces = [self.head(turns[0] if turns and turns[0].role == "system" else None, thinking, variables)]
        for place, turn in enumerate(turns):
            match turn.role:
                case "system" if place:
                    pieces.append(self.later_system(turn, variables))
                case "system":
                    pieces.append(self.first_system(turn, variables))
                case "user":
                    pieces.append(self.user(turn))
                case "tool":
                    pieces.append(self.tool(turn))
                case _:
                    pieces.append(self.assistant(turn, thinking))
        if variables.get("add_generation_prompt", True):
            pieces.append(self.generation_prompt(turns, thinking))
        return pieces

    def check(self, turns: Sequence[Turn]) -> None:
        """Raise TemplateRefusedError for a conversation that the format cannot express."""

    def head(self, system: Turn | None, thinking: bool, variables: Mapping[str, Any]) -> str:
        """Return the text before all turns; `system` is the first turn if that is a system prompt, or else None."""
        return str(variables.get("bos_token") or "")

    def first_system(self, turn: Turn, variables: Mapping[str, Any]) -> str:
        """Return the system prompt as a turn; empty if `head` contains it."""
        return ""

    def later_system(self, turn: Turn, variables: Mapping[str, Any]) -> str:
        """Return a system message that is not the first message."""
        raise TemplateRefusedError("it takes a system message only at the beginning")

    def user(self, turn: Turn) -> str:
        """Return a user's message."""
        raise NotImplementedError

    def assistant(self, turn: Turn, thinking: bool) -> str:
        """Return an answer, with its calls."""
        raise NotImplementedError

    def tool(self, turn: Turn) -> str:
        """Return the result of a tool."""
        raise NotImplementedError

    def generation_prompt(self, turns: Sequence[Turn], thinking: bool) -> str:
        """Return the generation prompt, which asks for an answer."""
        raise NotImplementedError

    def is_question(self, content: str) -> bool:
        """Return whether a user's message is a question, rather than for example the result of a tool."""
        return True


def tools_of(variables: Mapping[str, Any]) -> Tools:
    """Return the tools that the model may call."""
    return variables.get("tools") or ()


def _turns(messages: Sequence[Mapping[str, Any]], is_question: Callable[[str], bool]) -> list[Turn]:
    roles = [str(message.get("role")) for message in messages]
    if unknown := next((role for role in roles if role not in _ROLES), None):
        raise TemplateRefusedError(f"it has no messages of the role {unknown[:40]!r}")
    questions = (
        role == "user" and is_question(content_of(message)) for role, message in zip(roles, messages, strict=True)
    )
    last = max((place for place, asks in enumerate(questions) if asks), default=-1)
    names = {call.id: call.name for message in messages for call in _calls(message) if call.id}
    turns: list[Turn] = []
    # Roles of the message before: of any, of any but a tool's result, and of any but a system message.
    before = no_tool = no_system = ""
    for place, (role, message) in enumerate(zip(roles, messages, strict=True)):
        identity = str(message.get("tool_call_id") or "")
        turn = Turn(
            role,
            content_of(message),
            thought=str(message.get("thinking") or message.get("reasoning_content") or ""),
            recent=place > last,
            continues=role == (before if role == "tool" else no_tool),
            follows_user=no_system == "user",
            follows_tool=no_system == "tool",
            last_in_run=roles[place + 1 : place + 2] != [role],
            calls=tuple(_calls(message)) if role == "assistant" else (),
            name=str(message.get("name") or names.get(identity) or identity),
            id=identity,
        )
        turns.append(turn)
        before = role
        no_tool = no_tool if role == "tool" else role
        no_system = no_system if role == "system" else role
    return [_with_answers(turn, turns[place + 1 :]) if turn.calls else turn for place, turn in enumerate(turns)]


def _with_answers(turn: Turn, after: Sequence[Turn]) -> Turn:
    """Return a turn with the results of tools that follow it."""
    return replace(turn, answers=tuple(takewhile(lambda later: later.role == "tool", after)))


def _calls(message: Mapping[str, Any]) -> list[Call]:
    found = []
    for call in message.get("tool_calls") or ():
        function = call.get("function") or {}
        arguments = function.get("arguments")
        given = arguments if isinstance(arguments, Mapping) else {}
        found.append(Call(str(function.get("name") or ""), given, str(call.get("id") or "")))
    return found


def split_thought(turn: Turn) -> tuple[str, str]:
    """Return an answer's thought and its text; the thought may be in the text, between `<think>` tags."""
    if turn.thought or "</think>" not in turn.content:
        return turn.thought, turn.content
    before, *_, after = turn.content.split("</think>")
    return before.rstrip("\n").split("<think>")[-1].lstrip("\n"), after.lstrip("\n")


def content_of(message: Mapping[str, Any]) -> str:
    """Return a message's text; of a list of parts, that of all text parts."""
    content = message.get("content")
    if isinstance(content, list | tuple):
        return "".join(str(part.get("text") or "") for part in content if isinstance(part, Mapping))
    return "" if content is None else str(content)
