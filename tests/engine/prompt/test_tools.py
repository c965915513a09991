"""Tools that a model may call, read from files and requests."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sotto.engine.prompt.tools import read_tools, tools_of_file
from sotto.errors import InvalidRequestError

WEATHER = {
    "type": "function",
    "function": {
        "name": "get_weather",
        "description": "Tells the weather.",
        "parameters": {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]},
    },
}


def test_functions_are_read_as_they_are(tmp_path):
    path = tmp_path / "tools.json"
    path.write_text(json.dumps([WEATHER]), encoding="utf-8")
    assert tools_of_file(path) == (WEATHER,)
    assert read_tools([WEATHER["function"]], "tools") == (WEATHER,)
    (bare,) = read_tools([{"type": "function", "function": {"name": "now"}}], "tools")
    assert bare["function"] == {"name": "now", "description": "", "parameters": {"type": "object", "properties": {}}}


@pytest.mark.parametrize(
    ("value", "sentence"),
    [
        ({}, "tools holds no list; it should be a list of functions."),
        ([3], 'tools[0] is not an object; it should be one with "type" and "function".'),
        ([{"type": "web"}], "tools[0].type is 'web'; \"function\" is all that there is."),
        ([{"type": "function"}], 'tools[0].function is not an object; it should be one with "name" and "parameters".'),
        (
            [{"function": {"name": "a b"}}],
            "tools[0].function.name is 'a b'; it should be a name of letters, digits, _, . and -.",
        ),
        (
            [{"function": {"name": "a", "description": 3}}],
            "tools[0].function.description is not text; it should say what the function does.",
        ),
        (
            [{"function": {"name": "a", "parameters": []}}],
            "tools[0].function.parameters is not a JSON schema of an object with properties.",
        ),
        (
            [{"function": {"name": "a", "parameters": {"properties": []}}}],
            "tools[0].function.parameters is not a JSON schema of an object with properties.",
        ),
        ([WEATHER, WEATHER], "tools describes get_weather twice; each function needs a name of its own."),
    ],
)
def test_errors_are_sentences(value, sentence):
    with pytest.raises(InvalidRequestError) as error:
        read_tools(value, "tools")
    assert str(error.value) == sentence


@pytest.mark.parametrize("text", ["", "[", "\xff", '"tools"', "[" * 100_000, "[1" + "0" * 5000 + "]"])
def test_a_file_that_is_no_list_of_functions(tmp_path, text):
    path = tmp_path / "tools.json"
    path.write_bytes(text.encode("latin-1"))
    with pytest.raises(InvalidRequestError, match=r"tools\.json[^\n]{1,300}\.$"):
        tools_of_file(path)
    with pytest.raises(InvalidRequestError, match=r"none\.json[^\n]{1,200}\.$"):
        tools_of_file(tmp_path / "none.json")


anything = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["type", "function", "name", "parameters", "properties", "description"]), inner, max_size=4
        )
    ),
    max_leaves=12,
)


@given(anything)
def test_any_value_is_read_or_refused_in_a_sentence(value):
    try:
        read_tools(value, "tools")
        sentence = "It is read."
    except InvalidRequestError as error:
        sentence = str(error)
    assert sentence.endswith(".")
    assert "\n" not in sentence
