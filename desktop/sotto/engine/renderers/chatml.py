"""Formats with `<|im_start|>` and `<|im_end|>` around each message."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from sotto.engine.renderers.base import Renderer, Turn, told_apart
from sotto.engine.sandbox import TemplateRefusedError


def block(role: str, text: str) -> str:
    """Return a message with its marks."""
    return f"<|im_start|>{role}\n{text}<|im_end|>\n"


class ChatML(Renderer):
    """The bare format: every message at its place, nothing about thoughts."""

    variables = frozenset({"messages"})

    def head(self, system: Turn | None, thinking: bool, variables: Mapping[str, Any]) -> str:
        """Return nothing."""
        return ""

    def first_system(self, turn: Turn, variables: Mapping[str, Any]) -> str:
        """Return the system prompt."""
        return block("system", turn.content)

    def later_system(self, turn: Turn, variables: Mapping[str, Any]) -> str:
        """Return it like the first one."""
        return block("system", turn.content)

    def user(self, turn: Turn) -> str:
        """Return a question."""
        return block("user", turn.content)

    def assistant(self, turn: Turn, thinking: bool) -> str:
        """Return an answer without its thoughts."""
        return block("assistant", turn.content)

    def asking(self, turns: Sequence[Turn], thinking: bool) -> str:
        """Return the beginning of an answer."""
        return "<|im_start|>assistant\n"


class Qwen35(ChatML):
    """Qwen3.5: blanks around messages are taken away, and recent answers show their thoughts, if only empty ones."""

    thinks = True
    variables = Renderer.variables

    def check(self, turns: Sequence[Turn]) -> None:
        """Refuse a conversation in which nothing is asked."""
        if not any(turn.role == "user" and self.is_question(turn.content) for turn in turns):
            raise TemplateRefusedError("it takes no conversation without a question")

    def first_system(self, turn: Turn, variables: Mapping[str, Any]) -> str:
        """Return the system prompt."""
        return block("system", turn.content.strip())

    def later_system(self, turn: Turn, variables: Mapping[str, Any]) -> str:
        """Refuse it."""
        raise TemplateRefusedError("it takes a system message only at the beginning")

    def user(self, turn: Turn) -> str:
        """Return a question."""
        return block("user", turn.content.strip())

    def assistant(self, turn: Turn, thinking: bool) -> str:
        """Return an answer; behind the last question with its thoughts."""
        thought, text = told_apart(replace(turn, content=turn.content.strip()))
        return block("assistant", f"<think>\n{thought.strip()}\n</think>\n\n{text}" if turn.recent else text)

    def asking(self, turns: Sequence[Turn], thinking: bool) -> str:
        """Return the beginning of an answer, in its thoughts or behind none."""
        return "<|im_start|>assistant\n<think>\n" + ("" if thinking else "\n</think>\n\n")

    def is_question(self, content: str) -> bool:
        """Say that what a tool gave back is no question."""
        text = content.strip()
        return not (text.startswith("<tool_response>") and text.endswith("</tool_response>"))


class Nemotron3(ChatML):
    """Nemotron 3 Nano: there is always a system prompt, if only an empty one, and every answer has thoughts."""

    thinks = True
    variables = Renderer.variables

    def head(self, system: Turn | None, thinking: bool, variables: Mapping[str, Any]) -> str:
        """Return the system prompt."""
        return block("system", system.content if system else "")

    def first_system(self, turn: Turn, variables: Mapping[str, Any]) -> str:
        """Return nothing, as it stands in the head."""
        return ""

    def assistant(self, turn: Turn, thinking: bool) -> str:
        """Return an answer; before the last question with its thoughts emptied."""
        text = turn.content
        if turn.thought.strip():
            text = f"<think>\n{turn.thought}\n</think>\n{text}"
        elif "<think>" not in text and "</think>" not in text:
            text = f"<think></think>{text}"
        if not turn.recent and "<think>" in text and "</think>" in text:
            text = f"<think></think>{text.split('</think>')[-1]}"
        return block("assistant", text.strip())

    def asking(self, turns: Sequence[Turn], thinking: bool) -> str:
        """Return the beginning of an answer, in its thoughts or behind none."""
        return "<|im_start|>assistant\n<think>" + ("\n" if thinking else "</think>")


class Lfm2(ChatML):
    """LFM2: begins with the first token, and leaves an empty system prompt out."""

    def head(self, system: Turn | None, thinking: bool, variables: Mapping[str, Any]) -> str:
        """Return the first token."""
        return str(variables.get("bos_token") or "")

    def first_system(self, turn: Turn, variables: Mapping[str, Any]) -> str:
        """Return the system prompt, if it says something."""
        return block("system", turn.content) if turn.content else ""


class Lfm2Thinking(Lfm2):
    """LFM2.5: as LFM2, with the thoughts of recent answers."""

    def assistant(self, turn: Turn, thinking: bool) -> str:
        """Return an answer."""
        if turn.recent:
            thought = f"<think>{turn.thought}</think>" if turn.thought else ""
            return block("assistant", thought + turn.content)
        _, mark, behind = turn.content.rpartition("</think>")
        return block("assistant", behind.strip() if mark else turn.content)


class Cogito(ChatML):
    """Cogito: thoughts are asked for in the system prompt, in the words that it was trained with."""

    variables = Renderer.variables
    _DEEP = "Enable deep thinking subroutine."

    def head(self, system: Turn | None, thinking: bool, variables: Mapping[str, Any]) -> str:
        """Return the system prompt."""
        said = ([self._DEEP] if thinking else []) + ([system.content] if system else [])
        return block("system", "\n\n".join(said)) if said else ""

    def first_system(self, turn: Turn, variables: Mapping[str, Any]) -> str:
        """Return nothing, as it stands in the head."""
        return ""
