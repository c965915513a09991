"""Checks of constraints on answers and their translation for llguidance, independent of any model.

llguidance (https://github.com/guidance-ai/llguidance) computes which tokens may follow under a grammar. It refuses what
it cannot honour, in words that are passed on; its gaps are covered by `schema_checks` and here. It runs in a separate
process (`sotto.engine.grammar.matchers`).
"""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from sotto.engine.contract.requests import Grammar, GrammarKind
from sotto.engine.grammar.ecma_patterns import match_expression
from sotto.engine.grammar.json_places import InJson, Place
from sotto.engine.grammar.matchers import TOO_MANY, Table
from sotto.engine.grammar.schema_checks import DEEPEST_SCHEMA, LARGEST_SCHEMA, LONGEST_REGEX, check_schema
from sotto.engine.grammar.schema_terms import in_library_terms
from sotto.errors import BrokenModelError, InvalidRequestError
from sotto.store.bounded_json import parse_object
from sotto.store.printable import format_size, printable

LARGEST = {GrammarKind.JSON_SCHEMA: LARGEST_SCHEMA, GrammarKind.REGEX: LONGEST_REGEX, GrammarKind.LARK: 16 << 10}
"""Bytes that a grammar may have. Lark's limit is lower, as its rules refer to each other by recursion."""
ANY_OBJECT = '{"type": "object"}'
"""The schema for any JSON object, which the API's `json` formats ask for."""
NO_TOKEN = "no token of this model goes on as it asks"

_SHOWN = 200
# Without it, llguidance would choose the tokens of text that can continue in one way only.
FREE = '%llguidance {"no_forcing": true}\n'
_JSON = {
    "lenient": False,
    "coerce_one_of": False,
    "item_separator": ",",
    "key_separator": ":",
    # As people write JSON, and bounded: a confused model would write spaces for ever.
    "whitespace_pattern": r" |\n[ \t]{0,32}",
    # Without \u each string has one spelling, so no other spelling of a key gets past its schema.
    "json_allowed_escapes": 'nrbtf\\"',
}
# A place in the translation, which means nothing to the user.
_PLACE = re.compile(
    r"^at (2\(8\)|\d+\(\d+\)(?=: failed to compile JSON)): "
    r"(failed to compile JSON schema: |invalid regex .* \(in regex\): )?"
)
_UNDECIDED = f"pattern, format and lengths together ask too much of one text; {TOO_MANY}"
# Other parts of these messages quote translated expressions.
_IN_OTHER_WORDS = {
    "NoExtension": NO_TOKEN,
    "are not disjoint": "two patterns of patternProperties may match one key",
    "Unsatisfiable schema: Regex is empty": "no text is all that pattern, format and lengths ask for together",
    "Unable to determine if regex is empty": _UNDECIDED,
    "fuel exhausted when checking relevance of lexemes": _UNDECIDED,
}
_UNKNOWN = re.compile(r"Unimplemented keys: (\[.*\])")


@dataclass(frozen=True, slots=True)
class Rules:
    """A constraint in llguidance's dialect of Lark, checked for what llguidance does not check itself.

    Attributes:
        text: The rules; `start` is the whole answer.
        name: Their name in error messages.
        schema: Whether unknown keywords are those of a JSON schema.
        place: Where in its JSON an answer begins; None if it holds none.
    """

    text: str
    name: str
    schema: bool = False
    place: Place | None = None


def check_grammar(grammar: Grammar) -> None:
    """Check that a grammar can be honoured with any model. May run on any thread.

    Raises:
        InvalidRequestError: It cannot.
    """
    rules = rules_of(grammar)
    if wrong := _checker().check(llguidance_source(rules)):
        raise refusal_of(rules, wrong)


@lru_cache(1)
def _checker() -> Table:
    """Return a vocabulary of single bytes, which is enough to check a grammar and its cost."""
    return Table([*(bytes([byte]) for byte in range(256)), b""], [256], [256])


