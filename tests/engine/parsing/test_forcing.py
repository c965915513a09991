"""Grammars of calls: they accept only texts that are parsed as calls."""

import json

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st

from material import ROOT
from sotto.engine.contract.answer_parts import Kind, calls_of
from sotto.engine.parsing.answer_parser import parse_answer
from sotto.engine.parsing.families import HARMONY, family_of
from sotto.engine.parsing.forcing import CallableTool, calls_rules
from sotto.engine.parsing.lead_reader import lead_of
from sotto.errors import InvalidRequestError
from thoroughness import examples, share, some
from walking import byte_level, walks

llguidance = pytest.importorskip("llguidance")

SCHEMA = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"], "additionalProperties": False}
SCHEMAS = {
    "find": SCHEMA,
    "say": {"type": "object", "properties": {"what": {"enum": ["a", "b"]}}, "required": ["what"]},
}
TEMPLATES = {
    "<tool_call>": '<tool_call>\n{"name": "find", "arguments": {"n": 3}}\n</tool_call>',
    "[TOOL_CALLS]": '[TOOL_CALLS][{"name": "find", "arguments": {"n": 3}}]',
    "<|tool_call|>": '<|tool_call|>[{"name": "find", "arguments": {"n": 3}}]',
    "<tool_calls>": '<tool_calls>[{"name": "find", "arguments": {"n": 3}}]</tool_calls>',
    "<TOOLCALL>": '<TOOLCALL>[{"name": "find", "arguments": {"n": 3}}]</TOOLCALL>',
    "functools[": 'functools[{"name": "find", "arguments": {"n": 3}}]',
    '"parameters": dictionary of argument name': '{"name": "find", "parameters": {"n": 3}}',
}


def calls_grammar(family, template, tools, tokens):
    """Return the rules of a single call, or None."""
    rules = calls_rules(
        family, template, [CallableTool(name, schema, name) for name, schema in tools.items()], tokens, single=True
    )
    return rules and rules.text


class Bytes:
    """A vocabulary of single bytes, an end token and a special token."""

    eos_token_id, bos_token_id = 256, None
    special_token_ids = (256, 257)

    def __init__(self, mark):
        self.tokens = [bytes([byte]) for byte in range(256)] + [b"<end>", mark.encode()]

    def __call__(self, text):
        return list(text.encode() if isinstance(text, str) else text)


def accepts(grammar, ids, mark="<mark>"):
    """Return whether a grammar accepts tokens, and whether they are complete."""
    wrapped = llguidance.TokenizerWrapper(Bytes(mark))
    matcher = llguidance.LLMatcher(llguidance.LLTokenizer(wrapped), llguidance.LLMatcher.grammar_from_lark(grammar))
    assert not matcher.get_error()
    return matcher.consume_tokens(ids) and matcher.is_accepting()


@pytest.mark.parametrize("template", TEMPLATES)
def test_an_allowed_call_is_parsed(template):
    family, text = family_of(template), TEMPLATES[template]
    grammar = calls_grammar(family, template, SCHEMAS, {})
    assert accepts(grammar, text.encode())
    (call,) = calls_of(parse_answer(text, family, SCHEMAS))
    assert (call.name, call.arguments) == ("find", {"n": 3})
    for wrong in (
        text.replace("find", "fly"),
        text.replace("3", '"3"'),
        text.replace('"n"', '"m"'),
        text[:-1],
        "Yes." + text,
        text.replace("find", "say"),
    ):
        assert not accepts(grammar, wrong.encode())


def test_a_mark_that_is_a_special_token_is_that_token():
    family = family_of("[TOOL_CALLS]")
    grammar = calls_grammar(family, "[TOOL_CALLS]", SCHEMAS, {"[TOOL_CALLS]": 257})
    rest = b'[{"name": "say", "arguments": {"what": "a"}}]'
    assert accepts(grammar, [257, *rest], "[TOOL_CALLS]")
    assert not accepts(grammar, [*b"[TOOL_CALLS]", *rest], "[TOOL_CALLS]")


@examples(30)
@given(st.sampled_from(sorted(TEMPLATES)), st.text("ab_-.9", min_size=1, max_size=6), st.integers())
def test_any_names_of_tools(template, name, number):
    family = family_of(template)
    key = "parameters" if "parameters" in template else "arguments"
    renamed = json.dumps({"name": name, key: {"n": number}})
    text = TEMPLATES[template].replace(json.dumps({"name": "find", key: {"n": 3}}), renamed)
    assert accepts(calls_grammar(family, template, {name: SCHEMA}, {}), text.encode())
    assert calls_of(parse_answer(text, family, {name: SCHEMA}))[0].arguments == {"n": number}


