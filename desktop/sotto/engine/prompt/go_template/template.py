"""Render conversations by a Go template, with what Ollama does around it."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from sotto.engine.prompt.common_prefix import shared_count
from sotto.engine.prompt.go_template.evaluator import evaluate
from sotto.engine.prompt.go_template.functions import FUNCTIONS, SHORT_CIRCUIT
from sotto.engine.prompt.go_template.go_values import Struct
from sotto.engine.prompt.go_template.literals import encoded
from sotto.engine.prompt.go_template.message_data import collate, messages_of, thinking_of, tools_of
from sotto.engine.prompt.go_template.nodes import Action, Command, Field, Pipe
from sotto.engine.prompt.go_template.template_parser import parse
from sotto.engine.prompt.go_template.trimming import cut
from sotto.engine.prompt.sandbox import MAX_TEMPLATE_LENGTH, TemplateRefusedError
from sotto.engine.prompt.template_bounds import TemplateBoundsError, bounded

# A turn of the other side, to find out where both would go on alike. Nobody types this.
(_OTHER,) = messages_of({"messages": [{"role": "user", "content": "\x00"}]})

# By fields in small letters: what they are made from.
_LOOKED_UP = {
    "tools": ("tools",),
    "think": ("enable_thinking", "reasoning_effort"),
    "isthinkset": ("enable_thinking", "reasoning_effort"),
    "thinklevel": ("reasoning_effort",),
}


class GoTemplate:
    """A parsed Go template.

    There are two kinds. One goes over `.Messages`. The other is older and renders one turn, `.System`, `.Prompt` and
    `.Response`, again and again; the last time it is cut off behind the answer.

    Attributes:
        variables: Which of the variables that a Jinja template is given it looks up.
        knows_suffix: Whether it has a place for what follows a gap to fill.
    """

    def __init__(self, text: str) -> None:
        """Parse a template.

        Raises:
            GoTemplateError: It is no valid template.
            TemplateBoundsError: It is too long, or nested too deeply.
        """
        if len(text) > MAX_TEMPLATE_LENGTH:
            raise TemplateBoundsError(f"it is longer than {MAX_TEMPLATE_LENGTH} characters")
        tree = parse(text, {*FUNCTIONS, *SHORT_CIRCUIT})
        fields = tree.fields()
        if not fields & {"messages", "response"}:
            response = Action(Pipe(1, (), False, (Command((Field(("Response",)),)),)))
            tree = replace(tree, body=(*tree.body, response))
        asks = {name for field, names in _LOOKED_UP.items() if field in fields for name in names}
        self.variables: frozenset[str] = frozenset({"messages", *asks})
        self.knows_suffix = "suffix" in fields
        self._goes_over_messages = "messages" in fields
        self._tree = tree
        self._last_turn, _ = cut(tree.body)

    def render(self, variables: Mapping[str, Any]) -> str:
        """Return the prompt for a conversation.

        Such a template always asks for an answer. Where `add_generation_prompt` is false, what comes out is as much as
        it would be the next speaker.

        Args:
            variables: What a Jinja template is given: `messages`, `tools`, `add_generation_prompt`, `enable_thinking`,
                `reasoning_effort`. An assistant's message at the end is an answer to go on with.

        Raises:
            TemplateRefusedError: There are tools, and it says nothing of any.
            GoTemplateError: It does what cannot be done with this conversation.
            TemplateBoundsError: It asks for more than the bounds of `template_bounds`.
        """
        if variables.get("tools") and "tools" not in self.variables:
            raise TemplateRefusedError("it says nothing of tools, so there should be none")
        try:
            with bounded(variables):
                messages = messages_of(variables)
                text = self._rendered(messages, variables)
                if not variables.get("add_generation_prompt", True):
                    other = self._rendered([*messages, _OTHER], variables)
                    text = text[: shared_count(text, other)]
        except (RecursionError, MemoryError) as error:
            raise TemplateBoundsError("it is nested too deeply") from error
        return _whole_characters(text)

    def filled(self, prefix: str, suffix: str) -> str:
        """Return the prompt for what is missing between two texts.

        Raises:
            GoTemplateError: It does what cannot be done with them.
            TemplateBoundsError: It asks for more than the bounds of `template_bounds`.
        """
        data = {"Prompt": prefix, "Suffix": suffix, "Response": ""}
        try:
            with bounded(data):
                return _whole_characters(evaluate(self._tree.body, self._tree.defined, data))
        except (RecursionError, MemoryError) as error:
            raise TemplateBoundsError("it is nested too deeply") from error

    def _rendered(self, messages: Sequence[Struct], variables: Mapping[str, Any]) -> str:
        system, turns = collate(messages)
        given = thinking_of(variables)
        if self._goes_over_messages:
            data = {**given, "System": system, "Messages": turns, "Tools": tools_of(variables), "Response": ""}
            return evaluate(self._tree.body, self._tree.defined, data)
        return self._turn_by_turn(turns, given)

    def _turn_by_turn(self, messages: Sequence[Struct], given: Mapping[str, Any]) -> str:
        """Render each turn by itself. It begins with a system message or, where there was an answer, with a user's."""
        turn = {"System": "", "Prompt": "", "Response": ""}
        pieces = []
        for message in messages:
            role, content = message.fields["Role"], message.fields["Content"]
            over = {"system": turn["Prompt"] or turn["Response"], "user": turn["Response"]}.get(role)
            if over:
                pieces.append(evaluate(self._tree.body, self._tree.defined, {**given, **turn}))
                turn = dict.fromkeys(turn, "")
            name = {"system": "System", "user": "Prompt", "assistant": "Response"}.get(role)
            if name:
                turn[name] = content
        pieces.append(evaluate(self._last_turn, self._tree.defined, {**given, **turn}))
        return "".join(pieces)


def _whole_characters(text: str) -> str:
    """Return what was rendered as a text: templates may cut between bytes of one character."""
    return encoded(text).decode(errors="replace")