def llguidance_source(rules: Rules, head: str = "") -> str:
    """Return rules in the form that llguidance takes.

    Args:
        rules: The rules of the answer.
        head: Rules of what may precede it, which refer to the answer as `@answer`; empty for nothing.
    """
    if not head:
        return rules.text
    grammars = [{"lark_grammar": f"{FREE}{head}"}, {"name": "answer", "lark_grammar": rules.text}]
    return json.dumps({"grammars": grammars})


def json_rule(schema: Mapping[str, Any], name: str) -> str:
    """Return the part of a rule that stands for JSON by a checked schema.

    Args:
        schema: A schema that is an object.
        name: Its name in error messages.

    Raises:
        InvalidRequestError: One of its patterns or formats cannot be honoured.
    """
    return f"%json {json.dumps({**in_library_terms(schema, name), 'x-guidance': _JSON})}"


def rules_of(grammar: Grammar) -> Rules:
    """Return the rules of a grammar, checked for what llguidance does not check itself.

    Raises:
        InvalidRequestError: The grammar is too large, malformed, or cannot be honoured.
    """
    size, most = _size(grammar), LARGEST[grammar.kind]
    if not 0 < size <= most:
        raise InvalidRequestError(
            f"{grammar.name} has {size} bytes ({format_size(size)}); from 1 to {most} ({format_size(most)}) are "
            "allowed."
        )
    if grammar.kind is GrammarKind.JSON_SCHEMA:
        return Rules(
            f"{FREE}start: {json_rule(_schema(grammar), grammar.name)}", grammar.name, schema=True, place=InJson()
        )
    if grammar.kind is GrammarKind.LARK:
        # llguidance takes a text that begins with { for a grammar in JSON, whose schemas are not checked here.
        unwanted = "{" if grammar.text.lstrip().startswith("{") else ""
        if unwanted := next((part for part in ("%json", "%llguidance") if part in grammar.text), unwanted):
            raise InvalidRequestError(f"{grammar.name}: {unwanted} is not supported in a Lark grammar; leave it out.")
        # At the end, so that line numbers in errors are those of the user's text.
        return Rules(f"{grammar.text}\n{FREE}", grammar.name)
    return Rules(f"{FREE}start: /{match_expression(grammar.text, grammar.name)}/", grammar.name)


def _schema(grammar: Grammar) -> dict[str, Any]:
    """Return the parsed and checked schema of a grammar."""
    try:
        schema = parse_object(grammar.text.encode(), grammar.name, strict=False, max_depth=DEEPEST_SCHEMA)
    except BrokenModelError as error:
        raise InvalidRequestError(error.message) from error
    check_schema(schema, grammar.name)
    return schema


def refusal_of(rules: Rules, reason: str) -> InvalidRequestError:
    """Return the error for a grammar that cannot be honoured, given llguidance's reason."""
    unknown = _UNKNOWN.search(reason)
    if unknown and rules.schema:
        keywords: list[Any] = json.loads(unknown[1])
        named = ", ".join(map(str, keywords))
        return InvalidRequestError(
            f"{rules.name} cannot be guaranteed: {printable(named, _SHOWN)} is not supported here."
        )
    return InvalidRequestError(f"{rules.name} cannot be guaranteed: {first_line(reason)}.")


def first_line(reason: str) -> str:
    """Return a message of llguidance as part of a sentence, without what it shows of its state."""
    for part, words in _IN_OTHER_WORDS.items():
        if part in reason:
            return words
    lines = [line.strip() for line in reason.strip().splitlines() if line.strip()]
    # For a regular expression, the error stands below a drawing of the place.
    error = next((line for line in lines[1:] if line.startswith("error: ")), "")
    words = f"{_PLACE.sub('', lines[0])} {error}".strip() if lines else "it cannot be read"
    return printable(words, _SHOWN).rstrip(".")


def _size(grammar: Grammar) -> int:
    try:
        return len(grammar.text.encode())
    except UnicodeEncodeError as error:
        raise InvalidRequestError(
            f"{grammar.name} holds half of a character at position {error.start}; it should be text."
        ) from error
