"""What our own renderings of known prompt formats have in common."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sotto.engine.sandbox import TemplateRefusedError

_ROLES = ("system", "user", "assistant")


@dataclass(frozen=True, slots=True)
class Turn:
    """One message.

    Attributes:
        role: `system`, `user` or `assistant`.
        content: What was said.
        thought: What an assistant thought before; empty for nothing.
        recent: Whether it comes behind the last question, so that its thoughts still count.
        goes_on: Whether the message before is one of the same role.
        replies: Whether a question is the last that was said before, system messages aside.
    """

    role: str
    content: str
    thought: str
    recent: bool
    goes_on: bool
    replies: bool


class Renderer:
    """Renders conversations of text and thoughts in one format; a subclass says how each part looks.

    Tools are not among what a rendering of ours knows: their descriptions are sentences that each model was trained
    with, which only its own template can give.

    Attributes:
        thinks: Whether the model thinks where nobody says otherwise.
        variables: Which of the variables that a Jinja template is given it looks up.
    """

    thinks = False
    variables = frozenset({"messages", "enable_thinking"})

    def render(self, variables: Mapping[str, Any]) -> str:
        """Return the prompt for a conversation.

        Args:
            variables: What a Jinja template is given: `messages`, `add_generation_prompt`, `enable_thinking`, and
                `bos_token` where there is one.

        Raises:
            TemplateRefusedError: There are tools, or a message that the format has no place for.
        """
        if variables.get("tools"):
            raise TemplateRefusedError("it has no tools unless the model brings its own template")
        chosen = variables.get("enable_thinking")
        thinking = self.thinks if chosen is None else bool(chosen)
        turns = self._turns(variables.get("messages") or ())
        self.check(turns)
        pieces = [self.head(turns[0] if turns and turns[0].role == "system" else None, thinking, variables)]
        for place, turn in enumerate(turns):
            match turn.role:
                case "system" if place:
                    pieces.append(self.later_system(turn, variables))
                case "system":
                    pieces.append(self.first_system(turn, variables))
                case "user":
                    pieces.append(self.user(turn))
                case _:
                    pieces.append(self.assistant(turn, thinking))
        if variables.get("add_generation_prompt", True):
            pieces.append(self.asking(turns, thinking))
        return "".join(pieces)

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
        """Return an answer."""
        raise NotImplementedError

    def asking(self, turns: Sequence[Turn], thinking: bool) -> str:
        """Return what asks for an answer."""
        raise NotImplementedError

    def is_question(self, content: str) -> bool:
        """Say whether a user's message is what an answer is wanted for."""
        return True

    def _turns(self, messages: Sequence[Mapping[str, Any]]) -> list[Turn]:
        questions = [
            place
            for place, message in enumerate(messages)
            if message.get("role") == "user" and self.is_question(content_of(message))
        ]
        last = questions[-1] if questions else -1
        turns: list[Turn] = []
        for place, message in enumerate(messages):
            role = str(message.get("role"))
            if role not in _ROLES or message.get("tool_calls"):
                what = "calls of tools" if message.get("tool_calls") else f"messages of the role {role[:40]!r}"
                raise TemplateRefusedError(f"it has no {what} unless the model brings its own template")
            thought = message.get("thinking") or message.get("reasoning_content") or ""
            goes_on = bool(turns) and turns[-1].role == role
            replies = next((turn.role == "user" for turn in reversed(turns) if turn.role != "system"), False)
            turns.append(Turn(role, content_of(message), str(thought), place > last, goes_on, replies))
        return turns


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
