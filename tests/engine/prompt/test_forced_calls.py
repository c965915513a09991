"""Constrained answers of real engines: forced tool calls, and formats after a thought."""

import json
import re
from itertools import product

import jsonschema
import pytest

from generating import GREEDY
from sotto.engine.contract.answer_parts import Kind
from sotto.engine.contract.events import DoneReason, TextChunk
from sotto.engine.contract.requests import (
    GenerateRequest,
    Grammar,
    GrammarKind,
    Message,
    Overflow,
    SamplingOptions,
    Think,
)
from sotto.engine.contract.tool_choice import ToolChoice
from sotto.engine.engine import Engine
from sotto.engine.parsing.families import STORED
from sotto.engine.prompt.answer_constraints import Constraints
from sotto.engine.prompt.templates import ChatTemplate
from sotto.engine.prompt.tools import read_tools
from sotto.errors import InvalidRequestError
from sotto.runner.catalogue import find
from sotto.store.opening import open_model, record_of
from thinking_models import DEEPSEEK, FAMILIES, GLM, HARMONY, HERMES, LLAMA, MISTRAL, QWEN_CODER, write_family
from thoroughness import share, some
from vocabularies import tokenizer

QUESTION = (Message("user", "Find it."),)
FIND = {
    "type": "object",
    "properties": {
        "what": {"type": "string", "maxLength": 6},
        "n": {"type": "integer", "minimum": 0, "maximum": 99},
        "kind": {"enum": ["cat", "dog"]},
    },
    "required": ["n", "kind"],
    "additionalProperties": False,
}
NOTHING = {"type": "object", "properties": {}, "additionalProperties": False}
SCHEMAS = {"find": FIND, "stop": NOTHING}
TOOLS = read_tools([{"name": name, "parameters": schema} for name, schema in SCHEMAS.items()], "tools")
ONE = ToolChoice(required=True, single=True)
PERSON = {
    "type": "object",
    "properties": {"name": {"type": "string", "maxLength": 8}, "age": {"type": "integer", "minimum": 0, "maximum": 9}},
    "required": ["name", "age"],
    "additionalProperties": False,
}
FORMAT = Grammar(GrammarKind.JSON_SCHEMA, json.dumps(PERSON))
LARGE = {"properties": {}, "description": "a" * 400_000}
# Families that write a thought first, on their own or because the prompt has begun it.
THINKING = (HERMES, MISTRAL, HARMONY, GLM, DEEPSEEK)


def random_sampling(seed):
    return SamplingOptions(temperature=1.0, top_k=0, top_p=1.0, seed=seed)


@pytest.fixture(scope="module")
def load(tmp_path_factory):
    """Load a model of a family; one at a time."""
    engine, loaded = Engine(), []

    def of(name):
        if loaded[-1:] != [name]:
            folder = tmp_path_factory.mktemp("models") / name
            engine.load(open_model(record_of(write_family(folder, name))))
            loaded.append(name)
        return engine

    yield of
    engine.unload()


def events_of(engine, messages=QUESTION, **options):
    options = {"sampling": GREEDY, "num_predict": 500} | options
    return list(engine.generate(engine.prepare(GenerateRequest(id="r", messages=messages, **options))))


def ask(engine, messages=QUESTION, **options):
    return events_of(engine, messages, **options)[-1]


def check(calls):
    assert calls
    for call in calls:
        jsonschema.validate(dict(call.arguments), SCHEMAS[call.name])


@pytest.mark.one_in(2)
@pytest.mark.parametrize("name", FAMILIES)
def test_random_weights_call_in_the_syntax_of_their_family(load, name):
    engine = load(name)
    for think, seed in product((Think.OFF, None), range(1, 1 + share(2, 1))):
        end = ask(engine, tools=TOOLS, tool_choice=ONE, think=think, sampling=random_sampling(seed), think_budget=8)
        assert (end.done_reason, len(end.calls)) == (DoneReason.STOP, 1), end
        assert {part.kind for part in end.parts} <= {Kind.TOOL, *(() if think else (Kind.THOUGHT,))}
        check(end.calls)


