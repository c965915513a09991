"""Our own renderings of named formats against the templates that were published for them."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from material import material
from sotto.engine.renderers import RENDERERS
from sotto.engine.sandbox import SandboxedTemplate, TemplateRefusedError

TOKENS = {"bos_token": "<bos>"}
# Where a format was published: a file of templates, or a model whose own template was recorded.
PUBLISHED = {
    "cogito": "library/cogito:14b",
    "deepseek3": "library/deepseek-v3.1:latest",
    "deepseek3.1": "library/deepseek-v3.1:latest",
    "gemma4-large": "google-gemma-4-31B-it.jinja",
    "glimmer": "muse-glimmer.jinja",
    "glm-4.7": "GLM-4.7-Flash.jinja",
    "laguna": "poolside-Laguna-XS-2.1.jinja",
    "lfm2": "LFM2-8B-A1B.jinja",
    "lfm2-thinking": "LFM2.5-8B-A1B.jinja",
    "nemotron-3-nano": "NVIDIA-Nemotron-3-Nano-30B-A3B-BF16.jinja",
    "poolside-v1": "poolside-Laguna-S-2.1.jinja",
    "qwen3-coder": "Qwen3-Coder.jinja",
    "qwen3.5": "Qwen3.5-4B.jinja",
}
# Without a system prompt this template puts in sentences of its own, which we leave out.
ASKS_FOR_A_SYSTEM_PROMPT = {"poolside-v1"}


def published(name):
    place = PUBLISHED[name]
    if place.endswith(".jinja"):
        return SandboxedTemplate(material("chat-templates", place).read_text(encoding="utf-8"))
    models = json.loads(material("go-templates", "automap.json").read_text(encoding="utf-8"))
    return SandboxedTemplate(next(model["gguf"] for model in models if model["model"] == place))


TEXT = st.text("ab \n", max_size=6) | st.sampled_from(
    [
        "Reasoning Effort: low",
        "reasoning effort",
        "REASONING STRENGTH",
        "Hi",
        "<think>x</think>y",
        "<think>\nx\n</think>\n\ny ",
        "</think>",
        "a</think>b</think>c",
        "é🙂",
        "<tool_response>x</tool_response>",
    ]
)
ANSWER = TEXT | st.sampled_from(["<|channel>thought\nx<channel|>y", "z<|channel>"])


@st.composite
def talks(draw):
    """Draw a conversation in which both sides speak in turn, and sometimes one side twice."""
    turns = [{"role": "system", "content": draw(TEXT)}] if draw(st.booleans()) else []
    turns.append({"role": "user", "content": draw(TEXT)})
    for role in draw(st.lists(st.sampled_from(["user", "assistant", "assistant", "system"]), max_size=6)):
        turn = {"role": role, "content": draw(ANSWER if role == "assistant" else TEXT)}
        if role == "assistant" and (thought := draw(st.none() | TEXT)):
            # Templates read this under different names.
            turn |= dict.fromkeys(("thinking", "reasoning", "reasoning_content"), thought)
        turns.append(turn)
    return turns


def outcome(template, variables):
    try:
        return template.render(variables)
    except TemplateRefusedError:
        return None


@pytest.mark.parametrize("name", PUBLISHED)
def test_renderings_are_as_published(name):
    template = published(name)

    @settings(max_examples=80, deadline=None)
    @given(talks(), st.sampled_from([None, True, False]), st.sampled_from([None, "low"]), st.booleans())
    def holds(talk, think, effort, asks):
        if name in ASKS_FOR_A_SYSTEM_PROMPT and talk[0]["role"] != "system":
            talk = [{"role": "system", "content": ""}, *talk]
        variables = {**TOKENS, "messages": talk, "add_generation_prompt": asks}
        if think is not None:
            # DeepSeek's own template knows it by the other name.
            variables |= {"enable_thinking": think, "thinking": think}
        if effort is not None:
            variables |= {"reasoning_effort": effort, "reasoning_strength": effort}
        assert outcome(RENDERERS[name], variables) == outcome(template, variables)

    holds()


def test_small_gemmas_are_not_told_that_nothing_is_thought():
    talk = {**TOKENS, "messages": [{"role": "user", "content": "Hi"}]}
    large, small = RENDERERS["gemma4-large"].render(talk), RENDERERS["gemma4-small"].render(talk)
    assert small == "<bos><|turn>user\nHi<turn|>\n<|turn>model\n"
    assert large == small + "<|channel>thought\n<channel|>"


@pytest.mark.parametrize("name", RENDERERS)
def test_what_a_rendering_does_not_know_is_refused(name):
    talk = [{"role": "user", "content": "Hi"}]
    call = {"role": "assistant", "content": "", "tool_calls": [{"function": {"name": "f", "arguments": {}}}]}
    for variables in (
        {"messages": talk, "tools": [{"type": "function"}]},
        {"messages": [*talk, call]},
        {"messages": [*talk, {"role": "tool", "content": "1"}]},
    ):
        with pytest.raises(TemplateRefusedError, match="unless the model brings its own template"):
            RENDERERS[name].render(variables)


@pytest.mark.parametrize("name", RENDERERS)
def test_a_rendering_says_what_it_looks_up(name):
    talk = [{"role": "user", "content": "Hi"}]
    on, off = (RENDERERS[name].render({"messages": talk, "enable_thinking": think}) for think in (True, False))
    assert ("enable_thinking" in RENDERERS[name].variables) == (on != off)
