"""Chat templates: exact texts of real ones, every precedence, and templates that mean harm."""

import json
import resource
import sys
import threading
import time
from types import MappingProxyType

import jinja2
import pytest

from material import ROOT, material
from sotto.engine import template_bounds
from sotto.engine.model_texts import chat_template
from sotto.engine.sandbox import SandboxedTemplate, TemplateRefusedError
from sotto.engine.template_bounds import TemplateBoundsError
from sotto.engine.templates import ChatTemplate
from sotto.engine.tokenizer import Tokenizer
from sotto.engine.types import Message
from sotto.errors import BrokenModelError, InvalidRequestError
from sotto.store.records import ModelSource
from vocabularies import added, tokenizer_json

TOKENS = {"bos_token": "<s>", "eos_token": "</s>"}
TALK = (
    Message("system", "Be brief, robot."),
    Message("user", "What is 2 + 2?"),
    Message("assistant", "It is four."),
    Message("user", "And 3 + 3?"),
)
# These are only for calls of functions, and go over `tools` or `functions` without asking whether there are any.
FOR_TOOLS = {
    "CohereForAI-c4ai-command-r-plus-tool_use",
    "NousResearch-Hermes-2-Pro-Llama-3-8B-tool_use",
    "NousResearch-Hermes-3-Llama-3.1-8B-tool_use",
    "fireworks-ai-llama-3-firefunction-v2",
}
FOLDER = ROOT / "chat-templates"
JINJA = sorted(path.stem for path in FOLDER.glob("*.jinja"))


def expected_renderings():
    path = FOLDER / "expected_renderings.json"
    groups = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    return {name: case for group in groups.values() for name, case in group.items()}


RENDERINGS = expected_renderings()


@pytest.mark.parametrize("name", RENDERINGS)
def test_the_exact_text_comes_out(name):
    case = RENDERINGS[name]
    expected, data = case["target"], case["data"]
    if name == "MadeAgents/Hammer2.1":
        # The recording is JavaScript's, which puts a list out as JSON; Python, and so transformers, does not.
        expected = expected.replace(json.dumps(data["tools"]), str(data["tools"]))
    if name == "HuggingFaceTB/SmolLM3-3B":
        data = data | {"strftime_now": lambda form: {"%d %B %Y": "10 July 2025"}[form]}
    assert SandboxedTemplate(case["chat_template"]).render(data) == expected


def test_there_are_renderings():
    material("chat-templates")
    assert len(RENDERINGS) > 50
    assert len(JINJA) > 65


@pytest.mark.parametrize("name", JINJA)
def test_real_templates_render_a_conversation(name):
    template = ChatTemplate((FOLDER / f"{name}.jinja").read_text(encoding="utf-8"), TOKENS)
    assert template.own
    if name in FOR_TOOLS:
        with pytest.raises(BrokenModelError, match=r"The model's chat template fails: .*\.$"):
            template.render(TALK)
        return
    talk = TALK
    if name == "google-gemma-2-2b-it":
        with pytest.raises(InvalidRequestError, match=r"refuses this conversation: System role not supported\.$"):
            template.render(talk)
        talk = TALK[1:]
    text = template.render(talk)
    for message in talk:
        assert message.content in text


@pytest.mark.parametrize("name", sorted({*JINJA} - FOR_TOOLS))
def test_real_templates_render_as_in_transformers(name):
    utils = pytest.importorskip("transformers.utils.chat_template_utils")
    text = (FOLDER / f"{name}.jinja").read_text(encoding="utf-8")
    for add_generation_prompt in (True, False):
        turns = [{"role": message.role, "content": message.content} for message in TALK[1:]]
        variables = {**TOKENS, "messages": turns, "tools": None, "documents": None}
        variables["add_generation_prompt"] = add_generation_prompt
        expected = utils._compile_jinja_template(text).render(**variables)
        assert ChatTemplate(text, TOKENS).render(TALK[1:], add_generation_prompt) == expected


def source(config=None, template_json=None, file=""):
    files = {"config.json": {}}
    if config is not None:
        files["tokenizer_config.json"] = {"chat_template": config}
    if template_json is not None:
        files["chat_template.json"] = {"chat_template": template_json}
    return ModelSource(
        record=None, tensor_files=(), json_files=MappingProxyType(files), tokenizer_json="", chat_template=file
    )