@pytest.mark.parametrize("name", [HERMES, GLM])
def test_one_tool_by_name_and_several_calls(load, name):
    engine, several = load(name), 0
    # With some of these seeds the model makes more than one call.
    for seed in range(5, 9):
        choice = ToolChoice(required=True, tool="stop")
        end = ask(
            engine, tools=TOOLS, tool_choice=choice, think=Think.OFF, sampling=random_sampling(seed), num_predict=200
        )
        assert {call.name for call in end.calls} == {"stop"}
        check(end.calls)
        several += len(end.calls) > 1
    assert several


def test_calls_stream_as_usual_and_after_other_requests(load):
    engine = load(HERMES)
    free = ask(engine, num_predict=9).token_ids
    events = events_of(engine, tools=TOOLS, tool_choice=ONE, think=Think.OFF)
    chunks = [event for event in events if isinstance(event, TextChunk)]
    assert tuple(piece.call for chunk in chunks for piece in chunk.pieces if piece.call) == events[-1].calls
    assert sum(piece.begins for chunk in chunks for piece in chunk.pieces) == 1
    assert ask(engine, num_predict=9).token_ids == free


@pytest.mark.one_in(2)
@pytest.mark.parametrize("name", some(THINKING, 3))
@pytest.mark.parametrize("budget", [0, 13])
def test_a_thought_comes_before_a_constrained_answer(load, name, budget):
    engine, thoughts = load(name), []
    for seed in range(share(3, 1)):
        asked = {"think": Think.ON, "think_budget": budget, "sampling": random_sampling(seed)}
        end = ask(engine, grammar=FORMAT, **asked)
        assert end.done_reason is DoneReason.STOP
        assert [part.kind for part in end.parts] == [Kind.THOUGHT, Kind.TEXT]
        jsonschema.validate(json.loads(end.text), PERSON)
        thoughts.append(end.thinking)
        end = ask(engine, tools=TOOLS, tool_choice=ONE, **asked)
        assert [part.kind for part in end.parts] == [Kind.THOUGHT, Kind.TOOL]
        check(end.calls)
    assert any(thoughts) is (budget > 0)


@pytest.mark.parametrize("name", THINKING)
def test_with_thoughts_off_a_constrained_answer_comes_at_once(load, name):
    for overflow in Overflow:
        end = ask(load(name), grammar=FORMAT, think=Think.OFF, overflow=overflow)
        assert end.done_reason is DoneReason.STOP
        assert {part.kind for part in end.pieces} == {Kind.TEXT}
        jsonschema.validate(json.loads(end.text), PERSON)


def test_an_answer_that_may_begin_like_a_thought_follows_one(load):
    word = Grammar(GrammarKind.REGEX, r"<[a-z]{5}>[a-z]{3}")
    end = ask(load(QWEN_CODER), grammar=word, think_budget=3)
    assert re.fullmatch(word.text, end.text)
    assert not end.thinking
    end = ask(load(GLM), grammar=word, think_budget=3)
    assert re.fullmatch(word.text, end.text)
    assert end.thinking


def test_a_thought_that_is_never_closed_is_the_whole_answer(load):
    events = events_of(load(GLM), grammar=FORMAT, num_predict=30)
    end = events[-1]
    assert (end.done_reason, end.text) == (DoneReason.LENGTH, "")
    assert "".join(piece.text for event in events[:-1] for piece in getattr(event, "pieces", ())).strip()
    assert {part.kind for part in end.parts} == {Kind.THOUGHT}


