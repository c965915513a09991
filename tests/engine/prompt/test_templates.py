"""Chat templates: real ones, their precedence, and the errors of those that fail."""

import threading
import time
from types import MappingProxyType

import pytest

from hostile_templates import HOSTILE
from material import ROOT, material
from sotto.engine.config.text_files import chat_template
from sotto.engine.contract.requests import Message
from sotto.engine.prompt import template_bounds
from sotto.engine.prompt.template_choice import TemplateChoice, kind_of_text
from sotto.engine.prompt.templates import ChatTemplate
from sotto.engine.tokens.tokenizer import Tokenizer
from sotto.errors import BrokenModelError, InvalidRequestError
from sotto.store.records import ModelSource
from stores import assert_line, assert_sentence
from thoroughness import some
from vocabularies import added, tokenizer_json

TOKENS = {"bos_token": "<s>", "eos_token": "</s>"}
TALK = (
    Message("system", "Be brief, robot."),
    Message("user", "What is 2 + 2?"),
    Message("assistant", "It is four."),
    Message("user", "And 3 + 3?"),
)
# These are only for function calls, and iterate over `tools` or `functions` without checking that there are any.
FOR_TOOLS = {
    "CohereForAI-c4ai-command-r-plus-tool_use",
    "NousResearch-Hermes-2-Pro-Llama-3-8B-tool_use",
    "NousResearch-Hermes-3-Llama-3.1-8B-tool_use",
    "fireworks-ai-llama-3-firefunction-v2",
}
FOLDER = ROOT / "chat-templates"
JINJA = sorted(path.stem for path in FOLDER.glob("*.jinja"))


def test_there_are_templates():
    material("chat-templates")
    assert len(JINJA) > 65


@pytest.mark.one_in(3)
@pytest.mark.parametrize("name", some(list(JINJA), 35))
def test_real_templates_render_a_conversation(name):
    template = ChatTemplate((FOLDER / f"{name}.jinja").read_text(encoding="utf-8"), TOKENS)
    assert template.own
    assert template.reads_messages
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


@pytest.mark.parametrize("name", some(sorted({*JINJA} - FOR_TOOLS), 33))
def test_real_templates_render_as_in_transformers(name):
    utils = pytest.importorskip("transformers.utils.chat_template_utils")
    text = (FOLDER / f"{name}.jinja").read_text(encoding="utf-8")
    reference, template = utils._compile_jinja_template(text), ChatTemplate(text, TOKENS)
    for add_generation_prompt in (True, False):
        turns = [{"role": message.role, "content": message.content} for message in TALK[1:]]
        variables = {**TOKENS, "messages": turns, "tools": None, "documents": None}
        variables["add_generation_prompt"] = add_generation_prompt
        assert template.render(TALK[1:], add_generation_prompt) == reference.render(**variables)


def source(config=None, template_json=None, file=""):
    files = {"config.json": {}}
    if config is not None:
        files["tokenizer_config.json"] = {"chat_template": config}
    if template_json is not None:
        files["chat_template.json"] = {"chat_template": template_json}
    return ModelSource(
        record=None, tensor_files=(), json_files=MappingProxyType(files), tokenizer_json="", chat_template=file
    )


def test_the_file_takes_precedence():
    assert chat_template(source("config", "json", "file")) == "file"
    assert chat_template(source("config", "json")) == "json"
    assert chat_template(source("config")) == "config"
    assert chat_template(source()) == ""


def test_the_default_of_named_templates_is_used():
    named = [{"name": "tool_use", "template": "tools"}, {"name": "default", "template": "plain"}]
    assert chat_template(source(named)) == "plain"
    assert chat_template(source(named[:1])) == "tools"
    assert chat_template(source({"rag": "r", "default": "d"})) == "d"


@pytest.mark.parametrize("value", [5, [5], ["text"], [{"name": "default", "template": 5}], {"default": None}])
def test_invalid_templates_are_reported(value):
    with pytest.raises(BrokenModelError, match=r"tokenizer_config\.json: chat_template is neither"):
        chat_template(source(value))


def test_without_a_template_the_prompt_is_plain_text():
    plain = ChatTemplate("")
    assert not plain.own
    assert plain.render(TALK) == (
        "Be brief, robot.\n\nUser: What is 2 + 2?\n\nAssistant: It is four.\n\nUser: And 3 + 3?\n\nAssistant:"
    )
    assert plain.render(TALK[1:2], add_generation_prompt=False) == "User: What is 2 + 2?\n\n"


