"""Which tokens may follow, compared with all texts that a small grammar allows, and with single bytes."""

import json
import random
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sotto.engine.contract.requests import Grammar, GrammarKind
from sotto.engine.grammar.guides import Vocabulary
from sotto.engine.tokens.detokenizer import _BYTE_OF
from sotto.engine.tokens.tokenizer import Tokenizer
from sotto.errors import EngineError, InvalidRequestError, UnsupportedModelError
from thoroughness import examples, share, some
from vocabularies import NAMES, added, tokenizer, tokenizer_json

CHARACTER_OF = {byte: character for character, byte in _BYTE_OF.items()}
OBJECT = Grammar(
    GrammarKind.JSON_SCHEMA,
    json.dumps(
        {
            "type": "object",
            "properties": {"name": {"type": "string", "maxLength": 5}, "n": {"enum": [1, "é", None]}},
            "required": ["name", "n"],
            "additionalProperties": False,
        }
    ),
)


def regex(text):
    return Grammar(GrammarKind.REGEX, text)


def byte_level(tokens, ends=("</s>",)):
    """Return a byte-level tokenizer with these tokens, followed by special tokens."""
    vocabulary = {"".join(CHARACTER_OF[byte] for byte in token): index for index, token in enumerate(tokens)}
    special = [added(len(vocabulary) + index, end) for index, end in enumerate(ends)]
    model = {"type": "BPE", "vocab": vocabulary, "merges": []}
    decoder = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": True}
    text = tokenizer_json(model=model, decoder=decoder, pre_tokenizer=decoder, added_tokens=special)
    config = {"eos_token": ends[0]} if ends else {}
    return Tokenizer(text, {"tokenizer_config.json": config})


