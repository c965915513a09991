"""What our own renderings of known prompt formats have in common."""

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
    """A tool that an assistant called: its name, what it was given, and what its answer is told apart by."""

    name: str
    arguments: Mapping[str, Any]
    id: str


@dataclass(frozen=True, slots=True)
class Turn:
    """One message.

    Attributes:
        role: `system`, `user`, `assistant` or `tool`.
        content: What was said.
        thought: What an assistant thought before; empty for nothing.
        recent: Whether it comes behind the last question, so that its thoughts still count.
        goes_on: Whether the message before is one of the same role; answers of tools do not count between others.
        replies: Whether a question is the last that was said before, system messages aside.
        reports: Whether what a tool gave back is the last that was said before, system messages aside.
        ends: Whether the message behind is one of another role, or there is none.
        calls: What an assistant called.
        answers: What the tools said to that.
        name: Which tool it is that says something.
        id: Which call that belongs to.
    """

    role: str
    content: str
    thought: str
    recent: bool
    goes_on: bool
    replies: bool
    reports: bool
    ends: bool
    calls: tuple[Call, ...] = ()
    answers: "tuple[Turn, ...]" = ()
    name: str = ""
    id: str = ""


class Renderer:
    """Renders conversations of text, thoughts and calls of tools in one format; a subclass says how each part looks.

    Attributes:
        thinks: Whether the model thinks where nobody says otherwise.
        variables: Which of the variables that a Jinja template is given it looks up.
        signs: What its template would show of how the model marks thoughts and calls, see `parsing.families`.
    """

    thinks = False
    variables = frozenset({"messages", "tools", "enable_thinking"})
    signs = ""

    def render(self, variables: Mapping[str, Any]) -> str:
        """Return the prompt for a conversation.

        Args:
            variables: What a Jinja template is given: `messages`, `tools`, `add_generation_prompt`, `enable_thinking`,
                and `bos_token` where there is one.

        Raises:
            TemplateRefusedError: There is a message that the format has no place for.
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
            pieces.append(self.asking(turns, thinking))
        return pieces

    def check(self, turns: Sequence[Turn]) -> None:
        """Raise TemplateRefusedError for a conversation that the format has no form for."""

    def head(self, system: Turn | None, thinking: bool, variables: Mapping[str, Any]) -> str:
        """Return what stands before all turns; `system` is the first of them if that is the system prompt."""
        return str(variables.get("bos_token") or "")

    def first_system(self, turn: Turn, variables: Mapping[str, Any]) -> str:
        """Return the system prompt at its place, if `head` does not hold it."""
        return ""

    def later_system(self, turn: Turn, variables: Mapping[str, Any]) -> str:
        """Return a system message that is not the first message."""
        raise TemplateRefusedError("it takes a system message only at the beginning")

    def user(self, turn: Turn) -> str:
        """Return a question."""
        raise NotImplementedError

    def assistant(self, turn: Turn, thinking: bool) -> str:
        """Return an answer, with its calls."""
        raise NotImplementedError

    def tool(self, turn: Turn) -> str:
        """Return what a tool said."""
        raise NotImplementedError

    def asking(self, turns: Sequence[Turn], thinking: bool) -> str:
        """Return what asks for an answer."""
        raise NotImplementedError

    def is_question(self, content: str) -> bool:
        """Say whether a user's message is what an answer is wanted for."""
        return True


def tools_of(variables: Mapping[str, Any]) -> Tools:
    """Return the tools that the model may call."""
    return variables.get("tools") or ()


def _turns(messages: Sequence[Mapping[str, Any]], is_question: Callable[[str], bool]) -> list[Turn]:
    roles = [str(message.get("role")) for message in messages]
    if unknown := next((role for role in roles if role not in _ROLES), None):
        raise TemplateRefusedError(f"it has no messages of the role {unknown[:40]!r}")
    asked = (role == "user" and is_question(content_of(one)) for role, one in zip(roles, messages, strict=True))
    last = max((place for place, asks in enumerate(asked) if asks), default=-1)
    names = {call.id: call.name for message in messages for call in _calls(message) if call.id}
    turns: list[Turn] = []
    # Who said what stands in front: the last of all, and the last that is no tool, and no system message.
    before = no_tool = no_system = ""
    for place, (role, message) in enumerate(zip(roles, messages, strict=True)):
        identity = str(message.get("tool_call_id") or "")
        turn = Turn(
            role,
            content_of(message),
            thought=str(message.get("thinking") or message.get("reasoning_content") or ""),
            recent=place > last,
            goes_on=role == (before if role == "tool" else no_tool),
            replies=no_system == "user",
            reports=no_system == "tool",
            ends=roles[place + 1 : place + 2] != [role],
            calls=tuple(_calls(message)) if role == "assistant" else (),
            name=str(message.get("name") or names.get(identity) or identity),
            id=identity,
        )
        turns.append(turn)
        before = role
        no_tool = no_tool if role == "tool" else role
        no_system = no_system if role == "system" else role
    return [_with_answers(turn, turns[place + 1 :]) if turn.calls else turn for place, turn in enumerate(turns)]


def _with_answers(turn: Turn, behind: Sequence[Turn]) -> Turn:
    """Return a turn with the answers of tools that follow it."""
    return replace(turn, answers=tuple(takewhile(lambda one: one.role == "tool", behind)))


def _calls(message: Mapping[str, Any]) -> list[Call]:
    found = []
    for call in message.get("tool_calls") or ():
        function = call.get("function") or {}
        arguments = function.get("arguments")
        given = arguments if isinstance(arguments, Mapping) else {}
        found.append(Call(str(function.get("name") or ""), given, str(call.get("id") or "")))
    return found


def told_apart(turn: Turn) -> tuple[str, str]:
    """Return an answer's thought and its text, also where the thought stands in the text between `<think>` tags."""
    if turn.thought or "</think>" not in turn.content:
        return turn.thought, turn.content
    before, *_, behind = turn.content.split("</think>")
    return before.rstrip("\n").split("<think>")[-1].lstrip("\n"), behind.lstrip("\n")


def content_of(message: Mapping[str, Any]) -> str:
    """Return a message's text, of a list of parts all that is text."""
    content = message.get("content")
    if isinstance(content, list | tuple):
        return "".join(str(part.get("text") or "") for part in content if isinstance(part, Mapping))
    return "" if content is None else str(content)
