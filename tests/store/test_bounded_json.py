"""Untrusted JSON: parsed as by any other parser, or refused with a one-sentence message."""

import json
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sotto.errors import BrokenModelError
from sotto.store.bounded_json import FILE_LIMIT, kind_of, parse_object, read_object
from stores import assert_line, assert_sentence

FILE = Path("/models/config.json")
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)


def refusal(data, strict=False):
    with pytest.raises(BrokenModelError) as refused:
        parse_object(data, FILE, strict=strict)
    assert_sentence(refused.value.message, FILE)
    return refused.value.message


@given(st.dictionaries(st.text(), VALUES), st.booleans(), st.sampled_from([None, 1]))
def test_an_object_is_read_as_it_was_written(value, ascii_only, indent):
    text = json.dumps(value, ensure_ascii=ascii_only, indent=indent)
    assert parse_object(text.encode(), FILE, strict=False) == value


@pytest.mark.parametrize(
    ("data", "wrong"),
    [
        (b"", "is not JSON: expecting value"),
        (b"{", "is not JSON"),
        (b'{"a": 1', "is not JSON"),
        (b'{"a": 1}}', "is not JSON: extra data"),
        (b'{"a": "\n"}', "is not JSON: invalid control character"),
        (b'{"a": "\\q"}', "is not JSON: invalid \\escape"),
        (b"{'a': 1}", "is not JSON"),
        (b"\xff\xfe{}", "is not UTF-8 at byte 0"),
        (b'{"a": "\xc3("}', "is not UTF-8 at byte 7"),
        (b"\xef\xbb\xbf{}", "is not JSON: unexpected UTF-8 BOM"),
        (b"[1]", "holds a list; it should be a JSON object"),
        (b'"a"', "holds a text"),
        (b"null", "holds null"),
        (b"true", "holds true or false"),
        (b"1.5", "holds a number"),
        (b'{"a": "\\ud800"}', "half a surrogate pair"),
        (b'{"\\uDFFF": 1}', "half a surrogate pair"),
        (b'{"a": ' + b"9" * 5000 + b"}", "more digits than can be read"),
        (b'{"a": ' + b"[" * 100 + b"]" * 100 + b"}", "nested more than 32 deep"),
        (b'{"a": ' + b"[" * 100 + b"}", "brackets do not match"),
    ],
)
def test_anything_but_an_object_is_refused(data, wrong):
    assert wrong in refusal(data)


@pytest.mark.parametrize(
    ("data", "wrong"),
    [
        (b'{"a": 1, "b": 2, "a": 3}', "'a' is there twice"),
        (b'{"x": {"\\u0007": 1, "\\u0007": 1}}', "'\\x07' is there twice"),
        (b'{"a": NaN}', "NaN is not a JSON number"),
        (b'{"a": [-Infinity]}', "-Infinity is not a JSON number"),
        (b'{"a": [[[[[[[[[[[[[[[[[[0]]]]]]]]]]]]]]]]]]}', "nested more than 8 deep"),
    ],
)
def test_a_strict_reader_refuses_ambiguous_json(data, wrong):
    assert wrong in refusal(data, strict=True)
    parse_object(data, FILE, strict=False)


def test_a_whole_surrogate_pair_is_a_character():
    assert parse_object(b'{"a": "\\ud83d\\ude00", "b": "\\\\ud800"}', FILE, strict=True) == {"a": "😀", "b": "\\ud800"}


@pytest.mark.parametrize("begin", [b"[", b'{"a":', b'[{"a":', b'["\\"",'])
def test_200_000_brackets_are_refused(begin):
    refusal(begin * 200_000)
    refusal(b'{"a": ' + begin * 200_000)


@pytest.mark.parametrize(
    "text", ["[" * 1000, '\\"' + "[" * 1000, "\\\\", '\\\\\\"[[[' + "{" * 900, "]" * 500 + "\\\\", "\\n\\\\" + "[" * 99]
)
def test_brackets_in_texts_do_not_count(text):
    data = f'{{"a": "{text}", "b": ["{text}"]}}'.encode()
    assert parse_object(data, FILE, strict=True) == json.loads(data)


@given(st.text(alphabet='[]{}",\\:1a ', max_size=40))
def test_brackets_are_counted_as_the_reader_sees_them(text):
    try:
        expected = json.loads(text)
    except ValueError:
        expected = None
    if isinstance(expected, dict):
        assert parse_object(text.encode(), FILE, strict=False) == expected
    else:
        refusal(text.encode())


@pytest.mark.parametrize("piece", [1, 2, 3, 5, 1 << 20])
def test_texts_across_piece_boundaries_are_read(monkeypatch, piece):
    monkeypatch.setattr("sotto.store.bounded_json._PIECE", piece)
    value = {"a": "[[[[", "[": ["]]]", '"[', {"{": "[" * 50}], "b": ["[", "[["]}
    assert parse_object(json.dumps(value).encode(), FILE, strict=True) == value
    assert "nested more than 8 deep" in refusal(b'{"[]": ' + b"[" * 30 + b'"]"' + b"]" * 30 + b"}", strict=True)


@settings(deadline=None)
@given(st.binary(max_size=80), st.booleans())
def test_any_bytes_are_an_object_or_refused(data, strict):
    try:
        assert isinstance(parse_object(data, FILE, strict=strict), dict)
    except BrokenModelError as error:
        assert_line(error.message, FILE)


def test_a_path_with_control_characters_is_shown_on_one_line():
    with pytest.raises(BrokenModelError) as refused:
        parse_object(b"x", Path("/a\nb\x1b[31m\u202e.json"), strict=False)
    assert_sentence(refused.value.message, "/a\\x0ab\\x1b[31m\\u202e.json")


def test_an_oversized_file_is_not_read(tmp_path):
    path = tmp_path / "config.json"
    with path.open("wb") as file:
        file.truncate(FILE_LIMIT + 1)
    with pytest.raises(BrokenModelError, match="too much for a JSON file") as refused:
        read_object(path)
    assert_sentence(refused.value.message, path)


def test_kinds_are_named_as_in_json():
    values = [None, True, 1, 1.5, "", [], {}]
    assert [kind_of(value) for value in values] == [
        "null", "true or false", "a number", "a number", "a text", "a list", "an object"
    ]  # fmt: skip
