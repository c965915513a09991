"""Chat templates: render conversations as prompts by the template that was chosen for a model."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Protocol

import jinja2

from sotto.engine.contract.message_content import ImagePart, TextPart
from sotto.engine.contract.requests import Message
from sotto.engine.prompt.go_template.nodes import GoTemplateError
from sotto.engine.prompt.go_template.template import GoTemplate
from sotto.engine.prompt.image_marks import ImageMarks, images_in
from sotto.engine.prompt.message_order import (
    has_consecutive_user,
    has_later_system,
    merge_consecutive_user,
    merge_system,
)
from sotto.engine.prompt.renderers import RENDERERS
from sotto.engine.prompt.sandbox import SandboxedTemplate, TemplateRefusedError
from sotto.engine.prompt.template_bounds import TemplateBoundsError
from sotto.engine.prompt.template_choice import TemplateChoice, TemplateKind, choose_template, custom_template
from sotto.engine.prompt.template_messages import (
    DEFAULT_PROMPT_OPTIONS,
    EFFORTS,
    SWITCHES,
    TOOL_NAMES,
    PromptOptions,
    split_answer,
    template_message,
)
from sotto.engine.tokens.tokenizer import Tokenizer
from sotto.errors import BrokenModelError, InvalidRequestError
from sotto.store.printable import printable
from sotto.store.records import ModelSource

# The template of models that bring none: a text that a plain language model can continue.
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

# A template's error may quote the whole conversation.
_MAX_REASON_LENGTH = 300
# Faults of a template, as opposed to its refusal of a conversation.
_FAILURES = (jinja2.TemplateError, GoTemplateError, TemplateBoundsError)


class _Rendering(Protocol):
    """A template in some language, or one of the built-in renderers."""

    @property
    def variables(self) -> frozenset[str]:
        """Names of the variables that it looks up."""

    def render(self, variables: Mapping[str, Any], /) -> str:
        """Return the prompt."""


class ChatTemplate:
    """A chat template, compiled.

    Attributes:
        own: Whether it is not the plain template, which prints the system message as it is, then the other turns as
            `User: ...` and `Assistant: ...`, with an empty line after each.
        note: What the user should know about it, in a sentence or two; empty where it is the model's only one and fine.
        reads_messages: Whether the text of messages appears in its prompts, as far as a test rendering can show.
        text: Its source, followed by that of its variant for tools. Empty for the plain template; for a built-in
            renderer, a text that shows how its models mark thoughts and tool calls.
    """

    def __init__(self, text: str | TemplateChoice, special_tokens: dict[str, str] | None = None) -> None:
        """Compile a template.

        Args:
            text: Jinja source, empty for the plain template; or a choice of any kind of template.
            special_tokens: Texts of special tokens by name, which the template may use: `bos_token`, ...

        Raises:
            BrokenModelError: It is not a valid template.
        """
        if isinstance(text, str):
            text = TemplateChoice(TemplateKind.JINJA if text else TemplateKind.PLAIN, text)
        self.own = text.kind is not TemplateKind.PLAIN
        other = text.with_tools
        self._with_tools: ChatTemplate | None = ChatTemplate(other, special_tokens) if other is not None else None
        own = RENDERERS[text.text].signs if text.kind is TemplateKind.RENDERER else text.text
        self.text: str = f"{own}\n{self._with_tools.text}" if self._with_tools is not None else own
        self._label = text.label
        # Built-in renderers use thoughts and calls.
        self._looks_up = "message.thinking message.tool_calls" if text.kind is TemplateKind.RENDERER else text.text
        self._special_tokens = special_tokens or {}
        try:
            self._template = _compile(text)
        except _FAILURES as error:
            raise BrokenModelError(f"{self._label} cannot be read: {_describe_error(error)}.") from error
        self._wants_parts, self.reads_messages = self._find_content(text.kind)
        left_out = "" if self.reads_messages else f"{_LEFT_OUT.format(self._label)}; give it another template."
        self.note = " ".join(filter(None, (text.note, left_out)))

    @classmethod
    def from_source(cls, source: ModelSource, tokenizer: Tokenizer) -> "ChatTemplate":
        """Compile the chat template of a model.

        Raises:
            BrokenModelError: It is not a valid template.
        """
        return cls(choose_template(source), tokenizer.special_tokens)

    @classmethod
    def custom(cls, text: str, special_tokens: dict[str, str] | None = None) -> "ChatTemplate":
        """Compile a template that a user or a request supplies, in Jinja or Go.

        Raises:
            BrokenModelError: It is not a valid template, or has no place for messages.
        """
        template = cls(custom_template(text), special_tokens)
        if not template.reads_messages:
            raise BrokenModelError(
                f"{_LEFT_OUT.format(template._label)}; it should have the messages in it, in Jinja as "
                "{{ messages[-1].content }}, in Go as {{ .Prompt }}."
            )
        return template

    def variant_for(self, options: PromptOptions) -> "ChatTemplate":
        """Return the variant to use for a conversation: some models have one for tools."""
        return self._with_tools if options.tools and self._with_tools is not None else self

    @property
    def switches_thoughts(self) -> bool:
        """Whether it can switch the model's thinking on and off."""
        return bool(self._variables & SWITCHES)

    @property
    def knows_efforts(self) -> bool:
        """Whether it can tell the model how much to think."""
        return bool(self._variables & EFFORTS)

    @property
    def knows_tools(self) -> bool:
        """Whether it presents tools to the model."""
        if self._with_tools is not None:
            return self._with_tools.knows_tools
        return bool(self._variables.intersection(TOOL_NAMES))

    def render(
        self,
        messages: Sequence[Message],
        add_generation_prompt: bool = True,
        options: PromptOptions = DEFAULT_PROMPT_OPTIONS,
    ) -> str:
        """Return the prompt for a conversation.

        Args:
            messages: The turns so far.
            add_generation_prompt: Whether to end with the text that asks for the assistant's next turn.
            options: Tools, and whether to think.

        Raises:
            InvalidRequestError: The template refuses this conversation, for example a system message.
            BrokenModelError: The template fails, or needs more time or memory than it is allowed.
        """
        try:
            return self._render_messages(messages, add_generation_prompt, options)
        except TemplateRefusedError as error:
            raise InvalidRequestError(f"{self._label} refuses this conversation: {_describe_error(error)}.") from error
        except _FAILURES as error:
            raise BrokenModelError(f"{self._label} fails: {_describe_error(error)}.") from error

    def split_answers(self, messages: Sequence[Message]) -> tuple[Message, ...]:
        """Move thoughts and calls out of the text of answers, as far as the template looks them up."""
        return tuple(split_answer(message, self._looks_up) for message in messages)

    def print_images(self) -> str:
        """Return what it prints for a question that consists of an image; empty where it fails on that."""
        try:
            return self._probe([{"type": "image"}]) or ""
        except TemplateBoundsError:
            return ""

    @property
    def label(self) -> str:
        """What messages for people call it."""
        return self._label

    @property
    def _variables(self) -> frozenset[str]:
        """Names of the variables that it looks up; none where finding them takes too long."""
        try:
            return self._template.variables
        except _FAILURES:
            return frozenset()

    def _render_messages(self, messages: Sequence[Message], add_generation_prompt: bool, options: PromptOptions) -> str:
        messages = self._rearrange(messages)

        def render_with(*, arguments_as_text: bool) -> str:
            contents = (self._content(message) for message in messages)
            turns = [
                template_message(message, content, arguments_as_text=arguments_as_text)
                for message, content in zip(messages, contents, strict=True)
            ]
            return self._render(turns, add_generation_prompt, options)

        try:
            return render_with(arguments_as_text=False)
        except (TemplateRefusedError, *_FAILURES):
            if not any(message.tool_calls for message in messages):
                raise
            try:
                return render_with(arguments_as_text=True)
            except (TemplateRefusedError, *_FAILURES):
                # The first error is the one to report.
                pass
            raise

    def _content(self, message: Message) -> object:
        if message.images:
            return [
                {"type": "text", "text": part.text} if isinstance(part, TextPart) else {"type": "image"}
                for part in message.parts
            ]
        return _parts(message.text) if self._wants_parts else message.text

    def _render(
        self,
        turns: list[dict[str, Any]],
        add_generation_prompt: bool,
        options: PromptOptions = DEFAULT_PROMPT_OPTIONS,
    ) -> str:
        return self._template.render(
            {
                **self._special_tokens,
                **options.variables(lambda: self._variables, self.text),
                "messages": turns,
                "documents": None,
                "add_generation_prompt": add_generation_prompt,
            }
        )

    def _rearrange(self, messages: Sequence[Message]) -> Sequence[Message]:
        """Merge messages that the template would refuse or leave out."""
        if has_later_system(messages) and not self._keeps_later_system:
            messages = merge_system(messages)
        if has_consecutive_user(messages) and not self._keeps_consecutive_user:
            messages = merge_consecutive_user(messages)
        return messages

    @cached_property
    def _keeps_later_system(self) -> bool:
        """Whether the template prints several system prompts, wherever they stand."""
        return self._keeps("system", "system", "user", "system")

    @cached_property
    def _keeps_consecutive_user(self) -> bool:
        """Whether the template prints consecutive user messages."""
        return self._keeps("user", "user")

    def _keeps(self, *roles: str) -> bool:
        """Return whether the template prints all messages of a conversation with these roles."""
        texts = [f"{_PROBE}{index}" for index in range(len(roles))]
        prompt = self._try_render(
            [
                {"role": role, "content": _parts(text) if self._wants_parts else text}
                for role, text in zip(roles, texts, strict=True)
            ]
        )
        return prompt is not None and all(text in prompt for text in texts)

    def _try_render(self, turns: list[dict[str, Any]]) -> str | None:
        """Return a prompt; None where the template fails or refuses it."""
        try:
            return self._render(turns, add_generation_prompt=True)
        except (TemplateRefusedError, jinja2.TemplateError, GoTemplateError):
            return None

    def _find_content(self, kind: TemplateKind) -> tuple[bool, bool]:
        """Return whether messages are printed only if their content is a list of parts, and whether they are at all.

        Some templates expect such lists. A template that fails on a lone question, or refuses it, counts as printing
        messages, as it may accept other conversations.
        """
        if kind in (TemplateKind.RENDERER, TemplateKind.PLAIN):
            return False, True
        try:
            prompt = self._probe(_PROBE)
            if prompt is not None and _PROBE in prompt:
                return False, True
            if kind is TemplateKind.JINJA and _PROBE in (self._probe(_parts(_PROBE)) or ""):
                return True, True
            # The template may transform the text.
            return False, prompt is None or prompt != self._probe(_OTHER_PROBE)
        except TemplateBoundsError:
            # The error is reported at the first use. Another probe would take as long again.
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
class ConfiguredTemplate:
    """A template with the options of a request.

    Attributes:
        template: The template.
        options: Tools, and whether to think.
        ending: Returns the text to append to a prompt that asks for an answer.
        marks: Puts images into prompts; None for a model that sees none.
    """

    template: ChatTemplate
    options: PromptOptions = DEFAULT_PROMPT_OPTIONS
    ending: Callable[[str], str] = lambda _: ""
    marks: ImageMarks | None = None

    def render(self, messages: Sequence[Message], add_generation_prompt: bool = True) -> str:
        """Return the prompt for a conversation, see `ChatTemplate.render`; with the markup of its images."""
        images = images_in(messages)
        if images and self.marks is not None:
            text = self._render_images(messages, images, self.marks, add_generation_prompt)
        else:
            text = self.template.render(messages, add_generation_prompt, self.options)
        return text + self.ending(text) if add_generation_prompt else text

    def _render_images(
        self, messages: Sequence[Message], images: Sequence[ImagePart], marks: ImageMarks, add_generation_prompt: bool
    ) -> str:
        messages = [marks.escaped(message) for message in messages]
        options = replace(self.options, tools=tuple(map(marks.escaped_values, self.options.tools)))
        if marks.prints_mark(self.template.print_images()):
            text = self.template.render(messages, add_generation_prompt, options)
            if marks.are_in(text, images):
                return marks.expand(text, images, self.template.label)
        # The template knows no images, or not in messages of all roles.
        placed = [marks.placed_in(message) for message in messages]
        text = self.template.render(placed, add_generation_prompt, options)
        return marks.expand(text, images, self.template.label)


def _parts(text: str) -> list[dict[str, str]]:
    return [{"type": "text", "text": text}]


def _describe_error(error: Exception) -> str:
    """Return an error's text as part of a sentence."""
    text = printable(" ".join(str(error).split()), _MAX_REASON_LENGTH).rstrip(".") or type(error).__name__
    return f"line {error.lineno}: {text}" if isinstance(error, jinja2.TemplateSyntaxError) else text
