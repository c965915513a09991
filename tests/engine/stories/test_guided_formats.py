"""What every answer of a real model is, once it was asked for: by schema, expression or grammar."""

import ast
import json
import re

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st

from generating import GREEDY
from material import material
from schemas import schemas
from sotto.engine.contract.answer_parts import Kind
from sotto.engine.contract.events import DoneReason, Finished, TextChunk
from sotto.engine.contract.requests import (
    GenerateRequest,
    Grammar,
    GrammarKind,
    Message,
    Overflow,
    SamplingOptions,
    Think,
)
from sotto.engine.engine import Engine
from sotto.errors import InvalidRequestError
from sotto.runner.catalogue import find
from sotto.store.opening import open_model, record_of
from thoroughness import examples
from tiny_random import write_model

QUESTION = (Message("user", "Who are you?"),)
PERSON = {
    "type": "object",
    "properties": {
        "name": {"type": "string", "maxLength": 30},
        "age": {"type": "integer", "minimum": 0, "maximum": 99},
    },
    "required": ["name", "age"],
    "additionalProperties": False,
}
SUMS = """
start: sum
sum: term (("+" | "-") term){0,3}
term: NUMBER | "(" NUMBER " * " NUMBER ")"
NUMBER: /[1-9][0-9]{0,2}/
"""


def schema(value):
    return Grammar(GrammarKind.JSON_SCHEMA, json.dumps(value))


def drawn(temperature, seed=1):
    return SamplingOptions(temperature=temperature, top_k=0, top_p=1.0, seed=seed)


@pytest.fixture(scope="module")
def engine():
    engine = Engine()
    engine.load(open_model(find("sotto")))
    yield engine
    engine.unload()


@pytest.fixture(scope="module")
def tiny(tmp_path_factory):
    """A model whose template lets it think first."""
    engine = Engine()
    template = (
        "{% for message in messages %}[{{ message.role }}]{{ message.content }}</s>{% endfor %}"
        "{% if add_generation_prompt %}[assistant]<think>\n{% endif %}"
    )
    engine.load(open_model(record_of(write_model(tmp_path_factory.mktemp("m") / "plain", "plain", template))))
    yield engine
    engine.unload()


def events_of(engine, grammar, messages=QUESTION, **options):
    options = {"sampling": GREEDY, "num_predict": 200} | options
    request = GenerateRequest(id="r", messages=messages, grammar=grammar, **options)
    return list(engine.generate(engine.prepare(request)))


def ask(engine, grammar, messages=QUESTION, **options):
    found = events_of(engine, grammar, messages, **options)[-1]
    assert isinstance(found, Finished), found
    return found


@examples(40)
@given(schemas, st.integers(0, 1000))
def test_every_completed_answer_validates(engine, wanted, seed):
    jsonschema.Draft202012Validator.check_schema(wanted)
    for sampling in (GREEDY, drawn(1.0, seed)):
        found = ask(engine, schema(wanted), sampling=sampling, num_predict=150)
        assert found.done_reason in (DoneReason.STOP, DoneReason.LENGTH)
        if found.done_reason is DoneReason.STOP:
            jsonschema.Draft202012Validator(wanted).validate(json.loads(found.text))


@pytest.mark.parametrize("sampling", [GREEDY, drawn(1.0), drawn(5.0, 3)])
def test_a_usual_schema_is_completed(engine, sampling):
    found = ask(engine, schema(PERSON), sampling=sampling)
    assert found.done_reason is DoneReason.STOP
    person = json.loads(found.text)
    jsonschema.validate(person, PERSON)
    assert list(person) == ["name", "age"]


def test_some_object_is_one(engine):
    for seed in range(4):
        found = ask(engine, schema({"type": "object"}), sampling=drawn(1.5, seed), num_predict=200)
        if found.done_reason is DoneReason.STOP:
            assert isinstance(json.loads(found.text), dict)
        else:
            assert found.text.startswith("{")
            assert found.done_reason is DoneReason.LENGTH


@examples(25)
@given(
    st.sampled_from(
        [
            r"(yes|no), I (do|am)\.?",
            r"[A-Z][a-z]{2,8}( [A-Z][a-z]{2,8})?",
            r"\d{4}-\d{2}-\d{2}T\d\d:\d\d",
            r"[äöü€🙂]{3,6}",
            r"(a|ab)(c|bcd)(d*){0,2}",
            r"\{[^}]{0,9}\}",
            r"[Ss][Oo]tto!{1,3}",
            "line one\nline two",
        ]
    ),
    st.integers(0, 1000),
    st.sampled_from([0.0, 1.0, 4.0]),
)
def test_an_expression_matches_the_whole_answer(engine, pattern, seed, temperature):
    found = ask(engine, Grammar(GrammarKind.REGEX, pattern), sampling=drawn(temperature, seed))
    assert "\ufffd" not in found.text
    if found.done_reason is DoneReason.STOP:
        assert re.fullmatch(pattern, found.text)


