"""Constraints on answers that are supported, and those that are refused without looking at a model."""

import json
import subprocess
import sys
import threading
import time

import pytest

from sotto.engine.contract.requests import Grammar, GrammarKind
from sotto.engine.grammar.grammars import LARGEST, check_grammar
from sotto.engine.grammar.guides import Vocabulary
from sotto.errors import InvalidRequestError
from walking import byte_level


@pytest.fixture(scope="module")
def vocabulary():
    tokenizer = byte_level()
    return Vocabulary(tokenizer, tokenizer.vocab_size)


def schema(value, name="format"):
    return Grammar(GrammarKind.JSON_SCHEMA, value if isinstance(value, str) else json.dumps(value), name)


def regex(text):
    return Grammar(GrammarKind.REGEX, text, "words.regex")


def lark(text):
    return Grammar(GrammarKind.LARK, text, "words.lark")


def nested(levels):
    """Return a schema with this many levels of brackets."""
    return '{"items": ' * (levels - 1) + "{}" + "}" * (levels - 1)


def chain(links, make):
    """Return a schema whose definitions refer to each other, one to the next."""
    parts = {f"part{index}": make({"$ref": f"#/$defs/part{index + 1}"}) for index in range(links)}
    return {"$ref": "#/$defs/part0", "$defs": parts | {f"part{links}": {"type": "null"}}}


@pytest.mark.parametrize(
    "grammar",
    [
        schema({}),
        schema({"type": "object"}),
        schema({"$ref": "#/$defs/a", "$defs": {"a": {"anyOf": [{"$ref": "#"}, {"type": "null"}]}}}),
        schema({"properties": {"minProperties": {"minimum": 2}, "x-guidance": {}}}),
        schema({"const": {"minProperties": 7, "multipleOf": 100_003}}),
        schema({"minProperties": 1, "default": {"minProperties": 3}, "examples": [{"minProperties": 3}]}),
        schema({"type": "number", "multipleOf": 0.01, "maximum": 2**53}),
        schema({"$schema": "http://json-schema.org/draft-07/schema#", "type": "null"}),
        schema({"enum": ["x\ty\n", "é🙂"]}),
        schema(nested(100)),
        schema(chain(300, lambda link: link)),
        schema({"type": "string", "pattern": "a" * 16_000}),
        regex("a|b/c"),
        regex("ä{2,3}\\d+"),
        lark('start: "a" b?\nb: /[0-9]/ | "(" start ")"'),
    ],
)
def test_supported_constraints_are_accepted(grammar):
    check_grammar(grammar)


def of_properties(count, required=(), **more):
    """Return a schema of an object with `count` properties."""
    names = [f"property{index}" for index in range(count)]
    return {"type": "object", "properties": {key: {"type": "string"} for key in names}, "required": [*required], **more}


@pytest.mark.parametrize(
    "wanted",
    [
        of_properties(400),
        of_properties(2000, required=[f"property{index}" for index in range(2000)], additionalProperties=False),
        {"anyOf": [of_properties(100, description=str(index)) for index in range(4)]},
        {"properties": {"a": of_properties(400), **of_properties(399)["properties"]}},
    ],
)
def test_the_maximum_number_of_properties_can_be_followed(vocabulary, wanted):
    guide = vocabulary.guide(schema(wanted))
    for token in b'{"p':
        guide.take(token)
    assert guide.mask()


