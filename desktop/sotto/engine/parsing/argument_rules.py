"""Grammar rules, from a JSON schema, for a call's arguments that are written one by one, between tags or as in Python.

A string between tags is not escaped, so the rules for JSON do not fit: the schema's limits of a string become a regular
expression. All other values are JSON.
"""

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from sotto.engine.grammar.ecma_patterns import search_expression
from sotto.engine.grammar.grammars import json_rule
from sotto.engine.grammar.lark_texts import regex_of
from sotto.errors import InvalidRequestError
from sotto.store.printable import printable

# The keywords that a schema of arguments may have. Others would constrain several properties together.
_OBJECT_KEYWORDS = frozenset(
    {"type", "properties", "required", "additionalProperties", "title", "description", "default", "examples", "strict",
     "$schema", "$defs", "definitions"}
)  # fmt: skip
_TEXT_KEYWORDS = frozenset({"type", "title", "description", "default", "examples", "deprecated", "$comment"})
_TEXT_BOUNDS = frozenset({"minLength", "maxLength", "pattern"})
_KEY = re.compile(r"[\w.\-]+")
_NOTHING = '""'
_WAY = "in the way in which this model writes arguments"


@dataclass(frozen=True, slots=True)
class Fields:
    """The syntax of arguments that are written one by one.

    Attributes:
        before: Text before a name.
        middle: Text between a name and a value.
        after: Text after a value.
        between: Text between two arguments.
        text_middle: Text between a name and an unescaped string.
        text_after: Text after an unescaped string.
        closes: The end mark of an unescaped string, which the string cannot contain; empty where strings are JSON.
    """

    before: str
    middle: str
    after: str
    between: str = ""
    text_middle: str = ""
    text_after: str = ""
    closes: str = ""

    def is_plain(self, schema: Any) -> bool:
        """Return whether values of a schema are written as unescaped strings."""
        return bool(self.closes) and isinstance(schema, dict) and schema.get("type") == "string"


class ArgumentRules:
    """Builds the rules of one tool's arguments."""

    def __init__(self, fields: Fields, schema: Mapping[str, Any], where: str, literal: Callable[[str], str]) -> None:
        """Take a schema that has been checked.

        Args:
            fields: The syntax of the arguments.
            schema: Their JSON schema.
            where: The schema's name in errors.
            literal: Returns the rule expression for a literal text, in which special tokens become those tokens.
        """
        self._fields, self._schema, self._where, self._literal = fields, schema, where, literal
        self._rules: list[str] = []

    def rules(self, name: str) -> list[str]:
        """Return the rules, the first of them called `name`.

        Raises:
            InvalidRequestError: The schema asks for something that cannot be guaranteed in this syntax.
        """
        if unknown := sorted(self._schema.keys() - _OBJECT_KEYWORDS):
            raise self._refusal("", ", ".join(unknown))
        properties = {key: schema for key, schema in self._schema.get("properties", {}).items() if schema is not False}
        required = self._schema.get("required", [])
        if missing := [key for key in required if key not in properties]:
            raise InvalidRequestError(
                f"{self._where}: required names {printable(str(missing[0]))}, which is not a property."
            )
        pairs = []
        for number, (key, schema) in enumerate(properties.items()):
            if not _KEY.fullmatch(key):
                raise self._refusal("", f"a property called {printable(repr(key))}")
            pairs.append((f"{name}_{number}", key in required))
            self._rules.append(f"{name}_{number}: {self._pair(f'{name}_{number}', key, schema)}")
        return [*self._sequence(name, pairs), *self._rules]

    def _sequence(self, name: str, pairs: list[tuple[str, bool]]) -> list[str]:
        """Return the rules of a sequence of pairs, those that are not needed being optional."""
        between = self._fields.between
        if not between:
            return [f"{name}: {' '.join(pair if needed else f'{pair}?' for pair, needed in pairs) or _NOTHING}"]
        # Two rules for the rest of the sequence: one where no pair precedes it, one where some do.
        found, first, more = list[str](), _NOTHING, _NOTHING
        for number, (pair, needed) in reversed(list(enumerate(pairs))):
            here = f"{pair} {more}"
            without = "" if needed else f" | {first}"
            found.append(f"{name}_first_{number}: {here}{without}")
            first = f"{name}_first_{number}"
            without = "" if needed else f" | {more}"
            found.append(f"{name}_more_{number}: {self._literal(between)} {here}{without}")
            more = f"{name}_more_{number}"
        return [f"{name}: {first}", *found]

    def _pair(self, name: str, key: str, schema: Any) -> str:
        fields = self._fields
        if fields.is_plain(schema):
            return f"{self._literal(f'{fields.before}{key}{fields.text_middle}')} {self._text(name, key, schema)}"
        whole = schema if isinstance(schema, dict) else {}
        definitions = {part: self._schema[part] for part in ("$defs", "definitions") if part in self._schema}
        head = self._literal(f"{fields.before}{key}{fields.middle}")
        self._rules.append(f"{name}_value: {json_rule(definitions | whole, self._where)}")
        return f"{head} {name}_value {self._literal(fields.after)}"

    def _text(self, name: str, key: str, schema: Mapping[str, Any]) -> str:
        """Return the rule expression for an unescaped string with its end mark."""
        fields = self._fields
        if unknown := sorted(schema.keys() - _TEXT_KEYWORDS - _TEXT_BOUNDS - {"enum", "const"}):
            raise self._refusal(key, ", ".join(unknown))
        if "enum" in schema or "const" in schema:
            if bounds := sorted(_TEXT_BOUNDS & schema.keys()):
                raise self._refusal(key, f"{', '.join(bounds)} beside enum or const")
            if "enum" in schema and "const" in schema:
                raise self._refusal(key, "enum beside const")
            given = schema["enum"] if "enum" in schema else [schema["const"]]
            texts = [text for text in given if isinstance(text, str) and text]
            if not texts or any(fields.closes in text for text in texts):
                raise self._refusal(key, "enum or const without a text that can stand there")
            choices = " | ".join(json.dumps(text, ensure_ascii=False) for text in texts)
            return f"({choices}) {self._literal(fields.text_after)}"
        terminal = name.upper()
        parts = [f"/(?s:.{_repetition(schema)})/", f"~/(?s:.*){regex_of(fields.closes)}(?s:.*)/"]
        if "pattern" in schema:
            parts.append(f"/{search_expression(str(schema['pattern']), f'{self._where}.properties.{key}')}/")
        body, end = " & ".join(parts), self._literal(fields.text_after)
        if end.startswith("<["):
            # The end mark is a single special token.
            self._rules.append(f"{terminal}: {body}")
            return f"{terminal} {end}"
        self._rules += [f"{name}_text[lazy]: {terminal}", f"{terminal}: ({body}) {end}"]
        return f"{name}_text"

    def _refusal(self, key: str, what: str) -> InvalidRequestError:
        place = f"{self._where}.properties.{key}" if key else self._where
        return InvalidRequestError(f"{place}: {what} cannot be guaranteed {_WAY}; leave it out.")


def _repetition(schema: Mapping[str, Any]) -> str:
    least, most = schema.get("minLength", 0), schema.get("maxLength")
    return "*" if not least and most is None else f"{{{int(least)},{'' if most is None else int(most)}}}"
