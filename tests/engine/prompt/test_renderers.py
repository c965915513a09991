"""Built-in renderers compared with the templates that the models' makers published."""

import functools
import json
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from material import material
from sotto.engine.contract.answer_parts import ToolCall, calls_of
from sotto.engine.contract.requests import Message
from sotto.engine.parsing.answer_parser import parse_answer
from sotto.engine.parsing.families import family_of
from sotto.engine.prompt.go_template.template import GoTemplate
from sotto.engine.prompt.renderers import RENDERERS
from sotto.engine.prompt.sandbox import SandboxedTemplate, TemplateRefusedError
from sotto.engine.prompt.template_choice import TemplateChoice, TemplateKind
from sotto.engine.prompt.template_messages import PromptOptions
from sotto.engine.prompt.templates import ChatTemplate
from thoroughness import examples

TOKENS = {"bos_token": "<bos>"}
# Sources of the published templates: a file of templates, or a model whose template was recorded.
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
# Without a system prompt this template adds the makers' sentences, which we leave out.
ASKS_FOR_A_SYSTEM_PROMPT = {"poolside-v1"}


@functools.cache
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


VALUE = st.recursive(
    TEXT | st.integers(-9, 9) | st.sampled_from([1.5, True, False, None]),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.sampled_from(["a", "B", "ü"]), inner, max_size=2),
    max_leaves=4,
)
ARGUMENTS = st.dictionaries(st.sampled_from(["city", "Days", "a_b"]), VALUE, max_size=3)
NAMES = st.sampled_from(["get_weather", "files.read", "add"])
SCHEMA = st.recursive(
    st.fixed_dictionaries(
        {"type": st.sampled_from(["string", "number", ["string", "null"], "boolean"])},
        optional={
            "description": st.sampled_from([" Which ", "é"]),
            "enum": st.just(["a", "b"]),
            "nullable": st.booleans(),
            "default": st.sampled_from([None, 1, [1], {"x": 1}, "x"]),
        },
    ),
    lambda inner: (
        st.fixed_dictionaries(
            {"type": st.just("object"), "properties": st.dictionaries(st.sampled_from(["x", "Y", "type"]), inner)},
            optional={"required": st.just(["x"]), "additionalProperties": st.just(False)},
        )
        | st.fixed_dictionaries({"type": st.just("array"), "items": inner})
    ),
    max_leaves=4,
)
TOOL = st.builds(
    lambda name, description, parameters, more: {
        "type": "function",
        "function": {"name": name, "description": description, "parameters": parameters, **more},
    },
    NAMES,
    st.sampled_from(["", " Finds it.\n"]),
    st.fixed_dictionaries(
        {
            "type": st.just("object"),
            "properties": st.dictionaries(st.sampled_from(["city", "Days", "description"]), SCHEMA, max_size=3),
        },
        optional={"required": st.just(["city"]), "enum": st.just([1])},
    ),
    st.sampled_from([{}, {"strict": True}, {"response": {"type": "object", "description": "d"}}]),
)


@st.composite
def calls_with_results(draw, number):
    """Draw tool calls and results for most of them."""
    names = draw(st.lists(NAMES, min_size=1, max_size=2))
    calls = [
        {"id": f"call{number}{place}", "type": "function", "function": {"name": name, "arguments": draw(ARGUMENTS)}}
        for place, name in enumerate(names)
    ]
    answers = [
        {"role": "tool", "content": draw(TEXT), "name": call["function"]["name"], "tool_call_id": call["id"]}
        for call in calls[: draw(st.integers(0, 2))]
    ]
    return calls, answers


@st.composite
def talks(draw):
    """Draw a conversation with tool calls, whose roles mostly alternate."""
    turns = [{"role": "system", "content": draw(TEXT)}] if draw(st.booleans()) else []
    turns.append({"role": "user", "content": draw(TEXT)})
    for number, role in enumerate(
        draw(st.lists(st.sampled_from(["user", "assistant", "assistant", "system"]), max_size=6))
    ):
        turn = {"role": role, "content": draw(ANSWER if role == "assistant" else TEXT)}
        if role == "assistant" and (thought := draw(st.none() | TEXT)):
            # Templates read this under different names.
            turn |= dict.fromkeys(("thinking", "reasoning", "reasoning_content"), thought)
        if role == "assistant" and draw(st.booleans()):
            turn["tool_calls"], answers = draw(calls_with_results(number))
            turns += [turn, *answers]
        else:
            turns.append(turn)
    return turns


def outcome(template, variables):
    try:
        return template.render(variables)
    except TemplateRefusedError:
        return None


def with_arguments_as_text(talk):
    """Return a conversation with arguments as JSON strings, which DeepSeek's template expects."""
    turns = []
    for turn in talk:
        calls = [
            call
            | {
                "function": call["function"]
                | {"arguments": json.dumps(call["function"]["arguments"], ensure_ascii=False)}
            }
            for call in turn.get("tool_calls", ())
        ]
        turns.append(turn | ({"tool_calls": calls} if calls else {}))
    return turns


def with_calls_in_texts(talk):
    """Return a conversation with calls within the texts, as LFM2 writes them, instead of separate calls."""
    later = published("lfm2-thinking")
    turns = []
    for turn in talk:
        if calls := turn.get("tool_calls"):
            alone = later.render({"messages": [{"role": "assistant", "content": "", "tool_calls": calls}]})
            written = alone.removeprefix("<|im_start|>assistant\n").removesuffix("<|im_end|>\n")
            turn = {"role": "assistant", "content": turn["content"] + written}
        turns.append(turn)
    return turns