@pytest.mark.parametrize(
    ("grammar", "message"),
    [
        (schema("{"), "format is not JSON: expecting property name enclosed in double quotes at character 1."),
        (schema('{"type": "obj'), "format is not JSON: unterminated string at character 9."),
        (schema("yes"), "format is not JSON: expecting value at character 0."),
        (schema([]), "format holds a list; it should be a JSON object."),
        (
            schema(of_properties(5000)),
            "format: 5000 properties of an object may be missing; from 0 to 400 are allowed.",
        ),
        (
            schema({"oneOf": [of_properties(201), of_properties(200)]}),
            "format: 401 properties of an object may be missing; from 0 to 400 are allowed.",
        ),
        (
            schema({"items": {"properties": {f"p{index}": of_properties(400) for index in range(5)}}}),
            "format has 2005 properties in all; from 0 to 2000 are allowed.",
        ),
        (schema({"not": {}}), "format cannot be guaranteed: not is not supported here."),
        (
            schema({"items": {"uniqueItems": True, "contains": {}}}, "my schema"),
            "my schema cannot be guaranteed: contains, uniqueItems is not supported here.",
        ),
        (
            schema({"type": "integer", "minimum": 3, "maximum": 2}),
            "format cannot be guaranteed: Unsatisfiable schema: minimum (3) is greater than maximum (2).",
        ),
        (schema({"type": "whole"}), "format cannot be guaranteed: Invalid type: whole."),
        (
            schema({"$ref": "#/$defs/a"}),
            "format: $ref #/$defs/a is not a schema in it; it should be one, such as #/$defs/name.",
        ),
        (schema({"$ref": "file:///etc/passwd"}), "format: $ref file:///etc/passwd is not a schema in it;"),
        (
            schema({"$id": "http://a/b", "$defs": {"a": {"$id": "http://a/b"}}}),
            "format: $id and id are for its top alone; refer to a part by its place, such as #/$defs/name.",
        ),
        (schema({"format": "colour"}), "format cannot be guaranteed: Unknown format: colour."),
        (
            schema({"x-guidance": {"lenient": True}}),
            "format: x-guidance is not a keyword of JSON Schema; leave it out.",
        ),
        (
            schema({"minProperties": 2}),
            "format: minProperties 2 cannot be guaranteed; name what must be there in required.",
        ),
        (
            schema({"$schema": "http://json-schema.org/draft-03/schema#"}),
            "format: $schema http://json-schema.org/draft-03/schema# is not known here; it should be draft 4, 6, 7, "
            "2019-09 or 2020-12.",
        ),
        (
            schema({"items": {"const": -(2**63)}}),
            "format: the number -9223372036854775808 cannot be kept exactly; it should have at most 15 digits and be "
            "from -9007199254740992 to 9007199254740992.",
        ),
        (
            schema({"enum": ["a\u0001"]}),
            "format: 'a\\x01' has a control character, which no answer has; leave it out.",
        ),
        (schema({"properties": {"\x7f": {}}}), "format: '\\x7f' has a control character, which no answer has;"),
        (schema({"multipleOf": 99_991}), "format: multipleOf 99991 takes too long to honour; it should be from 1 to"),
        (schema({"allOf": [{"multipleOf": 0.07}, {"multipleOf": 0.997}]}), "format: multipleOf 0.07 takes too long"),
        (
            schema({"enum": [{"type": "null"}], "items": {"$ref": "#/enum/0"}}),
            "format: $ref #/enum/0 is not a schema in it; it should be one, such as #/$defs/name.",
        ),
        (
            schema({"patternProperties": {"a" * 9000: {"pattern": "b" * 9000}}}),
            "format has patterns of 18000 characters; they may have 16384 in all, at most.",
        ),
        (regex("("), "words.regex cannot be guaranteed: the pattern ( has an unclosed group at character 1."),
        (regex("(?=a)b"), "words.regex cannot be guaranteed: the pattern (?=a)b has a look-ahead (?= at character 1."),
        (
            schema({"$schema": "http://json-schema.org/draft-07/schema#", "items": {"contentEncoding": "base64"}}),
            "format cannot be guaranteed: contentEncoding is not supported here in draft 7.",
        ),
        (
            schema({"patternProperties": {"a": {}, "b": {}}}),
            "format cannot be guaranteed: two patterns of patternProperties may match one key.",
        ),
        (
            schema({"type": "string", "pattern": "a", "enum": ["b"]}),
            "format cannot be guaranteed: no text is all that pattern, format and lengths ask for together.",
        ),
        (
            schema({"patternProperties": {"^[ab]$": {}}, "additionalProperties": False}),
            "format: patternProperties ^[ab]$ leaves no new keys from some place on; name the keys in properties.",
        ),
        (schema({"patternProperties": {"^x": False}}), "format: patternProperties ^x leaves no new keys"),
        (
            schema({"patternProperties": {"^\\d": {}, "^[0-9]": {}}}),
            "format: patternProperties has ^[0-9] twice, in other words.",
        ),
        (schema({"format": "unknown"}), "format cannot be guaranteed: Unknown format: unknown."),
        (regex(""), "words.regex has 0 bytes (0 B); from 1 to 16384 (16.4 kB) are allowed."),
        (regex("a\ud800"), "words.regex holds half of a character at position 1; it should be text."),
        (lark('start: "a"\n  | b'), 'words.lark cannot be guaranteed: at 1(8): unknown name: "b".'),
        (lark('start: %json {"const": 1}'), "words.lark: %json is not supported in a Lark grammar; leave it out."),
        (lark('\n{"grammars": []}'), "words.lark: { is not supported in a Lark grammar; leave it out."),
    ],
)
def test_unsupported_constraints_are_refused_in_a_sentence(grammar, message):
    with pytest.raises(InvalidRequestError) as raised:
        check_grammar(grammar)
    sentence = raised.value.message
    assert sentence.startswith(message)
    assert sentence.endswith(".")
    assert "\n" not in sentence