@pytest.mark.parametrize("template", ["nothing", "{{ tools }}", "<tool_calls_of_mine>"])
def test_other_syntaxes_have_no_grammar(template):
    assert calls_grammar(family_of(template), template, SCHEMAS, {}) is None


FOLDER = ROOT / "chat-templates"
# A published template for each syntax of calls.
PUBLISHED = (
    "Apertus-8B-Instruct", "ByteDance-Seed-OSS", "CohereForAI-c4ai-command-r7b-12-2024-tool_use", "GLM-4.6",
    "GLM-4.7-Flash", "GigaChat3.1-10B-A1.8B", "LFM2.5-8B-A1B", "MiniMax-M2", "Mistral-Small-3.2-24B-Instruct-2506",
    "NVIDIA-Nemotron-Nano-v2", "Qwen-Qwen3-0.6B", "Qwen3-Coder", "deepseek-ai-DeepSeek-V3.2", "google-gemma-4-31B-it",
    "ibm-granite-granite-3.3-2B-Instruct", "llama-cpp-deepseek-r1", "meetkai-functionary-medium-v3.1",
    "meta-llama-Llama-3.1-8B-Instruct", "mistralai-Mistral-Nemo-Instruct-2407", "moonshotai-Kimi-K2",
    "openai-gpt-oss-120b", "unsloth-Apriel-1.5",
)  # fmt: skip
MANY = {
    "find": {
        "type": "object",
        "properties": {
            "what": {"type": "string", "maxLength": 6},
            "n": {"type": "integer", "minimum": -99, "maximum": 99},
            "kind": {"type": "string", "enum": ["a", 'b "c"']},
            "deep": {
                "type": "object",
                "properties": {"x": {"type": ["string", "null"], "maxLength": 4}, "y": {"$ref": "#/$defs/list"}},
                "additionalProperties": False,
            },
        },
        "required": ["n"],
        "additionalProperties": False,
        "$defs": {"list": {"type": "array", "items": {"type": "boolean"}, "maxItems": 3}},
    },
    "go.on-2": {"type": "object", "properties": {}, "additionalProperties": False},
}


# Whether marks are tokens, and whether only one call is allowed.
WAYS = ((False, True), (True, False), (False, False), (True, True))


@pytest.mark.one_in(3)
@pytest.mark.parametrize("name", some(PUBLISHED, 11))
def test_every_allowed_answer_is_a_call_that_validates(name):
    """Covers every syntax, marks that are tokens or texts, answers with or without a thought, one call or several."""
    template = (FOLDER / f"{name}.jinja").read_text(encoding="utf-8")
    family, tools = family_of(template), [CallableTool(name, schema, name) for name, schema in MANY.items()]
    completed = 0
    # Marks that could begin a word or a value are not made tokens.
    marks = sorted(mark for mark in family.marks if not mark.isalpha() and mark not in ("{", "<function="))
    for special, single in WAYS[: share(4, 2)]:
        tokenizer = byte_level(marks if special else ())
        rules = calls_rules(family, template, tools, tokenizer.special, single=single)
        lead = lead_of(family, None, calls=True) if family.thinks else None
        for walk in walks(family, rules, tokenizer, range(share(2, 1)), tools=MANY, lead=lead, single=single):
            if not walk.complete:
                continue
            completed += 1
            assert {part.kind for part in walk.parts} <= {Kind.THOUGHT, Kind.TOOL}, walk.text
            calls = calls_of(walk.parts)
            assert len(calls) == 1 if single else calls, walk.text
            for call in calls:
                jsonschema.validate(dict(call.arguments), MANY[call.name])
            if name == "moonshotai-Kimi-K2":
                assert len({call.id.rpartition(":")[2] for call in calls}) == len(calls)
    assert completed


TAGGED = family_of("<tool_call><arg_key>")


def tagged(schema):
    """Return the rules of a call with one argument between tags."""
    parameters = {"type": "object", "properties": {"what": schema}, "required": ["what"]}
    tools = [CallableTool("find", parameters, "tools[0].function.parameters")]
    return calls_rules(TAGGED, "<tool_call><arg_key>", tools, {}, single=True)


