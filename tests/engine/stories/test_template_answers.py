"""Answers as published templates write them, and what the templates make of tools and thoughts."""

import json

import pytest
from jinja2 import meta

from material import ROOT
from sotto.engine.contract.answer_parts import ToolCall, calls_of, merge_pieces, text_of, thought_of
from sotto.engine.contract.requests import Message, Think
from sotto.engine.parsing.answer_parser import Parser, parameters_of
from sotto.engine.parsing.families import family_of
from sotto.engine.prompt.template_bounds import TemplateBoundsError
from sotto.engine.prompt.template_messages import DEFAULT_PROMPT_OPTIONS, PromptOptions, split_answer
from sotto.engine.prompt.templates import ChatTemplate
from sotto.errors import SottoError
from thoroughness import some

FOLDER = ROOT / "chat-templates"
TOKENS = {"bos_token": "<s>", "eos_token": "<EOS>"}
STRING, NUMBER = {"type": "string", "description": "s"}, {"type": "number", "description": "n"}
TOOLS = tuple(
    {
        "type": "function",
        "function": {
            "name": name,
            "description": f"This is {name}.",
            "parameters": {"type": "object", "properties": properties, "required": list(properties)},
        },
    }
    for name, properties in (("get_weather", {"city": STRING, "days": NUMBER}), ("add", {"a": NUMBER, "b": NUMBER}))
)
WEATHER = ToolCall("get_weather", {"city": 'Köln "x" <b>', "days": 3}, "abc123def")
ADD = ToolCall("add", {"a": 1.5, "b": -2}, "abc123deg")
ASKED = Message("user", "What is the weather?")
WITH_TOOLS = PromptOptions(TOOLS)

# What each template writes of a thought, a text and two calls; those that are not here write no calls, or in a form
# that is not read, or cannot be rendered by transformers either.
ALL = ("I think of it.", "Let me look.", 2)
WRITTEN = {
    "Apertus-8B-Instruct": ("", "Let me look.", 2),
    "Apriel-1.6-15b-Thinker-fixed": ALL,
    "Bielik-11B-v3.0-Instruct": ALL,
    "ByteDance-Seed-OSS": ALL,
    "Cohere2MoE": ("I think of it.", "", 2),
    "CohereForAI-c4ai-command-r7b-12-2024-tool_use": ("I think of it.", "", 2),
    "GLM-4.6": ALL,
    "GLM-4.7-Flash": ALL,
    "GigaChat3-10B-A1.8B": ("", "Let me look.", 1),
    "GigaChat3.1-10B-A1.8B": ("", "Let me look.", 1),
    "Kimi-K3": ALL,
    "LFM2.5-8B-A1B": ALL,
    "MiMo-VL": ("", "Let me look.", 2),
    "MiniMax-M1": ("", "", 2),
    "MiniMax-M2": ALL,
    "MiniMax-M3": ALL,
    "Mistral-Small-3.2-24B-Instruct-2506": ("", "", 2),
    "NVIDIA-Nemotron-3-Nano-30B-A3B-BF16": ALL,
    "NousResearch-Hermes-2-Pro-Llama-3-8B-tool_use": ("", "", 2),
    "NousResearch-Hermes-3-Llama-3.1-8B-tool_use": ("", "", 2),
    "Qwen-QwQ-32B": ("", "Let me look.", 2),
    "Qwen-Qwen2.5-7B-Instruct": ("", "Let me look.", 2),
    "Qwen-Qwen3-0.6B": ALL,
    "Qwen3-Coder": ("", "Let me look.", 2),
    "Qwen3.5-4B": ALL,
    "Reka-Edge": ("", " Let me look.", 2),
    "Spark2.5": ALL,
    "StepFun3.5-Flash": ALL,
    "deepseek-ai-DeepSeek-V3.1": ("", "Let me look.", 2),
    "deepseek-ai-DeepSeek-V3.2": ("", "Let me look.", 2),
    "deepseek-ai-DeepSeek-V4": ("", "Let me look.", 2),
    "deepseek-ai-DeepSeek-V4-Flash-0731": ("", "Let me look.", 2),
    "google-gemma-4-31B-it": ALL,
    "google-gemma-4-31B-it-interleaved": ALL,
    "ibm-granite-granite-4.0": ("", "Let me look.", 2),
    "ibm-granite-granite-4.1": ("", "Let me look.", 2),
    "inclusionai-ling-3.0-flash": ALL,
    "meetkai-functionary-medium-v3.1": ("", "Let me look.", 2),
    "meta-llama-Llama-3.1-8B-Instruct": ("", "", 1),
    "meta-llama-Llama-3.2-3B-Instruct": ("", "", 1),
    "meta-llama-Llama-3.3-70B-Instruct": ("", "", 1),
    "mistralai-Ministral-3-14B-Reasoning-2512": ("", "Let me look.", 2),
    "mistralai-Mistral-Nemo-Instruct-2407": ("", "", 2),
    "moonshotai-Kimi-K2": ("", "Let me look.", 2),
    "muse-glimmer": ("I think of it.", "", 2),
    "openai-gpt-oss-120b": ("I think of it.", "", 1),
    "openbmb-MiniCPM5-1B": ALL,
    "poolside-Laguna-S-2.1": ALL,
    "poolside-Laguna-XS-2.1": ALL,
    "poolside-Laguna-XS.2": ALL,
    "tencent-Hy3": ALL,
    "unsloth-Apriel-1.5": ("", "Let me look.", 2),
    "unsloth-mistral-Devstral-Small-2507": ("", "Let me look.", 2),
    "upstage-Solar-Open-100B": ("I think of it.", "", 2),
}
# What ends an answer is a token, which nobody sees.
ENDS = ("<|im_end|>", "<seed:eos>", "<|END_OF_TURN_TOKEN|>", "<｜end▁of▁sentence｜>", "<EOS>", "[e~[", "<|eot_id|>",
        "<|eom_id|>", "<|call|>", "<|end_of_text|>", "<|role_end|>", "<turn|>", "<|end|>", "</assistant>",
        "<end_of_sentence>", "<|message_sep|>", "<|tool_response>", "<sep>", "<|START_OF_TURN_TOKEN|>",
        "<｜hy_eos:opensource｜>")  # fmt: skip


