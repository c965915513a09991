"""Render conversations to prompts by a model's own chat template."""

from collections.abc import Sequence
from typing import Any

import jinja2

from sotto.engine.model_texts import chat_template
from sotto.engine.sandbox import SandboxedTemplate, TemplateRefusedError
from sotto.engine.template_bounds import TemplateBoundsError
from sotto.engine.tokenizer import Tokenizer
from sotto.engine.types import Message
from sotto.errors import BrokenModelError, InvalidRequestError
from sotto.store.records import ModelSource

# What a model without a template of its own gets: a text that a plain language model would go on from.
_PLAIN = """\
{% for message in messages %}
{% if message.role == 'system' %}
{{ message.content }}

{% else %}
{{ message.role | capitalize }}: {{ message.content }}

{% endif %}
{% endfor %}
{% if add_generation_prompt %}Assistant:{% endif %}"""
_PROBE = "f5d2ab07"


class ChatTemplate:
    """A chat template, compiled.

    Attributes:
        own: Whether it is the model's. Otherwise a system message stands at the top by itself, and the other turns
            follow as `User: ...` and `Assistant: ...`, with an empty line after each.
    """

    def __init__(self, text: str, special_tokens: dict[str, str] | None = None) -> None:
        """Compile a template.

        Args:
            text: Jinja source; empty for the plain one.
            special_tokens: Texts of special tokens by name, which the template may use: `bos_token`, ...

        Raises:
            BrokenModelError: It is no valid template.
        """
        self.own = bool(text)
        self._special_tokens = special_tokens or {}
        try:
            self._template = SandboxedTemplate(text or _PLAIN)
        except (jinja2.TemplateError, TemplateBoundsError) as error:
            raise BrokenModelError(f"The model's chat template cannot be read: {_described(error)}.") from error
        self._wants_parts = self._find_wants_parts()

    @classmethod
    def from_source(cls, source: ModelSource, tokenizer: Tokenizer) -> "ChatTemplate":
        """Compile the chat template of a model.

        Raises:
            BrokenModelError: It is no valid template.
        """
        return cls(chat_template(source), tokenizer.special_tokens)

    def render(self, messages: Sequence[Message], add_generation_prompt: bool = True) -> str:
        """Return the prompt for a conversation.

        Args:
            messages: The turns so far.
            add_generation_prompt: Whether it ends with what asks for the assistant's next turn.

        Raises:
            InvalidRequestError: The template refuses this conversation, for example a system message.
            BrokenModelError: The template fails, or asks for more time or memory than it is given.
        """
        turns = [
            {"role": message.role, "content": _parts(message.content) if self._wants_parts else message.content}
            for message in messages
        ]
        try:
            return self._render(turns, add_generation_prompt)
        except TemplateRefusedError as error:
            reason = " ".join(str(error).split()).rstrip(".")
            raise InvalidRequestError(f"The model's chat template refuses this conversation: {reason}.") from error
        except (jinja2.TemplateError, TemplateBoundsError) as error:
            raise BrokenModelError(f"The model's chat template fails: {_described(error)}.") from error

    def _render(self, turns: list[dict[str, Any]], add_generation_prompt: bool) -> str:
        return self._template.render(
            {
                **self._special_tokens,
                "messages": turns,
                "tools": None,
                "documents": None,
                "add_generation_prompt": add_generation_prompt,
            }
        )

    def _find_wants_parts(self) -> bool:
        """Say whether a message comes out only where its content is a list of parts, as some templates expect it."""
        try:
            return not self._shows(_PROBE) and self._shows(_parts(_PROBE))
        except TemplateBoundsError:
            # Told when it is used; a template that takes too long shall not take it twice.
            return False

    def _shows(self, content: object) -> bool:
        try:
            return _PROBE in self._render([{"role": "user", "content": content}], add_generation_prompt=True)
        except (TemplateRefusedError, jinja2.TemplateError):
            return False


def _parts(text: str) -> list[dict[str, str]]:
    return [{"type": "text", "text": text}]


def _described(error: Exception) -> str:
    """Return an error's text as a part of a sentence."""
    text = " ".join(str(error).split())[:300].rstrip(".") or type(error).__name__
    return f"line {error.lineno}: {text}" if isinstance(error, jinja2.TemplateSyntaxError) else text
