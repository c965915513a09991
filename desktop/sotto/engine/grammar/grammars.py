"""What an answer must be, checked and put in llguidance's terms, without any model.

llguidance (https://github.com/guidance-ai/llguidance) says which tokens may follow under a grammar. It refuses what it
cannot honour, in words that are passed on; its limits and its gaps are in `schema_checks` and here. It runs in a
process of its own (`sotto.engine.grammar.matchers`).
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
"""Bytes that a grammar may have: the rules of Lark follow each other by recursion, one for each few of them."""
ANY_OBJECT = '{"type": "object"}'
"""The schema of `json`, in all dialects."""
NO_TOKEN = "no token of this model goes on as it asks"

_SHOWN = 200
# Without it, text that can go on in one way only would have to be cut into tokens as llguidance does.
FREE = '%llguidance {"no_forcing": true}\n'
_JSON = {
    "lenient": False,
    "coerce_one_of": False,
    "item_separator": ",",
    "key_separator": ":",
    # As people write it, and never endless: a model at a loss would go on with spaces for ever.
    "whitespace_pattern": r" |\n[ \t]{0,32}",
    # Without \u each text is written in one way only, so that no other spelling of a key gets past its schema.
    "json_allowed_escapes": 'nrbtf\\"',
}
# Where in the text made here, not in what was given.
_PLACE = re.compile(
    r"^at (2\(8\)|\d+\(\d+\)(?=: failed to compile JSON)): "
    r"(failed to compile JSON schema: |invalid regex .* \(in regex\): )?"
)
_UNDECIDED = f"pattern, format and lengths together ask too much of one text; {TOO_MANY}"
# The rest shows expressions as they were written for llguidance.
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
    """What an answer must be, in llguidance's dialect of Lark, with everything checked that it does not check itself.

    Attributes:
        text: The rules; `start` is the whole answer.
        name: What they are called, for messages.
        schema: Whether keywords that are not known are those of a JSON schema.
        place: Where an answer is as it begins, so that its JSON is found; None where it has none.
    """

    text: str
    name: str
    schema: bool = False
    place: Place | None = None


def check_grammar(grammar: Grammar) -> None:
    """Find out whether a grammar can be honoured, whatever the model. May run on any thread.

    Raises:
        InvalidRequestError: It cannot.
    """
    rules = rules_of(grammar)
    if wrong := _checker().check(llguidance_source(rules)):
        raise refusal_of(rules, wrong)


@lru_cache(1)
def _checker() -> Table:
    """Return a vocabulary of bytes: what a grammar is, and what it costs, shows with any."""
    return Table([*(bytes([byte]) for byte in range(256)), b""], [256], [256])


def llguidance_source(rules: Rules, head: str = "") -> str:
    """Return rules as llguidance is given them.

    Args:
        rules: What the answer must be.
        head: Rules of what may stand in front of it, which refer to the answer as `@answer`; empty for nothing.
    """
    if not head:
        return rules.text
    grammars = [{"lark_grammar": f"{FREE}{head}"}, {"name": "answer", "lark_grammar": rules.text}]
    return json.dumps({"grammars": grammars})


def json_rule(schema: Mapping[str, Any], name: str) -> str:
    """Return what stands in a rule for JSON by a schema that has been checked.

    Args:
        schema: An object.
        name: What it is called, for messages.

    Raises:
        InvalidRequestError: One of its patterns or formats cannot be honoured.
    """
    return f"%json {json.dumps({**in_library_terms(schema, name), 'x-guidance': _JSON})}"


def rules_of(grammar: Grammar) -> Rules:
    """Return the rules of a grammar, once everything is checked that llguidance does not check itself.

    Raises:
        InvalidRequestError: The grammar is too large, not what it should be, or cannot be honoured.
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
        # llguidance takes what begins so for a grammar in JSON, with schemas that nobody has checked.
        unwanted = "{" if grammar.text.lstrip().startswith("{") else ""
        if unwanted := next((part for part in ("%json", "%llguidance") if part in grammar.text), unwanted):
            raise InvalidRequestError(f"{grammar.name}: {unwanted} is not supported in a Lark grammar; leave it out.")
        # Behind it, so that lines count as they are written.
        return Rules(f"{grammar.text}\n{FREE}", grammar.name)
    return Rules(f"{FREE}start: /{match_expression(grammar.text, grammar.name)}/", grammar.name)


def _schema(grammar: Grammar) -> dict[str, Any]:
    """Return a schema, checked."""
    try:
        schema = parse_object(grammar.text.encode(), grammar.name, strict=False, max_depth=DEEPEST_SCHEMA)
    except BrokenModelError as error:
        raise InvalidRequestError(error.message) from error
    check_schema(schema, grammar.name)
    return schema


def refusal_of(rules: Rules, reason: str) -> InvalidRequestError:
    """Return the error for a grammar that cannot be honoured, from what llguidance says of it."""
    unknown = _UNKNOWN.search(reason)
    if unknown and rules.schema:
        keywords: list[Any] = json.loads(unknown[1])
        named = ", ".join(map(str, keywords))
        return InvalidRequestError(
            f"{rules.name} cannot be guaranteed: {printable(named, _SHOWN)} is not supported here."
        )
    return InvalidRequestError(f"{rules.name} cannot be guaranteed: {first_line(reason)}.")


def first_line(reason: str) -> str:
    """Return what llguidance says as a part of a sentence: what it shows of its state is left out."""
    for part, words in _IN_OTHER_WORDS.items():
        if part in reason:
            return words
    lines = [line.strip() for line in reason.strip().splitlines() if line.strip()]
    # What is wrong with a regular expression stands under a picture of the place.
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
