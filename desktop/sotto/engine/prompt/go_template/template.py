"""Go chat templates: render conversations as prompts, as Ollama does."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from sotto.engine.prompt.common_prefix import shared_count
from sotto.engine.prompt.go_template.evaluator import evaluate
from sotto.engine.prompt.go_template.functions import FUNCTIONS, SHORT_CIRCUIT
from sotto.engine.prompt.go_template.go_values import Struct
from sotto.engine.prompt.go_template.literals import encode
from sotto.engine.prompt.go_template.message_data import collate, messages_of, thinking_of, tools_of
from sotto.engine.prompt.go_template.nodes import Action, Command, Field, Pipe
from sotto.engine.prompt.go_template.template_parser import parse
from sotto.engine.prompt.go_template.trimming import cut_after_response
from sotto.engine.prompt.sandbox import MAX_TEMPLATE_LENGTH, TemplateRefusedError
from sotto.engine.prompt.template_bounds import TemplateBoundsError, bounded

# A user's turn with a text that nobody types, to find where a prompt depends on who speaks next.
(_OTHER,) = messages_of({"messages": [{"role": "user", "content": "\x00"}]})

# The variables from which fields are made, by the fields' names in lower case.
_SOURCES = {
    "tools": ("tools",),
    "think": ("enable_thinking", "reasoning_effort"),
    "isthinkset": ("enable_thinking", "reasoning_effort"),
    "thinklevel": ("reasoning_effort",),
}


class GoTemplate:
    """A parsed Go template.

    There are two kinds. One iterates over `.Messages`. The older kind renders a single turn, `.System`, `.Prompt` and
    `.Response`; it is rendered once for each turn, and cut off after the answer for the last.

    Attributes:
        variables: Names of the variables, as Jinja templates have them, that it looks up.
        knows_suffix: Whether it has a place for the text after a gap to fill.
    """

    def __init__(self, text: str) -> None:
        """Parse a template.

        Raises:
            GoTemplateError: It is not a valid template.
            TemplateBoundsError: It is too long, or nested too deeply.
        """
        if len(text) > MAX_TEMPLATE_LENGTH:
            raise TemplateBoundsError(f"it is longer than {MAX_TEMPLATE_LENGTH} characters")
        tree = parse(text, {*FUNCTIONS, *SHORT_CIRCUIT})
        fields = tree.fields()
        if not fields & {"messages", "response"}:
            response = Action(Pipe(1, (), False, (Command((Field(("Response",)),)),)))
            tree = replace(tree, body=(*tree.body, response))
        sources = {name for field, names in _SOURCES.items() if field in fields for name in names}
        self.variables: frozenset[str] = frozenset({"messages", *sources})
        self.knows_suffix = "suffix" in fields
        self._iterates_messages = "messages" in fields
        self._tree = tree
        self._last_turn, _ = cut_after_response(tree.body)

    def render(self, variables: Mapping[str, Any]) -> str:
        """Return the prompt for a conversation.

        A Go template always asks for an answer. Where `add_generation_prompt` is false, the prompt ends where it begins
        to depend on who speaks next.

        Args:
            variables: Variables as for a Jinja template: `messages`, `tools`, `add_generation_prompt`,
                `enable_thinking`, `reasoning_effort`. An assistant's message at the end is an answer to continue.

        Raises:
            TemplateRefusedError: There are tools, and the template does not present tools.
            GoTemplateError: An operation of it fails on this conversation.
            TemplateBoundsError: It exceeds the limits of `template_bounds`.
        """
        if variables.get("tools") and "tools" not in self.variables:
            raise TemplateRefusedError("it says nothing of tools, so there should be none")
        try:
            with bounded(variables):
                messages = messages_of(variables)
                text = self._render(messages, variables)
                if not variables.get("add_generation_prompt", True):
                    other = self._render([*messages, _OTHER], variables)
                    text = text[: shared_count(text, other)]
        except (RecursionError, MemoryError) as error:
            raise TemplateBoundsError("it is nested too deeply") from error
        return _whole_characters(text)

    def render_gap(self, prefix: str, suffix: str) -> str:
        """Return the prompt for the text that is missing between a prefix and a suffix.

        Raises:
            GoTemplateError: An operation of it fails on these texts.
            TemplateBoundsError: It exceeds the limits of `template_bounds`.
        """
        data = {"Prompt": prefix, "Suffix": suffix, "Response": ""}
        try:
            with bounded(data):
                return _whole_characters(evaluate(self._tree.body, self._tree.defined, data))
        except (RecursionError, MemoryError) as error:
            raise TemplateBoundsError("it is nested too deeply") from error

    def _render(self, messages: Sequence[Struct], variables: Mapping[str, Any]) -> str:
        system, turns = collate(messages)
        given = thinking_of(variables)
        if self._iterates_messages:
            data = {**given, "System": system, "Messages": turns, "Tools": tools_of(variables), "Response": ""}
            return evaluate(self._tree.body, self._tree.defined, data)
        return self._render_by_turn(turns, given)

    def _render_by_turn(self, messages: Sequence[Struct], given: Mapping[str, Any]) -> str:
        """Render each turn separately. It begins with a system message, or with a user's message after an answer."""
        turn = {"System": "", "Prompt": "", "Response": ""}
        pieces = []
        for message in messages:
            role, content = message.fields["Role"], message.fields["Content"]
            complete = {"system": turn["Prompt"] or turn["Response"], "user": turn["Response"]}.get(role)
            if complete:
                pieces.append(evaluate(self._tree.body, self._tree.defined, {**given, **turn}))
                turn = dict.fromkeys(turn, "")
            name = {"system": "System", "user": "Prompt", "assistant": "Response"}.get(role)
            if name:
                turn[name] = content
        pieces.append(evaluate(self._last_turn, self._tree.defined, {**given, **turn}))
        return "".join(pieces)


def _whole_characters(text: str) -> str:
    """Return rendered text with incomplete characters replaced, as a template may cut a text within a character."""
    return encode(text).decode(errors="replace")
