"""The language of Go templates, Ollama's way of rendering conversations, and malicious templates."""

import json
import time
from contextlib import suppress
from datetime import datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from material import ROOT
from sotto.engine.prompt import template_bounds
from sotto.engine.prompt.go_template.formatting import quote
from sotto.engine.prompt.go_template.functions import FUNCTIONS, SHORT_CIRCUIT
from sotto.engine.prompt.go_template.go_values import as_json, print_value
from sotto.engine.prompt.go_template.nodes import GoTemplateError
from sotto.engine.prompt.go_template.template import GoTemplate
from sotto.engine.prompt.sandbox import TemplateRefusedError
from sotto.engine.prompt.template_bounds import TemplateBoundsError
from thoroughness import examples

TALK = [
    {"role": "system", "content": "Be brief."},
    {"role": "user", "content": "What is 2 + 2?"},
    {"role": "assistant", "content": "4"},
    {"role": "user", "content": "héé"},
]
CALL = {"function": {"name": "add", "arguments": {"b": 1, "a": [2.0, "<x>"]}}}
TOOL = {
    "type": "function",
    "function": {
        "name": "add",
        "description": "Adds.",
        "parameters": {"type": "object", "properties": {"b": {"type": ["string", "null"]}, "a": {"type": "array"}}},
    },
}


def render(text, messages=TALK, **variables):
    # A template with `.Messages` is of the newer kind, which is rendered once.
    return GoTemplate("{{ if false }}{{ .Messages }}{{ end }}" + text).render({"messages": messages, **variables})


