"""Errors as text: their places, and no values."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sotto.errors import BrokenModelError
from sotto.reports.traces import describe, place, safe_message, without_values

WORDS = "what is my illness"


def raised(function) -> BaseException:
    with pytest.raises(BaseException) as info:
        function()
    return info.value


@pytest.mark.parametrize(
    ("fail", "said"),
    [
        (lambda: int(WORDS), "invalid literal for int() with base 10: …"),
        (lambda: {}[WORDS], "…"),
        (lambda: json.loads(f'"{WORDS}'), "Unterminated string starting at: line 1 column 1 (char 0)"),
        (lambda: open(f"/nowhere/{WORDS}"), "No such file or directory"),  # noqa: SIM115, PTH123
        (lambda: None.text, "'NoneType' object has no attribute 'text'"),
        (lambda: getattr(None, WORDS), "…"),
        (lambda: WORDS.encode("ascii", "strict") + 1, "can't concat int to bytes"),
        (lambda: "ä".encode("ascii"), "… in position 0: ordinal not in range(128)"),
        (lambda: exec(f"raise ValueError({WORDS.split()[-1]!r})"), ""),
        (lambda: exec(f"raise ValueError([{WORDS!r}, 3])"), "…"),
        (lambda: exec("raise RuntimeError('[matmul] shapes (1,2) and (3,4) do not fit')"), None),
    ],
)
def test_messages_say_what_is_wrong_without_the_value(fail, said):
    error = raised(fail)
    message = safe_message(error)
    assert "illness" not in message
    assert message == (str(error) if said is None else said)


def test_sentences_for_people_stay():
    message = "The model's config.json has no field hidden_size, which should be a number."
    assert safe_message(BrokenModelError(message)) == message


@given(st.text(max_size=60), st.sampled_from(["{!r}", '"{}"', "“{}”", "['{}', 2]", '{{"a": "{}"}}']))
def test_quoted_values_are_left_out(value, form):
    value = f"CANARY{value}CANARY"
    quoted = form.replace("{!r}", "%s").replace("{}", "%s").replace("{{", "{").replace("}}", "}")
    text = f"not a number: {quoted % (repr(value) if form == '{!r}' else value)} at line 3"
    assert "CANARY" not in without_values(text)


def test_causes_and_groups_are_described():
    def fail():
        try:
            int("a b")
        except ValueError as error:
            raise BaseExceptionGroup("a group of errors", [KeyError("c d"), OSError(2, "No such file")]) from error

    error = raised(fail)
    lines = describe(error).splitlines()
    assert "ValueError: invalid literal for int() with base 10: …" in lines
    assert "KeyError: …" in lines
    assert "FileNotFoundError: No such file" in lines
    assert any(line.endswith(" fail") and "test_traces.py:" in line for line in lines)
    assert "test_traces.py:" in place(error)


def test_endless_recursions_and_circles_are_short():
    def again():
        again()

    text = describe(raised(again))
    assert len(text.splitlines()) < 90
    assert "RecursionError: maximum recursion depth exceeded" in text
    one, two = ValueError("a b"), ValueError("c d")
    one.__cause__, two.__cause__ = two, one
    assert describe(one).splitlines() == ["ValueError: c d", "Then:", "ValueError: a b"]
