"""The answer options that are not numbers: whether the model thinks first, and the format of answers.

Both are stored among the options of a chat: `think` under the engine's names, and `format` as `json` or as an object
with `kind`, `text` and `name`. Grammars are imported inside functions, so that the window can be painted first.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sotto.engine.contract.events import ModelInfo
from sotto.engine.contract.requests import Grammar, GrammarKind, Think
from sotto.ui.toolkit.translation import QT_TR_NOOP, tr

JSON = "json"
THINK_LEVELS = (Think.LOW, Think.MEDIUM, Think.HIGH, Think.MAX)
THINK_LABELS: Mapping[Think, str] = {
    Think.ON: QT_TR_NOOP("On"),
    Think.OFF: QT_TR_NOOP("Off"),
    Think.LOW: QT_TR_NOOP("Low"),
    Think.MEDIUM: QT_TR_NOOP("Medium"),
    Think.HIGH: QT_TR_NOOP("High"),
    Think.MAX: QT_TR_NOOP("Max"),
}
"""The choices as the user sees them, marked for translation."""
THINKING_TIP = QT_TR_NOOP("Whether the model thinks before it answers and, if it can be set, how much")
_UNNAMED_FORMATS: Mapping[GrammarKind, str] = {
    GrammarKind.JSON_SCHEMA: QT_TR_NOOP("Answers follow the JSON schema."),
    GrammarKind.REGEX: QT_TR_NOOP("Answers match the regular expression."),
    GrammarKind.LARK: QT_TR_NOOP("Answers match the Lark grammar."),
}
_MAX_NAME_LENGTH = 200


@dataclass(frozen=True, slots=True)
class AnswerOptions:
    """The options of an answer, separated by what they control.

    Attributes:
        sampling: The sampling options, under Ollama's names.
        think: Whether the model thinks first; None for the model's default.
        think_budget: Maximum number of tokens of a thought; None for no limit.
        grammar: What the answer must match; None for any text.
    """

    sampling: Mapping[str, Any]
    think: Think | None
    think_budget: int | None
    grammar: Grammar | None

    @property
    def figures(self) -> dict[str, str]:
        """What is recorded with the answer: its format, if one was required."""
        if self.grammar is None:
            return {}
        return {"format": JSON if self.grammar.kind is GrammarKind.JSON_SCHEMA else self.grammar.kind.value}


def read_answer_options(options: Mapping[str, Any], info: ModelInfo | None) -> AnswerOptions:
    """Return the options of an answer by the model that `info` describes.

    A model that cannot think is not asked to. Invalid values are ignored: imported chats may contain anything.
    """
    sampling = {name: value for name, value in options.items() if name not in ("think", "think_budget", "format")}
    thinks = info is not None and info.thinks
    think = Think(options["think"]) if thinks and is_think_option(options.get("think")) else None
    budget = options.get("think_budget")
    valid = thinks and isinstance(budget, int) and not isinstance(budget, bool) and budget >= 0
    return AnswerOptions(sampling, think, budget if valid else None, grammar_from_option(options.get("format")))


def is_think_option(value: object) -> bool:
    """Return whether a value is valid for the option `think`."""
    return isinstance(value, str) and value in set(Think)


def think_choices(info: ModelInfo | None, chosen: object = None) -> tuple[Think, ...]:
    """Return the values of `think` that can be chosen.

    Args:
        info: The loaded model; None if none is loaded.
        chosen: The current choice, which is offered even if the model does not support it.
    """
    supported = THINK_LEVELS if info is not None and info.knows_efforts else ()
    return (Think.ON, Think.OFF, *(level for level in THINK_LEVELS if level in supported or level == chosen))


def is_format_option(value: object) -> bool:
    """Return whether a value is valid for the option `format`."""
    if value == JSON:
        return True
    if not isinstance(value, Mapping) or set(value) != {"kind", "text", "name"}:
        return False
    kind, text, name = value["kind"], value["text"], value["name"]
    if not all(isinstance(item, str) for item in (kind, text, name)) or kind not in set(GrammarKind):
        return False
    from sotto.engine.grammar.grammars import LARGEST

    fits = 0 < len(text.encode("utf-8", "replace")) <= LARGEST[GrammarKind(kind)]
    return fits and 0 < len(name) <= _MAX_NAME_LENGTH and name.isprintable()


def format_option(grammar: Grammar) -> dict[str, str]:
    """Return the value of the option `format` that stands for a grammar."""
    return {"kind": grammar.kind.value, "text": grammar.text, "name": grammar.name}


def grammar_from_option(option: object) -> Grammar | None:
    """Return the grammar of a value of the option `format`; None if any text is allowed."""
    if option == JSON:
        from sotto.engine.grammar.grammar_files import any_object

        return any_object()
    if not isinstance(option, Mapping) or not is_format_option(option):
        return None
    return Grammar(GrammarKind(option["kind"]), option["text"], option["name"])


def default_grammar_name(kind: GrammarKind) -> str:
    """Return the name of a grammar that does not come from a file, as it is stored."""
    return f"The {_kind_label(kind).partition(' ')[2]}"


def format_label(option: object) -> str:
    """Return the format of answers in a word: `JSON` or `Format`; empty if any text is allowed."""
    grammar = grammar_from_option(option)
    if grammar is None:
        return ""
    return "JSON" if grammar.kind is GrammarKind.JSON_SCHEMA else tr("Format")


def format_sentence(option: object) -> str:
    """Return the format of answers in a sentence; empty if any text is allowed."""
    grammar = grammar_from_option(option)
    if grammar is None:
        return ""
    if option == JSON:
        return tr("Answers are JSON objects.")
    if grammar.name == default_grammar_name(grammar.kind):
        return tr(_UNNAMED_FORMATS[grammar.kind])
    if grammar.kind is GrammarKind.JSON_SCHEMA:
        return tr("Answers follow {name}.").format(name=grammar.name)
    return tr("Answers match {name}.").format(name=grammar.name)


def _kind_label(kind: GrammarKind) -> str:
    from sotto.engine.grammar.grammar_files import WHAT

    return WHAT[kind]
