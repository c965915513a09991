"""Grammars of calls: what they let through is read as a call, and nothing else is let through."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sotto.engine.parsing.families import HARMONY, family_of
from sotto.engine.parsing.forcing import calls_grammar
from sotto.engine.parsing.parser import parsed
from sotto.engine.parsing.pieces import calls_of
from transcripts import TOOLS

llguidance = pytest.importorskip("llguidance")

SCHEMA = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"], "additionalProperties": False}
GIVEN = {"find": SCHEMA, "say": {"type": "object", "properties": {"what": {"enum": ["a", "b"]}}, "required": ["what"]}}
TEMPLATES = {
    "<tool_call>": '<tool_call>\n{"name": "find", "arguments": {"n": 3}}\n</tool_call>',
    "[TOOL_CALLS]": '[TOOL_CALLS][{"name": "find", "arguments": {"n": 3}}]',
    "<|tool_call|>": '<|tool_call|>[{"name": "find", "arguments": {"n": 3}}]',
    "<tool_calls>": '<tool_calls>[{"name": "find", "arguments": {"n": 3}}]</tool_calls>',
    "<TOOLCALL>": '<TOOLCALL>[{"name": "find", "arguments": {"n": 3}}]</TOOLCALL>',
    "functools[": 'functools[{"name": "find", "arguments": {"n": 3}}]',
    '"parameters": dictionary of argument name': '{"name": "find", "parameters": {"n": 3}}',
}


class Bytes:
    """Tokens that are one byte each, with an end and one special token behind them."""

    eos_token_id, bos_token_id = 256, None
    special_token_ids = (256, 257)

    def __init__(self, mark):
        self.tokens = [bytes([byte]) for byte in range(256)] + [b"<end>", mark.encode()]

    def __call__(self, text):
        return list(text.encode() if isinstance(text, str) else text)


def lets_through(grammar, ids, mark="<mark>"):
    """Tell whether a grammar takes tokens, and whether they are all that it wants."""
    wrapped = llguidance.TokenizerWrapper(Bytes(mark))
    matcher = llguidance.LLMatcher(llguidance.LLTokenizer(wrapped), llguidance.LLMatcher.grammar_from_lark(grammar))
    assert not matcher.get_error()
    return matcher.consume_tokens(ids) and matcher.is_accepting()


@pytest.mark.parametrize("template", TEMPLATES)
def test_a_call_is_let_through_and_read(template):
    family, text = family_of(template), TEMPLATES[template]
    grammar = calls_grammar(family, template, GIVEN, {})
    assert lets_through(grammar, text.encode())
    (call,) = calls_of(parsed(text, family, GIVEN))
    assert (call.name, call.arguments) == ("find", {"n": 3})
    for wrong in (
        text.replace("find", "fly"),
        text.replace("3", '"3"'),
        text.replace('"n"', '"m"'),
        text[:-1],
        "Yes." + text,
        text.replace("find", "say"),
    ):
        assert not lets_through(grammar, wrong.encode())


def test_a_mark_that_is_a_special_token_is_that_token():
    family = family_of("[TOOL_CALLS]")
    grammar = calls_grammar(family, "[TOOL_CALLS]", GIVEN, {"[TOOL_CALLS]": 257})
    rest = b'[{"name": "say", "arguments": {"what": "a"}}]'
    assert lets_through(grammar, [257, *rest], "[TOOL_CALLS]")
    assert not lets_through(grammar, [*b"[TOOL_CALLS]", *rest], "[TOOL_CALLS]")


@settings(max_examples=30, deadline=None)
@given(st.sampled_from(sorted(TEMPLATES)), st.text("ab_-.9", min_size=1, max_size=6), st.integers())
def test_whatever_tools_are_called(template, name, number):
    family = family_of(template)
    key = "parameters" if "parameters" in template else "arguments"
    told = json.dumps({"name": name, key: {"n": number}})
    text = TEMPLATES[template].replace(json.dumps({"name": "find", key: {"n": 3}}), told)
    assert lets_through(calls_grammar(family, template, {name: SCHEMA}, {}), text.encode())
    assert calls_of(parsed(text, family, {name: SCHEMA}))[0].arguments == {"n": number}


@pytest.mark.parametrize("template", ["<tool_call><arg_key>", "<tool_call><function=", "｜DSML｜", "nothing"])
def test_other_ways_have_no_grammar(template):
    assert calls_grammar(family_of(template), template, TOOLS, {}) is None
    assert calls_grammar(HARMONY, template, TOOLS, {}) is None
    assert calls_grammar(family_of("<tool_call>"), "<tool_call>", {}, {}) is None
