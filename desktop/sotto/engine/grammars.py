"""What an answer must be, checked and put in llguidance's terms, without any model.

llguidance (https://github.com/guidance-ai/llguidance) says which tokens may follow under a grammar. It refuses what it
cannot honour, in words that are passed on; its limits and its gaps are in `schema_checks` and here. It is imported only
when somebody asks for a grammar.
"""

import json
import re
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

from sotto.engine.ecma_patterns import matched
from sotto.engine.grammar_trial import TOO_MANY, reason_against
from sotto.engine.json_places import InJson, Place
from sotto.engine.schema_checks import DEEPEST_SCHEMA, LARGEST_SCHEMA, LONGEST_REGEX, check_schema
from sotto.engine.schema_terms import in_library_terms
from sotto.engine.types import Grammar, GrammarKind
from sotto.errors import BrokenModelError, InvalidRequestError
from sotto.store.bounded_json import parse_object
from sotto.store.wording import human_size, shown

if TYPE_CHECKING:
    from llguidance import LLParserLimits

LARGEST = {GrammarKind.JSON_SCHEMA: LARGEST_SCHEMA, GrammarKind.REGEX: LONGEST_REGEX, GrammarKind.LARK: 16 << 10}
"""Bytes that a grammar may have: the rules of Lark follow each other by recursion, one for each few of them."""
ANY_OBJECT = '{"type": "object"}'
"""The schema of `json`, in all dialects."""
NO_TOKEN = "no token of this model goes on as it asks"

_SHOWN = 200
# Rust's recursion over a schema or a grammar is not bounded, so it has a stack that holds what the limits allow.
_STACK = 64 << 20
_starting = threading.Lock()
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
_T = TypeVar("_T")


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
    check_cost(rules)
    source = llguidance_source(rules)

    def validated() -> tuple[bool, list[str]]:
        from llguidance import LLMatcher

        return LLMatcher.validate_grammar_with_warnings(source, limits=limits())

    wrong, messages = with_room(rules, validated)
    if wrong:
        raise refused(rules, messages[0])


def check_cost(rules: Rules) -> None:
    """Find out whether rules can be compiled in little time and memory.

    Raises:
        InvalidRequestError: They cannot, or not at all.
    """
    if reason := reason_against(rules.text):
        raise refused(rules, reason)


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
            f"{grammar.name} has {size} bytes ({human_size(size)}); from 1 to {most} ({human_size(most)}) are allowed."
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
    return Rules(f"{FREE}start: /{matched(grammar.text, grammar.name)}/", grammar.name)


def _schema(grammar: Grammar) -> dict[str, Any]:
    """Return a schema, checked."""
    try:
        schema = parse_object(grammar.text.encode(), grammar.name, strict=False, deepest=DEEPEST_SCHEMA)
    except BrokenModelError as error:
        raise InvalidRequestError(error.message) from error
    check_schema(schema, grammar.name)
    return schema


def limits() -> "LLParserLimits":
    """Return what one grammar may cost; what it says of errors leaves out the grammar and the answer."""
    from llguidance import LLParserLimits

    return LLParserLimits(max_lexer_states=100_000, verbose_errors=False)


def with_room(rules: Rules, work: Callable[[], _T]) -> _T:
    """Run what recurses over a grammar where the stack is large enough for that, whatever thread asks.

    Raises:
        InvalidRequestError: The library failed on the grammar.
    """
    try:
        return on_large_stack(work)
    except BaseException as error:  # a panic of the library is no Exception
        raise refused(rules, str(error)) from error


def on_large_stack(work: Callable[[], _T]) -> _T:
    """Return what some work returns, or raise what it raises, on a thread with a large stack."""
    found: list[_T] = []
    failures: list[BaseException] = []

    def run() -> None:
        try:
            found.append(work())
        except BaseException as error:
            failures.append(error)

    thread = threading.Thread(target=run, name="grammar", daemon=True)
    with _starting:
        usual = threading.stack_size(_STACK)
        try:
            thread.start()
        finally:
            threading.stack_size(usual)
    thread.join()
    if failures:
        raise failures[0]
    return found[0]


def refused(rules: Rules, reason: str) -> InvalidRequestError:
    """Return the error for a grammar that cannot be honoured, from what llguidance says of it."""
    unknown = _UNKNOWN.search(reason)
    if unknown and rules.schema:
        keywords: list[Any] = json.loads(unknown[1])
        named = ", ".join(map(str, keywords))
        return InvalidRequestError(f"{rules.name} cannot be guaranteed: {shown(named, _SHOWN)} is not supported here.")
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
    return shown(words, _SHOWN).rstrip(".")


def _size(grammar: Grammar) -> int:
    try:
        return len(grammar.text.encode())
    except UnicodeEncodeError as error:
        raise InvalidRequestError(
            f"{grammar.name} holds half of a character at position {error.start}; it should be text."
        ) from error
