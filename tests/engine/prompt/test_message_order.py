"""Several system prompts and consecutive user messages, as clients send them, reach the model with any template."""

import pytest

from material import ROOT, material
from sotto.engine.contract.requests import Message
from sotto.engine.prompt.templates import ChatTemplate
from sotto.errors import InvalidRequestError
from thoroughness import some

# The messages with which Codex and Claude Code begin a conversation, and with which they continue it.
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
CONTINUED = (Message("assistant", "It is made."), Message("user", "Another one."))
FOLDER = ROOT / "chat-templates"
TOKENS = {"bos_token": "<s>", "eos_token": "</s>"}
# The first four are only for function calls; the last has no place for a system prompt.
LEFT_OUT = {
    "CohereForAI-c4ai-command-r-plus-tool_use",
    "NousResearch-Hermes-2-Pro-Llama-3-8B-tool_use",
    "NousResearch-Hermes-3-Llama-3.1-8B-tool_use",
    "fireworks-ai-llama-3-firefunction-v2",
    "google-gemma-2-2b-it",
}
JINJA = sorted(path.stem for path in FOLDER.glob("*.jinja") if path.stem not in LEFT_OUT)
# Accepts only alternating turns after at most one system prompt.
STRICT = (
    "{% for message in messages %}"
    "{% if (message.role == 'system') != (loop.first and messages[0].role == 'system') %}"
    "{{ raise_exception('One system prompt, please.') }}{% endif %}"
    "{% if loop.previtem is defined and loop.previtem.role == message.role %}"
    "{{ raise_exception('In turn, please.') }}{% endif %}"
    "[{{ message.role }}]{{ message.content }}{% endfor %}"
)
# Prints only a system prompt at the beginning.
FIRST = (
    "{% if messages[0].role == 'system' %}[system]{{ messages[0].content }}{% endif %}"
    "{% for message in messages if message.role != 'system' %}[{{ message.role }}]{{ message.content }}{% endfor %}"
)
LOOSE = "{% for message in messages %}[{{ message.role }}]{{ message.content }}{% endfor %}"


def test_there_are_templates():
    material("chat-templates")
    assert len(JINJA) > 60


@pytest.mark.one_in(3)
@pytest.mark.parametrize("name", some(list(JINJA), 33))
def test_real_templates_leave_nothing_out(name):
    template = ChatTemplate((FOLDER / f"{name}.jinja").read_text(encoding="utf-8"), TOKENS)
    for talk in (CODEX, CODEX + CONTINUED, CLAUDE_CODE, CLAUDE_CODE + CONTINUED):
        text = template.render(talk)
        assert [message.content for message in talk if message.content not in text] == []


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
    talk = (*CODEX, *CONTINUED[:1], *CONTINUED[:1])
    with pytest.raises(InvalidRequestError, match=r"refuses this conversation: In turn, please\.$"):
        ChatTemplate(STRICT).render(talk)