@pytest.mark.parametrize("kind", list(GrammarKind))
def test_a_grammar_that_is_too_large_is_refused_at_once(kind):
    text = '{"enum": [' + "1," * (10 << 19) + "1]}"
    started = time.perf_counter()
    with pytest.raises(
        InvalidRequestError, match=rf"format has {len(text)} bytes \(10.5 MB\); from 1 to {LARGEST[kind]}"
    ):
        check_grammar(Grammar(kind, text))
    assert time.perf_counter() - started < 1


@pytest.mark.parametrize(
    ("levels", "message"),
    [
        (101, "^format is nested 101 levels deep; from 1 to 100 are allowed.$"),
        (1000, "^format is not readable JSON: .* nested more than 100 deep.$"),
        (90_000, "^format is not readable JSON: .* nested more than 100 deep.$"),
    ],
)
def test_a_schema_that_is_nested_too_deep_is_refused(levels, message):
    with pytest.raises(InvalidRequestError, match=message):
        check_grammar(schema(nested(levels)))


@pytest.mark.parametrize(
    "make",
    [
        lambda link: link,
        lambda link: {"allOf": [link, {}]},
        lambda link: {"properties": {"a": link}, "required": ["a"]},
        lambda link: {"items": link},
    ],
)
def test_long_chains_of_references_never_overflow_the_stack(make):
    """Check chains, which llguidance follows by recursion, on the calling thread's stack unless given a larger one."""
    levels = sum(character in "[{" for character in json.dumps(make({})))  # each part is at least this deep
    check_grammar(schema(chain(900 // (levels + 2), make)))
    with pytest.raises(InvalidRequestError, match=r"refers to parts that are \d+ levels deep in all; from 1 to 1000"):
        check_grammar(schema(chain(20_000 // (levels + 1), make)))


def test_the_stack_is_large_enough_even_on_a_thread_with_a_small_one():
    failures = []

    def check():
        try:
            check_grammar(schema(chain(220, lambda link: {"items": link})))
        except BaseException as error:
            failures.append(error)

    usual = threading.stack_size(256 << 10)
    try:
        thread = threading.Thread(target=check)
        thread.start()
    finally:
        threading.stack_size(usual)
    thread.join()
    assert not failures


def test_the_library_is_not_imported_before_it_is_needed():
    modules = "sotto.engine.engine, sotto.api.server, sotto.cli.run"
    code = f"import sys, {modules}; sys.exit('llguidance' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