# The expected results are from the documentation and source of `text/template`.
@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a {{- 1 -}} b", "a1b"),
        ("a {{- /* {{ */ -}} b{{/**/}} c", "ab c"),
        ("{{3}}{{-3}} {{- 3}}", "3-33"),
        ('{{ "x\\ty\\"\\u00e9\\xc3\\xa9\\101" }}{{ `\\n` }}', 'x\ty"ééA\\n'),
        ("{{ 'a' }} {{ 0x1F }} {{ 1_000 }} {{ 1e3 }} {{ 1.50 }} {{ 017 }}", "97 31 1000 1000 1.5 15"),
        ("{{ .Nothing }}{{ if .Nothing }}x{{ else }}y{{ end }}", "<no value>y"),
        ("{{ $x := 1 }}{{ if true }}{{ $x = 2 }}{{ $y := 3 }}{{ end }}{{ $x }}", "2"),
        ("{{ $x := 1 }}{{ if true }}{{ $x := 2 }}{{ $x }}{{ end }}{{ $x }}", "21"),
        ("{{ with .System }}{{ . }}{{ $.Think }}{{ else }}-{{ end }}", "Be brief.false"),
        ("{{ with .Nothing }}-{{ else with .System }}{{ . }}{{ end }}", "Be brief."),
        ("{{ if 0 }}a{{ else if 0.0 }}b{{ else if `` }}c{{ else if .Messages }}d{{ end }}", "d"),
        ("{{ range .Messages }}{{ .Role }},{{ end }}", "system,user,assistant,user,"),
        ("{{ range $m := .Messages }}{{ $m.Content }};{{ end }}", "Be brief.;What is 2 + 2?;4;héé;"),
        ("{{ range $i, $m := .Messages }}{{ if eq $i 1 }}{{ continue }}{{ end }}{{ $i }}{{ end }}", "023"),
        ("{{ range $i, $_ := .Messages }}{{ if eq $i 2 }}{{ break }}{{ end }}{{ $i }}{{ end }}", "01"),
        ("{{ range 3 }}{{ . }}{{ end }}{{ range .Nothing }}{{ else }}none{{ end }}", "012none"),
        ("{{ range $i := 2 }}{{ $i }}{{ end }}", "01"),
        ("{{ define `x` }}[{{ . }}{{ $ }}]{{end}}{{template `x` 5}}{{template `x`}}", "[55][<no value><no value>]"),
        ("{{ block `x` .System }}<{{ . }}>{{ end }}", "<Be brief.>"),
        ("{{ and 1 0 2 }}{{ and 1 2 }}{{ or 0 `` 3 }}{{ or 0 `` }}{{ not 0 }}", "023true"),
        ("{{ and false (index .Messages 99) }}{{ or 1 (len 5) }}", "false1"),
        ("{{ 1 | and 2 }}{{ .System | len | eq 9 }}", "1true"),
        ("{{ eq 1 2 3 1 }}{{ ne `a` `b` }}{{ lt 1 2 }}{{ le 2.5 2.5 }}{{ ge 1 2 }}", "truetruetruetruefalse"),
        ("{{ eq .Nothing nil }}{{ eq .Nothing 1 }}{{ ne .System nil }}", "truefalsetrue"),
        ("{{ len `héé` }}{{ len .Messages }}{{ slice `hello` 1 3 }}{{ slice `abc` 1 }}{{ index `abc` 1 }}", "54elbc98"),
        ("{{ len (slice .Messages 1) }}{{ (index .Messages 3).Content }}", "3héé"),
        ("{{ slice `é` 0 1 }}{{ slice `é` 1 }}|{{ slice `é` 1 }}", "é|�"),
        ("{{ print 1 2 `a` 3 true nil }}", "1 2a3 true <nil>"),
        ("{{ println 1 `a` }}", "1 a\n"),
        ('{{ printf "%d|%5d|%-5d|%05d|%+d|%x|%c" 1 2 3 -4 5 255 97 }}', "1|    2|3    |-0004|+5|ff|a"),
        ('{{ printf "%s|%q|%v|%t|%6.2f|%.2s|%%" `a` "b\\n" 1.5 true 3.14159 `abc`}}', 'a|"b\\n"|1.5|true|  3.14|ab|%'),
        ('{{printf "%*d%d" 3 1}}{{printf "%d" `x`}}{{printf "x" 1}}', "  1%!d(MISSING)%!d(string=x)x%!(EXTRA int=1)"),
        ("{{html `<a href='x'>`}}{{urlquery `a b&é`}}{{js `'x'`}}", "&lt;a href=&#39;x&#39;&gt;a+b%26%C3%A9\\'x\\'"),
        ("{{ json .System }}{{ json nil }}{{ json `<é\\n` }}", '"Be brief."null"\\u003cé\\\\n"'),
        ("{{ .Messages | len | printf `%d.%d` 7 }}", "7.4"),
        ("{{ (print `a` `b`) | printf `%s` }}{{ ((1)) }}", "ab1"),
        ("{{ $x := .System }}{{ len $x }}{{ $.System }}", "9Be brief."),
        ("{{\n.System\n}}", "Be brief."),
    ],
)  # fmt: skip
def test_the_language(text, expected):
    assert render(text) == expected


