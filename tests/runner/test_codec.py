"""Encoding values as lines, decoding them, and refusing invalid lines."""

import json
import types
from dataclasses import fields
from pathlib import Path
from typing import Any, get_args, get_origin, get_type_hints

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sotto.engine.contract.events import Event, Loaded, ModelInfo
from sotto.engine.contract.requests import GenerateRequest, Message, Overflow, SamplingOptions
from sotto.runner.codec import WIRE_CLASSES, Lines, WireError, decode, encode
from sotto.runner.commands import Command, Generate, Load
from sotto.store.records import Format, ModelRecord, Place, Source

# File names that are not valid text contain lone surrogates.
texts = st.one_of(st.text(max_size=8), st.text(st.characters(categories=["Cs", "L"]), max_size=4))
floats = st.one_of(st.floats(allow_nan=False), st.integers(-5, 5))
plain = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=6,
)
LEAVES = {
    str: texts,
    int: st.integers(),
    float: floats,
    bool: st.booleans(),
    type(None): st.none(),
    Any: plain,
    bytes: st.binary(max_size=4),
    Path: texts.filter(lambda text: "\0" not in text).map(Path),
    Overflow: st.sampled_from(Overflow),
}


def values_of(wanted):
    """Return a strategy for the values of a type annotation."""
    if wanted in LEAVES:
        return LEAVES[wanted]
    origin, arguments = get_origin(wanted), get_args(wanted)
    if origin is tuple and arguments[-1] is not ...:
        return st.tuples(*map(values_of, arguments))
    if origin is tuple:
        return st.lists(values_of(arguments[0]), max_size=3).map(tuple)
    if isinstance(wanted, types.UnionType):
        return st.one_of(*map(values_of, arguments))
    if origin is not None:
        return st.dictionaries(texts, plain, max_size=3)
    if hasattr(wanted, "__members__"):
        return st.sampled_from(wanted)
    hints = get_type_hints(wanted)
    return st.builds(wanted, **{field.name: values_of(hints[field.name]) for field in fields(wanted) if field.init})


@pytest.mark.parametrize("kind", WIRE_CLASSES.values(), ids=WIRE_CLASSES)
def test_every_value_survives_a_round_trip(kind):
    @given(values_of(kind))
    def comes_back(value):
        line = encode(value)
        assert line.count(b"\n") == 1
        assert line.endswith(b"\n")
        back = decode(line)
        assert back == value
        assert repr(back) == repr(value)

    comes_back()


def test_all_events_and_commands_can_be_encoded():
    names = {kind.__name__ for kind in get_args(Event)} | {kind.__name__ for kind in get_args(Command)}
    assert names <= WIRE_CLASSES.keys()


def test_a_line_is_readable_json():
    request = GenerateRequest("7", (Message("user", "hé"),), sampling=SamplingOptions(temperature=0), stop=("\n",))
    read = json.loads(encode(Generate(request)))
    assert read["is"] == "Generate"
    defaults = {"thinking": "", "tool_calls": [], "tool_name": "", "tool_call_id": ""}
    assert read["request"]["messages"] == [{"role": "user", "content": "hé", **defaults}]
    assert read["request"]["sampling"]["temperature"] == 0


RECORD = ModelRecord(
    "a",
    "0" * 64,
    1,
    Format.GGUF,
    "llama",
    None,
    "",
    5,
    Source.OLLAMA,
    Path("/x"),
    True,
    also=(Place("b", Source.SOTTO, Path("y")),),
)
LINE = json.loads(encode(Load(RECORD, 4)))


def changed(**changes):
    return json.dumps({**LINE, **changes}).encode()


@pytest.mark.parametrize(
    "line",
    [
        b"",
        b"\xff\xfe",
        b"nothing",
        b"[]",
        b"17",
        b"null",
        b"{}",
        b'{"is": "Path"}',
        b'{"is": ["Load"]}',
        b'{"is": "Unload", "more": 1}',
        b'{"is": "Cancel"}',
        b'{"is": "Cancel", "request_id": 5}',
        b"[" * 100_000,
        b'{"is": "Cancel", "request_id": ' + b"1" * 10_000 + b"}",
        b'{"is": "PrefillProgress", "request_id": "", "done": true, "total": 1, "cached": 1}',
        b'{"is": "PrefillProgress", "request_id": "", "done": 1.0, "total": 1, "cached": 1}',
        b'{"is": "TextChunk", "request_id": "", "text": "", "token_ids": [1, "2"]}',
        b'{"is": "Finished", "done_reason": "tired"}',
        changed(num_ctx="4"),
        changed(record=None),
        changed(record={**LINE["record"], "source": "the moon"}),
        changed(record={**LINE["record"], "runnable": 1}),
        changed(record={**LINE["record"], "__class__": "x"}),
    ],
)
def test_an_invalid_line_is_refused_with_a_short_message(line):
    with pytest.raises(WireError) as error:
        decode(line)
    assert len(error.value.message) < 300


@given(st.binary(max_size=60))
def test_any_bytes_are_a_value_or_an_error(data):
    try:
        decode(data)
    except WireError:
        return


@given(st.lists(st.binary(max_size=6).filter(lambda part: b"\n" not in part), max_size=6), st.integers(1, 7))
def test_lines_are_reassembled_however_they_were_split(parts, size):
    whole, lines, got = b"\n".join([*parts, b""]), Lines(), []
    for place in range(0, len(whole), size):
        got += lines.feed(whole[place : place + size])
    assert got == parts


def test_an_endless_line_is_refused_before_it_fills_memory():
    lines = Lines(1000)
    assert lines.feed(b"x" * 1000) == []
    with pytest.raises(WireError, match="longer than 1000 bytes"):
        lines.feed(b"x")
    with pytest.raises(WireError):
        Lines(3).feed(b"1234\n")


def test_unknown_values_in_the_info_of_a_model_are_kept():
    info = ModelInfo("d", "n", "a", 1, 2, None, "float32", "cpu", True, 3)
    assert decode(encode(Loaded(info))).info == info