@pytest.mark.parametrize("name", [HERMES, GLM, HARMONY])
def test_an_answer_that_was_cut_is_continued(load, name):
    engine = load(name)
    whole = ask(engine, grammar=FORMAT, think=Think.ON, think_budget=6)
    for cut in (2, 5, len(whole.text) - 3):
        begun = f"<think>\nHm.\n</think>\n\n{whole.text[:cut]}"
        rest = ask(engine, (*QUESTION, Message("assistant", begun)), grammar=FORMAT, think=Think.ON)
        assert {part.kind for part in rest.pieces} == {Kind.TEXT}
        jsonschema.validate(json.loads(whole.text[:cut] + rest.text), PERSON)
    begun = ask(engine, (*QUESTION, Message("assistant", "<think>\nHm")), grammar=FORMAT, think_budget=4)
    assert [part.kind for part in begun.parts] == [Kind.THOUGHT, Kind.TEXT]
    jsonschema.validate(json.loads(begun.text), PERSON)


@pytest.mark.parametrize("single", [True, False])
def test_only_the_first_of_several_calls_counts_where_one_is_allowed(load, single):
    choice = ToolChoice(single=single)
    request = GenerateRequest("r", QUESTION, tools=TOOLS, tool_choice=choice, sampling=GREEDY, think=Think.OFF)
    parser = load(LLAMA).prepare(request).parser()
    answer = '{"name": "stop", "parameters": {}}; {"name": "find", "parameters": {"n": 1}}'
    pieces = [piece for char in answer for piece in parser.feed(char)] + parser.finish()
    assert [piece.call.name for piece in pieces if piece.call] == ["stop", "find"][: 1 if single else 2]
    assert parser.called is single


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"tools": ()}, "tool_choice asks for the call of a tool, and there is none; give tools."),
        ({"tool_choice": ToolChoice(True, "fly")}, "tool_choice asks for fly, and tools has only find, stop."),
        ({"grammar": FORMAT}, "An answer cannot be what both format and tool_choice ask for"),
        ({"ignore_eos": True}, "ignore_eos cannot be combined with tool_choice"),
        ({"sampling": None, "options": {"stop": ["x"]}}, "stop would cut an answer short that tool_choice asks for"),
        ({"messages": (), "prompt": "x"}, "tool_choice cannot be combined with a raw prompt"),
        (
            {"messages": (*QUESTION, Message("assistant", "I"))},
            "the conversation ends with an answer to continue",
        ),
        (
            {"tools": read_tools([{"name": "a", "parameters": {"properties": {}, "not": {}}}], "tools")},
            r"tools\[0\]\.function\.parameters cannot be guaranteed: not is not supported here\.",
        ),
        (
            {"tools": read_tools([{"name": "a", "parameters": {"type": "array", "items": {}}}], "tools")},
            r"tools\[0\]\.function\.parameters\.type must be object: a call has arguments by name\.",
        ),
        (
            {"tools": read_tools([{"name": "a", "description": "", "parameters": LARGE}] * 1, "tools") * 3},
            r"tools have \d+ bytes of schemas in all; from 1 to 1048576 \(1\.05 MB\) are allowed where tool_choice",
        ),
    ],
)
def test_impossible_requests_are_refused(load, options, message):
    with pytest.raises(InvalidRequestError, match=message):
        ask(load(HERMES), **{"tools": TOOLS, "tool_choice": ONE} | options)


@pytest.mark.parametrize("name", ["llama-spm", "qwen2", "stories260k"])
def test_text_written_for_a_model_is_spelled_exactly(name):
    """Some tokenizers would put a space in front of it."""
    own = tokenizer(name)
    text = "\n</think>\n\n"
    tokens = Constraints(STORED, ChatTemplate(""), own, own.vocab_size).encode(text)
    assert b"".join(map(own.token_bytes, tokens)) == text.encode()
    assert text.encode().startswith(own.token_bytes(tokens[0]))


def test_a_family_whose_calls_cannot_be_forced_is_refused(load):
    engine = Engine()
    engine.load(open_model(find("sotto")))
    try:
        with pytest.raises(
            InvalidRequestError, match=r"knows nothing of tools|tool_choice: a call cannot be guaranteed"
        ):
            ask(engine, tools=TOOLS, tool_choice=ONE)
    finally:
        engine.unload()
