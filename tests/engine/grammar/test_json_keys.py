"""No object gets a key twice, in any JSON of an answer and however it is split into tokens."""

import json
import random
import re
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from guided_texts import accepts, guide_of
from material import ROOT
from sotto.engine.contract.requests import Grammar, GrammarKind
from sotto.engine.grammar.guides import Vocabulary
from sotto.engine.grammar.json_keys import NOWHERE
from sotto.engine.grammar.lark_texts import split_marks
from sotto.engine.parsing.families import HARMONY, family_of
from sotto.engine.parsing.forcing import CallableTool, calls_rules
from sotto.engine.parsing.lead_reader import lead_of
from sotto.errors import EngineError, InvalidRequestError
from thoroughness import examples, some
from vocabularies import tokenizer
from walking import byte_level, walks

_LEAVES = st.sampled_from(["1", "null", '"a"', '"{\\"a\\":1"', '","', '"\\\\"', "[]", "{}"])
_KEYS = st.sampled_from(["a", "b", 'a\\"', "\\\\", "", "é", ","])


def _object(pairs):
    return "{" + ", ".join(f'"{key}": {value}' for key, value in pairs) + "}"


_JSON = st.recursive(
    _LEAVES,
    lambda inner: st.one_of(
        st.lists(st.tuples(_KEYS, inner), max_size=3).map(_object),
        st.lists(inner, max_size=3).map(lambda items: f"[{','.join(items)}]"),
    ),
    max_leaves=8,
)


def repeats(text):
    """Return whether an object in JSON has a key twice, as Python reads it."""
    found = []

    def look(pairs):
        keys = [key for key, _ in pairs]
        found.append(len(keys) > len(set(keys)))

    json.loads(text, object_pairs_hook=look)
    return any(found)


@examples(300)
@given(_JSON, st.lists(st.integers(0, 60), max_size=6))
def test_a_repeated_key_is_detected_however_the_text_is_split(text, cuts):
    data = text.encode()
    places = sorted({0, len(data), *(cut % (len(data) + 1) for cut in cuts)})
    here = NOWHERE
    for begin, end in pairwise(places):
        here = here and here.after(data[begin:end])
    assert (here is None) is repeats(text)
    assert here in (None, NOWHERE)


@pytest.mark.parametrize(
    ("schema", "text", "length"),
    [
        ({"type": "object"}, '{"a":1,"a":2}', 9),
        ({"type": "object"}, '{"a":1,"ab":2,"abc":3,"ab":4}', 25),
        ({"type": "object"}, '{"a":{"a":{"a":1}},"b":[{"a":1},{"a":2}],"b":1}', 43),
        ({"type": "object"}, '{"a\\"b":1,"a\\\\":2,"a\\"b":3}', 23),
        ({"type": "object"}, '{"":1,"":2}', 7),
        ({"type": "object"}, '{"k":"\\"a\\"","a":1,"l":"{","a":2}', 29),
        ({"properties": {"a": {}, "b": {}}, "type": "object"}, '{"b":1,"c":2,"b":3}', 15),
        ({"type": "object", "required": ["x"]}, '{"x":1,"x":2}', 9),
        ({"patternProperties": {"^a": {"type": "integer"}}, "type": "object"}, '{"ab":1,"b":1,"ab":1}', 17),
        ({"additionalProperties": {"type": "object"}, "type": "object"}, '{"a":{"b":1,"b":1}}', 14),
        ({"anyOf": [{"type": "array"}, {"type": "object"}]}, '[{"a":1},{"a":1,"a":1}]', 18),
        ({}, '[[{"a":1,"a"', 11),
    ],
)
def test_objects_with_free_keys_get_no_key_twice(schema, text, length):
    guide = guide_of(schema)
    assert guide.followed(text.encode()) == length
    assert guide.followed(text.encode()) == length
    for byte in text.encode()[:length]:
        assert allows(guide, byte)
        guide.take(byte)
    assert not allows(guide, text.encode()[length])
    assert allows(guide, ord("x"))
    with pytest.raises(EngineError, match=r"^format could not be followed to its end: "):
        guide.take(text.encode()[length])


