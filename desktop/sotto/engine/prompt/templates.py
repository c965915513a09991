"""Render conversations to prompts by the template that was chosen for a model."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol

import jinja2

from sotto.engine.contract.requests import Message
from sotto.engine.prompt.go_template.nodes import GoTemplateError
from sotto.engine.prompt.go_template.template import GoTemplate
from sotto.engine.prompt.message_order import has_rows, has_systems, with_one_system, without_rows
from sotto.engine.prompt.renderers import RENDERERS
from sotto.engine.prompt.sandbox import SandboxedTemplate, TemplateRefusedError
from sotto.engine.prompt.template_bounds import TemplateBoundsError
from sotto.engine.prompt.template_choice import TemplateChoice, TemplateKind, chosen_template, given_template
from sotto.engine.prompt.template_messages import AS_USUAL, EFFORTS, SWITCHES, TOOL_NAMES, Manner, apart, as_turn
from sotto.engine.tokens.tokenizer import Tokenizer
from sotto.errors import BrokenModelError, InvalidRequestError
from sotto.store.printable import printable
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
_PROBE, _OTHER_PROBE = "f5d2ab07", "90c3e1d6"
_LEFT_OUT = "{} makes the same prompt whatever is asked, so that no question reaches the model"

# A template may say all of the conversation.
_LONGEST_REASON = 300
# What fails in a template, rather than refuses a conversation.
_FAILURES = (jinja2.TemplateError, GoTemplateError, TemplateBoundsError)


class _Rendering(Protocol):
    """What makes a text of a conversation: a template in some language, or a renderer of our own."""

    @property
    def variables(self) -> frozenset[str]:
        """Which of the variables that it is given it looks up."""

    def render(self, variables: Mapping[str, Any], /) -> str:
        """Return the prompt."""


class ChatTemplate:
    """A chat template, compiled.

    Attributes:
        own: Whether it is more than the plain one, in which a system message stands at the top by itself, and the other
            turns follow as `User: ...` and `Assistant: ...`, with an empty line after each.
        note: What the user should know about it, in a sentence or two; empty where it is the model's only one and fine.
        reads_messages: Whether what is asked has a place in its prompts, as far as can be told.
        text: Its source, and that for tools where it has one of its own; empty for the plain one, and of renderers of
            our own what shows how their models mark thoughts and calls.
    """

    def __init__(self, text: str | TemplateChoice, special_tokens: dict[str, str] | None = None) -> None:
        """Compile a template.

        Args:
            text: Jinja source, empty for the plain one; or whatever else was chosen.
            special_tokens: Texts of special tokens by name, which the template may use: `bos_token`, ...

        Raises:
            BrokenModelError: It is no valid template.
        """
        if isinstance(text, str):
            text = TemplateChoice(TemplateKind.JINJA if text else TemplateKind.PLAIN, text)
        self.own = text.kind is not TemplateKind.PLAIN
        other = text.with_tools
        self._with_tools: ChatTemplate | None = ChatTemplate(other, special_tokens) if other is not None else None
        own = RENDERERS[text.text].signs if text.kind is TemplateKind.RENDERER else text.text
        self.text: str = f"{own}\n{self._with_tools.text}" if self._with_tools is not None else own
        self._whose = text.whose
        # Renderers of our own know of thoughts and calls.
        self._looks_up = "message.thinking message.tool_calls" if text.kind is TemplateKind.RENDERER else text.text
        self._special_tokens = special_tokens or {}
        try:
            self._template = _compile(text)
        except _FAILURES as error:
            raise BrokenModelError(f"{self._whose} cannot be read: {_describe_error(error)}.") from error
        self._wants_parts, self.reads_messages = self._find_content(text.kind)
        left_out = "" if self.reads_messages else f"{_LEFT_OUT.format(self._whose)}; give it another template."
        self.note = " ".join(filter(None, (text.note, left_out)))

    @classmethod
    def from_source(cls, source: ModelSource, tokenizer: Tokenizer) -> "ChatTemplate":
        """Compile the chat template of a model.

        Raises:
            BrokenModelError: It is no valid template.
        """
        return cls(chosen_template(source), tokenizer.special_tokens)

    @classmethod
    def given(cls, text: str, special_tokens: dict[str, str] | None = None) -> "ChatTemplate":
        """Compile a template that somebody gives to a model, in Jinja or Go.

        Raises:
            BrokenModelError: It is no valid template, or has no place for what is asked.
        """
        template = cls(given_template(text), special_tokens)
        if not template.reads_messages:
            raise BrokenModelError(
                f"{_LEFT_OUT.format(template._whose)}; it should have the messages in it, in Jinja as "
                "{{ messages[-1].content }}, in Go as {{ .Prompt }}."
            )
        return template

    def suited(self, manner: Manner) -> "ChatTemplate":
        """Return what a conversation is rendered by that is asked for so: of some models another one for tools."""
        return self._with_tools if manner.tools and self._with_tools is not None else self

    @property
    def switches_thoughts(self) -> bool:
        """Whether it can be told to have the model think or not."""
        return bool(self._variables & SWITCHES)

    @property
    def knows_efforts(self) -> bool:
        """Whether it can be told how much the model is to think."""
        return bool(self._variables & EFFORTS)

    @property
    def knows_tools(self) -> bool:
        """Whether it tells the model of tools."""
        if self._with_tools is not None:
            return self._with_tools.knows_tools
        return bool(self._variables.intersection(TOOL_NAMES))

    def render(self, messages: Sequence[Message], add_generation_prompt: bool = True, manner: Manner = AS_USUAL) -> str:
        """Return the prompt for a conversation.

        Args:
            messages: The turns so far.
            add_generation_prompt: Whether it ends with what asks for the assistant's next turn.
            manner: Tools, and whether to think.

        Raises:
            InvalidRequestError: The template refuses this conversation, for example a system message.
            BrokenModelError: The template fails, or asks for more time or memory than it is given.
        """
        try:
            return self._rendered(messages, add_generation_prompt, manner)
        except TemplateRefusedError as error:
            raise InvalidRequestError(f"{self._whose} refuses this conversation: {_describe_error(error)}.") from error
        except _FAILURES as error:
            raise BrokenModelError(f"{self._whose} fails: {_describe_error(error)}.") from error

    def apart(self, messages: Sequence[Message]) -> tuple[Message, ...]:
        """Return messages with thoughts and calls apart from their text, as far as the template knows of them."""
        return tuple(apart(message, self._looks_up) for message in messages)

    @property
    def _variables(self) -> frozenset[str]:
        """Which variables it looks up; none where finding that out takes too long."""
        try:
            return self._template.variables
        except _FAILURES:
            return frozenset()

    def _rendered(self, messages: Sequence[Message], add_generation_prompt: bool, manner: Manner) -> str:
        messages = self._in_order(messages)

        def rendered(*, arguments_as_text: bool) -> str:
            contents = (_parts(message.content) if self._wants_parts else message.content for message in messages)
            turns = [
                as_turn(message, content, arguments_as_text=arguments_as_text)
                for message, content in zip(messages, contents, strict=True)
            ]
            return self._render(turns, add_generation_prompt, manner)

        try:
            return rendered(arguments_as_text=False)
        except (TemplateRefusedError, *_FAILURES):
            if not any(message.tool_calls for message in messages):
                raise
            try:
                return rendered(arguments_as_text=True)
            except (TemplateRefusedError, *_FAILURES):
                # What it said at first is what is meant.
                pass
            raise

    def _render(self, turns: list[dict[str, Any]], add_generation_prompt: bool, manner: Manner = AS_USUAL) -> str:
        return self._template.render(
            {
                **self._special_tokens,
                **manner.variables(lambda: self._variables, self.text),
                "messages": turns,
                "documents": None,
                "add_generation_prompt": add_generation_prompt,
            }
        )

    def _in_order(self, messages: Sequence[Message]) -> Sequence[Message]:
        """Return a conversation as the template takes all of it, where it would refuse or leave out some of it."""
        if has_systems(messages) and not self._takes_systems:
            messages = with_one_system(messages)
        return without_rows(messages) if has_rows(messages) and not self._takes_rows else messages

    @cached_property
    def _takes_systems(self) -> bool:
        """Whether several system prompts come out, wherever they stand."""
        return self._takes("system", "system", "user", "system")

    @cached_property
    def _takes_rows(self) -> bool:
        """Whether several messages of a user in a row come out."""
        return self._takes("user", "user")

    def _takes(self, *roles: str) -> bool:
        """Return whether messages of these roles, one after the other, all come out."""
        said = [f"{_PROBE}{place}" for place in range(len(roles))]
        prompt = self._try_render(
            [
                {"role": role, "content": _parts(text) if self._wants_parts else text}
                for role, text in zip(roles, said, strict=True)
            ]
        )
        return prompt is not None and all(text in prompt for text in said)

    def _try_render(self, turns: list[dict[str, Any]]) -> str | None:
        """Return a prompt; None where the template fails or refuses it."""
        try:
            return self._render(turns, add_generation_prompt=True)
        except (TemplateRefusedError, jinja2.TemplateError, GoTemplateError):
            return None

    def _find_content(self, kind: TemplateKind) -> tuple[bool, bool]:
        """Say whether a message comes out only where its content is a list of parts, and whether it does at all.

        Some templates expect such lists. What fails or refuses a lone question may know another conversation.
        """
        if kind in (TemplateKind.RENDERER, TemplateKind.PLAIN):
            return False, True
        try:
            prompt = self._probe(_PROBE)
            if prompt is not None and _PROBE in prompt:
                return False, True
            if kind is TemplateKind.JINJA and _PROBE in (self._probe(_parts(_PROBE)) or ""):
                return True, True
            # It may come out in another form.
            return False, prompt is None or prompt != self._probe(_OTHER_PROBE)
        except TemplateBoundsError:
            # Told when it is used; a template that takes too long shall not take it twice.
            return False, True

    def _probe(self, content: object) -> str | None:
        """Return the prompt for a single question; None where the template fails or refuses it."""
        return self._try_render([{"role": "user", "content": content}])


def _compile(choice: TemplateChoice) -> _Rendering:
    match choice.kind:
        case TemplateKind.GO:
            return GoTemplate(choice.text)
        case TemplateKind.RENDERER:
            return RENDERERS[choice.text]
        case _:
            return SandboxedTemplate(choice.text or _PLAIN)


@dataclass(frozen=True, slots=True)
class AskedTemplate:
    """A template with what a request asks of it besides the conversation.

    Attributes:
        template: The template.
        manner: Tools, and whether to think.
        ending: Returns what is put behind a prompt that asks for an answer.
    """

    template: ChatTemplate
    manner: Manner = AS_USUAL
    ending: Callable[[str], str] = lambda _: ""

    def render(self, messages: Sequence[Message], add_generation_prompt: bool = True) -> str:
        """Return the prompt for a conversation, see `ChatTemplate.render`."""
        text = self.template.render(messages, add_generation_prompt, self.manner)
        return text + self.ending(text) if add_generation_prompt else text


def _parts(text: str) -> list[dict[str, str]]:
    return [{"type": "text", "text": text}]


def _describe_error(error: Exception) -> str:
    """Return an error's text as a part of a sentence."""
    text = printable(" ".join(str(error).split()), _LONGEST_REASON).rstrip(".") or type(error).__name__
    return f"line {error.lineno}: {text}" if isinstance(error, jinja2.TemplateSyntaxError) else text