def allowed(mask, rows):
    return {token for token in range(rows) if mask[token // 8] >> token % 8 & 1}


@st.composite
def languages(draw):
    """Return some texts and tokens; most tokens are pieces of the texts, which may split characters."""
    texts = draw(st.lists(st.text("ab é🙂\n", max_size=5), min_size=1, max_size=4, unique=True))
    pieces = {b"\x00", b"q", b"\xff"}
    for text in texts:
        data = text.encode()
        cuts = sorted(draw(st.sets(st.integers(0, len(data)), max_size=3)) | {0, len(data)})
        pieces |= {data[start:end] for start in cuts for end in cuts if start < end}
    single = draw(st.booleans())
    if single:
        pieces |= {bytes([byte]) for text in texts for byte in text.encode()}
    return [text.encode() for text in texts], sorted(pieces)


@examples(60)
@given(languages(), st.integers(0, 2**32))
def test_a_token_may_follow_if_its_bytes_keep_the_grammar_alive(language, seed):
    texts, tokens = language
    rows = len(tokens) + 1 + 30  # logits are padded
    end = len(tokens)
    vocabulary = Vocabulary(byte_level(tokens), rows)
    grammar = Grammar(GrammarKind.LARK, f"start: {' | '.join(json.dumps(text.decode()) for text in texts)}")
    try:
        guide = vocabulary.guide(grammar)
    except InvalidRequestError:
        # No text begins with any of the tokens.
        assert not any(text == b"" or text.startswith(token) for text in texts for token in tokens)
        return
    choose, written = random.Random(seed), b""
    while not guide.complete:
        alive = {
            index for index, token in enumerate(tokens) if any(text.startswith(written + token) for text in texts)
        } | ({end} if written in texts else set())
        if not alive:
            with pytest.raises(EngineError, match="to its end: no token of this model goes on"):
                guide.mask()
            return
        assert allowed(guide.mask(), rows) == alive
        token = choose.choice(sorted(alive))
        guide.take(token)
        if token == end:
            return
        written += tokens[token]
    assert written in texts
    assert not any(text.startswith(written) and text != written for text in texts)


@pytest.mark.one_in(2)
@pytest.mark.parametrize("name", some(NAMES, 2))
def test_real_vocabularies_follow_the_same_bytes(name):
    """Check that a token may follow exactly if its bytes may follow one by one."""
    real = tokenizer(name)
    rows = max(real.vocabulary()) + 1
    spelled = real.vocabulary_bytes(rows)
    guide = Vocabulary(real, rows).guide(OBJECT)
    bytewise = Vocabulary(byte_level([bytes([byte]) for byte in range(256)]), 257).guide(OBJECT)
    choose, written, sample = random.Random(3), b"", share(300, 75)
    while not guide.complete:
        following = allowed(guide.mask(), rows)
        checked = {
            *choose.sample(range(rows), sample),
            *choose.sample(sorted(following), min(len(following), sample)),
            *real.eos_ids,
        }
        for token in checked:
            alive = bool(spelled[token]) and bytewise.followed(spelled[token]) == len(spelled[token])
            assert (token in following) == (alive and token not in real.eos_ids), spelled[token]
        token = choose.choice(sorted(following))
        guide.take(token)
        for byte in spelled[token]:
            bytewise.take(byte)
        written += spelled[token]
    assert bytewise.complete
    assert re.fullmatch(r'\{\s*"name"\s*:\s*".{0,8}"\s*,\s*"n"\s*:\s*(1|"é"|null)\s*\}', written.decode(), re.DOTALL)


@pytest.mark.parametrize(
    ("text", "length"),
    [
        ('{"n":1,"\\u0061":"x"}', 9),  # another spelling of a key whose value must be an integer
        ('{"n":1,"a":"x"}', 11),
        ('{"n":1,"b\\n":"x"}', 17),
        ('{"n":1, "a" :\n    2}', 20),
        ('{"n":1,  "a":2}', 8),
        ('{"n":1,\n' + " " * 40, 40),  # no more than people write, because it could continue endlessly
    ],
)
def test_json_has_only_one_spelling(text, length):
    schema = {"type": "object", "properties": {"n": {"enum": [1]}, "a": {"type": "integer"}}, "required": ["n"]}
    bytewise = Vocabulary(byte_level([bytes([byte]) for byte in range(256)]), 257)
    assert bytewise.guide(Grammar(GrammarKind.JSON_SCHEMA, json.dumps(schema))).followed(text.encode()) == length


def test_a_character_may_come_in_several_tokens():
    guide = Vocabulary(byte_level([bytes([byte]) for byte in range(256)]), 257).guide(regex("[ä🙂]{2}"))
    for byte in "🙂".encode():
        assert not guide.complete
        assert allowed(guide.mask(), 256) >= {byte}
        guide.take(byte)
    assert allowed(guide.mask(), 257) == {"ä".encode()[0], "🙂".encode()[0]}
    guide.take("ä".encode()[0])
    assert allowed(guide.mask(), 257) == {"ä".encode()[1]}
    guide.take("ä".encode()[1])
    assert guide.complete


def test_an_answer_ends_only_where_it_is_complete():
    vocabulary = Vocabulary(byte_level([b"a", b"b"], ends=("</s>",)), 3)
    guide = vocabulary.guide(regex("ab+"))
    assert allowed(guide.mask(), 3) == {0}
    guide.take(0)
    assert allowed(guide.mask(), 3) == {1}
    ending = guide.fork()
    with pytest.raises(EngineError, match="format could not be followed to its end: "):
        ending.take(2)
    guide.take(1)
    assert allowed(guide.mask(), 3) == {1, 2}
    guide.take(2)


def test_an_answer_of_a_model_without_an_end_token_ends():
    vocabulary = Vocabulary(byte_level([b"a", b"b"], ends=()), 2)
    guide = vocabulary.guide(regex("ab"))
    guide.take(0)
    assert allowed(guide.mask(), 2) == {1}
    guide.take(1)
    assert guide.complete


@pytest.mark.parametrize(
    ("wanted", "steps", "behind"),
    [
        ({"type": "integer"}, "7", "1"),
        ({"type": "integer"}, "-7", "1"),
        ({"type": "number", "multipleOf": 3, "minimum": -7, "maximum": 7}, "0", ".0"),
        ({"type": "number", "multipleOf": 3, "minimum": -7, "maximum": 7}, "-6", "."),
        ({"type": "array", "items": {"type": "integer"}}, "[12,3]", ""),
        ({"enum": ["a", "ab"]}, '"ab"', ""),
        ({"anyOf": [{"const": 1}, {"const": 12}]}, "1", "2"),
    ],
)
def test_without_an_end_token_an_answer_ends_as_soon_as_it_is_complete(wanted, steps, behind):
    """Check that the answer does not continue up to the limit of tokens, or until no token may follow."""
    vocabulary = Vocabulary(byte_level([bytes([byte]) for byte in range(256)], ends=()), 256)
    guide = vocabulary.guide(Grammar(GrammarKind.JSON_SCHEMA, json.dumps(wanted)))
    assert guide.followed((steps + behind).encode()) == len(steps)
    for step in steps.encode():
        assert not guide.complete
        assert step in allowed(guide.mask(), 256)
        guide.take(step)
    assert guide.complete


def test_without_an_end_token_a_begun_answer_may_already_be_complete():
    vocabulary = Vocabulary(byte_level([b"1", b"2", b","], ends=()), 3)
    guide = vocabulary.guide(regex("1+(,2)?"), begun="11,")
    guide.take(1)
    assert guide.complete


def test_drafts_are_checked_without_being_taken():
    guide = Vocabulary(byte_level([b"a", b"b"]), 3).guide(regex("a?ba?"))
    assert guide.followed([0, 1, 0, 0]) == 3
    assert guide.followed([0, 1, 2]) == 3
    assert guide.followed([2]) == 0
    steps = []
    single = guide.fork()
    for token in (0, 1):
        steps.append(allowed(single.mask(), 3))
        single.take(token)
    steps.append(allowed(single.mask(), 3))
    assert steps == [{0, 1}, {1}, {0, 2}]
    for _ in range(2):
        assert [allowed(mask, 3) for mask in guide.masks([0, 1])] == steps
        assert [allowed(mask, 3) for mask in guide.masks([0, 1, 2])[:3]] == steps
        assert [allowed(mask, 3) for mask in guide.masks([0, 1, 0])[:3]] == steps
    assert allowed(guide.mask(), 3) == {0, 1}


def test_a_begun_answer_is_continued():
    real = tokenizer("llama-bpe")
    vocabulary = Vocabulary(real, max(real.vocabulary()) + 1)
    guide = vocabulary.guide(OBJECT, begun='{"name": "Zo\u00eb", "n')
    rest = '": 1}'
    for token in real.encode(rest, add_bos=False):
        assert not guide.complete
        guide.take(token)
    assert guide.complete
    with pytest.raises(InvalidRequestError, match="is not what format asks for, from token"):
        vocabulary.guide(OBJECT, begun="Sure, here is")
    with pytest.raises(InvalidRequestError, match="is all that format asks for; nothing may follow"):
        vocabulary.guide(OBJECT, begun='{"name":"","n":1}')


def test_guides_are_independent_of_each_other():
    vocabulary = Vocabulary(byte_level([b"a", b"b"]), 3)
    first, second = vocabulary.guide(regex("(ab)+")), vocabulary.guide(regex("(ab)+"))
    first.take(0)
    third = first.fork()
    third.take(1)
    assert [allowed(guide.mask(), 3) for guide in (first, second, third)] == [{1}, {0}, {0, 2}]


def test_a_schema_that_no_text_satisfies_is_refused():
    vocabulary = Vocabulary(byte_level([b"a"]), 2)
    with pytest.raises(InvalidRequestError, match="format cannot be guaranteed: no token of this model"):
        vocabulary.guide(Grammar(GrammarKind.JSON_SCHEMA, '{"$ref": "#"}'))


def test_a_vocabulary_whose_tokens_depend_on_each_other_has_no_guides():
    words = Tokenizer(tokenizer_json(decoder={"type": "WordPiece", "prefix": "##", "cleanup": True}))
    with pytest.raises(
        UnsupportedModelError, match="no format can be guaranteed with this model; leave the format out"
    ):
        Vocabulary(words, 3).guide(regex("a"))