def of_tag(text):
    line = "<arg_key>what</arg_key>\n<arg_value>"
    return f"<tool_call>find\n{line}{text}</arg_value>\n</tool_call>".encode()


@pytest.mark.parametrize(
    ("schema", "right", "wrong"),
    [
        ({"type": "string"}, ["", 'é "x" </tool_call>\n', "3"], ["</arg_value>"]),
        ({"type": "string", "minLength": 2, "maxLength": 3}, ["ab", "äöü"], ["a", "abcd"]),
        ({"type": "string", "pattern": "^[a-c]+/$"}, ["ab/"], ["ab", "xab/", ""]),
        ({"type": "string", "pattern": "[0-9]"}, ["a1\nb", "1"], ["ab"]),
        ({"type": "string", "enum": ["a", "b c", 5]}, ["a", "b c"], ["5", "ab"]),
        ({"type": "string", "const": "x", "description": "d"}, ["x"], ["y"]),
        ({"enum": ["a", 5]}, ['"a"', "5"], ["a"]),
        ({"type": ["string", "null"]}, ['"a"', "null"], ["a"]),
        ({}, ['{"a": [1]}'], ["a"]),
        (True, ["3"], ["a"]),
        ({"type": "object"}, ['{"a": "</arg_value>"}', "{}"], ["[]"]),
        ({"type": ["string", "null"]}, ['"</arg_value> \\" {"'], []),
    ],
)
def test_strings_between_tags_match_their_schema(schema, right, wrong):
    grammar = tagged(schema).text
    for text in right:
        assert accepts(grammar, of_tag(text)), text
        (call,) = calls_of(parse_answer(of_tag(text).decode(), TAGGED, {"find": {"properties": {"what": schema}}}))
        jsonschema.validate(call.arguments["what"], schema)
    for text in wrong:
        assert not accepts(grammar, of_tag(text)), text


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        (
            {"properties": {"a": {"type": "string", "format": "date"}}},
            r"tools\[0\].properties.a: format cannot be guar",
        ),
        ({"properties": {"a": {"type": "string", "pattern": "a", "enum": ["a"]}}}, "a: pattern beside enum or const"),
        ({"properties": {"a": {"type": "string", "enum": ["</arg_value>"]}}}, "a: enum or const without a text"),
        ({"properties": {"a b": {}}}, "a property called 'a b' cannot be guaranteed in the way in which this model"),
        ({"properties": {}, "anyOf": [{}]}, r"tools\[0\]: anyOf cannot be guaranteed"),
        ({"properties": {}, "required": ["b"]}, r"tools\[0\]: required names b, which is not a property"),
    ],
)
def test_schemas_that_tags_cannot_guarantee_are_refused(parameters, message):
    with pytest.raises(InvalidRequestError, match=message):
        calls_rules(TAGGED, "<tool_call><arg_key>", [CallableTool("find", parameters, "tools[0]")], {})


def test_any_optional_argument_may_be_missing():
    parameters = {"type": "object", "properties": {key: {"type": "integer"} for key in "abc"}, "required": ["b"]}
    template = "<|tool_call>"
    rules = calls_rules(family_of(template), template, [CallableTool("f", parameters, "t")], {}, single=True)
    for arguments, taken in (("b:1", True), ("a:1,b:2", True), ("b:1,c:2", True), ("a:1,b:2,c:3", True), ("a:1", False),
                        ("b:1,", False), (",b:1", False), ("a:1,,b:2", False), ("", False)):  # fmt: skip
        assert accepts(rules.text, f"<|tool_call>call:f{{{arguments}}}<tool_call|>".encode()) is taken, arguments


def test_harmony_calls_one_function_in_its_channel():
    tokens = {"<|channel|>": 257}
    grammar = calls_grammar(HARMONY, "", SCHEMAS, tokens)
    body = b'commentary to=functions.find <|constrain|>json<|message|>{"n":3}'
    assert accepts(grammar, [257, *body], "<|channel|>")
    assert not accepts(grammar, [257, *body.replace(b"find", b"fly")], "<|channel|>")
    (call,) = calls_of(parse_answer(f"<|channel|>{body.decode()}", HARMONY, SCHEMAS))
    assert (call.name, call.arguments) == ("find", {"n": 3})
