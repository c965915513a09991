"""Go templates of real models, compared with Ollama's own renderings."""

import json
from functools import lru_cache

import pytest

from material import ROOT, material
from sotto.engine.prompt.go_template.template import GoTemplate
from sotto.engine.prompt.sandbox import TemplateRefusedError
from sotto.engine.prompt.template_choice import TemplateChoice, TemplateKind
from sotto.engine.prompt.templates import ChatTemplate
from sotto.engine.tokens.tokenizer import Tokenizer
from sotto.store.opening import open_model, record_of

FILE = ROOT / "go-templates" / "renders.json"
RECORDED = json.loads(FILE.read_text(encoding="utf-8")) if FILE.exists() else {"models": {}, "conversations": {}}
# The context length, in tokens, of the recorded renderings. Ollama leaves out the oldest turns of longer conversations.
CONTEXT = 512
CASES = [(model, name) for model, recorded in RECORDED["models"].items() for name in recorded["renders"]]


def test_there_are_renderings():
    material("go-templates")
    assert len(CASES) == 648


@lru_cache
def tokenizer():
    return Tokenizer.from_source(open_model(record_of(material("stories260k"))))


def render_recent(template, variables):
    """Render as many of the last messages as fit, with the system prompts before them, as Ollama does."""
    messages = variables["messages"]

    def since(first):
        system = [message for message in messages[:first] if message["role"] == "system"]
        return template.render({**variables, "messages": [*system, *messages[first:]]})

    first = len(messages) - 1
    while first and len(tokenizer().encode(since(first - 1))) <= CONTEXT:
        first -= 1
    return since(first)


@pytest.mark.parametrize("model", RECORDED["models"])
def test_each_template_prints_the_question(model):
    choice = TemplateChoice(TemplateKind.GO, RECORDED["models"][model]["template"])
    assert ChatTemplate(choice).reads_messages


@pytest.mark.parametrize(("model", "name"), CASES)
def test_templates_render_as_in_ollama(model, name):
    recorded = RECORDED["models"][model]
    expected = recorded["renders"][name]
    template = GoTemplate(recorded["template"])
    assert ("tools" in template.variables) == ("tools" in recorded["capabilities"])
    variables = dict(RECORDED["conversations"][name])
    if isinstance(expected, dict):
        assert "does not support tools" in expected["error"]
        with pytest.raises(TemplateRefusedError, match="it says nothing of tools"):
            template.render(variables)
        return
    if "thinking" in recorded["capabilities"]:
        # Ollama lets such models think by default.
        variables["enable_thinking"] = True
    assert render_recent(template, variables) == expected