def test_the_file_goes_before_the_others():
    assert chat_template(source("config", "json", "file")) == "file"
    assert chat_template(source("config", "json")) == "json"
    assert chat_template(source("config")) == "config"
    assert chat_template(source()) == ""


def test_of_named_templates_the_default_is_taken():
    named = [{"name": "tool_use", "template": "tools"}, {"name": "default", "template": "plain"}]
    assert chat_template(source(named)) == "plain"
    assert chat_template(source(named[:1])) == "tools"
    assert chat_template(source({"rag": "r", "default": "d"})) == "d"


@pytest.mark.parametrize("value", [5, [5], ["text"], [{"name": "default", "template": 5}], {"default": None}])
def test_what_is_no_template_is_told(value):
    with pytest.raises(BrokenModelError, match=r"tokenizer_config\.json: chat_template is neither"):
        chat_template(source(value))


def test_without_a_template_a_plain_text_is_made():
    plain = ChatTemplate("")
    assert not plain.own
    assert plain.render(TALK) == (
        "Be brief, robot.\n\nUser: What is 2 + 2?\n\nAssistant: It is four.\n\nUser: And 3 + 3?\n\nAssistant:"
    )
    assert plain.render(TALK[1:2], add_generation_prompt=False) == "User: What is 2 + 2?\n\n"


def test_a_template_that_wants_parts_gets_parts():
    text = "{% for m in messages %}{{ m.role }}: {% for p in m.content %}{{ p.text }}{% endfor %};{% endfor %}"
    assert ChatTemplate(text).render(TALK[1:3]) == "user: What is 2 + 2?;assistant: It is four.;"


def render(text, **variables):
    return SandboxedTemplate(text).render(variables)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        # Spaces as with trim_blocks and lstrip_blocks.
        ("a\n  {% if true %}\n  b\n  {% endif %}\nc", "a\n  b\nc"),
        (
            "{% for i in '0123' %}{% if i == '1' %}{% continue %}{% endif %}"
            "{% if i == '3' %}{% break %}{% endif %}{{ i }}{% endfor %}",
            "02",
        ),
        ("{% generation %}answer{{ 1 }}{% endgeneration %}", "answer1"),
        ("{{ {'b': 'é<', 'a': [1, none]} | tojson }}", '{"b": "é<", "a": [1, null]}'),
        ("{{ {'b': 1, 'a': 2} | tojson(sort_keys=true, separators=(',', ':')) }}", '{"a":2,"b":1}'),
        ("{{ [1, {'a': 2}] | tojson(indent=2) }}", '[\n  1,\n  {\n    "a": 2\n  }\n]'),
        ("{{ 'é' | tojson(ensure_ascii=true) }}", '"\\u00e9"'),
        ("{{ strftime_now('%Y') | int > 2000 }}", "True"),
        ("{% set ns = namespace(n=0) %}{% for i in [1, 2] %}{% set ns.n = ns.n + i %}{% endfor %}{{ ns.n }}", "3"),
        ("{{ dict(a=1).a }}{{ dict([('b', 2)])['b'] }}", "12"),
        ("{% macro f(x) %}<{{ x }}>{% endmacro %}{{ f(1) ~ f('b') }}", "<1><b>"),
        (
            "{% for a, b in {'x': 1, 'y': 2}.items() %}{{ loop.index ~ a ~ b }}{{ '-' if loop.last }}{% endfor %}",
            "1x12y2-",
        ),
        ("{% for i in [1, 2, 3] %}{{ loop.length }}{{ loop.previtem }}{{ loop.nextitem }}{% endfor %}", "3231332"),
        ("{% for i in [] %}x{% else %}none{% endfor %}{% for i in missing %}x{% endfor %}", "none"),
        ("{% for i in [1, [2, [3]]] recursive %}{{ i if i is number else loop(i) }}{% endfor %}", "123"),
        ("{{ '%s is %03d' % ('a', 7) }}{{ '{:>4}|{}'.format('b', 2) }}", "a is 007   b|2"),
        ("{{ 'a,b'.split(',') | join('-') }}{{ ' x '.strip() }}{{ 'abc'[::-1] }}{{ [1, 2, 3][1:] }}", "a-bxcba[2, 3]"),
        ("{{ 'x' * 3 }}{{ 2 ** 10 }}{{ 7 // 2 }}{{ 7 % 4 }}{{ [1] + [2] }}{{ (1, 2) }}", "xxx102433[1, 2](1, 2)"),
        ("{{ missing }}{{ missing is defined }}{{ none }}{{ true }}", "FalseNoneTrue"),
        ("{% set x %}a{{ 1 }}{% endset %}{{ x | upper }}{% filter upper %}b{% endfilter %}", "A1B"),
        ("{% macro g() %}{{ caller(5) }}{% endmacro %}{% call(x) g() %}[{{ x }}]{% endcall %}", "[5]"),
        ("{{ messages | selectattr('role', 'equalto', 'user') | map(attribute='content') | list }}", "['hi']"),
        ("{{ messages[0] is mapping }}{{ messages[0].content is string }}{{ messages[0].get('x', 'y') }}", "TrueTruey"),
        ("{{ 'a' if 'x' in 'xyz' else 'b' }}{{ [3, 1, 2] | sort | last }}{{ 'abc' | length }}", "a33"),
        (
            "{{ [1, 2, 3, 4] | batch(2) | list }}{{ 3.14159 | round(2) }}{{ 'a\nb' | indent(2) }}",
            "[[1, 2], [3, 4]]3.14a\n  b",
        ),
    ],
)
def test_the_dialect(text, expected):
    assert render(text, messages=[{"role": "user", "content": "hi"}]) == expected