def source(name):
    return (FOLDER / f"{name}.jinja").read_text(encoding="utf-8")


def rendered(name, messages, **variables):
    """Return what transformers makes of messages with the template as it was published."""
    utils = pytest.importorskip("transformers.utils.chat_template_utils")
    usual = {**TOKENS, "tools": list(TOOLS), "documents": None}
    return utils._compile_jinja_template(source(name)).render(**usual, messages=messages, **variables)


def answer_of(prompt, whole):
    """Return the prompt as far as it is the beginning of a conversation, and the answer behind it."""
    shared = next((at for at, pair in enumerate(zip(prompt, whole, strict=False)) if pair[0] != pair[1]), len(prompt))
    # A tag that differs does so behind its first characters.
    begin = max(prompt.rfind("<", 0, shared), prompt.rfind("[", 0, shared))
    if shared < len(prompt) and begin >= 0 and not any(char in prompt[begin:shared] for char in "\n>]"):
        shared = begin
    answer = whole[shared:].rstrip()
    while (end := next((end for end in ENDS if end in answer and answer.endswith(end)), None)) is not None:
        answer = answer.removesuffix(end).rstrip()
    return prompt[:shared], answer


@pytest.mark.one_in(3)
@pytest.mark.parametrize("name", some(list(WRITTEN), 27))
def test_what_a_template_writes_is_read_again(name):
    thought, text, count = WRITTEN[name]
    calls = [WEATHER, ADD][:count]
    if name == "openai-gpt-oss-120b":
        message = Message("assistant", "", "I think of it.", (WEATHER,))
    else:
        message = Message("assistant", "Let me look.", "I think of it.", tuple(calls))
    template = ChatTemplate(source(name), TOKENS)
    whole = template.render((ASKED, message), add_generation_prompt=False, options=WITH_TOOLS)
    prompt, answer = answer_of(template.render((ASKED,), options=WITH_TOOLS), whole)
    answer = answer.partition("<|START_OF_TURN_TOKEN|>")[0].removesuffix("<|END_OF_TURN_TOKEN|>")
    family = family_of(source(name))
    parser = Parser(family, parameters_of(TOOLS), family.opened_by(prompt), fresh=str)
    pieces = merge_pieces([piece for char in answer for piece in parser.feed(char)] + parser.finish())
    assert [(call.name, call.arguments) for call in calls_of(pieces)] == [(one.name, one.arguments) for one in calls]
    assert (thought_of(pieces), text_of(pieces)) == (thought, text)
    # DeepSeek's leaves telling the tools to the system prompt.
    assert template.knows_tools is (name != "deepseek-ai-DeepSeek-V3.1")


