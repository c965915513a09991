"""Formats with tokens of their own for each role."""

import re
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from sotto.engine.renderers.base import Renderer, Turn, content_of, told_apart


class Glm47(Renderer):
    """GLM 4.7: a token before each message and nothing behind it."""

    thinks = True

    def head(self, system: Turn | None, thinking: bool, variables: Mapping[str, Any]) -> str:
        """Return the first tokens."""
        return "[gMASK]<sop>"

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
        """Return an answer; behind the last question with its thoughts."""
        thought, text = told_apart(turn)
        opened = f"<think>{thought.strip()}" if turn.recent and thought else ""
        return f"<|assistant|>{opened}</think>{text.strip()}"

    def asking(self, turns: Sequence[Turn], thinking: bool) -> str:
        """Return the beginning of an answer, in its thoughts or behind none."""
        return "<|assistant|><think>" if thinking else "<|assistant|></think>"


class DeepSeek31(Renderer):
    """DeepSeek V3.1: all system prompts as one at the beginning, without a mark."""

    def head(self, system: Turn | None, thinking: bool, variables: Mapping[str, Any]) -> str:
        """Return the first token and all system prompts."""
        said = [content_of(message) for message in variables.get("messages") or () if message.get("role") == "system"]
        return super().head(system, thinking, variables) + "\n\n".join(said)

    def later_system(self, turn: Turn, variables: Mapping[str, Any]) -> str:
        """Return nothing, as it stands in the head."""
        return ""

    def user(self, turn: Turn) -> str:
        """Return a question."""
        return f"<｜User｜>{turn.content}"

    def assistant(self, turn: Turn, thinking: bool) -> str:
        """Return an answer without its thoughts."""
        begun = "<｜Assistant｜></think>" if turn.replies else ""
        _, mark, behind = turn.content.partition("</think>")
        return f"{begun}{behind if mark else turn.content}<｜end▁of▁sentence｜>"

    def asking(self, turns: Sequence[Turn], thinking: bool) -> str:
        """Return the beginning of an answer, in its thoughts or behind none; nothing behind an answer."""
        spoken = [turn.role for turn in turns if turn.role != "system"]
        if not spoken or spoken[-1] != "user":
            return ""
        return "<｜Assistant｜><think>" if thinking else "<｜Assistant｜></think>"


class Gemma4(Renderer):
    """Gemma 4: each message between `<|turn>` and `<turn|>`, blanks around it taken away, no thoughts of the past.

    The large ones are told in so many words that nothing is thought.
    """

    def __init__(self, *, large: bool) -> None:
        """Take the format of the models from 12 billion parameters on, or of the smaller ones."""
        self._large = large

    def head(self, system: Turn | None, thinking: bool, variables: Mapping[str, Any]) -> str:
        """Return the first token and the system prompt, which also asks for thoughts."""
        first = super().head(system, thinking, variables)
        if system is None and not thinking:
            return first
        said = ("<|think|>\n" if thinking else "") + (system.content.strip() if system else "")
        return f"{first}<|turn>system\n{said}<turn|>\n"

    def later_system(self, turn: Turn, variables: Mapping[str, Any]) -> str:
        """Return it as a turn."""
        return f"<|turn>system\n{turn.content.strip()}<turn|>\n"

    def user(self, turn: Turn) -> str:
        """Return a question."""
        return f"<|turn>user\n{turn.content.strip()}<turn|>\n"

    def assistant(self, turn: Turn, thinking: bool) -> str:
        """Return an answer without its thoughts; one that follows another goes on with that."""
        said = "".join(part.partition("<|channel>")[0] for part in turn.content.split("<channel|>")).strip()
        begun = "" if turn.goes_on else "<|turn>model\n"
        return f"{begun}{said}<turn|>\n"

    def asking(self, turns: Sequence[Turn], thinking: bool) -> str:
        """Return the beginning of an answer."""
        return "<|turn>model\n" + ("<|channel>thought\n<channel|>" if self._large and not thinking else "")


class Glimmer(Renderer):
    """Muse Glimmer: messages to recipients, thoughts to itself; a system prompt says how much is thought, and to whom.

    Where there is none, the model's makers put one in.
    """

    variables = frozenset({"messages", "reasoning_effort"})
    _LATEST = "2026-01-04"
    _EFFORT = re.compile(r"Reasoning effort|Reasoning Effort|reasoning effort|REASONING EFFORT")

    def head(self, system: Turn | None, thinking: bool, variables: Mapping[str, Any]) -> str:
        """Return the first token and, where nobody wrote one, a system prompt."""
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
        """Return an answer behind its thoughts."""
        thought = f"<|start|>assistant to=self<|message|>{turn.thought}<|eom|>" if turn.thought else ""
        return f"{thought}<|start|>assistant to=user<|message|>{turn.content}<|eot|>"

    def asking(self, turns: Sequence[Turn], thinking: bool) -> str:
        """Return the beginning of an answer."""
        return "<|start|>assistant"

    def _system(self, text: str, variables: Mapping[str, Any]) -> str:
        effort = variables.get("reasoning_effort") or "high"
        told = "" if "reasoning strength" in text.lower() else f"\n\nReasoning strength: {effort}."
        return f'<|start|>system<|message|>{text}{told}\n\n# Valid recipients: "self", "user".<|eot|>'


def _strength(match: re.Match[str]) -> str:
    """Return how this model calls effort, in the letters that effort was written in."""
    effort = match[0].split()[1]
    return f"{match[0].split()[0]} {'STRENGTH' if effort.isupper() else 'Strength' if effort[0] == 'E' else 'strength'}"
