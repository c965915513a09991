"""Formats with tokens or tags of their own for each role."""

from collections.abc import Mapping, Sequence
from typing import Any

from sotto.engine.renderers.base import Renderer, Turn, content_of, told_apart


class Glm47(Renderer):
    """GLM 4.7: a token before each message and nothing behind it."""

    thinks = True

    def head(self, system: Turn | None, thinking: bool, variables: Mapping[str, Any]) -> str:
        """Return the first tokens."""
        return "[gMASK]<sop>"

    def first_system(self, turn: Turn) -> str:
        """Return the system prompt."""
        return f"<|system|>{turn.content}"

    def later_system(self, turn: Turn) -> str:
        """Return it like the first one."""
        return self.first_system(turn)

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

    def later_system(self, turn: Turn) -> str:
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

    def later_system(self, turn: Turn) -> str:
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


class Laguna(Renderer):
    """Laguna XS: messages between tags on lines of their own, every answer with its thoughts."""

    def head(self, system: Turn | None, thinking: bool, variables: Mapping[str, Any]) -> str:
        """Return the first token and the system prompt."""
        said = system.content.rstrip() if system else ""
        return "〈|EOS|〉" + (f"<system>\n\n{said}\n</system>\n" if said.strip() else "")

    def later_system(self, turn: Turn) -> str:
        """Return it as a turn."""
        return f"<system>\n{turn.content}\n</system>\n"

    def user(self, turn: Turn) -> str:
        """Return a question."""
        return f"<user>\n{turn.content}\n</user>\n"

    def assistant(self, turn: Turn, thinking: bool) -> str:
        """Return an answer with its thoughts."""
        thought, _ = told_apart(turn)
        text = turn.content.split("</think>")[-1].lstrip("\n") if "</think>" in turn.content else turn.content
        opened = f"<think>\n{thought.strip()}\n" if thought else ""
        said = f"{text.strip()}\n" if text.strip() else ""
        return f"<assistant>\n{opened}</think>\n{said}</assistant>\n"

    def asking(self, turns: Sequence[Turn], thinking: bool) -> str:
        """Return the beginning of an answer, in its thoughts or behind none."""
        return f"<assistant>\n{'<think>' if thinking else '</think>'}"


class Poolside(Renderer):
    """Laguna S: messages between tags, every answer with its thoughts where any are wanted."""

    thinks = True

    def head(self, system: Turn | None, thinking: bool, variables: Mapping[str, Any]) -> str:
        """Return the first token and the system prompt, which is there for thoughts even if it is empty."""
        said = system.content.rstrip() if system else ""
        return "〈|EOS|〉" + (f"<system>{said}</system>\n" if said or thinking else "")

    def later_system(self, turn: Turn) -> str:
        """Return it as a turn."""
        return f"<system>{turn.content}</system>\n"

    def user(self, turn: Turn) -> str:
        """Return a question."""
        return f"<user>{turn.content}</user>\n"

    def assistant(self, turn: Turn, thinking: bool) -> str:
        """Return an answer."""
        return f"<assistant>{f'<think>{turn.thought}' if thinking else ''}</think>{turn.content}</assistant>\n"

    def asking(self, turns: Sequence[Turn], thinking: bool) -> str:
        """Return the beginning of an answer, in its thoughts or behind none."""
        return f"<assistant>{'<think>' if thinking else '</think>'}"