NESTED = {
    "type": "function",
    "function": {
        "name": "plan",
        "description": "Plans.",
        "parameters": {
            "type": "object",
            "properties": {
                "code": {"type": "string"},
                "steps": {"type": "array", "items": {"type": "object", "properties": {"id": {"type": "string"}}}},
                "none": {"type": "array"},
                "more": {"type": "object"},
                "sure": {"type": "boolean"},
            },
        },
    },
}


@pytest.mark.parametrize(
    "name",
    [
        "Kimi-K3",
        "MiniMax-M3",
        "openbmb-MiniCPM5-1B",
        "tencent-Hy3",
        "GigaChat3-10B-A1.8B",
        "GLM-4.7-Flash",
        "muse-glimmer",
    ],
)
def test_values_of_every_kind_are_read_again(name):
    given = {
        "code": "3\n <a> & b",
        "steps": [{"id": "7", "cost": 1.5}, {"id": "x's"}],
        "none": [],
        "more": {"deep": {"er": [True, False, -2]}},
        "sure": False,
    }
    template, options = ChatTemplate(source(name), TOKENS), PromptOptions((NESTED,))
    message = Message("assistant", "", tool_calls=(ToolCall("plan", given, "abc123def"),))
    whole = template.render((ASKED, message), add_generation_prompt=False, options=options)
    _, answer = answer_of(template.render((ASKED,), options=options), whole)
    parser = Parser(family_of(source(name)), parameters_of([NESTED]), fresh=str)
    pieces = merge_pieces([piece for char in answer for piece in parser.feed(char)] + parser.finish())
    assert [dict(call.arguments) for call in calls_of(pieces)] == [given]


@pytest.mark.one_in(2)
@pytest.mark.parametrize("name", some(sorted(WRITTEN), 27))
def test_messages_with_calls_are_rendered_as_in_transformers(name):
    call = {"name": "add", "arguments": dict(ADD.arguments)}
    turns = [
        {"role": "user", "content": ASKED.content},
        {"role": "assistant", "content": "", "tool_calls": [{"id": ADD.id, "type": "function", "function": call}]},
        {"role": "tool", "content": "-0.5", "name": "add", "tool_call_id": ADD.id},
    ]
    messages = (
        ASKED,
        Message("assistant", "", tool_calls=(ADD,)),
        Message("tool", "-0.5", tool_name="add", tool_call_id=ADD.id),
    )
    template = ChatTemplate(source(name), TOKENS)
    expected = rendered(name, turns, add_generation_prompt=True)
    if template._wants_parts:
        pytest.skip("takes contents as parts")
    assert template.render(messages, options=WITH_TOOLS) == expected
    assert "-0.5" in expected


def test_arguments_are_a_text_where_a_template_adds_them_to_one():
    template = ChatTemplate("{% for m in messages %}{% for c in m.tool_calls or [] %}"
                            "{{ '(' + c.function.arguments + ')' }}{% endfor %}{% endfor %}")  # fmt: skip
    assert template.render((ASKED, Message("assistant", "", tool_calls=(ADD,)))) == f"({json.dumps(ADD.arguments)})"
    with pytest.raises(SottoError, match="fails"):
        ChatTemplate("{{ messages[9].x.y }}").render((Message("assistant", "", tool_calls=(ADD,)),))


