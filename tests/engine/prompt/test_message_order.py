"""Several system prompts and several messages in a row, as clients send them, reach the model whatever its template."""

import pytest

from material import ROOT, material
from sotto.engine.contract.requests import Message
from sotto.engine.prompt.templates import ChatTemplate
from sotto.errors import InvalidRequestError

# What Codex and Claude Code begin with, and what they go on with.
CODEX = (
    Message("system", "First instructions."),
    Message("system", "Then skills."),
    Message("user", "Here is a folder."),
    Message("user", "Make a file."),
)
CLAUDE_CODE = (
    Message("system", "First instructions."),
    Message("user", "Make a file."),
    Message("system", "Here is a folder."),
)
GONE_ON = (Message("assistant", "It is made."), Message("user", "Another one."))
FOLDER = ROOT / "chat-templates"
TOKENS = {"bos_token": "<s>", "eos_token": "</s>"}
# The first four are for calls of functions alone; the last one knows of no system prompt.
LEFT_OUT = {
    "CohereForAI-c4ai-command-r-plus-tool_use",
    "NousResearch-Hermes-2-Pro-Llama-3-8B-tool_use",
    "NousResearch-Hermes-3-Llama-3.1-8B-tool_use",
    "fireworks-ai-llama-3-firefunction-v2",
    "google-gemma-2-2b-it",
}
JINJA = sorted(path.stem for path in FOLDER.glob("*.jinja") if path.stem not in LEFT_OUT)
# Turns that alternate, and one system prompt in front of them.
STRICT = (
    "{% for message in messages %}"
    "{% if (message.role == 'system') != (loop.first and messages[0].role == 'system') %}"
    "{{ raise_exception('One system prompt, please.') }}{% endif %}"
    "{% if loop.previtem is defined and loop.previtem.role == message.role %}"
    "{{ raise_exception('In turn, please.') }}{% endif %}"
    "[{{ message.role }}]{{ message.content }}{% endfor %}"
)
# Turns that alternate, of whose system prompts only the first one counts.
FIRST = (
    "{% if messages[0].role == 'system' %}[system]{{ messages[0].content }}{% endif %}"
    "{% for message in messages if message.role != 'system' %}[{{ message.role }}]{{ message.content }}{% endfor %}"
)
LOOSE = "{% for message in messages %}[{{ message.role }}]{{ message.content }}{% endfor %}"


def test_there_are_templates():
    material("chat-templates")
    assert len(JINJA) > 60


@pytest.mark.parametrize("name", JINJA)
def test_real_templates_leave_nothing_out(name):
    template = ChatTemplate((FOLDER / f"{name}.jinja").read_text(encoding="utf-8"), TOKENS)
    for talk in (CODEX, CODEX + GONE_ON, CLAUDE_CODE, CLAUDE_CODE + GONE_ON):
        text = template.render(talk)
        assert [one.content for one in talk if one.content not in text] == []


@pytest.mark.parametrize(
    ("template", "talk", "text"),
    [
        (STRICT, CODEX, "[system]First instructions.\n\nThen skills.[user]Here is a folder.\n\nMake a file."),
        (STRICT, CLAUDE_CODE, "[system]First instructions.\n\nHere is a folder.[user]Make a file."),
        (FIRST, CODEX, "[system]First instructions.\n\nThen skills.[user]Here is a folder.[user]Make a file."),
        (LOOSE, CODEX, "[system]First instructions.[system]Then skills.[user]Here is a folder.[user]Make a file."),
        (LOOSE, CLAUDE_CODE, "[system]First instructions.[user]Make a file.[system]Here is a folder."),
        (STRICT, CODEX[1:3], "[system]Then skills.[user]Here is a folder."),
    ],
)
def test_only_what_a_template_does_not_know_is_changed(template, talk, text):
    assert ChatTemplate(template).render(talk) == text


def test_a_refusal_quotes_the_template():
    talk = (*CODEX, *GONE_ON[:1], *GONE_ON[:1])
    with pytest.raises(InvalidRequestError, match=r"refuses this conversation: In turn, please\.$"):
        ChatTemplate(STRICT).render(talk)