def test_dates():
    today = datetime.now().strftime("%Y-%m-%d")
    assert render("{{ currentDate }}{{ currentDate `x` }}") == today * 2


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("\n{{ if }}", "line 2: a command is missing"),
        ("{{ if 1 }}", "line 1: a block has no {{ end }}"),
        ("{{ end }}", "line 1: {{ end }} has nothing that it belongs to"),
        ("a\n{{ .System", "line 2: an action has no }}"),
        ("{{ nothing 1 }}", "line 1: there is no function nothing"),
        ("{{ $x }}", "line 1: the variable $x is not declared"),
        ("{{ if 1 }}{{ $x := 1 }}{{ end }}{{ $x }}", "line 1: the variable $x is not declared"),
        ("{{ $x = 1 }}", "line 1: the variable $x is not declared"),
        ("{{ /* x }}", "line 1: '/' has no place in an action"),
        ("{{/* x }}", "line 1: a comment has no end, which would be */"),
        ("{{/* x */ 1}}", "line 1: a comment is not alone between {{ and }}"),
        ("{{ break }}", "line 1: {{ break }} stands in no range"),
        ("{{ 1 2 }}", "line 1: a value that is not a function is given arguments"),
        ("{{ 1 | 2 }}", "line 1: what follows | takes no arguments"),
        ("{{ (1 }}", "line 1: '}}' has no place here"),
        ("{{ .A.B.5 }}", "line 1: '.5' stands too close to what is before it"),
        (
            "{{ 99999999999999999999 }}",
            "line 1: 99999999999999999999 is not a number: 99999999999999999999 is too large",
        ),
        ("{{ 1x }}", "line 1: 'x' cannot follow 1"),
        ('{{ "\\y" }}', 'line 1: "\\y" is not a string: \\y is nothing that Go knows'),
        ("{{ if 1 }}{{ define `x` }}{{ end }}{{ end }}", "line 1: {{ define }} stands inside of a block"),
        ("{{ template x }}", "line 1: template has no name in quotes"),
        ("{{ if 1 }}" * 101 + "{{ end }}" * 101, "line 1: more than 100 blocks and brackets stand in each other"),
        ("{{ " + "(" * 5000 + " }}", "line 1: more than 100 blocks and brackets stand in each other"),
    ],
)
def test_syntax_errors_name_the_line(text, sentence):
    with pytest.raises(GoTemplateError) as caught:
        GoTemplate(text)
    assert str(caught.value) == sentence


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("{{ range .Messages }}\n{{ .Rol }}{{ end }}", "line 2: a Message has no field Rol"),
        ("{{ .Nothing.More }}", "line 1: nil has no field More"),
        ("{{ .System.More }}", "line 1: a string has no field More"),
        ("{{ eq 1 `a` }}", "line 1: a int and a string cannot be compared"),
        ("{{ eq .Messages .Messages }}", "line 1: a slice cannot be compared"),
        ("{{ lt true false }}", "line 1: lt cannot compare a bool with a bool"),
        ("{{ len 5 }}", "line 1: len of a int, which has no length"),
        ("{{ len }}", "line 1: len is given 0 arguments, which is not what it takes"),
        ("{{ index .Messages 99 }}", "line 1: the index 99 is out of range"),
        ("{{ index .Messages -1 }}", "line 1: the index -1 is out of range"),
        ("{{ slice .Messages 3 1 }}", "line 1: slice got the start 3, which is after its end, 1"),
        ("{{ range .System }}{{ end }}", "line 1: a range cannot go over a string"),
        ("{{ template `x` }}", "line 1: there is no template 'x'"),
        ("{{ .System 1 }}", "line 1: a value that is not a function is given arguments"),
    ],
)
def test_runtime_errors_name_the_line(text, sentence):
    with pytest.raises(GoTemplateError) as caught:
        render(text)
    assert str(caught.value) == sentence


LOOPS = "{{ range 99999 }}{{ range 99999 }}%s{{ end }}{{ end }}"
DOUBLING = "{{ $x := `ab` }}{{ range 99 }}{{ $x = %s }}{{ end }}{{ $x }}"