NAMES = sorted(path.stem for path in FOLDER.glob("*.jinja"))
SWITCHED = {
    "Qwen-Qwen3-0.6B": ("<|im_start|>assistant\n", "<|im_start|>assistant\n<think>\n\n</think>\n\n"),
    "Qwen3.5-4B": ("<|im_start|>assistant\n<think>\n", "<|im_start|>assistant\n<think>\n\n</think>\n\n"),
    "deepseek-ai-DeepSeek-V3.1": ("<think>", "<think></think>"),
    "GLM-4.7-Flash": ("<|assistant|><think>", "<|assistant|></think>"),
}


@pytest.mark.parametrize("name", SWITCHED)
def test_thoughts_are_switched_as_the_template_knows_it(name):
    template = ChatTemplate(source(name), TOKENS)
    assert template.switches_thoughts
    for think, end in zip((Think.ON, Think.OFF), SWITCHED[name], strict=True):
        assert template.render((ASKED,), options=PromptOptions(think=think)).endswith(end)


def test_how_much_to_think_is_said_where_the_template_takes_it():
    harmony = ChatTemplate(source("openai-gpt-oss-120b"), TOKENS)
    for think, level in ((None, "medium"), (Think.LOW, "low"), (Think.HIGH, "high"), (Think.MAX, "high")):
        assert f"Reasoning: {level}\n" in harmony.render((ASKED,), options=PromptOptions(think=think))
    deepseek = ChatTemplate(source("deepseek-ai-DeepSeek-V4"), TOKENS)
    assert "Absolute maximum" in deepseek.render((ASKED,), options=PromptOptions(think=Think.MAX))
    assert "Absolute maximum" not in deepseek.render((ASKED,), options=PromptOptions(think=Think.HIGH))
    seed = ChatTemplate(source("ByteDance-Seed-OSS"), TOKENS)
    assert "512" in seed.render((ASKED,), options=PromptOptions(budget=512))


# They append to a list, which the sandbox refuses, or want more than a conversation.
FAILING = {"Kimi-K2-Instruct", "Kimi-K2-Thinking", "llama-cpp-deepseek-r1"}


@pytest.mark.one_in(3)
@pytest.mark.parametrize("name", some(sorted({*NAMES} - FAILING), 33))
def test_tools_reach_the_model_wherever_a_template_knows_of_them(name):
    template = ChatTemplate(source(name), TOKENS)
    try:
        text = template.render((ASKED,), options=WITH_TOOLS)
    except SottoError:
        assert name in {"fireworks-ai-llama-3-firefunction-v2"}
        return
    assert ("get_weather" in text) is template.knows_tools


def test_kept_answers_are_taken_apart_as_far_as_the_template_knows():
    kept = Message("assistant", '<think>\nHm.\n</think>\n\nYes.\n<tool_call>\n{"name": "add"}\n</tool_call>\n')
    assert split_answer(kept, "") == kept
    assert split_answer(kept, source("deepseek-ai-DeepSeek-R1-Distill-Llama-8B")).content.startswith("<think>")
    whole = split_answer(kept, source("Qwen-Qwen3-0.6B"))
    assert whole == Message("assistant", "Yes.", "Hm.", (ToolCall("add"),))
    thought = split_answer(kept, "{{ m.reasoning_content }}")
    assert (thought.thinking, thought.tool_calls) == ("Hm.", ())
    assert thought.content == 'Yes.\n<tool_call>\n{"name": "add", "arguments": {}}\n</tool_call>\n'
    for other in (Message("user", kept.content), Message("assistant", "<b>Yes.</b>"), whole):
        assert split_answer(other, source("Qwen-Qwen3-0.6B")) == other


def test_a_template_that_takes_too_long_to_be_understood_knows_nothing(monkeypatch):
    def too_long(*_):
        raise TemplateBoundsError("it takes too long")

    monkeypatch.setattr(meta.TrackingCodeGenerator, "enter_frame", too_long)
    template = ChatTemplate(source("Qwen-Qwen3-0.6B"), TOKENS)
    assert not any((template.knows_tools, template.switches_thoughts, template.knows_efforts))
    assert "get_weather" not in template.render((ASKED,), options=WITH_TOOLS)


def test_nothing_is_asked_for_where_nobody_did():
    said = "{{ [tools is none, enable_thinking is defined, thinking is defined] }}"
    assert ChatTemplate(said).render((ASKED,), options=DEFAULT_PROMPT_OPTIONS) == "[True, False, False]"