def allows(guide, token):
    return bool(guide.mask()[token // 8] >> token % 8 & 1)


def test_tokens_may_follow_as_their_bytes_may():
    """Check tokens, also those that end one key and begin another, of which real vocabularies have many."""
    real = tokenizer("llama-bpe")
    rows = max(real.vocabulary()) + 1
    spelled, chance = real.vocabulary_bytes(rows), random.Random(5)
    quoted = [token for token in range(rows) if b'"' in spelled[token]]
    vocabulary, schema = Vocabulary(real, rows), Grammar(GrammarKind.JSON_SCHEMA, '{"type": "object"}')
    for begun in ('{"":1,"a":{},"name":', '{"name":"","id":[],"', '{"name":{"id":1},"id":{"', '{"a":",","na', '{"":"'):
        guide, bytewise = vocabulary.guide(schema, begun), guide_of({"type": "object"})
        for byte in begun.encode():
            bytewise.take(byte)
        for _ in range(2):
            mask, drafts = guide.mask(), None
            for token in chance.sample(quoted, 150):
                alive = bytewise.followed(spelled[token]) == len(spelled[token])
                assert bool(mask[token // 8] >> token % 8 & 1) is alive, (begun, spelled[token])
                drafts = [token] if alive and drafts is None else drafts
            assert guide.masks(drafts or [])[0] == mask
            assert guide.fork().mask() == guide.mask() == mask
            token = chance.choice([each for each in range(rows) if mask[each // 8] >> each % 8 & 1 and spelled[each]])
            guide.take(token)
            for byte in spelled[token]:
                bytewise.take(byte)


def test_a_begun_answer_has_no_key_twice():
    vocabulary = Vocabulary(byte_level(), byte_level().vocab_size)
    free = Grammar(GrammarKind.JSON_SCHEMA, '{"type": "object"}')
    with pytest.raises(InvalidRequestError, match="is not what format asks for, from token 9"):
        vocabulary.guide(free, '{"a":1,"a":')


def test_keys_that_match_a_pattern_are_not_repeated():
    guide = guide_of({"patternProperties": {"^a+$": {}}, "additionalProperties": False, "type": "object"})
    assert accepts(guide, '{"a":1,"aa":1,"aaa":1}')
    assert not accepts(guide, '{"a":1,"aa":1,"a":1}')


FOLDER = ROOT / "chat-templates"
# One for each notation of tool calls.
PUBLISHED = (
    "ByteDance-Seed-OSS", "GLM-4.6", "LFM2.5-8B-A1B", "MiniMax-M2", "Mistral-Small-3.2-24B-Instruct-2506",
    "Qwen-Qwen3-0.6B", "Qwen3-Coder", "deepseek-ai-DeepSeek-V3.2", "google-gemma-4-31B-it", "llama-cpp-deepseek-r1",
    "mistralai-Mistral-Nemo-Instruct-2407", "moonshotai-Kimi-K2", "openai-gpt-oss-120b",
)  # fmt: skip
# Keys within a string do not count, whether the string is written in JSON or unquoted.
TEXT = '{"a":1,"a":2,call:"{[\\'
ARGUMENTS = {"what": {"type": "string", "const": TEXT}, "n": {"enum": [7]}, "o": {}, "p": {}}


def tools_with(argument):
    """Return tools whose last two arguments have a schema."""
    schema = {"type": "object", "properties": {**ARGUMENTS, "o": argument, "p": argument}, "required": [*ARGUMENTS]}
    return [CallableTool(name, {**schema, "additionalProperties": False}, name) for name in ("find", "go.find")]


@pytest.mark.covering(1)
@pytest.mark.parametrize("special", [False, True])
@pytest.mark.parametrize("name", some(list(PUBLISHED), 7))
def test_arguments_of_calls_have_no_key_twice(name, special):
    template = (FOLDER / f"{name}.jinja").read_text(encoding="utf-8")
    family = family_of(template)
    marks = sorted(mark for mark in family.marks if not mark.isalpha() and mark not in ("{", "<function="))
    tokens = byte_level(marks if special else ())
    vocabulary = Vocabulary(tokens, tokens.vocab_size)
    fixed = calls_rules(family, template, tools_with({"const": {"k": 0}}), tokens.special)
    free = calls_rules(family, template, tools_with({"type": "object"}), tokens.special)
    (walk,) = walks(family, fixed, tokens, [3], max_tokens=2500)
    assert walk.complete
    given = re.compile(r'\{\s*"k"\s*:\s*0\s*\}')
    assert len(given.findall(walk.text)) >= 2
    text = given.sub('{"a":{"b":[]},"b":{"a":1}}', walk.text)
    assert accepted_part(vocabulary, free, text, tokens.special) == "all"
    for number in range(len(given.findall(walk.text))):
        objects = iter(['{"a":1}'] * number + ['{"b":{"a":1},"a":2,"c":1,"b":3}'] + ['{"a":1}'] * 99)
        text = given.sub(lambda _, objects=objects: next(objects), walk.text)
        assert accepted_part(vocabulary, free, text, tokens.special).endswith('{"b":{"a":1},"a":2,"c":1,"b')


def accepted_part(vocabulary, rules, text, special, lead=None):
    """Return the beginning of a text that rules accept, or `all` if they accept the whole text."""
    tokens = [
        token
        for part in split_marks(text, special)
        for token in ([special[part]] if part in special else part.encode())
    ]
    accepted = vocabulary.guide(rules, lead=lead).followed(tokens)
    bounds = {token: mark for mark, token in special.items()}
    shown = b"".join(bounds[token].encode() if token in bounds else bytes([token]) for token in tokens[:accepted])
    return "all" if accepted == len(tokens) else shown.decode()


@pytest.mark.parametrize("special", [False, True])
@pytest.mark.parametrize("opened", [False, True])
@pytest.mark.parametrize("family", [family_of("<think>"), HARMONY])
def test_only_the_text_after_a_thought_is_constrained(family, opened, special):
    lead = lead_of(family, None, calls=False)
    tokens = byte_level(sorted(lead.marks) if special else ())
    if opened:
        lead = lead_of(family, family.thoughts[0], calls=False)
    vocabulary = Vocabulary(tokens, tokens.vocab_size)
    free = Grammar(GrammarKind.JSON_SCHEMA, '{"type": "object"}')
    thought = f'{"" if opened else lead.opens}Is it {{"a":1,"a":2,"a?{lead.end}'
    ways = [thought] if opened else [thought, lead.instead]
    for head in ways:
        assert accepted_part(vocabulary, free, f'{head}{{"a":1,"b":2}}', tokens.special, lead) == "all"
        found = accepted_part(vocabulary, free, f'{head}{{"a":1,"a":2}}', tokens.special, lead)
        assert found == f'{head}{{"a":1,"a'
