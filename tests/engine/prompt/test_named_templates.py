"""Models that bring several chat templates: the same one renders a prompt as in transformers."""

from types import MappingProxyType

import pytest

from material import material
from sotto.engine.config.text_files import chat_templates
from sotto.engine.contract.answer_parts import ToolCall
from sotto.engine.contract.requests import CountRequest, GenerateRequest, Message
from sotto.engine.prompt.request_preparation import Preparer
from sotto.engine.prompt.template_choice import choose_template
from sotto.engine.prompt.template_messages import PromptOptions
from sotto.engine.prompt.templates import ChatTemplate
from sotto.errors import BrokenModelError, InvalidRequestError
from sotto.store.opening import open_model, record_of
from sotto.store.records import ModelSource
from tiny_random import VOCABULARY, write_model

DEFAULT = (
    "{% for m in messages %}<|im_start|>{{ m.role }}\n{{ m.content }}<|im_end|>\n{% endfor %}"
    "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)
RAG = "{% for d in documents %}{{ d }}{% endfor %}"
TOOL = {
    "type": "function",
    "function": {
        "name": "find",
        "description": "Finds.",
        "parameters": {"type": "object", "properties": {"what": {"type": "string"}}, "required": ["what"]},
    },
}
ASKED = Message("user", "Why?")
CALLED = Message("assistant", "", tool_calls=(ToolCall("find", {"what": "it"}, "a"),))
TALK = (Message("system", "Be brief."), ASKED, CALLED, Message("tool", "no", tool_name="find", tool_call_id="a"))


@pytest.fixture(scope="module")
def hermes():
    name = "NousResearch-Hermes-3-Llama-3.1-8B-tool_use.jinja"
    return material("chat-templates", name).read_text(encoding="utf-8")


@pytest.fixture(scope="module", params=["listed", "by name", "in files"])
def folder(request, tmp_path_factory, hermes):
    """Return the folder of a model with its templates in one of the possible places."""
    named = {"rag": RAG, "tool_use": hermes, "default": DEFAULT}
    listed = [{"name": name, "template": text} for name, text in named.items()]
    written = {"listed": listed, "by name": named, "in files": "not this one"}[request.param]
    path = write_model(tmp_path_factory.mktemp("models") / "named", "plain", written)
    if request.param == "in files":
        (path / "chat_template.jinja").write_text(DEFAULT)
        (path / "additional_chat_templates").mkdir()
        (path / "additional_chat_templates" / "tool_use.jinja").write_text(hermes)
        (path / "additional_chat_templates" / "rag.jinja").write_text(RAG)
    return path


@pytest.fixture(scope="module")
def preparer(folder):
    preparer = Preparer(open_model(record_of(folder)))
    preparer.fit(100_000, None, VOCABULARY, finds_boundary=True)
    return preparer


@pytest.mark.parametrize("tools", [(), (TOOL,)], ids=["without tools", "with tools"])
def test_the_template_is_the_one_that_transformers_takes(folder, preparer, tools):
    transformers = pytest.importorskip("transformers")
    theirs = transformers.PreTrainedTokenizerFast.from_pretrained(folder)
    talk = TALK if tools else TALK[:2]
    turns = [{"role": message.role, "content": message.content} for message in talk]
    if tools:
        turns[2]["tool_calls"] = [{"type": "function", "function": {"name": "find", "arguments": {"what": "it"}}}]
        turns[3]["name"] = "find"
    expected = theirs.apply_chat_template(turns, tools=list(tools) or None, tokenize=False, add_generation_prompt=True)
    assert ("<tools>" in expected) == bool(tools)
    options = PromptOptions(tools)
    assert preparer.template.variant_for(options).render(talk, options=options) == expected
    prepared = preparer.prepare(GenerateRequest("r", talk, tools=tools))
    assert list(prepared.prompt) == preparer.tokenizer.encode(expected)


def test_calls_are_parsed_by_the_template_for_tools(preparer):
    parser = preparer.prepare(GenerateRequest("r", (ASKED,), tools=(TOOL,))).parser()
    pieces = parser.feed('<tool_call>\n{"name": "find", "arguments": {"what": "it"}}\n</tool_call>')
    assert pieces[-1].call.arguments == {"what": "it"}
    # Past calls stay in the text where the other template does not print calls.
    kept = Message("assistant", '<tool_call>\n{"name": "find", "arguments": {"what": "it"}}\n</tool_call>\n')
    prompt = preparer.prepare(GenerateRequest("r", (ASKED, kept, ASKED))).prompt
    assert '"find"' in preparer.tokenizer.decode(list(prompt))
    assert preparer.count(CountRequest("c", (ASKED, kept))).tokens > 20


def test_a_note_names_the_template_that_is_used(preparer):
    assert preparer.template.note.startswith("Of its chat templates, default, ")
    assert preparer.template.note.endswith(", the first makes its prompts, and tool_use does where there are tools.")
    assert preparer.template.knows_tools


def source(templates):
    files = {"config.json": {}, "tokenizer_config.json": {"chat_template": templates}}
    return ModelSource(record=None, tensor_files=(), json_files=MappingProxyType(files), tokenizer_json="")


def test_a_file_for_tools_complements_other_templates():
    both = ModelSource(None, (), source("a").json_files, "", more_templates={"tool_use": "b"})
    assert chat_templates(both) == {"default": "a", "tool_use": "b"}
    assert chat_templates(source({"rag": "r", "tool_use": 5, "default": "d"})) == {"default": "d", "rag": "r"}


def test_a_template_without_tools_stays_without():
    template = ChatTemplate(choose_template(source({"default": DEFAULT, "rag": RAG})))
    assert not template.knows_tools
    assert template.note == "Of its chat templates, default, rag, the first makes its prompts."
    assert ChatTemplate(choose_template(source({"tool_use": "{{ tools }}"}))).knows_tools
    assert choose_template(source({"default": DEFAULT})).note == ""


def test_errors_name_the_template():
    with pytest.raises(BrokenModelError, match=r"^The model's chat template tool_use cannot be read: line 1: "):
        ChatTemplate(choose_template(source({"default": DEFAULT, "tool_use": "{% if %}"})))
    refusing = ChatTemplate(choose_template(source({"de\nfault": "{{ raise_exception('No.') }}", "rag": RAG})))
    with pytest.raises(InvalidRequestError, match=r"^The model's chat template de\\x0afault refuses .*: No\.$"):
        refusing.render([ASKED])
