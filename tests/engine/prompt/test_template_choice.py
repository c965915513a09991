"""The choice of a template, and the note about it."""

from dataclasses import replace
from types import MappingProxyType

import pytest

from sotto.engine.contract.requests import Message
from sotto.engine.prompt.template_choice import TemplateKind, choose_template, kind_of_text
from sotto.engine.prompt.templates import ChatTemplate
from sotto.errors import BrokenModelError, InvalidRequestError
from sotto.store.records import Format, ModelRecord, ModelSource, Source

JINJA = "{% for m in messages %}[{{ m.role }}]{{ m.content }}{% endfor %}"
GO = "{{ range .Messages }}<{{ .Role }}>{{ .Content }}{{ end }}"
TALK = [Message("system", "Be brief."), Message("user", "Hi")]
RECORD = ModelRecord(
    "m:latest", "0" * 64, 1, Format.SAFETENSORS, "gemma4", 8 * 10**9, "", None, Source.OLLAMA, None, runnable=True
)
EVERYTHING = ModelSource(
    record=RECORD,
    tensor_files=(),
    json_files=MappingProxyType({"config.json": {}}),
    tokenizer_json="",
    chat_template=JINJA,
    go_template=GO,
    renderer="qwen3-coder",
    user_template="{{ range .Messages }}({{ .Role }}){{ .Content }}{{ end }}",
)


def choose_and_render(source):
    choice = choose_template(source)
    return choice, ChatTemplate(choice).render(TALK)


def test_precedence_of_templates():
    source = EVERYTHING
    choice, text = choose_and_render(source)
    assert text == "(system)Be brief.(user)Hi"
    assert choice.note == "Its prompts are made by the template that you gave it."
    source = replace(source, user_template="")
    choice, text = choose_and_render(source)
    assert (choice.kind, choice.note, text) == (TemplateKind.JINJA, "", "[system]Be brief.[user]Hi")
    source = replace(source, chat_template="")
    choice, text = choose_and_render(source)
    assert (choice.kind, choice.note, text) == (TemplateKind.GO, "", "<system>Be brief.<user>Hi")
    source = replace(source, go_template="")
    choice, text = choose_and_render(source)
    assert text.startswith("<|im_start|>system\nBe brief.<|im_end|>\n")
    assert choice.note == ("It brings no chat template, so its prompts are made as Sotto knows the format qwen3-coder.")
    source = replace(source, renderer="cohere")
    choice, text = choose_and_render(source)
    assert (choice.kind, text) == (TemplateKind.PLAIN, "Be brief.\n\nUser: Hi\n\nAssistant:")
    assert choice.note.startswith(
        "It brings no chat template, and Sotto does not know the format cohere that its config names, so it reads"
    )
    choice, _ = choose_and_render(replace(source, renderer=""))
    assert choice.note.startswith("It brings no chat template, so it reads a conversation as plain text")


def test_only_the_plain_template_is_not_its_own():
    for source in (
        EVERYTHING,
        replace(EVERYTHING, user_template=""),
        replace(EVERYTHING, chat_template="", user_template=""),
    ):
        template = ChatTemplate(choose_template(source))
        assert template.own
        assert template.note == choose_template(source).note
    plain = replace(EVERYTHING, user_template="", chat_template="", go_template="", renderer="")
    assert not ChatTemplate(choose_template(plain)).own


def test_a_template_in_the_files_goes_before_a_go_template():
    inside = {"config.json": {}, "tokenizer_config.json": {"chat_template": JINJA}}
    source = replace(EVERYTHING, user_template="", chat_template="", json_files=MappingProxyType(inside))
    assert choose_template(source).kind is TemplateKind.JINJA


def test_large_gemmas_have_a_separate_format():
    source = replace(EVERYTHING, user_template="", chat_template="", go_template="", renderer="gemma4")
    assert choose_template(source).text == "gemma4"
    large = replace(source, record=replace(RECORD, parameters=31 * 10**9))
    assert choose_template(large).text == "gemma4-large"


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        (JINJA, TemplateKind.JINJA),
        (GO, TemplateKind.GO),
        ("{{ .System }}{{ .Prompt }}", TemplateKind.GO),
        ("{{ if .System }}", TemplateKind.GO),
        ("{{- range $i, $_ := $.Messages }}", TemplateKind.GO),
        ("{{ messages[0].content }}", TemplateKind.JINJA),
        ("{{ messages[0]['Role'] }}", TemplateKind.JINJA),
        ("no markup", TemplateKind.JINJA),
        ("{{ " * 300_000, TemplateKind.JINJA),
        ("{% if x.Y %}{{ x(.5) }}", TemplateKind.JINJA),
    ],
)
def test_jinja_and_go_are_distinguished(text, kind):
    assert kind_of_text(text) is kind


def test_errors_name_whose_template_it_is():
    given = replace(EVERYTHING, user_template="a\n{{ if .System }}")
    with pytest.raises(BrokenModelError) as caught:
        ChatTemplate(choose_template(given))
    assert str(caught.value) == "The template you gave cannot be read: line 2: a block has no {{ end }}."
    source = replace(
        EVERYTHING, user_template="", chat_template="", go_template="{{ range .Messages }}{{ .Nope }}{{ end }}"
    )
    with pytest.raises(BrokenModelError) as caught:
        ChatTemplate(choose_template(source)).render(TALK)
    assert str(caught.value) == "The model's chat template fails: line 1: a Message has no field Nope."
    source = replace(source, go_template="", renderer="qwen3.5")
    with pytest.raises(InvalidRequestError) as caught:
        ChatTemplate(choose_template(source)).render(TALK[:1])
    assert str(caught.value) == (
        "The format qwen3.5 refuses this conversation: it takes no conversation without a question."
    )
    source = replace(source, renderer="", go_template="{{ define `x` }}{{ template `x` }}{{ end }}{{ template `x` }}")
    with pytest.raises(BrokenModelError, match=r"^The model's chat template fails: it is nested too deeply\.$"):
        ChatTemplate(choose_template(source)).render(TALK)