@pytest.mark.parametrize(
    "text",
    [
        LOOPS % "",
        LOOPS % ("x" * 30),
        LOOPS % "{{ printf `%d` 1 }}",
        "{{ range 9999999999999 }}{{ end }}",
        DOUBLING % "print $x $x",
        DOUBLING % "json $x | print $x",
        DOUBLING % "printf `%s%q` $x $x",
        DOUBLING % "html `&` $x $x",
        "{{ printf `%999999999d` 1 }}",
        "{{ printf `%*d` 999999999999 1 }}",
        "{{ printf `%.999999999f` 1.5 }}",
        "{{ printf `" + "%99999d" * 9000 + "` }}",
        "{{ $x := printf `%200000d` 1 }}{{ $x = print" + " $x" * 40_000 + " }}",
        "{{ $x := printf `%200000d` 1 }}{{ $x = println" + " $x" * 40_000 + " }}",
        "{{ $x := printf `%200000d` 1 }}{{ $x = printf `" + "%s" * 20_000 + "`" + " $x" * 20_000 + " }}",
        "{{ $x := printf `%200000d` 1 }}{{ $x = printf ``" + " $x" * 40_000 + " }}",
        "{{ $x := printf `%200000d` 1 }}{{ $x = js" + " $x" * 40_000 + " }}",
        "{{ define `f` }}{{ template `f` }}{{ end }}{{ template `f` }}",
        "{{ define `f` }}{{ template `f` . }}{{ template `f` . }}{{ end }}{{ template `f` 1 }}",
        "{{ define `f` }}{{ range 3 }}{{ template `f` }}{{ end }}{{ end }}{{ template `f` }}",
        "x" * 200_000,
    ],
)
def test_malicious_templates_end_soon(text, monkeypatch):
    monkeypatch.setattr(template_bounds, "SECONDS", 0.3)
    started = time.thread_time()
    with pytest.raises(TemplateBoundsError):
        render(text)
    assert time.thread_time() - started < 4


def test_messages_are_collated():
    talk = [
        {"role": "system", "content": "One."},
        {"role": "system", "content": "Two."},
        {"role": "user", "content": "a"},
        {"role": "user", "content": "b"},
        {"role": "tool", "content": "c", "tool_name": "t"},
        {"role": "tool", "content": "d"},
        {"role": "user", "content": [{"type": "text", "text": "e"}, {"type": "text", "text": "f"}]},
    ]
    text = "{{ .System }}{{ range .Messages }}|{{ .Role }}:{{ .Content }}{{ .ToolName }}{{ end }}"
    assert render(text, talk) == "One.\n\nTwo.|system:One.\n\nTwo.|user:a\n\nb|tool:ct|tool:d|user:ef"


def test_turns_are_rendered_one_by_one_and_the_last_is_cut_off_after_the_answer():
    text = "{{ if .System }}S:{{ .System }};{{ end }}U:{{ .Prompt }};A:{{ .Response }};"
    template = GoTemplate(text)
    assert template.render({"messages": TALK}) == "S:Be brief.;U:What is 2 + 2?;A:4;U:héé;A:"
    assert template.render({"messages": TALK[:3]}) == "S:Be brief.;U:What is 2 + 2?;A:4"
    # A missing `.Response` is added at the end.
    assert GoTemplate("[{{ .Prompt }}]").render({"messages": TALK}) == "[What is 2 + 2?]4[héé]"
    inside = GoTemplate("{{ .Prompt }}{{ if true }}<{{ .Response }}>{{ else }}-{{ end }}.")
    assert inside.render({"messages": TALK}) == "What is 2 + 2?<4>.héé<"


def test_without_an_answer_the_prompt_ends_before_the_next_speaker():
    template = GoTemplate(
        "{{ range .Messages }}<{{ .Role }}>{{ .Content }}</>{{ end }}<assistant>{{ if false }}{{ .Response }}{{ end }}"
    )
    asked = template.render({"messages": TALK[:3]})
    assert asked == "<system>Be brief.</><user>What is 2 + 2?</><assistant>4</><assistant>"
    alone = template.render({"messages": TALK[:3], "add_generation_prompt": False})
    assert alone == "<system>Be brief.</><user>What is 2 + 2?</><assistant>4</><"


def test_fields_of_thinking():
    text = "{{ .IsThinkSet }} {{ .Think }} {{ .ThinkLevel }}"
    assert render(text) == "false false "
    assert render(text, enable_thinking=True) == "true true "
    assert render(text, enable_thinking=False) == "true false "
    assert render(text, reasoning_effort="high") == "true true high"
    assert GoTemplate(text).variables == {"messages", "enable_thinking", "reasoning_effort"}