def test_special_tokens_are_variables():
    assert (
        ChatTemplate("{{ bos_token }}{{ messages[0].content }}{{ unk_token }}", TOKENS).render(TALK)
        == "<s>Be brief, robot."
    )


def test_a_template_says_in_its_own_words_what_it_refuses():
    text = "{{ raise_exception('Roles must\\nalternate user/assistant.') }}"
    with pytest.raises(InvalidRequestError) as caught:
        ChatTemplate(text).render(TALK)
    assert str(caught.value) == (
        "The model's chat template refuses this conversation: Roles must alternate user/assistant."
    )


def test_tokenizer_and_template_come_from_one_source():
    texts = {"bos_token": "<s>", "eos_token": {"content": "</s>"}}
    texts["chat_template"] = "{{ bos_token }}{% for m in messages %}{{ m.content }}<|im_end|>{% endfor %}"
    opened = ModelSource(
        record=None,
        tensor_files=(),
        json_files=MappingProxyType({"config.json": {}, "tokenizer_config.json": texts}),
        tokenizer_json=tokenizer_json(added_tokens=[added(3, "<s>"), added(4, "</s>"), added(5, "<|im_end|>")]),
    )
    tokenizer = Tokenizer.from_source(opened)
    template = ChatTemplate.from_source(opened, tokenizer)
    assert template.own
    assert tokenizer.eos_ids == {4, 5}
    assert tokenizer.encode(template.render([Message("user", "ab")])) == [3, 2, 5]


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        (
            "a\n{% if %}",
            "The model's chat template cannot be read: line 2: Expected an expression, got 'end of statement block'.",
        ),
        ("{{ x | nothing }}", "The model's chat template cannot be read: line 1: No filter named 'nothing'."),
        ("x" * 200_000, "The model's chat template cannot be read: it is longer than 131072 characters."),
    ],
)
def test_what_cannot_be_read_is_told(text, sentence):
    with pytest.raises(BrokenModelError) as caught:
        ChatTemplate(text)
    assert str(caught.value) == sentence


@pytest.mark.parametrize(
    "text", ["{{ 1 + 'a' }}", "{{ messages[99].role.x }}", "{{ nothing() }}", "{{ 1 // 0 }}", "{% include 'x' %}"]
)
def test_what_fails_is_told(text):
    template = ChatTemplate(text)
    with pytest.raises(BrokenModelError, match=r"^The model's chat template fails: [^\n]+\.$"):
        template.render(TALK)


