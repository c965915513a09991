"""Formats with tags around each message, as Poolside's models have them."""

from collections.abc import Mapping, Sequence
from typing import Any

from sotto.engine.renderers.base import Renderer, Turn, told_apart


class Laguna(Renderer):
    """Laguna XS: messages between tags on lines of their own, every answer with its thoughts."""

    def head(self, system: Turn | None, thinking: bool, variables: Mapping[str, Any]) -> str:
        """Return the first token and the system prompt."""
        said = system.content.rstrip() if system else ""
        return "〈|EOS|〉" + (f"<system>\n\n{said}\n</system>\n" if said.strip() else "")

    def later_system(self, turn: Turn, variables: Mapping[str, Any]) -> str:
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

    def later_system(self, turn: Turn, variables: Mapping[str, Any]) -> str:
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