def test_tools_and_calls():
    talk = [{"role": "assistant", "content": "", "tool_calls": [CALL, {"id": "1", **CALL}], "thinking": "Hm."}]
    text = (
        "{{ range .Messages }}{{ .Thinking }}{{ range .ToolCalls }}"
        "{{ .ID }}{{ .Function.Name }}{{ .Function.Arguments }}{{ end }}{{ end }}"
    )
    arguments = '{"b":1,"a":[2,"\\u003cx\\u003e"]}'
    assert render(text, talk) == f"Hm.add{arguments}1add{arguments}"
    assert json.loads(arguments) == CALL["function"]["arguments"]
    as_text = [{"role": "assistant", "tool_calls": [{"function": {"name": "add", "arguments": arguments}}]}]
    assert render(text, as_text) == f"add{arguments}"
    tools = render("{{ range .Tools }}{{ . }}{{ end }}{{ json .Tools }}", tools=[TOOL])
    assert json.loads(tools[: tools.index("[{")]) == TOOL
    assert json.loads(tools[tools.index("[{") :]) == [TOOL]
    text = (
        "{{ range .Tools }}{{ range $k, $v := .Function.Parameters.Properties }}"
        "{{ $k }}:{{ $v.Type }}={{ toTypeScriptType $v }},{{ end }}{{ end }}"
    )
    assert render(text, tools=[TOOL]) == "a:array=any[],b:[string null]=string | null,"
    assert GoTemplate(text).variables == {"messages", "tools"}
    with pytest.raises(TemplateRefusedError, match="it says nothing of tools"):
        GoTemplate("{{ .Prompt }}").render({"messages": TALK, "tools": [TOOL]})


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
        lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    )
)
def test_json_is_json(value):
    # Go writes large numbers without an exponent.
    assert json.loads(as_json(value), parse_int=float) == json.loads(json.dumps(value), parse_int=float)


@pytest.mark.parametrize(
    ("value", "plain", "as_json_text"),
    [
        (1e20, "1e+20", "100000000000000000000"),
        (1e21, "1e+21", "1e+21"),
        (1e-5, "1e-05", "0.00001"),
        (1e-7, "1e-07", "1e-7"),
        (123456789.0, "1.23456789e+08", "123456789"),
        (-0.25, "-0.25", "-0.25"),
        (0.0, "0", "0"),
        (1.5e300, "1.5e+300", "1.5e+300"),
    ],
)
def test_numbers_are_written_as_in_go(value, plain, as_json_text):
    assert print_value(value) == plain
    assert as_json(value) == as_json_text


def test_texts_are_quoted_as_in_go():
    assert quote('a"\\\n\x01é\u200b😀\udcff') == '"a\\"\\\\\\n\\x01é\\u200b😀\\xff"'