GROW = "{%% set ns = namespace(x=%s) %%}{%% for i in range(99) %%}{%% set ns.x = %s %%}{%% endfor %%}{{ ns.x %s }}"
LOOPS = "{%% for i in range(9000) %%}{%% for j in range(9000) %%}%s{%% endfor %%}{%% endfor %%}"
CALLS = "{% call f() %}" * 20 + "abcdefgh" * 9 + "{% endcall %}" * 20
HOSTILE = {
    "text": "{{ 'a' * 10**9 }}",
    "text, turned": "{{ 10**9 * 'a' }}",
    "list": "{{ ([0] * 10**9) | length }}",
    "range": "{% for i in range(10**12) %}x{% endfor %}",
    "power": "{{ 9**(9**9) }}",
    "power of power": "{{ (9**300)**300 }}",
    "product": GROW % ("9**300", "ns.x * ns.x", ""),
    "loops": LOOPS % "",
    "output": LOOPS % ("x" * 30),
    "captured": "{% set x %}" + LOOPS % ("x" * 30) + "{% endset %}",
    "doubling": GROW % ("'a'", "ns.x ~ ns.x", ""),
    "adding": GROW % ("'a'", "ns.x + ns.x", ""),
    "nested lists": GROW % ("['a']", "[ns.x, ns.x]", ""),
    "nested tuples": GROW % ("('a',)", "(ns.x, ns.x)", "| join"),
    "nested dicts": GROW % ("1", "{'a': ns.x, 'b': ns.x}", "| tojson"),
    "nested namespaces": GROW % ("1", "namespace(a=ns.x, b=ns.x)", ""),
    "a namespace in itself": "{% set ns = namespace(x=1) %}{% set ns.x = ns %}{{ ns }}",
    "recursion": "{% macro f() %}{{ f() }}{% endmacro %}{{ f() }}",
    "branching": "{% macro f(n) %}{% if n %}{{ f(n - 1) }}{{ f(n - 1) }}{% endif %}{% endmacro %}{{ f(100) }}",
    "branching text": "{% macro f(n) %}{{ f(n - 1) ~ f(n - 1) if n else 'abcde' }}{% endmacro %}{{ f(40) }}",
    "loops in themselves": "{% for x in [1] recursive %}{{ loop([1, 2]) }}{% endfor %}",
    "callers": "{% macro f() %}{{ caller() ~ caller() }}{% endmacro %}" + CALLS,
    "center": "{{ 'a' | center(10**9) }}",
    "center, constant": "{{ 'a' | center(1000000000) }}",
    "center of a block": "{% set x | center(1000000000) %}a{% endset %}",
    "ljust": "{{ 'a'.ljust(10**9) }}",
    "zfill": "{{ 'a'.zfill(10**9) }}",
    "format": "{{ '{:1000000000}'.format('a') }}",
    "format by argument": "{{ '{:{}}'.format('a', 10**9) }}",
    "format by attr": "{{ ('{:1000000000}' | attr('format'))('a') }}",
    "percent": "{{ '%1000000000d' % 1 }}",
    "percent by argument": "{{ '%*d' % (10**9, 1) }}",
    "percent as filter": "{{ '%.1000000000f' | format(1) }}",
    "date": "{{ strftime_now('%999999999d') }}",
    "replace": "{{ ('a' * 90000) | replace('a', 'b' * 90000) }}",
    "replace, method": "{{ ('a' * 90000).replace('', 'b' * 90000) }}",
    "join": "{{ range(30000) | join('a' * 90000) }}",
    "join, method": "{{ ('a' * 90000).join('b' * 90000) }}",
    "map": "{{ range(30000) | map('center', 900) | list | length }}",
    "batch": "{{ [1] | batch(10**9, 'x') | list | length }}",
    "slice": "{{ [1] | slice(10**9) | list | length }}",
    "round": "{{ 1.5 | round(10**9) }}",
    "indent": "{{ ('\n' * 90000) | indent(900) }}",
    "json": "{{ {'a': [1, 2]} | tojson(indent=10**9) }}",
    "sum": "{{ ([[1]] * 50000) | sum(start=[]) | length }}",
    "many": "{% set x = 'a' * 200000 %}" + "".join(f"{{% set a{i} = x ~ '{i}' %}}" for i in range(3000)),
    "slices": "{% set x = 'a' * 200000 %}" + "".join(f"{{% set a{i} = x[1:] %}}" for i in range(3000)),
    "cycler": "{% set c = cycler('a') %}" + LOOPS % "{{ c.next() }}",
    "brackets": "{{ " + "(" * 50000 + "1" + ")" * 50000 + " }}",
    "sum of many": "{{ 1" + "+1" * 40000 + " }}",
    "lists in lists": "{{ " + "[" * 5000 + "]" * 5000 + " }}",
    "ifs in ifs": "{% if 1 %}" * 2000 + "{% endif %}" * 2000,
    "loops in loops": "{% for i in [1] %}" * 60 + "{% endfor %}" * 60,
}  # fmt: skip