def test_a_template_that_wants_parts_gets_parts():
    text = "{% for m in messages %}{{ m.role }}: {% for p in m.content %}{{ p.text }}{% endfor %};{% endfor %}"
    assert ChatTemplate(text).render(TALK[1:3]) == "user: What is 2 + 2?;assistant: It is four.;"


def test_special_tokens_are_variables():
    assert (
        ChatTemplate("{{ bos_token }}{{ messages[0].content }}{{ unk_token }}", TOKENS).render(TALK)
        == "<s>Be brief, robot."
    )


def test_a_refusal_quotes_the_template():
    text = "{{ raise_exception('Roles must\\nalternate user/assistant.') }}"
    with pytest.raises(InvalidRequestError) as caught:
        ChatTemplate(text).render(TALK)
    assert str(caught.value) == (
        "The model's chat template refuses this conversation: Roles must alternate user/assistant."
    )


def test_a_refusal_is_one_sentence_even_if_its_reason_is_long_or_odd():
    text = "{{ raise_exception(messages[0].content * 1000 ~ '\u202e') }}"
    with pytest.raises(InvalidRequestError) as caught:
        ChatTemplate(text).render(TALK)
    assert_line(str(caught.value), "refuses this conversation: Be brief")
    assert len(str(caught.value)) < 400


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
def test_syntax_errors_are_reported(text, sentence):
    with pytest.raises(BrokenModelError) as caught:
        ChatTemplate(text)
    assert str(caught.value) == sentence


@pytest.mark.parametrize(
    "text", ["{{ 1 + 'a' }}", "{{ messages[99].role.x }}", "{{ nothing() }}", "{{ 1 // 0 }}", "{% include 'x' %}"]
)
def test_runtime_errors_are_reported(text):
    template = ChatTemplate(text)
    with pytest.raises(BrokenModelError, match=r"^The model's chat template fails: [^\n]+\.$"):
        template.render(TALK)


@pytest.mark.parametrize("name", ["text", "loops", "recursion", "brackets", "percent"])
def test_malicious_templates_are_reported(name, monkeypatch):
    monkeypatch.setattr(template_bounds, "SECONDS", 0.3)
    started = time.thread_time()
    with pytest.raises(BrokenModelError, match=r"^The model's chat template [^\n]{1,100}\.$"):
        ChatTemplate(HOSTILE[name]).render(TALK)
    assert time.thread_time() - started < 4


def test_a_long_conversation_stays_within_the_limits():
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


@pytest.mark.parametrize(
    "text",
    [
        "You are a poet.",
        "{% for m in messages %}[{{ m.role }}]{% endfor %}{% if add_generation_prompt %}[bot]{% endif %}",
        "{% for m in messages if m.role == 'system' %}{{ m.content }}{% endfor %}",
        "{{ .System }}",
        "{{ range .Messages }}<{{ .Role }}>{{ end }}",
        "{{ if .Prompt }}Say something.{{ end }}",
    ],
)
def test_a_template_that_leaves_out_questions_is_reported(text):
    template = ChatTemplate(TemplateChoice(kind_of_text(text), text))
    assert not template.reads_messages
    assert_sentence(
        template.note, "The model's chat template makes the same prompt whatever is asked", "give it another"
    )
    assert template.render([Message("user", "a")]) == template.render([Message("user", "b")])
    with pytest.raises(BrokenModelError) as refused:
        ChatTemplate.custom(text)
    assert "The template you gave makes the same prompt whatever is asked" in str(refused.value)
    assert "messages[-1].content" in str(refused.value)


@pytest.mark.parametrize(
    "text",
    [
        "{% for m in messages %}{{ m.content | upper }}{% endfor %}",
        "{% for m in messages %}{{ m.content[0].text }}{% endfor %}",
        "{{ messages | tojson }}",
        # Nothing is known about a template that refuses a lone question, or fails on it.
        "{% if messages | length < 2 %}{{ raise_exception('too few') }}{% endif %}x",
        "{{ messages[1].content }}",
        "{{ .Prompt }}",
        "{{ range .Messages }}{{ if eq .Role `user` }}{{ .Content }}{{ end }}{{ end }}",
        "{{ (index .Messages 1).Content }}",
        "",
    ],
)
def test_a_template_that_prints_questions_in_any_form_is_not_reported(text):
    template = ChatTemplate(TemplateChoice(kind_of_text(text), text) if text else "")
    assert template.reads_messages
    assert template.note == ""