@pytest.mark.parametrize("seed", range(6))
def test_a_lark_grammar_is_followed(engine, seed):
    found = ask(engine, Grammar(GrammarKind.LARK, SUMS), sampling=drawn(2.0, seed))
    assert found.done_reason is DoneReason.STOP
    assert re.fullmatch(r"[0-9+\-(*) ]+", found.text)
    assert isinstance(ast.parse(found.text, mode="eval").body, ast.BinOp | ast.Constant)


def test_text_comes_in_pieces_that_add_up(engine):
    events = events_of(engine, Grammar(GrammarKind.REGEX, "[äöü€🙂]{5}"), sampling=drawn(1.0))
    chunks = [event for event in events if isinstance(event, TextChunk)]
    assert len(chunks) > 5
    assert "".join(chunk.text for chunk in chunks) == events[-1].text
    assert len(events[-1].text) == 5


def test_an_answer_that_was_cut_is_gone_on_with(engine):
    grammar = schema(PERSON)
    whole = ask(engine, grammar).text
    cut = ask(engine, grammar, num_predict=6)
    assert cut.done_reason is DoneReason.LENGTH
    rest = ask(engine, grammar, (*QUESTION, Message("assistant", cut.text)))
    assert rest.done_reason is DoneReason.STOP
    jsonschema.validate(json.loads(cut.text + rest.text), PERSON)
    assert whole.startswith(cut.text)


def test_an_answer_without_a_grammar_is_as_ever(engine):
    before = ask(engine, None)
    ask(engine, schema(PERSON))
    assert ask(engine, None).text == before.text


def test_a_raw_prompt_and_a_full_context(engine):
    request = GenerateRequest(id="r", prompt="The answer is ", grammar=schema(PERSON), sampling=GREEDY)
    found = list(engine.generate(engine.prepare(request)))[-1]
    jsonschema.validate(json.loads(found.text), PERSON)
    long = "word " * 3500
    cut = ask(engine, schema({"type": "array", "minItems": 5000}), (Message("user", long),), num_predict=None)
    assert cut.done_reason is DoneReason.LENGTH


def test_stop_texts_of_the_manifest_cut_nothing(engine):
    found = ask(engine, schema(PERSON), stop=('"', "name", "}"))
    jsonschema.validate(json.loads(found.text), PERSON)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"sampling": None, "options": {"stop": ["x"]}}, "stop would cut an answer short that format asks for whole"),
        ({"ignore_eos": True}, "ignore_eos cannot be combined with format: leave one of them out."),
    ],
)
def test_what_would_break_the_promise_is_refused(engine, options, message):
    with pytest.raises(InvalidRequestError, match=message):
        ask(engine, schema(PERSON), **options)


def test_what_cannot_be_honoured_is_never_ignored(engine):
    with pytest.raises(InvalidRequestError, match="format cannot be guaranteed: uniqueItems is not supported here"):
        ask(engine, schema({"uniqueItems": True}))


@pytest.mark.parametrize("overflow", list(Overflow))
def test_a_model_that_is_not_to_think_answers_at_once(tiny, overflow):
    word = Grammar(GrammarKind.REGEX, "[a-z]{4}")
    events = events_of(tiny, word, num_predict=20, overflow=overflow, think=Think.OFF)
    assert re.fullmatch("[a-z]{4}", events[-1].text)
    assert {piece.kind for piece in events[-1].pieces} == {Kind.TEXT}
    request = GenerateRequest(
        id="r", messages=QUESTION, sampling=GREEDY, overflow=overflow, grammar=word, think=Think.OFF
    )
    text = "".join(tiny.tokenizer.decode(tiny.prepare(request).prompt))
    assert text.endswith("[assistant]<think>\n\n</think>\n\n".replace("\n", ""))
    free = events_of(tiny, None, num_predict=3)
    assert {piece.kind for piece in free[-1].pieces} == {Kind.THOUGHT}


def test_a_vocabulary_of_sentencepiece_with_bytes(tiny):
    """Spaces are in front of its words, and what it has no letters for it spells in bytes."""
    engine = Engine()
    engine.load(open_model(record_of(material("stories260k"))))
    try:
        for seed in range(4):
            found = ask(engine, schema(PERSON), sampling=drawn(1.0, seed))
            assert found.done_reason is DoneReason.STOP
            jsonschema.validate(json.loads(found.text), PERSON)
        assert ask(engine, Grammar(GrammarKind.REGEX, "Zoë 🙂ﬀ")).text == "Zoë 🙂ﬀ"
    finally:
        engine.unload()