# Conversions of a conversation to the form that a published template expects.
CONVERSIONS = {
    "deepseek3": with_arguments_as_text,
    "deepseek3.1": with_arguments_as_text,
    "lfm2": with_calls_in_texts,
}
# Their published templates print no tools, and leave that to the author of the system prompt.
TOOLS_IN_SYSTEM_PROMPT = {"deepseek3", "deepseek3.1"}


@pytest.mark.parametrize("name", PUBLISHED)
def test_renderings_are_as_published(name):
    template = published(name)
    tools = st.none() if name in TOOLS_IN_SYSTEM_PROMPT else st.none() | st.lists(TOOL, min_size=1, max_size=2)

    @examples(80)
    @given(talks(), tools, st.sampled_from([None, True, False]), st.sampled_from([None, "low"]), st.booleans())
    def holds(talk, tools, think, effort, asks):
        if name in ASKS_FOR_A_SYSTEM_PROMPT and talk[0]["role"] != "system":
            talk = [{"role": "system", "content": ""}, *talk]
        variables = {**TOKENS, "messages": talk, "tools": tools, "add_generation_prompt": asks}
        if think is not None:
            # DeepSeek's own template knows it by the other name.
            variables |= {"enable_thinking": think, "thinking": think}
        if effort is not None:
            variables |= {"reasoning_effort": effort, "reasoning_strength": effort}
        theirs = variables | {"messages": CONVERSIONS.get(name, list)(talk)}
        assert outcome(RENDERERS[name], variables) == outcome(template, theirs)

    holds()


@pytest.mark.parametrize("system", [None, "Be brief."])
def test_deepseek_gets_tools_as_in_ollama(system):
    models = json.loads(material("go-templates", "automap.json").read_text(encoding="utf-8"))
    go = next(model["ollama"]["template"] for model in models if model["model"] == "library/deepseek-v3.1:latest")
    fields = {"type": "object", "required": ["a"], "properties": {"a": {"type": "string", "description": "é"}}}
    tools = [
        {"type": "function", "function": {"name": name, "description": f"Does {name}.", "parameters": fields}}
        for name in ("find", "add")
    ]
    talk = [{"role": "system", "content": system}] if system else []
    talk.append({"role": "user", "content": "Hi"})
    theirs = GoTemplate(go).render({"messages": talk, "tools": tools})
    # Go prints values there in its own syntax instead of JSON.
    theirs = re.sub(r"(?<=Parameters: ).*", lambda _: json.dumps(fields, ensure_ascii=False), theirs)
    assert RENDERERS["deepseek3.1"].render({"messages": talk, "tools": tools}) == theirs


def test_prompts_of_small_gemmas_have_no_empty_thought():
    talk = {**TOKENS, "messages": [{"role": "user", "content": "Hi"}]}
    large, small = RENDERERS["gemma4-large"].render(talk), RENDERERS["gemma4-small"].render(talk)
    assert small == "<bos><|turn>user\nHi<turn|>\n<|turn>model\n"
    assert large == small + "<|channel>thought\n<channel|>"


@pytest.mark.parametrize("name", RENDERERS)
def test_messages_that_a_renderer_does_not_know_are_refused(name):
    talk = [{"role": "user", "content": "Hi"}, {"role": "narrator", "content": "It rains."}]
    with pytest.raises(TemplateRefusedError, match=r"^it has no messages of the role 'narrator'$"):
        RENDERERS[name].render({"messages": talk})
    deep = {"a": 1}
    for _ in range(5000):
        deep = {"a": deep}
    call = {"id": "a", "function": {"name": "f", "arguments": deep}}
    talk = [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "", "tool_calls": [call]}]
    with pytest.raises(TemplateRefusedError, match="nested too deeply"):
        RENDERERS[name].render({"messages": talk})


@pytest.mark.parametrize("name", RENDERERS)
def test_rendered_calls_can_be_parsed(name):
    """A prompt shows earlier calls in the syntax in which the model itself makes them."""
    asked = {"role": "user", "content": "Hi"}
    calls = [ToolCall("find", {"what": "é x"}), ToolCall("add", {"a": 1.5, "b": [True]})]
    turn = {
        "role": "assistant",
        "content": "",
        "tool_calls": [
            {"id": call.name, "function": {"name": call.name, "arguments": call.arguments}} for call in calls
        ],
    }
    before, text = (
        RENDERERS[name].render({"messages": talk, "add_generation_prompt": False}) for talk in ([asked], [asked, turn])
    )
    assert text.startswith(before)
    written = text.removeprefix(before)
    template = ChatTemplate(TemplateChoice(TemplateKind.RENDERER, name))
    tool = {"type": "function", "function": {"name": "find", "description": "", "parameters": {"properties": {}}}}
    assert template.knows_tools
    assert "find" in template.render([Message("user", "Hi")], options=PromptOptions((tool,)))
    family = family_of(template.text)
    found = calls_of(parse_answer(written, family))
    assert [(call.name, call.arguments) for call in found] == [(call.name, call.arguments) for call in calls]


@pytest.mark.parametrize("name", RENDERERS)
def test_a_renderer_names_the_variables_that_it_looks_up(name):
    talk = [{"role": "user", "content": "Hi"}]
    on, off = (RENDERERS[name].render({"messages": talk, "enable_thinking": think}) for think in (True, False))
    assert ("enable_thinking" in RENDERERS[name].variables) == (on != off)
