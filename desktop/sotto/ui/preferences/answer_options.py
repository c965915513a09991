"""What can be chosen of answers that is no number: whether the model thinks first, and what they must be.

Both are kept among the options of a chat: `think` as the engine names it, and `format` as `json` or as an object with
`kind`, `text` and `name`. What knows of grammars is imported where there is one: the window is painted before.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sotto.engine.contract.events import ModelInfo
from sotto.engine.contract.requests import Grammar, GrammarKind, Think

JSON = "json"
LEVELS = (Think.LOW, Think.MEDIUM, Think.HIGH, Think.MAX)
THINKING: Mapping[Think, str] = {
    Think.ON: "On",
    Think.OFF: "Off",
    Think.LOW: "Low",
    Think.MEDIUM: "Medium",
    Think.HIGH: "High",
    Think.MAX: "Max",
}
"""The choices, for people."""
THINKING_TIP = "Whether the model thinks before it answers, and how much where it can be told so"
_LONGEST_NAME = 200


@dataclass(frozen=True, slots=True)
class Manner:
    """What was chosen of an answer, apart from each other.

    Attributes:
        drawn: How it is drawn, by Ollama's names.
        think: Whether the model thinks first; None as it does by itself.
        budget: Most tokens of thoughts; None for no limit.
        grammar: What the answer must be; None for any text.
    """

    drawn: Mapping[str, Any]
    think: Think | None
    budget: int | None
    grammar: Grammar | None

    @property
    def figures(self) -> dict[str, str]:
        """What is kept with an answer of what it was held to."""
        if self.grammar is None:
            return {}
        return {"format": JSON if self.grammar.kind is GrammarKind.JSON_SCHEMA else self.grammar.kind.value}


def manner_of(options: Mapping[str, Any], info: ModelInfo | None) -> Manner:
    """Return what options ask of the model that `info` is about: one that cannot think is not asked to."""
    drawn = {name: value for name, value in options.items() if name not in ("think", "think_budget", "format")}
    thinks = info is not None and info.thinks
    think = Think(options["think"]) if thinks and is_thinking(options.get("think")) else None
    # What an imported chat has is anything.
    budget = options.get("think_budget")
    good = thinks and isinstance(budget, int) and not isinstance(budget, bool) and budget >= 0
    return Manner(drawn, think, budget if good else None, grammar_of(options.get("format")))


def is_thinking(value: object) -> bool:
    """Return whether a value says whether to think."""
    return isinstance(value, str) and value in set(Think)


def thinking_choices(info: ModelInfo | None, chosen: object = None) -> tuple[Think, ...]:
    """Return what can be chosen of thinking where the model is loaded that `info` is about.

    Args:
        info: The model; None where none is loaded.
        chosen: What was chosen, which is among the choices whatever the model knows.
    """
    levels = LEVELS if info is not None and info.knows_efforts else ()
    return (Think.ON, Think.OFF, *(one for one in LEVELS if one in levels or one == chosen))


def is_format(value: object) -> bool:
    """Return whether a value says what answers must be, in the form in which that is kept."""
    if value == JSON:
        return True
    if not isinstance(value, Mapping) or set(value) != {"kind", "text", "name"}:
        return False
    kind, text, name = value["kind"], value["text"], value["name"]
    if not all(isinstance(one, str) for one in (kind, text, name)) or kind not in set(GrammarKind):
        return False
    from sotto.engine.grammar.grammars import LARGEST

    fits = 0 < len(text.encode("utf-8", "replace")) <= LARGEST[GrammarKind(kind)]
    return fits and 0 < len(name) <= _LONGEST_NAME and name.isprintable()


def kept_format(grammar: Grammar) -> dict[str, str]:
    """Return a grammar in the form in which it is kept."""
    return {"kind": grammar.kind.value, "text": grammar.text, "name": grammar.name}


def grammar_of(kept: object) -> Grammar | None:
    """Return what answers must be; None where they may be any text."""
    if kept == JSON:
        from sotto.engine.grammar.grammar_files import any_object

        return any_object()
    if not isinstance(kept, Mapping) or not is_format(kept):
        return None
    return Grammar(GrammarKind(kept["kind"]), kept["text"], kept["name"])


def typed_name(kind: GrammarKind) -> str:
    """Return what a grammar is called that is from no file."""
    return f"The {_what(kind).partition(' ')[2]}"


def format_name(kept: object) -> str:
    """Return what answers will be, in a word or two: `JSON`; empty where they may be any text."""
    grammar = grammar_of(kept)
    if grammar is None:
        return ""
    return "JSON" if grammar.kind is GrammarKind.JSON_SCHEMA else "Format"


def format_line(kept: object) -> str:
    """Return what answers will be, in a sentence; empty where they may be any text."""
    grammar = grammar_of(kept)
    if grammar is None:
        return ""
    if kept == JSON:
        return "Answers are JSON objects."
    name = f"the {grammar.name.partition(' ')[2]}" if grammar.name == typed_name(grammar.kind) else grammar.name
    return f"Answers are {'JSON, as' if grammar.kind is GrammarKind.JSON_SCHEMA else 'what'} {name} says."


def _what(kind: GrammarKind) -> str:
    from sotto.engine.grammar.grammar_files import WHAT

    return WHAT[kind]