@pytest.mark.parametrize("name", HOSTILE)
def test_harm_is_stopped_soon(name, monkeypatch):
    monkeypatch.setattr(template_bounds, "SECONDS", 0.3)
    started = time.thread_time()
    with pytest.raises((TemplateBoundsError, jinja2.TemplateError)):
        render(HOSTILE[name], messages=[{"role": "user", "content": "hi"}])
    assert time.thread_time() - started < 1.5


@pytest.mark.parametrize("name", ["text", "loops", "recursion", "brackets", "percent"])
def test_harm_is_told_in_a_sentence(name):
    started = time.thread_time()
    with pytest.raises(BrokenModelError, match=r"^The model's chat template [^\n]{1,100}\.$"):
        ChatTemplate(HOSTILE[name]).render(TALK)
    assert time.thread_time() - started < 4


def test_harm_takes_no_memory(monkeypatch):
    monkeypatch.setattr(template_bounds, "SECONDS", 0.3)
    if sys.platform == "win32":
        pytest.skip("resource is not on Windows")
    unit = 1024 if sys.platform == "linux" else 1
    # The suite itself may have used more before; what counts is that the mark does not rise by much.
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit
    for text in HOSTILE.values():
        with pytest.raises((TemplateBoundsError, jinja2.TemplateError)):
            render(text)
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit - before < 300 * 2**20


@pytest.mark.parametrize(
    "text",
    [
        "{{ ''.__class__ }}",
        "{{ ''.__class__.__mro__ }}",
        "{{ namespace.__init__.__globals__ }}",
        "{{ cycler.__init__.__globals__ }}",
        "{{ raise_exception.__globals__ }}",
        "{{ messages | attr('__class__') }}",
        "{{ '{0.__class__}'.format(messages) }}",
        "{{ '{0.__class__}' | attr('format')(messages) }}",
        "{{ [messages] | map(attribute='__class__') | first }}",
        "{{ self.__dict__ }}",
        "{{ messages.append(1) }}",
        "{{ messages[0].update({'a': 1}) }}",
        "{{ messages[0].pop('role') }}",
        "{{ (1).to_bytes(9, 'big') }}",
        "{{ 'a'.encode() }}",
        "{{ 'a'.translate({97: 'b'}) }}",
        "{{ namespace(__class__=1) }}",
        "{% set ns = namespace() %}{% set ns.__class__ = 1 %}",
        "{% include '/etc/passwd' %}",
        "{% import 'os' as os %}",
        "{% extends 'base' %}",
        "{{ lipsum() }}",
        "{{ 1 | pprint }}",
    ],
)
def test_nothing_can_be_reached(text):
    messages = [{"role": "user", "content": "hi"}]
    try:
        out = render(text, messages=messages)
    except (jinja2.TemplateError, TemplateBoundsError, TemplateRefusedError):
        out = ""
    assert out in ("", "Undefined")
    assert messages == [{"role": "user", "content": "hi"}]


def test_a_long_conversation_is_no_harm():
    text = (material("chat-templates", "Qwen3.5-4B.jinja")).read_text(encoding="utf-8")
    talk = [Message(("user", "assistant")[turn % 2], f"word{turn} " * 100) for turn in range(999)]
    assert talk[-1].content.strip() in ChatTemplate(text).render(talk)
    long = "word " * 1_000_000
    assert long.strip() in ChatTemplate(text).render([Message("user", long)])


def test_renderings_do_not_share_their_bounds():
    template = ChatTemplate("{{ messages[0].content }}")
    texts = []

    def work(number):
        texts.extend(template.render([Message("user", f"{number}")]) == f"{number}" for _ in range(50))

    threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert texts == [True] * 200