TALKS = [TALK, [], TALK[:1], [{"role": "assistant", "tool_calls": [CALL]}], [{"role": "x"}]]
REAL = [
    recorded["template"]
    for file in (ROOT / "go-templates").glob("renders.json")
    for recorded in json.loads(file.read_text(encoding="utf-8"))["models"].values()
]
# fmt: off
PIECES = [
    "{{", "}}", "{{-", "-}}", " ", "if ", "range ", "with ", "else ", "end ", "define `a` ", "template `a` ",
    "block `a` ",
    ".Messages", ".Role", ".", "$", "$x", ":=", "=", "|", ",", "(", ")", "1", "-2.5", "`s`", '"', "'a'", "/*", "*/",
    "len ", "index ", "slice ", "printf ", "print ", "json ", "and ", "or ", "not ", "eq ", "lt ", "html ",
    "nil", "true",
    "break", "continue", "%d%s%q%*v", "\n", "é", ".Tools", ".Response", ".Prompt", "toTypeScriptType ",
]
# fmt: on
ATOMS = [
    ".",
    "$",
    ".Messages",
    ".Tools",
    ".System",
    ".Nothing",
    "nil",
    "true",
    "0",
    "-1",
    "2",
    "1.5",
    "'a'",
    "``",
    "`%*d %q`",
]
CALLS_OF_FUNCTIONS = st.recursive(
    st.sampled_from(ATOMS),
    lambda inner: st.builds(
        lambda name, arguments: f"({' '.join([name, *arguments])})",
        st.sampled_from(sorted({*FUNCTIONS, *SHORT_CIRCUIT})),
        st.lists(inner, max_size=4),
    ),
    max_leaves=8,
)
ANYTHING = st.one_of(
    st.text(),
    CALLS_OF_FUNCTIONS.map(lambda call: f"{{{{ {call} }}}}"),
    st.tuples(CALLS_OF_FUNCTIONS, CALLS_OF_FUNCTIONS).map(
        lambda calls: (
            f"{{{{ range $i, $x := {calls[0]} }}}}{{{{ with {calls[1]} }}}}{{{{ . }}}}{{{{ end }}}}{{{{ end }}}}"
        )
    ),
    st.lists(st.sampled_from(PIECES), max_size=30).map("".join),
    st.lists(st.sampled_from(PIECES), max_size=12).map(lambda pieces: "{{ " + " ".join(pieces) + " }}"),
)
if REAL:

    @st.composite
    def torn(draw):
        """Draw a real template with a piece of itself, or anything else, inserted somewhere."""
        text = draw(st.sampled_from(REAL))
        begin = draw(st.integers(0, len(text)))
        end = draw(st.integers(begin, min(len(text), begin + 40)))
        return text[:begin] + draw(st.sampled_from([*PIECES, ""])) + text[end:]

    ANYTHING |= torn()


@pytest.mark.parametrize("number", range(0, len(REAL), 9))
def test_a_long_conversation_stays_within_the_limits(number):
    talk = [{"role": ("user", "assistant")[turn % 2], "content": f"word{turn} " * 50} for turn in range(999)]
    template = GoTemplate(REAL[number])
    assert template.render({"messages": talk}).count("word998 ") == 50
    assert "word " * 1_000_000 in template.render({"messages": [{"role": "user", "content": "word " * 1_000_000}]})


@examples(400)
@given(ANYTHING, st.sampled_from(TALKS), st.sampled_from([[], [TOOL, {}, None]]))
def test_any_text_renders_or_is_refused(text, messages, tools):
    try:
        out = GoTemplate(text).render({"messages": messages, "tools": tools, "add_generation_prompt": False})
    except (GoTemplateError, TemplateBoundsError, TemplateRefusedError):
        return
    out.encode()


@examples(60)
@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats() | st.text(st.characters(codec=None)),
        lambda inner: (
            st.lists(inner, max_size=4)
            | st.dictionaries(
                st.sampled_from(
                    ["role", "content", "tool_calls", "function", "arguments", "parameters", "properties", "type", "x"]
                ),
                inner,
                max_size=5,
            )
        ),
    )
)
def test_any_data_renders_or_is_refused(data):
    template = GoTemplate("{{ .System }}{{ .Tools }}{{ json .Messages }}{{ .Messages }}{{ len .Messages }}")
    messages = [message for message in data if isinstance(message, dict)] if isinstance(data, list) else []
    with suppress(GoTemplateError, TemplateBoundsError):
        template.render({"messages": messages, "tools": data if isinstance(data, list) else [data]}).encode()


def test_half_of_a_character_is_replaced_as_go_does():
    """Go does so when it reads JSON, from which a request's template comes as well."""
    talk = [{"role": "system", "content": "a\ud83d"}, {"role": "user", "content": "b"}]
    assert render("\ud83d{{ .System }}{{ slice .System 1 }}{{ len .System }}", talk) == "\ufffda\ufffd\ufffd4"
